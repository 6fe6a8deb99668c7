package supervisor

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/sallyport-dev/sallyport/runners/starter"
)

// A stand-in is the parent of a shell in place of this process, so that a command which signals its parent
// does not reach sallyport. It has one shell at a time. When that has ended, it waits for the next and
// gets its mark first. The kernel ends it with sallyport, and the shell with it.
//
// If the parent of a process of the command ends, sallyport becomes its parent (host is the reaper).

// lackStandIn is the shortcoming where there is none.
const lackStandIn = "no process stands between sallyport and a command (%s): " +
	"one that kills its parent process ends sallyport"

// maxStandIns bounds those that wait for a shell while commands run; one waits when none does.
const maxStandIns = 16

// prepareStandIns chooses the program of stand-ins.
func (h *host) prepareStandIns(program string) {
	if h.standIn = program; h.marks == nil {
		h.withoutStandIns("processes cannot be marked")
	}
}

// standsApart reports whether commands have stand-ins.
func (h *host) standsApart() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.standIn != ""
}

// withoutStandIns makes this process the parent of all further commands. The caller holds h.mu.
func (h *host) withoutStandIns(why string) {
	h.standIn = ""
	h.lack = append(h.lack, fmt.Sprintf(lackStandIn, why))
}

// newStandIn starts one, on a thread that lives on.
func (h *host) newStandIn() (p *starter.Parent, err error) {
	err = h.bare.run(func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.standIn == "" {
			return nil
		}
		if p, err = starter.NewParent(h.standIn); err != nil {
			h.withoutStandIns(err.Error())
			return err
		}
		h.standIns[p.PID] = struct{}{}
		return nil
	})
	return p, err
}

// freeStandIn returns one that waits, or a new one, with the next mark; nil where there is none.
func (h *host) freeStandIn() (*starter.Parent, uint64) {
	for {
		h.mu.Lock()
		mark := h.marks.next(h.roots)
		var p *starter.Parent
		if n := len(h.idle); n > 0 {
			p, h.idle = h.idle[n-1], h.idle[:n-1]
		}
		h.mu.Unlock()
		fresh := p == nil
		if fresh {
			if p, _ = h.newStandIn(); p == nil {
				return nil, 0
			}
		}
		switch {
		case p.Alive() && setLimit(p.PID, mark):
			return p, mark
		case fresh && p.Alive():
			return p, 0
		}
		h.endStandIn(p)
	}
}

func (h *host) endStandIn(p *starter.Parent) {
	p.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.standIns, p.PID)
	delete(h.resident, p.PID)
}

// trimStandIns ends those that wait, but for some.
func (h *host) trimStandIns(keep int) {
	h.mu.Lock()
	var over []*starter.Parent
	if len(h.idle) > keep {
		over, h.idle = h.idle[keep:], h.idle[:keep:keep]
	}
	h.mu.Unlock()
	for _, p := range over {
		h.endStandIn(p)
	}
}

// forkApart starts the shell below a stand-in. The shell inherits the mark of that. done is false if there is
// none.
func (r *root) forkApart(l launch, fds []uintptr) (done bool, err error) {
	for range maxStandIns + 2 { // all that wait, and new ones
		p, mark := r.host.freeStandIn()
		if p == nil {
			break
		}
		if err = r.forkBelow(p, mark, l, fds); !errors.Is(err, starter.ErrSpoiled) {
			return true, err
		}
		r.host.endStandIn(p)
	}
	return false, nil
}

func (r *root) forkBelow(p *starter.Parent, mark uint64, l launch, fds []uintptr) error {
	h := r.host
	h.mu.Lock()
	h.begins++
	number := h.begins
	h.beginning[number] = true
	h.mu.Unlock()
	pid, err := p.Start(starter.Shell{Path: l.shell.Path, Dir: l.dir, Argv: l.argv, Env: l.env,
		Terminal: l.terminal, Files: fds})
	if err == nil {
		r.parent, r.mark = p, mark
	}
	h.mu.Lock()
	delete(h.beginning, number)
	if err == nil {
		h.register(r, pid)
	}
	h.begun.Broadcast()
	h.mu.Unlock()
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		h.keepStandIn(p)
	case err != nil && !errors.Is(err, starter.ErrSpoiled):
		return errors.Join(err, r.loseStandIn(p, mark))
	}
	return err
}

// loseStandIn ends the processes of a shell after its parent was killed before it told the shell's number.
func (r *root) loseStandIn(p *starter.Parent, mark uint64) error {
	h := r.host
	r.mark, r.pid = mark, -p.PID // the number of no process
	h.endStandIn(p)
	h.mu.Lock()
	h.roots[r.pid] = r
	h.mu.Unlock()
	r.end(nil, leftoverGrace)
	h.mu.Lock()
	delete(h.roots, r.pid)
	h.mu.Unlock()
	return errParentLost
}

// keepStandIn keeps one for the next command, if that is to have one.
func (h *host) keepStandIn(p *starter.Parent) {
	h.mu.Lock()
	h.idle = append(h.idle, p)
	keep := maxStandIns
	if h.standIn == "" {
		keep = 0
	}
	h.mu.Unlock()
	h.trimStandIns(keep)
}

// reapApart takes the exit status of the shell from its parent. done is false if that is gone: then the shell
// is a child of ours.
func (r *root) reapApart() (st status, done bool) {
	h := r.host
	h.mu.Lock()
	r.reaped = true
	h.mu.Unlock()
	e, err := r.parent.Reap()
	if err != nil {
		r.lost.Store(true)
		h.endStandIn(r.parent)
		return st, false
	}
	h.mu.Lock()
	if h.roots[r.pid] == r { // its number may be that of another shell by now
		delete(h.roots, r.pid)
	}
	h.mu.Unlock()
	st = r.status(e) // before the parent has another shell, or ends
	h.keepStandIn(r.parent)
	return st, true
}
