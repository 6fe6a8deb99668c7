package supervisor

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// oomCounter is the file in which the kernel counts the processes of our control group that it killed for
// want of memory; "" where there is none to be seen.
type oomCounter string

// findOOMCounter looks for the control group of this process, which is that of its commands too.
func findOOMCounter() oomCounter {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for _, c := range oomCounters(groups, mounts) {
		if _, ok := oomCounter(c).read(); ok {
			return oomCounter(c)
		}
	}
	return ""
}

// oomCounters returns where the counter can be: below each mount of control groups, at the group that
// /proc/self/cgroup names, seen from the root of that mount (cgroups(7), proc_pid_mountinfo(5)).
func oomCounters(groups, mounts []byte) []string {
	v1, v2 := memoryGroups(groups)
	var found []string
	s := bufio.NewScanner(bytes.NewReader(mounts))
	for s.Scan() {
		fields := strings.Fields(s.Text())
		dash := 0
		for i, f := range fields {
			if f == "-" {
				dash = i
				break
			}
		}
		if dash < 6 || len(fields) < dash+4 {
			continue
		}
		root, point, kind, options := fields[3], fields[4], fields[dash+1], fields[dash+3]
		var group, file string
		switch {
		case kind == "cgroup2" && v2 != "":
			group, file = v2, "memory.events"
		case kind == "cgroup" && v1 != "" && strings.Contains(","+options+",", ",memory,"):
			group, file = v1, "memory.oom_control"
		default:
			continue
		}
		rel, err := filepath.Rel(root, group)
		if err != nil || strings.HasPrefix(rel, "..") {
			rel = "." // a container often shows nothing but its own group
		}
		found = append(found, path.Join(point, rel, file))
	}
	return found
}

// memoryGroups returns the paths of the groups that count memory, of both versions.
func memoryGroups(groups []byte) (v1, v2 string) {
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			v2 = parts[2]
		}
		if strings.Contains(","+parts[1]+",", ",memory,") {
			v1 = parts[2]
		}
	}
	return v1, v2
}

// read returns the count.
func (c oomCounter) read() (n int, ok bool) {
	if c == "" {
		return 0, false
	}
	// Plain calls and no allocation but the path: it is read twice for each command.
	fd, err := unix.Open(string(c), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	var buf [512]byte
	k, err := unix.Read(fd, buf[:])
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(buf[:k]) {
		if rest, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			n, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
			return n, err == nil
		}
	}
	return 0, false
}

// sacrifice makes the kernel end a process and its future children before us when memory runs out: ours are
// few and small, but bigger than a shell. If that is not permitted, the kernel chooses by size.
func sacrifice(pid int) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, _ = unix.Write(fd, []byte("300"))
		_ = unix.Close(fd)
	}
}

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
