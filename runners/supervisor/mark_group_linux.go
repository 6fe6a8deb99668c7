package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/identity"
)

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
		if !slices.ContainsFunc(append([]int{u.GID}, u.Groups...), func(id int) bool { return g.mine(uint64(id)) }) {
			return g, nil
		}
	}
	return nil, errors.New("mark processes: this user namespace has too few groups: map at least 65536")
}

// mapped reports whether a range of groups exists in a user namespace (user_namespaces(7)).
func mapped(table []byte, low, high uint64) bool {
	for line := range strings.Lines(string(table)) {
		var inside, outside, length uint64
		if _, err := fmt.Sscan(line, &inside, &outside, &length); err == nil && inside <= low && high <= inside+length {
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
