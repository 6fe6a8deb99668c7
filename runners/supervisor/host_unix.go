//go:build unix && !linux

package supervisor

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
)

const (
	executableSuffix = ""
	reach            = "this operating system lets sallyport end the process group of a command only: a " +
		"process that leaves the group (setsid, a shell with job control) outlives its command"
)

// ownGroup makes the shell the leader of a session and with it of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ownSession is ownGroup for a command with a possible terminal on its standard input: then that becomes the
// session's controlling terminal.
func ownSession(terminal bool) *syscall.SysProcAttr {
	attr := ownGroup()
	attr.Setctty = terminal
	return attr
}

func (r *root) terminate() { _ = syscall.Kill(-r.pid, syscall.SIGTERM) }
func (r *root) destroy()   { _ = syscall.Kill(-r.pid, syscall.SIGKILL) }

func (r *root) signal(s engine.Signal) error {
	_ = syscall.Kill(-r.pid, unix.SignalNum(string(s))) // an error means that all of it has ended
	return nil
}

// groupAlive reports whether the group has members. Its number is not given out again as long as it has.
func (r *root) groupAlive() bool { return syscall.Kill(-r.pid, 0) == nil }

func statusOf(s *os.ProcessState) status {
	ws, ok := s.Sys().(syscall.WaitStatus)
	if !ok {
		return status{code: s.ExitCode()}
	}
	st := waitStatus(ws)
	if ru, ok := s.SysUsage().(*syscall.Rusage); ok {
		st.maxRSS = int64(ru.Maxrss)
		if runtime.GOOS != "darwin" { // which alone counts in bytes (getrusage(2))
			st.maxRSS <<= 10
		}
	}
	return st
}
