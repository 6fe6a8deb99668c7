package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// initLook is how often BeInit looks for orphans that came without a sign. There is one nearly always: the
// kernel kills the shells of a supervisor with it, and the end of an orphan is told at once.
const initLook = 2 * time.Second

// BeInit is the first process of a container until ctx ends. It does nothing and starts nothing: a process
// that becomes its child has lost the supervisor that kept it, and is ended with all its descendants. When
// the first process ends, the kernel ends everything in the container.
func BeInit(ctx context.Context) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0,
		0); err != nil { // for those that are not the first
		return fmt.Errorf("become init: %w", err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	tick := time.NewTicker(initLook)
	defer tick.Stop()
	var left map[int]uint64
	for {
		left = endOrphans(ctx, left)
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
		case <-tick.C:
		}
	}
}

// endOrphans ends every descendant of this process. As in root.destroy, processes are stopped first, lest one
// is started while another is being killed, and others are paused only for processes that multiply. known are
// the starts of processes that an earlier call could not end; it returns those that this one cannot.
func endOrphans(ctx context.Context, known map[int]uint64) map[int]uint64 {
	still := &stillness{of: &pause{enclosed: enclosed(), starts: new(sync.Mutex)}}
	defer still.end()
	bounds := newBounds(realClock)
	defer bounds.stop()
	grown, step := 0, time.Millisecond
	for round := 0; ctx.Err() == nil; round++ {
		reapAll()
		left := descendants(os.Getpid())
		if len(left) == 0 || bounds.hopeless(left, nil) {
			break
		}
		sig, more, now := unix.SIGKILL, 0, make(map[int]uint64, len(left))
		for _, p := range left {
			if now[p.pid] = p.start; known[p.pid] != p.start {
				more = 1
			}
		}
		if known = now; more > 0 {
			if still.forCrowd(); grown == fewRounds {
				still.begin()
			}
			if grown++; round < stopRounds {
				sig = unix.SIGSTOP
			}
		}
		for _, p := range left {
			p.send(sig)
		}
		if sig == unix.SIGKILL {
			time.Sleep(step)
			step = min(2*step, 20*time.Millisecond)
		}
	}
	return known
}

// reapAll takes the status of every child that has ended. That is right only in a process that starts none.
func reapAll() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// descendants returns the living processes below pid.
func descendants(pid int) []proc {
	all, err := processes()
	if err != nil {
		return nil // the next look tries again
	}
	children := map[int][]proc{}
	for _, p := range all {
		children[p.ppid] = append(children[p.ppid], p)
	}
	var found []proc
	for next := children[pid]; len(next) > 0; {
		p := next[0]
		next = append(next[1:], children[p.pid]...)
		if p.alive() {
			found = append(found, p)
		}
	}
	return found
}
