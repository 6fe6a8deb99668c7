package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

const (
	// leftoverGrace is the time that processes get which outlive their shell: TERM, this time, KILL.
	leftoverGrace = 100 * time.Millisecond
	// drainTime bounds the wait for output after every process is gone. Output that has come by then is kept.
	drainTime = time.Second
	// endMost bounds the wait for the end of killed processes that need nothing but a processor for it.
	// Only processes that start others faster than they are found, or that /proc does not show, use it up.
	endMost = time.Minute
	// reapTime bounds the wait for a shell that could not be ended.
	reapTime = 2 * time.Second
)

// errParentLost is part of the Exit of a command after its stand-in parent was killed.
var errParentLost = errors.New(
	"the parent process of the command was killed, and the command ended with it: " +
		"leave the parent of a command alone")

// Process is a running command.
type Process struct {
	command engine.Command
	shell   Shell
	root    *root
	started time.Time
	clock   clock

	stdin          *input
	stdout, stderr *stream

	oomKills func() int   // how many processes were killed for want of memory since the start; nil where nobody counts
	after    func() error // runs after its end; may be nil

	kill chan string // the first reason given to Kill
	done chan struct{}
	exit engine.Exit // set before done is closed
}

// status is how a shell ended.
type status struct {
	code         int
	signal       string
	user, system time.Duration
	maxRSS       int64 // bytes; 0 when not known
}

// Wait blocks until the command and all that it started are gone.
func (p *Process) Wait() engine.Exit {
	<-p.done
	return p.exit
}

// Kill ends the whole tree: TERM, the grace period, KILL. It returns at once. The first
// reason counts.
func (p *Process) Kill(reason string) {
	if reason == "" {
		reason = "killed"
	}
	select {
	case p.kill <- reason:
	default:
	}
}

// Signal sends a signal to the process group of the shell. See engine.Process.
func (p *Process) Signal(s engine.Signal) error {
	if err := s.Check(); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	default:
		return p.root.signal(s)
	}
}

// Resize changes the size of the terminal. See engine.Process.
func (p *Process) Resize(s engine.WindowSize) error {
	if p.command.Terminal == nil {
		return errors.New("change the size of a terminal: the command has none")
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("change the size of a terminal: %w", err)
	}
	_ = resize(p.stdout.r, s) // an error means that the command has ended
	return nil
}

// PID returns the process id of the shell, which is also its session id.
func (p *Process) PID() int { return p.root.pid }

// Shell returns the shell that runs the text.
func (p *Process) Shell() Shell { return p.shell }

// Output returns the output of both streams that is kept so far.
func (p *Process) Output() (stdout, stderr engine.Stream) {
	return p.stdout.kept.stream(), p.stderr.kept.stream()
}

// supervise sees the command to its end and fills in p.exit.
func (p *Process) supervise(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		p.root.waitEnd()
		close(ended)
	}()
	exit := engine.Exit{Code: -1, Started: p.started}
	limit, stop := p.clock.within(p.command.Timeout)
	defer stop()
	grace := leftoverGrace
	select {
	case <-ended:
	case <-limit:
		exit.TimedOut = true
	case reason := <-p.kill:
		exit.Killed = reason
	case <-ctx.Done():
		exit.Killed = ctx.Err().Error()
	}
	select {
	case <-ended: // by itself, if only just
		exit.TimedOut, exit.Killed = false, ""
	default:
		if grace = p.command.Grace; grace <= 0 {
			grace = DefaultGrace
		}
	}
	exit.Survivors = p.root.end(ended, grace)
	exit.Uncompared = p.root.uncompared()
	p.stdin.end()
	p.conclude(&exit, ended)
	if p.root.parentLost() {
		exit.Error = errors.Join(exit.Error, errParentLost)
	}
	exit.Error = errors.Join(exit.Error, p.root.startFault())
	exit.Duration = time.Since(p.started)
	if p.oomKills != nil {
		exit.OOMKills = p.oomKills()
	}
	if p.after != nil {
		exit.Error = errors.Join(exit.Error, p.after())
	}
	p.exit = exit
}

// conclude collects the status and the output of a tree that has been ended.
func (p *Process) conclude(exit *engine.Exit, ended <-chan struct{}) {
	reap := func() (status, error) {
		<-ended
		return p.root.reap()
	}
	limit := reapTime
	if exit.Survivors == 0 {
		limit = endMost // nothing was seen to live, but /proc need not show all
	}
	if p.endsWithin(limit, ended) {
		st, err := reap()
		exit.Code, exit.Signal = st.code, st.signal
		exit.UserTime, exit.SystemTime, exit.MaxRSS = st.user, st.system, st.maxRSS
		exit.Error = err
	} else {
		exit.Survivors = max(1, exit.Survivors)
		exit.Error = errors.New("wait for command: the shell does not die: its process may hang in the kernel")
		go func() { _, _ = reap() }() // leave no zombie, should it end after all
	}
	over, stop := p.clock.within(drainTime)
	defer stop()
	whole := p.stdout.finish(over, p.clock)
	whole = p.stderr.finish(over, p.clock) && whole
	if !whole && exit.Error == nil {
		exit.Error = fmt.Errorf(
			"read output: a process or a writer held it open for longer than %s: the end may be missing", drainTime)
	}
	exit.Stdout, exit.Stderr = p.Output()
}

// endsWithin waits for the end of the shell, but not longer than the given time.
func (p *Process) endsWithin(limit time.Duration, ended <-chan struct{}) bool {
	over, stop := p.clock.within(limit)
	defer stop()
	select {
	case <-ended:
		return true
	case <-over:
		return closed(ended)
	}
}
