package supervisor

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
)

const (
	executableSuffix = ".exe"
	reach            = "on Windows sallyport ends the shell of a command only: programs that it started " +
		"outlive it"
)

// ownGroup keeps a Ctrl-C in sallyport's console from the command.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// ownSession is ownGroup: there are no terminals.
func ownSession(bool) *syscall.SysProcAttr { return ownGroup() }

// terminate does nothing: there is no signal that asks a process to end. The grace period passes
// in case that it ends by itself.
func (r *root) terminate() {}

func (r *root) signal(s engine.Signal) error {
	return fmt.Errorf("send %s to command: Windows has no signals", s)
}

func (r *root) destroy() { _ = r.process.Kill() }

// groupAlive is not known.
func (r *root) groupAlive() bool { return false }

func statusOf(s *os.ProcessState) status { return status{code: s.ExitCode()} }

// enterable reports whether a process of ours can enter dir, as far as can be told.
func enterable(string) error { return nil }

// closeOnExec does nothing: on Windows a child inherits only handles that are passed explicitly.
func closeOnExec() {}

// killGroup kills a program. Its children are not known here.
func killGroup(p *os.Process) { _ = p.Kill() }

var errNoTerminals = errors.New("terminals are not built for Windows")

func openTerminal(engine.WindowSize) (ours, theirs *os.File, err error) {
	return nil, nil, errNoTerminals
}

func resize(*os.File, engine.WindowSize) error { return errNoTerminals }

func readNow(*os.File, []byte) (int, error) { return 0, errNoTerminals }

func writeNow(*os.File, []byte) (int, error) { return 0, errNoTerminals }
