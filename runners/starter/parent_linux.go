package starter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/slack"
)

// socket is the descriptor by which the programs of this package reach their supervisor.
const socket = 3

// hello is the first word of a Parent.
const hello = 0x53616c6c79706f72

// maxOrder bounds the bytes of an order: more words and variables than the kernel takes.
const maxOrder = 16 << 20

// spoiled is the answer to an order in place of an errno; ErrSpoiled is the error of that.
const spoiled = 1 << 32

// ErrSpoiled means that a Parent has not started a Shell, and starts no other one: somebody has changed its
// priority, a limit or another part of its state that the shell would inherit.
var ErrSpoiled = errors.New("start below another process: its state was changed")

// answerTime bounds the wait for an answer, on a busy machine.
const answerTime = time.Minute

// Shell is a program that a Parent starts, in a session of its own.
type Shell struct {
	Path, Dir string
	Argv, Env []string
	Terminal  bool // its descriptors are a terminal, which is to be its own
	Files     []uintptr
}

// words are the texts of an order: path, directory, arguments and variables.
func (s Shell) words() []byte {
	all := append(append([]string{s.Path, s.Dir}, s.Argv...), s.Env...)
	return []byte(strings.Join(all, "\x00"))
}

// End is the status of an ended Shell.
type End struct {
	Status       syscall.WaitStatus
	User, System time.Duration
	MaxRSS       int64 // KiB
}

// BeParent is the program of a Parent, after ParentFlag. Its orders come from a socket, one after the other,
// until that ends: to start a shell, and to reap it. Signals that a program can catch do nothing to it, but
// for the real-time ones, and the kernel ends the shell with it.
func BeParent() error {
	unix.CloseOnExec(socket)
	runtime.LockOSThread() // the end of this thread ends the shell (PR_SET_PDEATHSIG)
	slack.Narrow()         // of shells
	for n := syscall.Signal(1); n <= 64; n++ {
		if n != unix.SIGCHLD && n != unix.SIGURG && n != unix.SIGCONT { // these do nothing by themselves
			signal.Notify(make(chan os.Signal, 1), n)
		}
	}
	if err := tell(hello); err != nil {
		return err
	}
	state := inherited()
	for {
		s, err := takeOrder()
		if err != nil {
			return err
		}
		if inherited() != state {
			return errors.Join(ErrSpoiled, tell(spoiled, 0))
		}
		pid, err := syscall.ForkExec(s.Path, s.Argv, &syscall.ProcAttr{
			Dir: s.Dir, Env: s.Env, Files: s.Files,
			Sys: &syscall.SysProcAttr{Setsid: true, Setctty: s.Terminal, Pdeathsig: syscall.SIGKILL},
		})
		for _, fd := range s.Files {
			_ = unix.Close(int(fd))
		}
		failed := syscall.Errno(0)
		if err != nil && !errors.As(err, &failed) {
			failed = syscall.EINVAL
		}
		if err := tell(uint64(failed), uint64(pid)); err != nil || failed != 0 {
			if err != nil {
				return err
			}
			continue
		}
		if err := reap(pid); err != nil {
			return err
		}
	}
}

