//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/looks"
)

// look previews a sandbox, and makes one only for facts that no sandbox of the same specification has shown.
func look(ctx context.Context, o Options, spec engine.EnvironmentSpec,
	notice func(string)) (engine.Environment, error) {
	opened := func(ctx context.Context) (looks.Opened, error) {
		env, err := open(ctx, o, spec, notice)
		if err != nil {
			return nil, err
		}
		return env.(*Environment), nil // the type that it opens if it can
	}
	e, v, err := plan(o, spec, notice)
	if err != nil || o.State == "" {
		return opened(ctx) // its error names the problem
	}
	key, err := e.cacheKey(v)
	if err != nil {
		return opened(ctx)
	}
	rights,
		err := identity.WithoutCapabilities() // root's rights may read everything; in the sandbox it has no capabilities
	if err != nil {
		return opened(ctx)
	}
	env, err := looks.At(ctx, looks.Options{
		Dir: filepath.Join(o.State, "looks"), Key: key, Wire: e.o.wire(spec.Layout.Workspace),
		Live: v.live, Host: local.FS(rights), Free: rights.Close, Open: opened,
	})
	if err != nil {
		return nil, err
	}
	return env, nil
}

// live says which place of this machine a path shows.
func (v *view) live(p string) (looks.Shown, bool) {
	for _, own := range []string{"/proc", "/dev", filepath.Dir(supervisorAt)} { // on top of every grant
		if within(p, own) {
			return looks.Shown{}, false
		}
	}
	m, ok := v.shown(p)
	if !ok || m.kind != readOnly && m.kind != writable {
		return looks.Shown{}, false
	}
	return looks.Shown{Source: m.source, Rest: strings.TrimPrefix(strings.TrimPrefix(p, m.at), "/")}, true
}

// cacheKey hashes every input that affects a sandbox's contents or isolation: its view, the kernel and its
// start, the kernel's settings, and the identity of the programs' files.
func (e *Environment) cacheKey(v *view) (string, error) {
	type made struct {
		Kind, At, Source, Mode string
		Data                   [sha256.Size]byte
	}
	var all struct {
		Programs []string
		System   map[string]string
		Options  Options
		Layout   facts.Layout
		Mounts   []made
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range []string{self, e.o.Bwrap, e.o.Supervisor} {
		id, err := identityOf(name)
		if err != nil {
			return "", err
		}
		all.Programs = append(all.Programs, id)
	}
	if all.System, err = system(); err != nil {
		return "", err
	}
	all.Options = e.o
	all.Options.Otherwise = nil
	all.Layout.Workspace, all.Layout.Home, all.Layout.Roots = e.spec.Layout.Workspace, e.spec.Layout.Home,
		e.spec.Layout.Roots
	for _, m := range v.sorted() {
		all.Mounts = append(all.Mounts, made{m.kind, m.at, m.source, m.mode, sha256.Sum256(m.data)})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// identityOf tells one content of a file from another: nobody but root can set when the file was changed.
func identityOf(name string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%q %v", name, []any{st.Dev, st.Ino, st.Size, st.Mode, st.Uid, st.Mtim, st.Ctim}), nil
}

// system describes the kernel and its permissions for this process. A file that a kernel does not have is
// empty.
func system() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{
		"/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/unprivileged_userns_clone",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/self/attr/current", "/proc/self/uid_map",
	} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.EINVAL) {
			return nil, err
		}
		out[name] = string(text)
	}
	for _, name := range []string{"user", "mnt", "net", "pid"} {
		link, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return nil, err
		}
		out[name] = link
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters":
			out[name] = strings.TrimSpace(value)
		}
	}
	if out["/proc/sys/kernel/random/boot_id"] == "" {
		return nil, errors.New("the kernel does not tell when it started")
	}
	return out, nil
}
