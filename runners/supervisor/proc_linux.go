package supervisor

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// proc is a parsed /proc/PID/stat (proc_pid_stat(5)).
type proc struct {
	pid, ppid, pgid, sid int
	state                byte
	threads              int
	start                uint64 // clock ticks since boot; with pid it names a process for good
}

// alive reports whether any thread of the process can still run. A process with an ended
// first thread shows as a zombie while the others go on.
func (p proc) alive() bool {
	return p.state != 'X' && (p.state != 'Z' || p.threads > 1)
}

// inKernel reports whether the process runs, or waits where a signal does not reach it.
func (p proc) inKernel() bool { return p.state == 'R' || p.state == 'D' }

// readProc reads one process. It is called for every process of the machine in a row, hence
// the plain system calls and no allocation but the path.
func readProc(pid int) (proc, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return proc{}, err
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	var buf [512]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return proc{}, err
	}
	return parseStat(pid, buf[:n])
}

var errStat = errors.New("unknown form of /proc/PID/stat")

// parseStat reads the fields behind the program's name, which may itself hold blanks and brackets.
func parseStat(pid int, line []byte) (proc, error) {
	p := proc{pid: pid}
	i := bytes.LastIndexByte(line, ')')
	if i < 0 || i+2 >= len(line) {
		return p, errStat
	}
	field := 2 // the name
	for f := range bytes.FieldsSeq(line[i+1:]) {
		field++
		switch field {
		case 3:
			p.state = f[0]
		case 4:
			p.ppid = number(f)
		case 5:
			p.pgid = number(f)
		case 6:
			p.sid = number(f)
		case 20:
			p.threads = number(f)
		case 22:
			p.start = uint64(number(f))
			return p, nil
		}
	}
	return p, errStat
}

// number reads a decimal number, as the kernel writes it. Other text gives 0 or less and so matches no
// process.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// processes reads all processes. The kernel gives no snapshot: a process may start another and end while we
// read, so that neither is seen. Hence the names are listed again until a list holds no unread name. A
// process that is missing from the last list was being started meanwhile by a living one that was read; and a
// process whose parent was not found is read again, for it has another parent now.
func processes() ([]proc, error) { return look(listed, readProc) }

// look is processes, with the ways to list and to read them.
func look(list func() ([]int, error), read func(pid int) (proc, error)) ([]proc, error) {
	have := map[int]proc{}
	tried := map[int]bool{}
	for range 100 { // each round is shorter than the one before, unless the machine does nothing but fork
		pids, err := list()
		if err != nil {
			return nil, err
		}
		pids = slices.DeleteFunc(pids, func(pid int) bool { return tried[pid] })
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			tried[pid] = true
			if p, err := read(pid); err == nil {
				have[pid] = p
			}
		}
	}
	rejoin(have, read)
	return slices.Collect(maps.Values(have)), nil
}

// rejoin reads processes again if their parent has ended, and drops ended ones.
func rejoin(have map[int]proc, read func(pid int) (proc, error)) {
	for again := true; again; {
		again = false
		for pid, p := range have {
			if _, ok := have[p.ppid]; ok || p.ppid == 0 {
				continue
			}
			now, err := read(pid)
			switch {
			case err != nil:
				delete(have, pid) // those that it started are children of another now
				again = true
			case now.ppid != p.ppid:
				have[pid] = now
				again = true
			}
		}
	}
}

// listed returns the ids of the processes that /proc lists.
func listed() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid := number([]byte(name)); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// lastPID returns the process id that the kernel gave out last in this pid namespace: the last
// field of /proc/loadavg (proc_loadavg(5)).
func (h *host) lastPID() (int, error) {
	var buf [128]byte
	n, err := unix.Pread(h.loadavg, buf[:], 0)
	if err != nil {
		return 0, err
	}
	b := bytes.TrimSpace(buf[:n])
	return number(b[bytes.LastIndexByte(b, ' ')+1:]), nil
}

// send signals the very process that p describes, never another one that got its id since.
func (p proc) send(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil && err != unix.ENOSYS && err != unix.EPERM {
		return // gone
	}
	if fd >= 0 && err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if now, e := readProc(p.pid); e != nil || now.start != p.start {
		return
	}
	if err == nil {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		return
	}
	_ = unix.Kill(p.pid, sig) // a kernel or a filter without pidfd: the check above is a moment old
}

// environ returns the environment that the process was started with. It cannot be told of a process of
// another user or of one that has ended.
func (p proc) environ() []byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return nil
	}
	return b
}

// marked reports whether an environment holds the marker of the command id.
func marked(environ []byte, id string) bool {
	entry := append([]byte{0}, Marker+"="+id+"\x00"...)
	return bytes.HasPrefix(environ, entry[1:]) || bytes.Contains(environ, entry)
}

// highWater is the greatest resident size of the program of a process so far, in KiB. The value of
// getrusage(2) may be larger: it includes the program that started this one.
func highWater(pid string) int64 {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		return int64(number(f[0]))
	}
	var self unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &self)
	return self.Maxrss
}

// scan is one look at all processes. It is shared, so nobody changes it.
type scan struct {
	all      []proc
	children map[int][]proc
	err      error
	done     chan struct{} // closed when it is complete
}

// scans lets concurrent callers share one scan: to end many commands at once then costs about as much as to
// end one. A caller does not join a scan that has begun, since the answer must show events before the call.
type scans struct {
	turn sync.Mutex // held during a look
	mu   sync.Mutex
	next *scan                  // has not begun; nil when nobody waits for one
	read func() ([]proc, error) // nil for processes
}

// take returns a look that began after the call.
func (s *scans) take() *scan {
	s.mu.Lock()
	if joined := s.next; joined != nil {
		s.mu.Unlock()
		<-joined.done
		return joined
	}
	own := &scan{done: make(chan struct{})}
	s.next = own
	s.mu.Unlock()

	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	read := s.read
	if read == nil {
		read = processes
	}
	own.all, own.err = read()
	own.children = make(map[int][]proc, len(own.all))
	for _, p := range own.all {
		own.children[p.ppid] = append(own.children[p.ppid], p)
	}
	close(own.done)
	return own
}
