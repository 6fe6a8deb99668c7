//go:build amd64 || arm64

package notify

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
)

const (
	// maxPerforming bounds the calls that are performed at once: each may take a thread.
	maxPerforming = 8
	// maxWaiting bounds the callers that wait for the other end of a FIFO, and maxThreads those that wait
	// on a thread of Options.Rights.
	maxWaiting = 1000
	maxThreads = 8
	// maxMade bounds the directories that are remembered.
	maxMade = 1 << 18
)

// Service performs calls for the processes below one thread. It is safe for concurrent use.
type Service struct {
	o       Options
	root    int // its root directory, O_PATH
	merged  map[string]string
	mask    uint32         // its umask
	stop    int            // eventfd that ends the receivers
	feeding sync.WaitGroup // the receivers
	closing chan struct{}  // closed by Close

	performing chan struct{} // calls that are performed
	waiting    chan struct{}
	once       sync.Once
	naming     sync.RWMutex // held alone while a directory is moved

	mu     sync.Mutex
	closed bool
	made   map[inode]struct{} // directories that callers made
	feeds  map[*feed]struct{}

	perform func(*caller, *notification) answer // tests have others, which are wrong
	reply   func(f *feed, id uint64, a answer)
}

// feed is a filter that hands calls over.
type feed struct {
	s        *Service
	listener int
	owner    string      // the decision that all its callers belong to; "" if each is to be looked up
	first    Program     // the start that needs no judgement: that of the command itself
	begun    atomic.Bool // it was seen

	receivers sync.WaitGroup // and the judgements of programs that changed
	starts    int            // epoll(7) of the watches

	mu      sync.Mutex
	watches map[int]*watch // by process, as long as its program may be starting
}

// inode names a file of this machine.
type inode struct{ dev, ino uint64 }

// New prepares a Service. It is an error where the kernel has no such notification.
func New(o Options) (*Service, error) {
	mask, err := ownMask()
	if err != nil {
		return nil, fmt.Errorf("watch names: read own umask: %w", err)
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("watch names: %w", os.NewSyscallError("open /", err))
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(root)
		return nil, fmt.Errorf("watch names: %w", os.NewSyscallError("eventfd", err))
	}
	waiting := maxWaiting
	if o.Rights != nil {
		waiting = maxThreads
	}
	s := &Service{
		o: o, root: root, merged: merged(root), mask: mask, stop: stop, made: map[inode]struct{}{},
		feeds: map[*feed]struct{}{}, closing: make(chan struct{}),
		performing: make(chan struct{}, maxPerforming), waiting: make(chan struct{}, waiting),
		perform: (*caller).perform,
	}
	s.reply = (*feed).answer
	return s, nil
}

// Install makes the Service answer the calls of this thread and of its children from now on. The goroutine
// must be locked to its thread, and the thread must have set PR_SET_NO_NEW_PRIVS. A Service is installed
// once. The thread must not make names itself.
func (s *Service) Install() error {
	fd, err := Listen(s.o.Recorder != nil, false)
	if err != nil {
		return fmt.Errorf("watch names: %w", err)
	}
	return s.serveFrom(&feed{s: s, listener: fd})
}

// Listen installs the filter on this thread, as Install does, and returns its listener, for Serve of a
// Service in another process. record hands over the calls by which files change, programs those that execute
// programs. The thread must be of another process than the Service if programs is set: a process that starts
// others by vfork(2) stands still until its child executes a program.
func Listen(record, programs bool) (listener int, err error) {
	fd, err := seccomp.Listen(refused(record), told(record, programs))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, seccomp.ErrUnsupported) {
		err = fmt.Errorf("%w (Linux 5.19 or newer does): %w", ErrUnsupported, err)
	}
	return fd, err
}

// Serve answers the calls of a listener that Listen made. It closes the listener at the end. All callers
// belong to a decision, and first is the start that is not judged: of the shell of the command itself.
func (s *Service) Serve(listener int, decision string, first Program) error {
	return s.serveFrom(&feed{s: s, listener: listener, owner: decision, first: first})
}

func (s *Service) serveFrom(f *feed) (err error) {
	f.watches = map[int]*watch{}
	if f.starts, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		_ = unix.Close(f.listener)
		return fmt.Errorf("watch names: %w", os.NewSyscallError("epoll_create1", err))
	}
	// Caller and receiver wait for each other: they use one processor (Linux 6.6 or newer).
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(f.listener), notifyFlags,
		unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		f.close()
		return errors.New("watch names: the service is closed")
	}
	s.feeds[f] = struct{}{}
	s.feeding.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.feeds, f)
			s.mu.Unlock()
			f.close()
		}()
		f.receivers.Go(f.receive)
		f.receivers.Wait()
		f.endWatches()
		f.receivers.Wait()
	})
	return nil
}

func (f *feed) close() { _, _ = unix.Close(f.listener), unix.Close(f.starts) }

// Close ends the Service: further calls of its callers fail with ENOSYS.
func (s *Service) Close() { s.once.Do(s.end) }

func (s *Service) end() {
	close(s.closing)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	one := [8]byte{0: 1, 7: 1} // a number that is not 0 in every byte order
	_, _ = unix.Write(s.stop, one[:])
	s.feeding.Wait()
	_ = unix.Close(s.stop)
	_ = unix.Close(s.root)
}

// Made reports whether a caller made the directory at a path.
func (s *Service) Made(path string) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.made[inode{st.Dev, st.Ino}]
	return ok
}

