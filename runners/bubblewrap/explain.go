//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"fmt"
	"os"
	"strings"
)

// explain adds the fix to the error of a sandbox that cannot be made or that broke.
func explain(err error, reached bool) error {
	if reached {
		return fmt.Errorf("the sandbox ended: %w: the next request makes a new one", err)
	}
	return fmt.Errorf("start sandbox: %w: %s", err, mend(err.Error()))
}

// mend names the reason for which bwrap does not work, and the fix.
func mend(said string) string {
	switch {
	case strings.Contains(said, "make view"):
		return mendView
	case strings.Contains(said, "Unknown option"):
		return "install bubblewrap 0.8 or newer"
	case !strings.Contains(said, "says: bwrap: "):
		return "try bwrap --unshare-all --ro-bind / / true by hand"
	case is("/proc/sys/user/max_user_namespaces", "0"):
		return "namespaces of users are switched off: set the sysctl user.max_user_namespaces"
	case is("/proc/sys/kernel/unprivileged_userns_clone", "0"):
		return "namespaces of users are for root only: set the sysctl kernel.unprivileged_userns_clone to 1"
	case is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
		return "AppArmor forbids bwrap namespaces of users: give it a profile with the rule userns (on Ubuntu: " +
			"package apparmor-profiles, profile bwrap-userns-restrict)"
	case exists("/.dockerenv") || exists("/run/.containerenv"):
		return "this is a container, whose engine forbids namespaces: use the runner docker from outside"
	}
	return "try bwrap --unshare-all --ro-bind / / true by hand"
}

// mendView is the fix where a view cannot be mounted.
const mendView = "trials need overlays that users may mount (Linux 5.11 or newer, user namespaces), " +
	"and a state directory on a file system with extended attributes"

func is(path, value string) bool {
	b, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(b)) == value
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
