package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// standIn is the parent of a shell in place of this process, so that a command which signals its parent does
// not reach sallyport. It is setsid(1), which forks; its child becomes the shell. Tracing stops it in
// that fork for good, and so it never takes the exit status of the shell. When the shell has ended, the
// stand-in is killed, and the kernel makes the shell a child of ours.
//
// If the parent of a process of the command ends, sallyport becomes its parent (host is the reaper).
type standIn struct {
	pid   int // ours to reap
	self  int // pidfd of it
	shell int // pidfd of the shell
}

// lackStandIn is the shortcoming where there is none.
const lackStandIn = "no process stands between sallyport and a command (%s): " +
	"one that kills its parent process ends sallyport"

// findStandIn looks where only the system's administrator installs programs: PATH may lead elsewhere.
func findStandIn() string {
	for _, file := range []string{"/usr/bin/setsid", "/bin/setsid"} {
		if executable(file) {
			return file
		}
	}
	return ""
}

// prepareStandIns looks for the program of stand-ins.
func (h *host) prepareStandIns() {
	if h.standIn = findStandIn(); h.standIn == "" {
		h.lack = append(h.lack, fmt.Sprintf(lackStandIn, "/usr/bin/setsid does not exist: install util-linux"))
	} else if h.marks == nil {
		h.standIn = ""
		h.lack = append(h.lack, fmt.Sprintf(lackStandIn, "processes cannot be marked"))
	}
}

// withoutStandIns makes this process the parent of all further commands. The caller holds h.mu.
func (h *host) withoutStandIns(why string) {
	h.standIn = ""
	h.lack = append(h.lack, fmt.Sprintf(lackStandIn, why))
}

// forkApart starts the shell below a stand-in and marks both before the shell does anything. It runs on a
// thread of the host, like fork. The kernel kills the stand-in with sallyport, and the watcher the shell.
func (r *root) forkApart(l launch, fds []uintptr) (err error) {
	h := r.host
	words := []string{"setsid"}
	if l.terminal {
		words = append(words, "-c")
	}
	words = append(words, l.shell.Path)
	words = append(words, l.argv[1:]...)
	if !l.begun {
		words = append(words, filepath.Base(l.shell.Path)) // $0, as without a stand-in
	}
	// A leader of a group cannot make a session: so setsid forks.
	parent, err := syscall.ForkExec(h.standIn, words, &syscall.ProcAttr{
		Dir: l.dir, Env: l.env, Files: fds,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Ptrace: true},
	})
	if err != nil {
		return err
	}
	r.parent = &standIn{pid: parent, self: -1, shell: -1}
	shell := 0
	defer func() {
		if err != nil {
			if shell != 0 {
				_ = unix.Kill(shell, unix.SIGKILL)
				_, _ = unix.Wait4(shell, nil, unix.WALL, nil)
			}
			r.parent.end()
			r.parent = nil
		}
	}()
	if _, err = stopped(parent); err != nil { // it has become setsid
		return err
	}
	mark := h.marks.next(h.roots)
	if !setLimit(parent, mark) {
		mark = 0
	}
	const options = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err = unix.PtraceSetOptions(parent, options); err != nil {
		return fmt.Errorf("trace setsid: %w", err)
	}
	err = untilEvent(parent, unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE)
	if err != nil {
		return err
	}
	child, err := unix.PtraceGetEventMsg(parent)
	if err != nil {
		return fmt.Errorf("trace setsid: %w", err)
	}
	shell = int(child)
	if _, err = stopped(shell); err != nil { // it is traced from its first moment
		return err
	}
	if err = untilEvent(shell, unix.PTRACE_EVENT_EXEC); err != nil {
		return err
	}
	if r.parent.self, err = unix.PidfdOpen(parent, 0); err == nil {
		r.parent.shell, err = unix.PidfdOpen(shell, 0)
	}
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	r.pid, r.mark = shell, mark
	h.standIns[parent] = struct{}{}
	_ = unix.PtraceDetach(shell) // an error means that it was killed already
	return nil
}

// stopped waits until a traced process stops.
func stopped(pid int) (unix.WaitStatus, error) {
	var ws unix.WaitStatus
	for {
		switch _, err := unix.Wait4(pid, &ws, unix.WALL, nil); {
		case err == unix.EINTR:
		case err != nil:
			return ws, os.NewSyscallError("wait4", err)
		case ws.Stopped():
			return ws, nil
		default:
			return ws, fmt.Errorf("setsid or the shell ended before it started, with %s", ended(ws))
		}
	}
}

func ended(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return "signal " + unix.SignalName(ws.Signal())
	}
	return fmt.Sprintf("status %d", ws.ExitStatus())
}

// untilEvent lets a traced process go on until one of some events (ptrace(2), PTRACE_SETOPTIONS).
func untilEvent(pid int, events ...int) error {
	signal := 0
	for {
		if err := unix.PtraceCont(pid, signal); err != nil {
			return fmt.Errorf("trace setsid: %w", err)
		}
		ws, err := stopped(pid)
		if err != nil {
			return err
		}
		signal = 0
		cause := ws.TrapCause()
		for _, e := range events {
			if cause == e {
				return nil
			}
		}
		if cause <= 0 {
			signal = int(ws.StopSignal())
		}
	}
}

// waitEnd blocks until the shell has ended, and makes it a child of ours. If somebody kills the stand-in, it
// ends the shell and reports true.
func (s *standIn) waitEnd() (lost bool) {
	for {
		fds := []unix.PollFd{{Fd: int32(s.shell), Events: unix.POLLIN}, {Fd: int32(s.self), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		}
		// A signal that ends it takes it out of its stop at once, though its end may take a moment.
		if p, err := readProc(s.pid); err != nil || p.state != 't' {
			lost = true
			_ = unix.PidfdSendSignal(s.shell, unix.SIGKILL, nil, 0)
		}
		for {
			if _, err := unix.Poll(fds[:1], -1); err != unix.EINTR {
				break
			}
		}
		s.end()
		return lost
	}
}

// end kills and reaps the stand-in.
func (s *standIn) end() {
	_ = unix.Kill(s.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(s.pid, nil, unix.WALL, nil); err != unix.EINTR {
			break
		}
	}
	for _, fd := range []int{s.self, s.shell} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
