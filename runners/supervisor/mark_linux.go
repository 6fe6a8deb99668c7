package supervisor

import (
	"crypto/rand"
	"fmt"
	"math/big"

	"golang.org/x/sys/unix"
)

// marks tells the processes of commands apart by a resource limit.
//
// A process can leave its session, lose its parent and clear its environment, but it hands its
// resource limits down to everything it starts (setrlimit(2)). The limit on the processor time
// of real-time threads, in microseconds, is of no use to a process as long as it is thousands of
// years; within that range its value is free to carry a number. A process that lowers the limit
// shows that it did; only root can put it back.
type marks struct {
	own    uint64 // the limit of this very process, which its other children have
	prefix uint64 // decimal digits that all marks of this Supervisor begin with
	next   uint64
}

const (
	markDigits = 7                   // decimal digits that count the commands; they start again at 0
	markCount  = 10_000_000          // 10^markDigits
	markLow    = 100_000_000_000     // least prefix; all prefixes have 12 digits
	markHigh   = 900_000_000_000     // so that every mark is less than 2^63
	leastMark  = markLow * markCount // 10^18 microseconds are 31,000 years
)

// newMarks chooses a prefix. Marks are off where this process itself is limited: either it runs
// under another Sallyport, whose marks must stay, or somebody wants the limit.
func newMarks() (*marks, error) {
	var own unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &own); err != nil {
		return nil, fmt.Errorf("read limit of real-time processor time: %w", err)
	}
	if own.Max != unix.RLIM_INFINITY {
		return nil, nil
	}
	n, err := rand.Int(rand.Reader, big.NewInt(markHigh-markLow))
	if err != nil {
		return nil, fmt.Errorf("choose mark: %w", err)
	}
	return &marks{own: own.Max, prefix: markLow + n.Uint64()}, nil
}

// set marks a process that was just started and returns its mark, or 0.
func (m *marks) set(pid int) uint64 {
	mark := m.prefix*markCount + m.next%markCount
	m.next++
	if err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: mark, Max: mark}, nil); err != nil {
		return 0
	}
	return mark
}

// of returns the limit of a process, which is a mark or not. The error is ESRCH when there is no such process.
func (m *marks) of(pid int) (uint64, error) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l)
	return l.Max, err
}

// mine reports whether a limit is a mark of this Supervisor.
func (m *marks) mine(limit uint64) bool { return limit/markCount == m.prefix }

// foreign reports whether a limit is a mark of another Supervisor, in this process or around it.
func (m *marks) foreign(limit uint64) bool {
	return limit != m.own && limit >= leastMark && !m.mine(limit)
}

// changed reports whether a process, or one before it, set its limit itself.
func (m *marks) changed(limit uint64) bool { return limit < leastMark }
