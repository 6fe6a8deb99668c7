//go:build !linux

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// endTime bounds the killing.
const endTime = 2 * time.Second

// host is this machine as a place to keep processes. Outside Linux, no interface lists the descendants of a
// command that left its process group, and no helper lives on to end them after us.
type host struct {
	clock clock
	apart bool // the gate asked for stand-in parents (Options.Apart)

	programs bool // and to see programs (Options.Programs)
}

func newHost(o Options) (*host, error) {
	if o.User != nil || o.NoSetID || o.NoUnixSockets {
		return nil, errors.New("open environment: run commands as another user: this is no Linux")
	}
	closeOnExec()
	return &host{o.clock, o.Apart != "", o.Programs != ""}, nil
}

func (*host) close() int { return 0 }

func (h *host) shortcomings() []string {
	lack := []string{reach, "the processes of a command outlive sallyport if that is killed"}
	if h.programs {
		lack = append(lack, "the programs that a command starts are not judged: this is no Linux")
	}
	if h.apart {
		lack = append(lack, "a command that kills its parent process ends sallyport")
	}
	return lack
}

func (*host) seesPrograms() bool { return false }

// root is the shell of a command.
type root struct {
	clock   clock
	pid     int
	process *os.Process
	state   *os.ProcessState // set before waitEnd returns
	err     error
}

func (h *host) start(l launch, files []*os.File) (*root, error) {
	p, err := os.StartProcess(l.shell.Path, l.argv, &os.ProcAttr{
		Dir: l.dir, Env: l.env, Files: files, Sys: ownSession(l.terminal),
	})
	if err != nil {
		return nil, err
	}
	return &root{clock: h.clock, pid: p.Pid, process: p}, nil
}

// uncompared is 0: no programs are seen.
func (*root) uncompared() int { return 0 }

// startFault is nil: nothing begins a command but the system.
func (*root) startFault() error { return nil }

// parentLost is false: this process is the parent.
func (*root) parentLost() bool { return false }

// waitEnd blocks until the shell has ended.
func (r *root) waitEnd() { r.state, r.err = r.process.Wait() }

// end ends the processes within reach and returns the number that it could not end, as far as that is known:
// 1 stands for some.
func (r *root) end(ended <-chan struct{}, grace time.Duration) int {
	if r.gone(ended, 0) {
		return 0
	}
	r.terminate()
	if r.gone(ended, grace) {
		return 0
	}
	r.destroy()
	if r.gone(ended, endTime) {
		return 0
	}
	return 1
}

// gone waits until the shell and its group have ended, but not longer than limit.
func (r *root) gone(ended <-chan struct{}, limit time.Duration) bool {
	over, stop := r.clock.within(limit)
	defer stop()
	for step := time.Millisecond; ; step = min(2*step, 20*time.Millisecond) {
		select {
		case <-ended:
			if !r.groupAlive() {
				return true
			}
		default:
		}
		select {
		case <-over:
			return false
		case <-time.After(step):
		}
	}
}

// reap tells how the shell ended.
func (r *root) reap() (status, error) {
	if r.err != nil {
		return status{code: -1}, fmt.Errorf("wait for command: %w", r.err)
	}
	st := statusOf(r.state)
	st.user, st.system = r.state.UserTime(), r.state.SystemTime()
	return st, nil
}

// opened returns the path as it was: only Linux runs a file that is open.
func opened(path string, files []*os.File, _ *os.File) (string, []*os.File) { return path, files }

// forgetMade has nothing to forget: no name is asked about.
func (h *host) forgetMade() {}

// BeInit is the first process of a Linux container.
func BeInit(context.Context) error {
	return errors.New("become init: this is no Linux: only a container of Linux has a first process of its own")
}

// oomCounter counts nothing: only Linux tells of the processes that it killed for want of memory.
type oomCounter struct{}

func findOOMCounter() oomCounter { return oomCounter{} }

func (oomCounter) read() (int, bool) { return 0, false }
