package supervisor

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/notify"
	"github.com/sallyport-dev/sallyport/runners/starter"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

const executableSuffix = ""

// host is this machine as a place to keep processes.
type host struct {
	self int // our pid
	sid  int // our session

	user       *identity.User   // user of commands; nil for our own
	rights     *identity.Rights // theirs on files
	expendable bool
	pause      *pause // of all processes of this process namespace, where they are of supervisors
	clock      clock

	plain *forker // starts processes that may gain rights, and the watcher
	bare  *forker // starts processes that may not; the same where no right is dropped
	stop  chan struct{}

	scans scans

	names    *notify.Service // performs the calls of commands that make names; nil where there is none
	starter  string          // the program that begins commands to see their programs; "" for none
	tried    atomic.Bool     // a start of a trial was seen
	recorder *undo.Recorder  // keeps the files that commands change; nil where there is none
	obeyed   func(path string) (around string, is bool)

	mu    sync.Mutex // held while children come and go, so that none is taken for an orphan
	marks marks      // nil where processes cannot be marked
	roots map[int]*root
	watch *watcher // nil until the first start
	lack  []string

	standIn   string            // program of stand-ins; "" where commands are our children
	standIns  map[int]struct{}  // those that live
	idle      []*starter.Parent // those that wait for a shell
	begins    uint64            // numbers the starts of shells below stand-ins
	beginning map[uint64]bool   // those under way
	begun     *sync.Cond        // one of them is over

	resident map[int]int64 // greatest resident size of shells' parents in KiB, as last read
	loadavg  int           // descriptor of /proc/loadavg; -1 for none

	oldest   uint64 // when the first command started; 0 before
	untraced bool   // tracing is forbidden here
	used     bool   // a command has run since the janitor last found none
}

// newHost makes this process the one that orphaned descendants come to.
func newHost(o Options) (*host, error) {
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
	// Descriptors that sallyport inherited open are not for commands. Those that sallyport opened itself are
	// closed in its children anyway.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		closeOnExec()
	}
	h := &host{
		self: os.Getpid(), sid: sid, user: o.User, rights: o.Rights, expendable: o.Expendable, clock: o.clock,
		roots: map[int]*root{}, standIns: map[int]struct{}{}, resident: map[int]int64{},
		beginning: map[uint64]bool{}, stop: make(chan struct{}), obeyed: o.Suspect,
	}
	h.begun = sync.NewCond(&h.mu)
	h.pause = &pause{enclosed: enclosed(), starts: &h.mu}
	if h.loadavg, err = unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		h.loadavg = -1
	}
	if err := h.choose(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	if o.Apart != "" && o.User == nil {
		h.prepareStandIns(o.Apart)
	}
	if err := h.prepareForkers(o); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	if h.standIn != "" {
		go func() { // while the first command is judged
			if p, _ := h.newStandIn(); p != nil {
				h.keepStandIn(p)
			}
		}()
	}
	go h.janitor()
	return h, nil
}

// choose finds the means by which processes are marked.
func (h *host) choose() error {
	if h.user != nil {
		m, err := newGroupMarks(*h.user)
		if err != nil {
			return err
		}
		h.marks = m
		return nil
	}
	m, err := newLimitMarks()
	switch {
	case err != nil:
		return err
	case m == nil:
		h.lack = append(h.lack,
			"RLIMIT_RTTIME is limited here, so processes cannot be marked: one that leaves its session, its parent "+
				"and its environment behind outlives its command, and those of a command outlive sallyport if that "+
				"is killed")
	default:
		h.marks = m
	}
	return nil
}

func (h *host) shortcomings() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lack...)
}

