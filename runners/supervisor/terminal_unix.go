//go:build unix

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
)

// openTerminal makes a pseudo terminal: our side of it, on which nothing is waited for longer than it is
// wanted, and the side of the command.
func openTerminal(size engine.WindowSize) (ours, theirs *os.File, err error) {
	master, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = master.Close() }()
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		// The library leaves it one that blocks, on which no deadline would hold.
		err = unix.SetNonblock(fd, true)
		ours = os.NewFile(uintptr(fd), master.Name())
	}
	if err == nil {
		err = resize(ours, size)
	}
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// resize changes the size of a terminal. The kernel tells its programs (SIGWINCH).
func resize(ours *os.File, size engine.WindowSize) error {
	return onDescriptor(ours, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ,
			&unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Columns)})
	})
}

// readNow reads the available bytes, without waiting for more: unix.EAGAIN if there are none.
func readNow(ours *os.File, buf []byte) (n int, err error) {
	err = onDescriptor(ours, func(fd int) (err error) {
		n, err = unix.Read(fd, buf)
		return err
	})
	return n, err
}

// writeNow writes as many bytes as there is room for, without waiting, and without regard to a deadline.
func writeNow(ours *os.File, b []byte) (n int, err error) {
	err = onDescriptor(ours, func(fd int) (err error) {
		n, err = unix.Write(fd, b)
		return err
	})
	return n, err
}

// onDescriptor makes a system call that does not wait.
func onDescriptor(f *os.File, call func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := c.Control(func(fd uintptr) {
		for err = call(int(fd)); errors.Is(err, unix.EINTR); err = call(int(fd)) {
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// killGroup kills a program that leads its process group, and the group.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// waitStatus keeps the exit status as it is. A signal is told by name; 128+n is how shells put it
// as a number.
func waitStatus(ws syscall.WaitStatus) status {
	if !ws.Signaled() {
		return status{code: ws.ExitStatus()}
	}
	name := unix.SignalName(ws.Signal())
	if name == "" {
		name = fmt.Sprintf("signal %d", int(ws.Signal()))
	}
	return status{code: 128 + int(ws.Signal()), signal: name}
}

// enterable reports whether a process of ours can enter dir. Where another user's rights on files are used,
// access(2) would ask for the wrong ones.
func enterable(dir string) error {
	var st unix.Stat_t
	return unix.Lstat(strings.TrimSuffix(dir, "/")+"/.", &st)
}

// closeOnExec keeps the descriptors that this process was started with from its children. Those
// that it opened itself are kept from them anyway.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
