package supervisor

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const executableSuffix = ""

// host is this machine as a place to keep processes.
type host struct {
	self int // our pid
	sid  int // our session

	thread chan func() // runs on one thread that lives as long as the host
	stop   chan struct{}

	scans scans

	mu    sync.Mutex // held while children come and go, so that none is taken for an orphan
	marks *marks     // nil where limits cannot mark
	roots map[int]*root
	watch *watcher // nil until the first start
	lack  []string

	oldest   uint64 // when the first command started; 0 before
	untraced bool   // tracing is forbidden here
	used     bool   // a command has run since the janitor last found none
}

// newHost makes this process the one that orphaned descendants come to.
func newHost() (*host, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("open environment: become subreaper: %w", err)
	}
	if _, err := readProc(os.Getpid()); err != nil {
		return nil, fmt.Errorf("open environment: read /proc: %w: mount /proc", err)
	}
	sid, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("open environment: read own session: %w", err)
	}
	// Descriptors that whoever started sallyport left open are not for commands. Those that sallyport
	// opened itself are closed in its children anyway.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		closeOnExec()
	}
	m, err := newMarks()
	if err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	h := &host{
		self: os.Getpid(), sid: sid, marks: m, roots: map[int]*root{},
		thread: make(chan func()), stop: make(chan struct{}),
	}
	if m == nil {
		h.lack = append(h.lack, "RLIMIT_RTTIME is limited here, so processes cannot be marked: one that leaves its session, its parent and its environment behind outlives its command, and those of a command outlive sallyport if that is killed")
	}
	go h.forks()
	go h.janitor()
	return h, nil
}

func (h *host) shortcomings() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lack...)
}

// forks starts processes. They are to be killed when sallyport dies, and the kernel takes the
// thread that started them for sallyport (PR_SET_PDEATHSIG, prctl(2)): so it is one thread, and
// it lives on.
func (h *host) forks() {
	runtime.LockOSThread()
	for {
		select {
		case f := <-h.thread:
			f()
		case <-h.stop:
			return // and the thread with it, by which time nothing is left to kill
		}
	}
}

// start runs the shell of a command in a session of its own.
func (h *host) start(l launch, files [3]*os.File) (*root, error) {
	r := &root{host: h, id: l.id, began: time.Now()}
	fds := []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()}
	done := make(chan error)
	h.thread <- func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watch == nil && h.marks != nil {
			h.startWatcher(l.shell.Path)
		}
		err := r.fork(l, fds)
		if err == nil {
			h.roots[r.pid] = r
			h.used = true
			h.began(r.pid)
		}
		done <- err
	}
	err := <-done
	runtime.KeepAlive(files)
	return r, err
}

// fork starts the shell and marks it before it does anything. It runs on the host's thread, since
// only the thread that started a process can trace it.
func (r *root) fork(l launch, fds []uintptr) error {
	h := r.host
	attr := &syscall.ProcAttr{
		Dir: l.dir, Env: l.env, Files: fds,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Ptrace: h.marks != nil && !h.untraced},
	}
	pid, err := syscall.ForkExec(l.shell.Path, l.argv, attr)
	if attr.Sys.Ptrace && (err == syscall.EPERM || err == syscall.EACCES || err == syscall.ENOSYS) {
		attr.Sys.Ptrace = false
		if pid, err = syscall.ForkExec(l.shell.Path, l.argv, attr); err == nil {
			h.untraced = true
			h.lack = append(h.lack, "processes cannot be traced here, so that one which a command starts at once may lack its mark: it may outlive its command, or sallyport if that is killed, if it also leaves its session, its parent and its environment behind")
		}
	}
	if err != nil {
		return err
	}
	var self unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &self)
	r.pid, r.floor = pid, self.Maxrss
	if attr.Sys.Ptrace {
		// It stops as soon as it has become the shell (ptrace(2), PTRACE_TRACEME).
		_ = waitFor(pid, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT)
	}
	if h.marks != nil {
		r.mark = h.marks.set(pid)
	}
	if attr.Sys.Ptrace {
		_ = unix.PtraceDetach(pid) // an error means that it was killed already
	}
	return nil
}

// janitor collects, once a second, orphans that ended while their command runs on. Otherwise a
// long command that starts many of them would fill the process table with zombies.
func (h *host) janitor() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
			h.collect()
		}
	}
}

func (h *host) collect() {
	h.mu.Lock()
	if h.watch != nil && h.watch.gone() {
		h.watch = nil // somebody killed it; the next start gets another
	}
	idle := !h.used
	h.used = len(h.roots) > 0
	h.mu.Unlock()
	if idle {
		return
	}
	look := h.scans.take()
	if look.err != nil {
		return // the next tick, or the end of the command, tries again
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range look.all {
		if p.alive() {
			continue
		}
		if r, ok := h.orphan(p); ok {
			u := reapOrphan(p)
			if r != nil {
				r.used.add(u)
			}
		}
	}
}

// close ends the helpers and what may be left. Every command has ended before. It returns how many
// processes could not be ended.
func (h *host) close() int {
	left := h.sweep()
	close(h.stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watch != nil {
		h.watch.close()
	}
	return left
}
