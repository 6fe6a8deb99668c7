package hooks

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// sessionMark stands in the names of sessions that are derived from a process, and in no others.
const sessionMark = "@process-"

// ancestor is a process above this one.
type ancestor struct {
	pid   int
	begun uint64 // its start, since that of the machine
	name  string // as the kernel has it
	argv  []string
}

// is reports whether a process is one of the host that has one session.
func (h *Host) is(a ancestor) bool {
	names := []string{a.name}
	for i, word := range a.argv[:min(len(a.argv), 2)] {
		if name := filepath.Base(word); i == 0 || strings.HasSuffix(name, ".js") || name == h.Program {
			names = append(names, strings.TrimSuffix(name, ".js"))
		}
	}
	return h.Single && slices.Contains(names, h.Program) &&
		!slices.ContainsFunc(a.argv, func(word string) bool { return slices.Contains(h.Several, word) })
}

// ProcessSession names the session of the agent whose process has started process pid: its hooks, its MCP
// servers and its shells have the same. It is "" where no such process is known. No input of an agent can
// choose it: it follows from the processes above pid, and from the workspace.
func ProcessSession(pid int, workspace string) string {
	all, err := hosts()
	if err != nil {
		return ""
	}
	for a := range ancestors(pid) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if all[name].is(a) {
				sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %q", machine(), a.pid, a.begun, workspace))
				return fmt.Sprintf("%s%s%d-%x", name, sessionMark, a.pid, sum[:8])
			}
		}
	}
	return ""
}

// CheckSession refuses the name of a session that is derived from another process than the one above pid.
func CheckSession(name string, pid int, workspace string) error {
	if strings.Contains(name, sessionMark) && name != ProcessSession(pid, workspace) {
		return fmt.Errorf("session %s belongs to the process of another agent: leave out --session", name)
	}
	return nil
}

// SessionOf names the session of an event that comes from process pid.
func (h *Host) SessionOf(e Event, pid int, workspace string) string {
	if s := ProcessSession(pid, workspace); strings.HasPrefix(s, h.Name+sessionMark) {
		return s
	}
	return h.Name + ":" + strings.ReplaceAll(e.Session, sessionMark, "@")
}
