package resident

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Supported reports whether processes can stay on this system.
const Supported = true

// View describes the build of this process and how it sees the machine: its user, its rights, its namespaces
// and its root. Processes with the same view find the same files under the same names, and may use them
// alike.
func View(build string) (string, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", fmt.Errorf("describe this process: %w", err)
	}
	view := []string{build}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, ":")
		switch name {
		case "Uid", "Gid", "Groups", "CapEff", "NoNewPrivs", "Seccomp":
			view = append(view, strings.Join(strings.Fields(line), " "))
		}
	}
	for _, kind := range []string{"mnt", "user", "pid", "net"} {
		at, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return "", fmt.Errorf("describe this process: %w", err)
		}
		view = append(view, at)
	}
	var root syscall.Stat_t
	if err := syscall.Stat("/", &root); err != nil {
		return "", fmt.Errorf("describe this process: stat /: %w", err)
	}
	return strings.Join(append(view, fmt.Sprint("root ", root.Dev, " ", root.Ino)), "\n"), nil
}
