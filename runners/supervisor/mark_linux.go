package supervisor

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/identity"
)

// marks tell the processes of commands apart by something that a process hands down to everything that it
// starts, and that it cannot get rid of: it can leave its session, lose its parent and clear its environment.
//
// Marks are numbers that all begin with the same decimal digits, those of one Supervisor.
type marks interface {
	// next chooses the mark of a command. The caller holds host.mu.
	next(live map[int]*root) uint64
	// of returns the mark field of a process, marked or not. The error is ESRCH if the process does not
	// exist.
	of(pid int) (uint64, error)
	mine(mark uint64) bool
	// foreign reports whether it is the mark of another Supervisor, in this process or around it.
	foreign(mark uint64) bool
	// changed reports whether a process, or one before it, did something about its mark.
	changed(mark uint64) bool
	// shown says where /proc tells the mark of a process: the name of a file, and how lines with a mark of
	// ours look to grep.
	shown() (file, pattern string)
}

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
	markDigits = 7                   // decimal digits that count the commands, down, since a limit can be lowered only
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
	return m.prefix*markCount + markCount - 1 - (m.count-1)%markCount
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

// groupMarks marks processes by a supplementary group that has no other use, besides those of the user: batch
// systems identify the processes of a job in the same way. Only root can change the groups of a process, so a
// process without a mark descends from one that became root. No file belongs to the group, so it gives no
// rights.
//
// It is for processes of another user: a supervisor has no right to set or read their limits.
type groupMarks struct {
	prefix uint64
	digits int
	size   uint64 // 10^digits
	count  uint64
}

// newGroupMarks chooses a prefix among the numbers that there are for groups here: all of them, or as few
// as a user namespace has.
func newGroupMarks(u identity.User) (*groupMarks, error) {
	b, err := os.ReadFile("/proc/self/gid_map")
	if err != nil {
		return nil, fmt.Errorf("read the numbers of groups: %w", err)
	}
	for _, m := range []struct {
		low, high uint64
		digits    int
	}{{1_100_000_000, 2_100_000_000, 6}, {61_000, 65_000, 3}} {
		if !mapped(b, m.low, m.high) {
			continue
		}
		g := &groupMarks{digits: m.digits, size: 1}
		for range m.digits {
			g.size *= 10
		}
		n, err := below(int64((m.high - m.low) / g.size))
		if err != nil {
			return nil, err
		}
		g.prefix = m.low/g.size + n
		if !slices.ContainsFunc(append([]int{u.GID}, u.Groups...),
			func(id int) bool { return g.mine(uint64(id)) }) {
			return g, nil
		}
	}
	return nil, errors.New("mark processes: this user namespace has too few groups: map at least 65536")
}

// mapped reports whether a range of groups exists in a user namespace (user_namespaces(7)).
func mapped(table []byte, low, high uint64) bool {
	for line := range strings.Lines(string(table)) {
		var inside, outside, length uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &length); err == nil && inside <= low &&
			high <= inside+length {
			return true
		}
	}
	return false
}

func (m *groupMarks) next(live map[int]*root) uint64 {
	for {
		mark := m.prefix*m.size + m.count%m.size
		m.count++
		used := false
		for _, r := range live {
			used = used || r.mark == mark
		}
		if !used || uint64(len(live)) >= m.size {
			return mark
		}
	}
}

// credential is the user with a mark.
func credential(u identity.User, mark uint64) *syscall.Credential {
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	c.Groups = append(c.Groups, uint32(mark))
	return c
}

// of returns the mark among the groups of a process, or 0.
func (m *groupMarks) of(pid int) (uint64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, unix.ESRCH
	}
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("\nGroups:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	for f := range bytes.FieldsSeq(line) {
		if n, err := strconv.ParseUint(string(f), 10, 32); err == nil && m.mine(n) {
			return n, nil
		}
	}
	return 0, nil
}

func (m *groupMarks) mine(group uint64) bool   { return group/m.size == m.prefix }
func (m *groupMarks) foreign(uint64) bool      { return false }
func (m *groupMarks) changed(gone uint64) bool { return gone == 0 }

func (m *groupMarks) shown() (file, pattern string) {
	return "status", fmt.Sprintf(`^Groups:.*[[:blank:]]%d[0-9]\{%d\} `, m.prefix, m.digits)
}
