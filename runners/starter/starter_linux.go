//go:build linux && (amd64 || arm64)

package starter

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/notify"
)

// Main is the program, after Flag: the calls that are handed over, the path of the program that it becomes,
// and its words. It returns only with an error.
func Main(args []string) error {
	runtime.LockOSThread()
	if len(args) < 3 || args[0] != "changes" && args[0] != "names" {
		return errors.New("start command: wrong arguments")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("start command: give up new privileges: %w", err)
	}
	listener, err := notify.Listen(args[0] == "changes", true)
	if err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	if err := again(func() error {
		return unix.Sendmsg(socket, []byte{1}, unix.UnixRights(listener), nil, 0)
	}); err != nil {
		return fmt.Errorf("start command: hand over listener: %w", err)
	}
	var ready [1]byte
	n := 0
	err = again(func() (err error) {
		n, err = unix.Read(socket, ready[:])
		return err
	})
	// Nobody but the supervisor may hold the listener: when the supervisor ends, no program starts any more.
	_, _ = unix.Close(listener), unix.Close(socket)
	if err != nil || n != 1 {
		return errors.New("start command: the supervisor is gone")
	}
	return fmt.Errorf("start command: %s: %w", args[1], syscall.Exec(args[1], args[2:], os.Environ()))
}

// Handover is the supervisor's side of a start.
type Handover struct{ ours, theirs *os.File }

// NewHandover makes the socket between supervisor and program.
func NewHandover() (*Handover, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	return &Handover{os.NewFile(uintptr(pair[0]), "starter"), os.NewFile(uintptr(pair[1]), "starter")}, nil
}

// Descriptor is the fourth descriptor of the program, after its input and outputs.
func (h *Handover) Descriptor() *os.File { return h.theirs }

// Listener waits for the listener of a program that was started. The program goes on after Begin.
func (h *Handover) Listener(within time.Duration) (int, error) {
	_ = h.theirs.Close()
	limit := unix.NsecToTimeval(within.Nanoseconds())
	if err := unix.SetsockoptTimeval(int(h.ours.Fd()), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return -1, os.NewSyscallError("setsockopt", err)
	}
	var said [1]byte
	control := make([]byte, unix.CmsgSpace(4))
	n, got := 0, 0
	err := again(func() (err error) {
		n, got, _, _, err = unix.Recvmsg(int(h.ours.Fd()), said[:], control, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil || n != 1 {
		return -1, errors.Join(errReady, err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:got])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(errReady, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(errReady, err)
	}
	return fds[0], nil
}

// Begin lets the program become the command.
func (h *Handover) Begin() error {
	_, err := h.ours.Write([]byte{1})
	return err
}

// Close frees the socket. A program that did not begin ends.
func (h *Handover) Close() {
	_ = h.ours.Close()
	_ = h.theirs.Close()
}
