package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Which processes belong to a command
//
// Everything that descends from its shell. While a process and those between it and the shell
// live, /proc shows that. When one between ends, the kernel makes the process our child, for we
// are the subreaper: then it is an orphan, and its owner shows from, in this order,
//
//   - its mark (see marks), which it cannot shed,
//   - its session, unless it made its own,
//   - the marker in its environment, unless that was cleared,
//   - the time at which it started, if it changed its mark: no command owns a process that is
//     older than the command. It is left alone as long as two commands could own it.
//
// Children of this process that have nothing to do with commands show none of these and are
// never touched, nor is their exit status taken: no wait here names any but a known process.

// suspect reports whether p may be left over from the command. Descendants of a shell that has
// ended hang below a child of ours.
func (h *host) suspect(p proc, r *root) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return p.sid == r.pid || p.ppid == h.self && !h.known(p.pid)
}

// known reports whether a child is one that the host itself started.
func (h *host) known(pid int) bool {
	_, between := h.standIns[pid]
	return between || h.roots[pid] != nil || h.watch != nil && h.watch.pid == pid
}

// orphan tells whether p is an orphan of a command, and of which one: nil for one that is over.
func (h *host) orphan(p proc) (owner *root, ok bool) {
	if p.ppid != h.self || p.sid == h.sid || h.known(p.pid) {
		return nil, false
	}
	changed := false
	if h.marks != nil {
		mark, err := h.marks.of(p.pid)
		switch {
		case errors.Is(err, unix.ESRCH):
			return nil, false // it was reaped since it was looked at
		case err != nil: // a process of another user
		case h.marks.mine(mark):
			return h.first(func(r *root) bool { return r.mark == mark }), true
		case h.marks.foreign(mark):
			return nil, false
		default:
			changed = h.marks.changed(mark)
		}
	}
	owner = h.roots[p.sid]
	if owner == nil {
		environ := p.environ()
		owner = h.first(func(r *root) bool { return marked(environ, r.id) })
	}
	if owner == nil && changed {
		owner = h.only(p.start)
	}
	return owner, owner != nil
}

func (h *host) first(match func(*root) bool) *root {
	for _, r := range h.roots {
		if match(r) {
			return r
		}
	}
	return nil
}

// only returns the command that a process which started at the given time must belong to, or nil.
func (h *host) only(start uint64) *root {
	if len(h.beginning) > 0 {
		return nil // one of those, too, could own it
	}
	var found *root
	for _, r := range h.roots {
		shell, err := readProc(r.pid)
		if err != nil || shell.start > start {
			continue
		}
		if found != nil {
			return nil
		}
		found = r
	}
	return found
}
