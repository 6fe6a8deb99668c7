package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// bounds tells when it makes no sense to wait any longer for the end of processes being killed.
type bounds struct {
	clock clock
	last  <-chan struct{}       // closed after endMost
	soon  <-chan struct{}       // closed endTime after the first of some looks
	stuck map[stuckProcess]bool // were beyond SIGKILL at each of these looks; nil before the first
	stops [2]func() bool
}

type stuckProcess struct {
	pid   int
	start uint64
}

func newBounds(c clock) *bounds {
	b := &bounds{clock: c}
	b.last, b.stops[0] = c.within(endMost)
	b.stops[1] = func() bool { return false }
	return b
}

func (b *bounds) stop() {
	for _, stop := range b.stops {
		stop()
	}
}

// hopeless takes the result of a look. A process that was beyond SIGKILL at one look may end soon: it waits
// for a disk. Only one that was so at every look of endTime is given up. If the looks themselves fail for
// that long, nothing tells whether there is anything left to kill.
func (b *bounds) hopeless(left []proc, err error) bool {
	if closed(b.last) {
		return true
	}
	first := b.stuck == nil
	stuck := map[stuckProcess]bool{}
	for _, p := range left {
		id := stuckProcess{p.pid, p.start}
		if (first || b.stuck[id]) && (err != nil || p.beyond()) {
			stuck[id] = true
		}
	}
	b.stuck = stuck
	switch {
	case first:
		b.soon, b.stops[1] = b.clock.within(endTime)
		return false
	case !closed(b.soon):
		return false
	}
	if len(stuck) == 0 {
		b.stuck = nil // the next look is again the first of some
	}
	return len(stuck) > 0
}

// beyond reports whether SIGKILL may never end the process.
func (p proc) beyond() bool {
	return p.state == 'D' || errors.Is(unix.Kill(p.pid, 0), unix.EPERM)
}
