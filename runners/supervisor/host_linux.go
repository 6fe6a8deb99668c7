package supervisor

import (
	"fmt"
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

	mu    sync.Mutex // held while children come and go, so that none is taken for an orphan
	marks *marks     // nil where limits cannot mark
	roots map[int]*root
	watch *watcher // nil until the first start, and where it cannot work
	lack  []string
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
		}
		done <- err
	}
	err := <-done
	runtime.KeepAlive(files)
	return r, err
}

func (r *root) fork(l launch, fds []uintptr) error {
	var self unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &self)
	pid, err := syscall.ForkExec(l.shell.Path, l.argv, &syscall.ProcAttr{
		Dir: l.dir, Env: l.env, Files: fds,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return err
	}
	r.pid, r.floor = pid, self.Maxrss
	if m := r.host.marks; m != nil {
		r.mark = m.set(pid)
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
	idle := len(h.roots) == 0
	h.mu.Unlock()
	if idle {
		return
	}
	all, err := processes()
	if err != nil {
		return // the next tick, or the end of the command, tries again
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range all {
		if r, ok := h.orphan(p); ok && !p.alive() {
			r.wait(p)
		}
	}
}

// close ends the helpers. Every command has ended before.
func (h *host) close() error {
	close(h.stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watch == nil {
		return nil
	}
	return h.watch.close()
}