// takeOrder reads the next shell.
func takeOrder() (s Shell, err error) {
	head, control := make([]byte, 16), make([]byte, unix.CmsgSpace(4*8))
	n, got := 0, 0
	err = again(func() (err error) {
		n, got, _, _, err = unix.Recvmsg(socket, head, control, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err == nil && n > 0 {
		err = readAll(socket, head[n:])
	}
	size, argc := binary.LittleEndian.Uint32(head), int(binary.LittleEndian.Uint32(head[4:]))
	if err != nil || n == 0 || size > maxOrder {
		return s, errors.Join(errors.New("start command: no order"), err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:got])
	if err != nil || len(messages) != 1 {
		return s, errors.Join(errors.New("start command: no descriptors"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	for _, fd := range fds {
		s.Files = append(s.Files, uintptr(fd))
	}
	body := make([]byte, size)
	if err = errors.Join(err, readAll(socket, body)); err != nil {
		return s, err
	}
	words := strings.Split(string(body), "\x00")
	if len(words) < 2+argc {
		return s, errors.New("start command: an order with too few words")
	}
	s.Path, s.Dir, s.Argv, s.Env = words[0], words[1], words[2:2+argc], words[2+argc:]
	s.Terminal = head[8] != 0
	return s, nil
}

// reap waits for the order to reap the shell, and tells its status.
func reap(pid int) error {
	if err := readAll(socket, make([]byte, 1)); err != nil {
		return err
	}
	var ws unix.WaitStatus
	var ru unix.Rusage
	err := again(func() error {
		_, err := unix.Wait4(pid, &ws, 0, &ru)
		return err
	})
	if err != nil {
		return err
	}
	return tell(uint64(ws), uint64(ru.Utime.Nano()), uint64(ru.Stime.Nano()), uint64(ru.Maxrss))
}

func tell(numbers ...uint64) error {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return writeAll(socket, b)
}

// again repeats a system call that a signal interrupts.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func readAll(fd int, b []byte) error {
	for len(b) > 0 {
		n := 0
		err := again(func() (err error) { n, err = unix.Read(fd, b); return err })
		if err != nil {
			return err
		}
		if n == 0 {
			return errors.New("start command: the other side is gone")
		}
		b = b[n:]
	}
	return nil
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n := 0
		err := again(func() (err error) { n, err = unix.SendmsgN(fd, b, nil, nil, unix.MSG_NOSIGNAL); return err })
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Parent is a process between this one and a shell: one shell at a time, and many one after the other.
type Parent struct {
	PID   int // ours to reap
	self  int // pidfd of it
	conn  int // socket to it
	shell int // pidfd of its shell; -1 for none
}

// NewParent starts one. The kernel ends it with the thread that calls this.
func NewParent(program string) (*Parent, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		return nil, err
	}
	defer func() { _ = null.Close() }()
	p := &Parent{conn: pair[0], self: -1, shell: -1}
	limit := unix.NsecToTimeval(answerTime.Nanoseconds())
	err = errors.Join(unix.SetsockoptTimeval(p.conn, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.SetsockoptTimeval(p.conn, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit))
	if err == nil {
		widened := slack.Widen()
		p.PID, err = syscall.ForkExec(program, []string{program, ParentFlag}, &syscall.ProcAttr{
			Dir: "/", Env: []string{}, Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), uintptr(pair[1])},
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		})
		if widened {
			slack.Narrow()
		}
	}
	if err == nil {
		p.self, err = unix.PidfdOpen(p.PID, 0)
	}
	_ = unix.Close(pair[1]) // its end is the end of the stream
	said := make([]byte, 8)
	if err == nil {
		err = readAll(p.conn, said)
	}
	if err == nil && binary.LittleEndian.Uint64(said) != hello {
		err = errors.New("it is another program")
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// Start has a shell started. An errno is that of its start. After any other error the Parent is of no use,
// and the shell may have begun, but for ErrSpoiled.
func (p *Parent) Start(s Shell) (pid int, err error) {
	body := s.words()
	b := make([]byte, 16, 16+len(body))
	binary.LittleEndian.PutUint32(b, uint32(len(body)))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(s.Argv)))
	if len(body) > maxOrder {
		return 0, syscall.E2BIG
	}
	if s.Terminal {
		b[8] = 1
	}
	b = append(b, body...)
	var fds []int
	for _, fd := range s.Files {
		fds = append(fds, int(fd))
	}
	p.wake()
	n := 0
	err = again(func() (err error) {
		n, err = unix.SendmsgN(p.conn, b, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		return err
	})
	if err == nil {
		err = writeAll(p.conn, b[n:])
	}
	answer := make([]byte, 16)
	if err == nil {
		err = readAll(p.conn, answer)
	}
	if err != nil {
		return 0, errors.New("start below another process: " + err.Error()) // and no errno
	}
	switch failed := binary.LittleEndian.Uint64(answer); failed {
	case 0:
	case spoiled:
		return 0, ErrSpoiled
	default:
		return 0, syscall.Errno(failed)
	}
	pid = int(binary.LittleEndian.Uint64(answer[8:]))
	if p.shell, err = unix.PidfdOpen(pid, 0); err != nil {
		p.shell = -1
		return 0, errors.New("start below another process: pidfd_open: " + err.Error())
	}
	return pid, nil
}

// Alive reports whether it can take a Shell.
func (p *Parent) Alive() bool {
	n := 0
	err := again(func() (err error) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(p.self), Events: unix.POLLIN}}, 0)
		return err
	})
	return n == 0 && err == nil
}

// wake lets it go on if somebody has stopped it.
func (p *Parent) wake() { _ = unix.PidfdSendSignal(p.self, unix.SIGCONT, nil, 0) }

// Wait blocks until the shell has ended, which stays to be reaped. It reports true if the parent has, too.
func (p *Parent) Wait() (lost bool) {
	fds := []unix.PollFd{{Fd: int32(p.shell), Events: unix.POLLIN}, {Fd: int32(p.self), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			break
		}
	}
	if lost = fds[1].Revents != 0; lost {
		_ = unix.PidfdSendSignal(p.shell, unix.SIGKILL, nil, 0)
	}
	for {
		if _, err := unix.Poll(fds[:1], -1); err != unix.EINTR {
			return lost
		}
	}
}

// Reap returns the status of the shell, which has ended. After an error the Parent is of no use, and at its
// Close the shell becomes a child of this process.
func (p *Parent) Reap() (e End, err error) {
	_ = unix.Close(p.shell)
	p.shell = -1
	p.wake()
	answer := make([]byte, 32)
	if err = writeAll(p.conn, []byte{1}); err == nil {
		err = readAll(p.conn, answer)
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(answer[8*i:])) }
	return End{syscall.WaitStatus(number(0)), time.Duration(number(1)), time.Duration(number(2)), number(3)}, err
}

// Close ends it, and with it its shell.
func (p *Parent) Close() {
	if p.PID > 0 {
		_ = unix.Kill(p.PID, unix.SIGKILL)
		_ = again(func() error { _, err := unix.Wait4(p.PID, nil, unix.WALL, nil); return err })
	}
	for _, fd := range []int{p.conn, p.self, p.shell} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
