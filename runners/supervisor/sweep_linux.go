package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// began notes when the first command started, in the clock of proc.start. The caller holds h.mu.
func (h *host) began(pid int) {
	if h.oldest != 0 {
		return
	}
	if p, err := readProc(pid); err == nil {
		h.oldest = p.start
	}
}

// sweep ends processes that were spared because two commands could own them (see only). After the end of
// every command, no living command owns them. It returns the number of processes that it could not end.
func (h *host) sweep() int {
	bounds := newBounds(h.clock)
	defer bounds.stop()
	for step := time.Millisecond; ; step = min(2*step, 20*time.Millisecond) {
		left := h.strays()
		if len(left) == 0 || bounds.hopeless(left, nil) {
			return len(left)
		}
		signalAll(left, unix.SIGKILL, func(proc) bool { return true })
		time.Sleep(step)
	}
}

// strays returns orphans without an owner that bear a mark of ours or changed it, and their descendants.
func (h *host) strays() []proc {
	look := h.scans.take()
	if look.err != nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.marks == nil || h.oldest == 0 {
		return nil
	}
	var found []proc
	for _, p := range look.all {
		if p.ppid != h.self || p.sid == h.sid || h.known(p.pid) || p.start < h.oldest {
			continue
		}
		if mark, err := h.marks.of(p.pid); err == nil && (h.marks.mine(mark) || h.marks.changed(mark)) {
			found = append(found, p)
		}
	}
	living, _ := h.grown(look, found, 0)
	return living
}
