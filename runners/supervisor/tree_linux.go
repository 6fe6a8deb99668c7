package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"

	"github.com/sallyport-dev/sallyport/runners/notify"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

// root is the shell of a command and stands for all that descends from it.
type root struct {
	host   *host
	id     string // the command's
	pid    int    // also its session and process group; not reaped, hence not reused, before the end
	mark   uint64 // 0 when it has none
	began  time.Time
	parent *starter.Parent // of the shell; nil for this process
	reaped bool            // its number may be another's; guarded by host.mu
	lost   atomic.Bool     // somebody killed the parent
	used   use             // by orphans that were reaped; guarded by host.mu
	names  askedNames
	// The programs of the command; its shell, which is not judged again; why no programs are seen.
	programs programs
	first    notify.Program
	unseen   error
}

// uncompared is the number of programs that could not be compared after their start. The processes of the
// command have ended, and its shell is not reaped.
func (r *root) uncompared() int {
	if r.host.names != nil {
		r.host.names.Settle(r.id)
	}
	return int(r.programs.uncompared.Load())
}

// startFault says why a command could not be begun as it should be.
func (r *root) startFault() error { return r.unseen }

const (
	// brief is for how long after its start the ids given out since then name the processes that
	// can belong to a command. Ids are given out in a circle, the smallest of 32768, and no
	// machine goes round it in this time.
	brief = 500 * time.Millisecond
	// fewPIDs is up to how many ids it is cheaper to look at each than at all processes.
	fewPIDs = 128
	// endTime bounds the killing of processes that may never end: they hang in the kernel, or belong to
	// others. A process that needs nothing but a processor for its end gets endMost.
	endTime = 2 * time.Second
	// stopRounds bounds the rounds in which newly found processes are stopped before any is killed.
	stopRounds = 16
	// fewRounds is the number of rounds with new processes after which all processes of an enclosed namespace
	// are stopped. Rounds in which killed processes have yet to end do not count.
	fewRounds = 4
	// stopLooks bounds the looks whether all processes have stopped.
	stopLooks = 60
)

// waitEnd blocks until the shell has ended, and leaves it to be reaped.
func (r *root) waitEnd() {
	if r.parent == nil {
		_ = waitFor(r.pid, unix.WEXITED|unix.WNOWAIT)
		return
	}
	r.lost.Store(r.parent.Wait())
}

// parentLost reports whether the command was ended because somebody killed its parent.
func (r *root) parentLost() bool { return r.lost.Load() }