// start runs the shell of a command in a session of its own.
func (h *host) start(l launch, files []*os.File) (*root, error) {
	r := &root{host: h, id: l.id, began: time.Now(), names: askedNames{may: l.mayMake},
		programs: programs{may: l.mayStart, env: l.env}}
	on := h.bare
	if l.elevated {
		on = h.plain
	}
	h.startWatcher(l.shell.Path)
	begin := func() error { return nil }
	if h.starter != "" && !l.elevated {
		over, done, err := h.seen(r, &l)
		if err != nil {
			return nil, err
		}
		defer done()
		files, begin = append(files, over.Descriptor()), func() error { return h.handOver(over, r) }
	}
	var fds []uintptr
	for _, f := range files {
		fds = append(fds, f.Fd())
	}
	done, err := false, error(nil)
	if on == h.bare && h.standsApart() {
		done, err = r.forkApart(l, fds)
	}
	if !done {
		err = on.run(func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			pid, err := r.fork(l, fds)
			if err == nil {
				h.register(r, pid)
			}
			return err
		})
	}
	runtime.KeepAlive(files)
	if err == nil {
		// Without a listener the program that begins the command ends, and says why.
		r.unseen = begin()
	}
	return r, err
}

// register notes a shell that was started. The caller holds h.mu.
func (h *host) register(r *root, pid int) {
	r.pid = pid
	h.roots[pid] = r
	h.used = true
	h.began(pid)
}

// fork starts the shell and marks it before it does anything. It runs on a thread of the host, since
// only the thread that started a process can trace it.
func (r *root) fork(l launch, fds []uintptr) (pid int, err error) {
	h := r.host
	attr := &syscall.ProcAttr{
		Dir: l.dir, Env: l.env, Files: fds,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: l.terminal, Pdeathsig: syscall.SIGKILL,
			Ptrace: h.marks != nil && !h.untraced},
	}
	if h.user != nil {
		r.mark = h.marks.next(h.roots)
		attr.Sys.Credential = credential(*h.user, r.mark)
	}
	pid, err = syscall.ForkExec(l.shell.Path, l.argv, attr)
	if attr.Sys.Ptrace && (err == syscall.EPERM || err == syscall.EACCES || err == syscall.ENOSYS) {
		attr.Sys.Ptrace = false
		if pid, err = syscall.ForkExec(l.shell.Path, l.argv, attr); err == nil {
			h.untraced = true
			h.lack = append(h.lack,
				"processes cannot be traced here, so that one which a command starts at once may lack its mark: it may "+
					"outlive its command, or sallyport if that is killed, if it also leaves its session, its parent and "+
					"its environment behind")
		}
	}
	if err != nil {
		return 0, err
	}
	if attr.Sys.Ptrace {
		// It stops as soon as it has become the shell (ptrace(2), PTRACE_TRACEME).
		_ = waitFor(pid, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT)
	}
	if h.marks != nil && h.user == nil {
		r.mark = h.marks.next(h.roots)
		if !setLimit(pid, r.mark) {
			r.mark = 0
		}
	}
	if h.expendable {
		done := make(chan struct{})
		go func() { // on another thread: the filter of commands may hand the calls of this one over to us
			defer close(done)
			h.rights.Do(func() { sacrifice(pid) })
		}()
		<-done
	}
	if attr.Sys.Ptrace {
		_ = unix.PtraceDetach(pid) // an error means that it was killed already
	}
	return pid, nil
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
		h.trimStandIns(1)
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

// close ends the helpers and remaining processes. Every command has ended before. It returns the number of
// processes that could not be ended.
func (h *host) close() int {
	left := h.sweep()
	h.mu.Lock()
	h.standIn = "" // none is started any more
	h.mu.Unlock()
	h.trimStandIns(0)
	close(h.stop)
	_ = unix.Close(h.loadavg)
	if h.names != nil {
		h.names.Close()
	}
	if h.recorder != nil {
		h.recorder.Close()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watch != nil {
		h.watch.close()
	}
	return left
}

// ownGroup makes a program the leader of a session and with it of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// opened returns the path of a program that is open, as its process will have it: a descriptor behind the
// others. A script stays readable for its interpreter through it.
func opened(_ string, files []*os.File, program *os.File) (string, []*os.File) {
	files = append(slices.Clone(files), program)
	return fmt.Sprintf("/proc/self/fd/%d", 2+len(files)), files
}
