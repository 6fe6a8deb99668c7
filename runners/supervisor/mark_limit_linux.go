package supervisor

import (
	"crypto/rand"
	"fmt"
	"math/big"

	"golang.org/x/sys/unix"
)

// limitMarks marks by a resource limit.
//
// The limit on the processor time of real-time threads, in microseconds, is of no use to a process as long
// as it is thousands of years (setrlimit(2)); within that range its value is free to carry a number. A
// process that lowers the limit shows that it did; only root can put it back.
type limitMarks struct {
	own    uint64 // the limit of this very process, which its other children have
	prefix uint64 // decimal digits that all marks of this Supervisor begin with
	count  uint64
}

const (
	markDigits = 7                   // decimal digits that count the commands; they start again at 0
	markCount  = 10_000_000          // 10^markDigits
	markLow    = 100_000_000_000     // least prefix; all prefixes have 12 digits
	markHigh   = 900_000_000_000     // so that every mark is less than 2^63
	leastMark  = markLow * markCount // 10^18 microseconds are 31,000 years
)

// newLimitMarks chooses a prefix. There are none if this process itself is limited: either it runs under
// another Sallyport, whose marks must stay, or its user wants the limit.
func newLimitMarks() (*limitMarks, error) {
	var own unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &own); err != nil {
		return nil, fmt.Errorf("read limit of real-time processor time: %w", err)
	}
	if own.Max != unix.RLIM_INFINITY {
		return nil, nil
	}
	n, err := below(markHigh - markLow)
	if err != nil {
		return nil, err
	}
	return &limitMarks{own: own.Max, prefix: markLow + n}, nil
}

// below returns a random number.
func below(limit int64) (uint64, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(limit))
	if err != nil {
		return 0, fmt.Errorf("choose mark: %w", err)
	}
	return n.Uint64(), nil
}

func (m *limitMarks) next(map[int]*root) uint64 {
	m.count++
	return m.prefix*markCount + (m.count-1)%markCount
}

// setLimit marks a process that was just started, and reports whether it could.
func setLimit(pid int, mark uint64) bool {
	return unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: mark, Max: mark}, nil) == nil
}

func (m *limitMarks) of(pid int) (uint64, error) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l)
	return l.Max, err
}

func (m *limitMarks) mine(limit uint64) bool { return limit/markCount == m.prefix }

func (m *limitMarks) foreign(limit uint64) bool {
	return limit != m.own && limit >= leastMark && !m.mine(limit)
}

func (m *limitMarks) changed(limit uint64) bool { return limit < leastMark }

func (m *limitMarks) shown() (file, pattern string) {
	return "limits", fmt.Sprintf(`^Max realtime timeout .* %d[0-9]\{%d\} `, m.prefix, markDigits)
}