// Forget forgets the directories that callers made.
func (s *Service) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.made)
}

// remember notes a directory that was just made.
func (s *Service) remember(dir int, name string) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.made) < maxMade {
		s.made[inode{st.Dev, st.Ino}] = struct{}{}
	}
}

// Structures of seccomp_unotify(2).
type (
	notification struct {
		id    uint64
		pid   uint32
		flags uint32
		call  int32
		arch  uint32
		ip    uint64
		args  [6]uint64
	}
	response struct {
		id    uint64
		value int64
		errno int32
		flags uint32
	}
	addition struct {
		id       uint64
		flags    uint32
		from     uint32
		to       uint32
		newFlags uint32
	}
)

const (
	notifyValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
	notifyAdd   = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD
	notifyFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
)

// ioctl calls the listener, again after a signal: the runtime of Go sends SIGURG to its threads.
func (f *feed) ioctl(request uintptr, argument unsafe.Pointer) (int, error) {
	for {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.listener), request, uintptr(argument))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// receive takes calls until the Service is closed or no caller is left. It serves them itself, and hands its
// part over to another receiver before a call that may wait.
func (f *feed) receive() {
	for {
		n, over := f.next()
		switch {
		case over:
			return
		case n == nil:
			continue
		}
		receiving := true
		handOver := func() {
			if receiving {
				receiving = false
				f.receivers.Go(f.receive)
			}
		}
		if !executes(n) {
			handOver() // to open a file may wait
		}
		f.serve(n, handOver)
		if !receiving {
			return
		}
	}
}

// next waits for a call, and compares the programs that started meanwhile.
func (f *feed) next() (n *notification, over bool) {
	fds := []unix.PollFd{
		{Fd: int32(f.listener), Events: unix.POLLIN}, {Fd: int32(f.s.stop), Events: unix.POLLIN},
		{Fd: int32(f.starts), Events: unix.POLLIN},
	}
	_, err := unix.Poll(fds, -1)
	switch events := fds[0].Revents; {
	case err == unix.EINTR:
		return nil, false
	case err != nil || fds[1].Revents != 0 || events&(unix.POLLHUP|unix.POLLNVAL) != 0:
		return nil, true
	case fds[2].Revents != 0:
		f.started()
		return nil, false
	case events&unix.POLLIN == 0:
		return nil, false // a signal shows as POLLERR
	}
	n = &notification{}
	if _, err := f.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n)); err != nil {
		return nil, false // ENOENT: the caller died
	}
	return n, false
}

// serve answers one call. It calls handOver before the start of a program waits for an answer.
func (f *feed) serve(n *notification, handOver func()) {
	s := f.s
	c := &caller{s: s, feed: f, id: n.id, tid: int(n.pid), dir: -1, process: -1}
	a := failed(unix.EIO)
	if executes(n) {
		a = f.decided(c, n, handOver)
	}
	s.performing <- struct{}{} // until it is answered: each answer may take a thread
	defer func() { <-s.performing }()
	defer func() {
		_ = recover() // its answer is an error
		s.reply(f, n.id, a)
	}()
	if executes(n) {
		return
	}
	s.o.Rights.Do(func() {
		defer c.close()
		a = s.perform(c, n)
	})
}

// pause waits, and reports whether the Service was closed meanwhile. Others are performed until then.
func (s *Service) pause(d time.Duration) (closed bool) {
	<-s.performing
	defer func() { s.performing <- struct{}{} }()
	select {
	case <-s.closing:
		return true
	case <-time.After(d):
		return false
	}
}

// answer is the result of a call.
type answer struct {
	errno unix.Errno
	fd    int  // given to the caller, and closed; -1 for none
	keep  bool // it stays open when the caller executes a program
	goOn  bool // the kernel performs the call itself: of the start of a program only
}

func done() answer                { return answer{fd: -1} }
func failed(errno error) answer   { return answer{fd: -1, errno: number(errno)} }
func opened(fd, flags int) answer { return answer{fd: fd, keep: flags&unix.O_CLOEXEC == 0} }
func result(err error) answer {
	if err != nil {
		return failed(err)
	}
	return done()
}

// number is the number of an error.
func number(err error) unix.Errno {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return unix.EIO
}

// answer sends the result. The descriptor comes first, in a call of its own: the kernel takes the
// descriptor of a joint call back after a signal, and the caller's open returns 0. Our own descriptor is
// closed before the caller goes on, which may execute the file at once (ETXTBSY).
func (f *feed) answer(id uint64, a answer) {
	r := response{id: id, errno: -int32(a.errno)}
	if a.goOn {
		r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	if a.fd >= 0 {
		n, err := f.give(id, a.fd, a.keep)
		_ = unix.Close(a.fd)
		r.value = int64(n)
		if err != nil {
			r.value, r.errno = 0, -int32(number(err))
		}
	}
	// An error means that the caller is dead.
	_, _ = f.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
	runtime.KeepAlive(&r)
}

// give makes a descriptor one of the caller's too, which keeps it at the start of a program if keep says so.
func (f *feed) give(id uint64, fd int, keep bool) (int, error) {
	add := addition{id: id, from: uint32(fd)}
	if !keep {
		add.newFlags = unix.O_CLOEXEC
	}
	n, err := f.ioctl(notifyAdd, unsafe.Pointer(&add))
	runtime.KeepAlive(&add)
	return n, err
}