// waitFor waits for a change of one known child.
func waitFor(pid, options int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, options, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// end ends the rest of the tree and returns the number of processes that it could not end.
func (r *root) end(ended <-chan struct{}, grace time.Duration) int {
	if closed(ended) && r.nothingLeft() {
		return 0
	}
	still := &stillness{of: r.host.pause}
	still.forCrowd()
	left, _ := r.tree()
	once := func(proc) bool { return false } // nobody is asked twice
	signalAll(left, unix.SIGTERM, once)
	still.end()
	signalAll(left, unix.SIGCONT, once) // a stopped process acts on TERM only when it goes on
	over := make(chan struct{})
	stop := r.host.clock(grace, func() {
		defer close(over)
		still.forCrowd() // a look that is under way gets the processors
	})
	defer func() {
		if !stop() {
			<-over
		}
		still.end()
	}()
	for step := time.Millisecond; ; step = min(2*step, 20*time.Millisecond) {
		if r.empty() {
			return 0
		}
		select {
		case <-over:
			return r.destroy(still)
		case <-time.After(step):
		}
	}
}

// destroy kills the tree. Processes are stopped first and killed only when no new ones turn up,
// lest one is started while another is being killed.
func (r *root) destroy(still *stillness) int {
	stopped := map[int]uint64{}
	step := time.Millisecond
	killed, grown := false, 0
	bounds := newBounds(r.host.clock)
	defer bounds.stop()
	for round := 0; ; round++ {
		if still.forCrowd(); grown == fewRounds && !still.holds() {
			still.begin()
		}
		left, err := r.tree()
		if len(left) == 0 || bounds.hopeless(left, err) {
			return len(left)
		}
		sig, more := unix.SIGKILL, 0
		for _, p := range left {
			if stopped[p.pid] != p.start {
				more = 1
				if round < stopRounds && !still.holds() {
					sig = unix.SIGSTOP
				}
			}
			stopped[p.pid] = p.start
		}
		grown += more
		// A thousand processes are soon signalled by their groups, and not so soon one by one: that is for
		// those which the signal has not reached.
		signalAll(left, sig, func(p proc) bool {
			return sig == unix.SIGSTOP && p.state != 'T' || sig == unix.SIGKILL && killed
		})
		killed = sig == unix.SIGKILL
		if killed {
			time.Sleep(step)
			step = min(2*step, 20*time.Millisecond)
		}
	}
}

// signalAll signals process groups first: that reaches all members at once, so that a process which starts
// others without end has no gap to slip through. A group with a descendant of a command holds no other
// processes, for groups do not reach across sessions.
//
// Processes that each names get the signal by themselves, too, and so do those without a group of their own.
func signalAll(left []proc, sig unix.Signal, each func(proc) bool) {
	groups := map[int]bool{}
	for _, p := range left {
		if p.pgid > 1 && !groups[p.pgid] {
			groups[p.pgid] = true
			_ = unix.Kill(-p.pgid, sig)
		}
	}
	for _, p := range left {
		if p.pgid <= 1 || each(p) {
			p.send(sig)
		}
	}
}

// nothingLeft reports whether the shell, which has ended, left no process behind. It is exact
// and, for commands of a moment, much cheaper than looking at all processes.
func (r *root) nothingLeft() bool {
	if time.Since(r.began) > brief {
		return r.empty()
	}
	for from := r.pid; ; {
		last, err := r.host.lastPID()
		if err != nil || last < from || last-from > fewPIDs {
			return r.empty()
		}
		if last == from {
			return true // none was started since the last look, so none was missed
		}
		for pid := from + 1; pid <= last; pid++ {
			if r.others(pid) {
				continue
			}
			if p, err := readProc(pid); err == nil && r.host.suspect(p, r) {
				return r.empty()
			}
		}
		from = last
	}
}

// others reports whether no process has an id, or one that bears the mark of another command of ours and is
// not in the session of this one. It is cheaper than to read the process.
func (r *root) others(pid int) bool {
	sid, err := unix.Getsid(pid)
	if err != nil || sid == r.pid {
		return errors.Is(err, unix.ESRCH)
	}
	m, ok := r.host.marks.(*limitMarks)
	if !ok {
		return false
	}
	mark, err := m.of(pid)
	return errors.Is(err, unix.ESRCH) || err == nil && m.mine(mark) && mark != r.mark
}

// empty reports whether no process of the command lives.
func (r *root) empty() bool {
	left, _ := r.tree()
	return len(left) == 0
}

// tree returns the living processes of the command, the shell among them, and reaps its orphans
// that have ended. With an error it returns the shell, which may have ended.
func (r *root) tree() ([]proc, error) {
	look := r.host.scans.take()
	if look.err != nil {
		// Without /proc only the shell's group is known. newHost ensures that there is one.
		return []proc{{pid: r.pid, pgid: r.pid, sid: r.pid}}, look.err
	}
	var next []proc
	r.host.mu.Lock()
	for _, p := range look.all {
		if p.sid == r.pid {
			next = append(next, p)
			continue
		}
		if owner, ok := r.host.orphan(p); ok && owner == r {
			next = append(next, p)
		}
	}
	left, used := r.host.grown(look, next, r.pid)
	r.used.add(used)
	r.host.mu.Unlock()
	return left, nil
}

// grown returns the living among some processes and all their descendants. Ended orphans among them are
// reaped, except for the shell, whose status another call waits for. The caller holds host.mu.
func (h *host) grown(look *scan, from []proc, shell int) (living []proc, used use) {
	seen := map[int]bool{}
	for len(from) > 0 {
		p := from[0]
		from = from[1:]
		if seen[p.pid] {
			continue
		}
		seen[p.pid] = true
		from = append(from, look.children[p.pid]...)
		if p.alive() {
			living = append(living, p)
		} else if p.ppid == h.self && p.pid != shell {
			used.add(reapOrphan(p))
		}
	}
	return living, used
}

// use is the resource usage of processes.
type use struct {
	user, system time.Duration
	maxRSS       int64 // bytes
}

func (u *use) add(v use) {
	u.user += v.user
	u.system += v.system
	u.maxRSS = max(u.maxRSS, v.maxRSS)
}

// reapOrphan reaps an orphan of ours that has ended. The caller holds host.mu.
func reapOrphan(p proc) use {
	var ws unix.WaitStatus
	var ru unix.Rusage
	if pid, err := unix.Wait4(p.pid, &ws, unix.WNOHANG, &ru); err != nil || pid != p.pid {
		return use{}
	}
	return use{time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano()), ru.Maxrss << 10}
}

// signal sends a signal to the group of the shell. Its number is the command's until the shell is reaped.
func (r *root) signal(s engine.Signal) error {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	if r.host.roots[r.pid] == r && !r.reaped {
		_ = unix.Kill(-r.pid, unix.SignalNum(string(s))) // an error means that all of it has ended
	}
	return nil
}

// reap takes the exit status of the shell, which has ended.
func (r *root) reap() (status, error) {
	h := r.host
	if r.parent != nil {
		if st, done := r.reapApart(); done {
			return st, nil
		}
		r.parent = nil
	}
	var ws syscall.WaitStatus
	var ru syscall.Rusage
	h.mu.Lock()
	delete(h.roots, r.pid) // within the lock: its id may be given out again from here on
	err := error(syscall.EINTR)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(r.pid, &ws, 0, &ru)
	}
	h.mu.Unlock()
	if err != nil {
		return status{code: -1}, fmt.Errorf("wait for command: %w", err)
	}
	return r.status(starter.End{Status: ws, User: time.Duration(ru.Utime.Nano()),
		System: time.Duration(ru.Stime.Nano()), MaxRSS: ru.Maxrss}), nil
}

// status adds the processes of the command that were reaped before its shell.
func (r *root) status(e starter.End) status {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	st := waitStatus(e.Status)
	st.user, st.system = e.User+r.used.user, e.System+r.used.system
	// The kernel counts the memory of a process between fork and exec, which is its parent's. Only a larger
	// value is the command's.
	parent, name := r.host.self, "self"
	if r.parent != nil {
		parent = r.parent.PID
		name = strconv.Itoa(parent)
	}
	if e.MaxRSS > r.host.resident[parent] { // it is larger, or its parent has grown
		r.host.resident[parent] = highWater(name)
	}
	if st.maxRSS = r.used.maxRSS; e.MaxRSS > r.host.resident[parent] {
		st.maxRSS = max(st.maxRSS, e.MaxRSS<<10)
	}
	return st
}

// crowd is the number of processes above which all are stopped before they are looked at one by one. A fork
// bomb leaves so little of the processors that a single look takes seconds, and it starts others meanwhile.
const crowd = 64

// enclosed reports whether every process of this process namespace belongs to a supervisor: the first process
// is this one, or the supervisor's program as the init of a container.
func enclosed() bool {
	if os.Getpid() == 1 {
		return true
	}
	line, err := os.ReadFile("/proc/1/cmdline")
	words := bytes.Split(line, []byte{0})
	return err == nil && len(words) > 1 && string(words[1]) == "--init" &&
		filepath.Base(string(words[0])) == "sallyport-supervisor"
}

// crowded reports whether a crowd of processes lives in a namespace that is enclosed.
func crowded() bool {
	pids, err := listed()
	return err == nil && len(pids) > crowd
}

// pause is the stop of every other process of an enclosed namespace, for all who need it. The kernel does it
// in one step, within which none can start another (kill(2), pid -1). Elsewhere it does nothing.
type pause struct {
	enclosed bool
	starts   *sync.Mutex // held while a process starts: it would wait for one that is stopped before its exec
	mu       sync.Mutex
	holders  int
	pids     []int // of the processes that it found
}

// stillness is a part in a pause. Other commands pause too, and all processes go on at the end of the last
// part, also those that were stopped before.
type stillness struct {
	of *pause
	on atomic.Bool
}

// forCrowd begins it if there is a crowd.
func (s *stillness) forCrowd() {
	if s.of.enclosed && crowded() {
		s.begin()
	}
}

func (s *stillness) begin() {
	if !s.of.enclosed {
		return
	}
	s.of.starts.Lock()
	defer s.of.starts.Unlock()
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if !s.on.Swap(true) {
		s.of.holders++
	}
	// Other children of ours, too, execute their programs first: our runtime waits for the thread of a fork.
	// Package os once tries a fork without that lock, before its first process.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	syscall.ForkLock.RLock()
	_ = unix.Kill(-1, unix.SIGSTOP) // an error means that there are no others
	syscall.ForkLock.RUnlock()
	s.of.pids, _ = listed()
}

// holds reports whether it has begun and not ended.
func (s *stillness) holds() bool { return s.on.Load() }

func (s *stillness) end() {
	if !s.on.Swap(false) {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.holders--; s.of.holders == 0 {
		s.of.awaitStops()
		_ = unix.Kill(-1, unix.SIGCONT)
	}
}

// awaitStops waits until each process that the pause found has stopped, for a bounded number of looks. Where
// SIGCONT reaches a process within a fork, the kernel continues it and leaves its child stopped: the child
// inherits a SIGSTOP of that time, and no SIGCONT that its parent ignores (copy_process and prepare_signal of
// Linux).
func (p *pause) awaitStops() {
	step := time.Millisecond
	for range stopLooks {
		p.pids = slices.DeleteFunc(p.pids, func(pid int) bool { return !runs(pid) })
		if len(p.pids) == 0 {
			return
		}
		time.Sleep(step)
		step = min(2*step, 20*time.Millisecond)
	}
}

// runs reports whether a thread of another process runs, or waits in the kernel: a fork waits for readers of
// the memory that it copies. The first process of a namespace is never stopped.
func runs(pid int) bool {
	if pid == 1 || pid == os.Getpid() {
		return false
	}
	p, err := readProc(pid)
	if err != nil || p.threads <= 1 {
		return err == nil && p.inKernel()
	}
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // none: it has ended
	return slices.ContainsFunc(stats, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		p, err := parseStat(pid, text)
		return err == nil && p.inKernel()
	})
}

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
