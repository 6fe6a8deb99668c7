package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
)

// leaveTime is how long a command may take to end by a signal that was passed on to it, before it is killed.
const leaveTime = 5 * time.Second

// request is how a command takes a signal that comes to sallyport.
type request struct {
	name engine.Signal
	end  bool // it asks for an end; others may come any number of times
}

// requests are the signals that are passed on to a command.
func requests() map[os.Signal]request {
	all := map[os.Signal]request{
		syscall.SIGINT:  {engine.SignalInterrupt, true},
		syscall.SIGTERM: {engine.SignalTerminate, true},
		syscall.SIGHUP:  {engine.SignalHangup, true},
		syscall.SIGQUIT: {engine.SignalQuit, false}, // some programs tell where they are, and go on
	}
	addUserSignals(all)
	return all
}

// signals are those that come to sallyport while it runs one command. Until that runs, each of them ends the
// request; then they are the command's.
type signals struct {
	ctx    context.Context // of the request, until the command runs
	cancel context.CancelFunc
	came   chan os.Signal
	jobs   chan *engine.Job
	why    atomic.Int32 // the first that asked for an end; 0 for none
	leave  time.Duration
	over   chan struct{} // closed when nobody takes them any more
}

// catchSignals begins to catch them. A signal that was ignored at the start, as under nohup, stays ignored.
// That the reader of our output went away (SIGPIPE) is one more: to die of it would leave no outcome on
// record.
func (a *app) catchSignals(ctx context.Context) *signals {
	s := &signals{
		came: make(chan os.Signal, 8), jobs: make(chan *engine.Job), leave: a.leave, over: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if a.live != nil {
		s.came = a.live.Signals
		go s.pass()
		return s
	}
	signal.Notify(s.came, syscall.SIGPIPE)
	for sig := range requests() {
		if !signal.Ignored(sig) {
			signal.Notify(s.came, sig)
		}
	}
	go s.pass()
	return s
}

// stop lets go of them.
func (s *signals) stop() {
	s.cancel()
	close(s.over)
}

// follow passes signals on to a command until it has ended.
func (s *signals) follow(job *engine.Job) engine.Outcome {
	s.jobs <- job
	return job.Wait()
}

// cause is the first signal that asked for an end; 0 for none.
func (s *signals) cause() syscall.Signal { return syscall.Signal(s.why.Load()) }

func (s *signals) pass() {
	var job *engine.Job
	var late <-chan time.Time
	for {
		select {
		case <-s.over:
			return
		case job = <-s.jobs:
			if s.cause() == 0 {
				break
			}
			// The signal came too late to keep the command from starting: it is the command's.
			r, passed := requests()[s.cause()]
			switch {
			case !passed:
				s.end(job)
				continue
			case r.end:
				late = time.After(s.leave)
			default:
				s.why.Store(0) // the command may go on
			}
			go s.send(job, r)
		case <-late:
			s.end(job)
		case came := <-s.came:
			r, passed := requests()[came]
			first := s.cause() == 0
			if job == nil || !passed || r.end {
				s.why.CompareAndSwap(0, int32(came.(syscall.Signal)))
			}
			switch {
			case job == nil:
				s.cancel()
			case !passed || r.end && !first:
				s.end(job)
			default:
				if r.end {
					late = time.After(s.leave)
				}
				go s.send(job, r)
			}
		}
	}
}

// send passes a signal on. Where that cannot be done an end comes all the same.
func (s *signals) send(job *engine.Job, r request) {
	if err := job.Signal(r.name); err != nil && r.end {
		s.end(job)
	}
}

// end has all of a command ended.
func (s *signals) end(job *engine.Job) { job.Kill("asked to stop: " + s.cause().String()) }

// interruptible returns a context that ends when this process is asked to stop, and the signal that
// asked: 0 for none.
func interruptible(ctx context.Context, also ...os.Signal) (context.Context, func() syscall.Signal) {
	ctx, cancel := context.WithCancel(ctx)
	ch := make(chan os.Signal, 1)
	got := make(chan syscall.Signal, 1)
	signal.Notify(ch, append(also, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)...)
	go func() {
		if s, ok := (<-ch).(syscall.Signal); ok {
			got <- s
		}
		cancel()
	}()
	return ctx, func() syscall.Signal {
		select {
		case s := <-got:
			return s
		default:
			return 0
		}
	}
}

// screen is the terminal that somebody runs sallyport at, lent to a command. A nil one is none.
type screen struct {
	file   *os.File
	before *term.State    // as it was; nil while it is not lent
	lent   chan struct{}  // closed when it is lent, or cannot be
	sizes  chan os.Signal // tells that its size has changed
}

// screenOf takes standard input for a terminal.
func screenOf(in io.Reader) (*screen, error) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, errors.New("--tty: standard input is no terminal: run it at one, or leave out --tty; " +
			"--stdin passes on piped input")
	}
	s := &screen{file: file, lent: make(chan struct{}), sizes: make(chan os.Signal, 1)}
	if err := notifyResize(s.sizes); err != nil {
		return nil, err
	}
	return s, nil
}

// terminal is one like it for the command.
func (s *screen) terminal() *engine.Terminal {
	return &engine.Terminal{Name: cmp.Or(os.Getenv("TERM"), "dumb"), Size: s.size()}
}

// size is its size in characters; 80 by 24, that of early terminals, if it does not report one.
func (s *screen) size() engine.WindowSize {
	columns, rows, err := term.GetSize(int(s.file.Fd()))
	size := engine.WindowSize{Rows: rows, Columns: columns}
	if err != nil || size.Check() != nil {
		return engine.WindowSize{Rows: 24, Columns: 80}
	}
	return size
}

// lend has all that is typed go to a command that runs, keys that the terminal itself would act on too. Until
// then, when a person may be asked here, it stays as it was.
func (s *screen) lend(job *engine.Job) {
	if s == nil {
		return
	}
	defer close(s.lent)
	if job.PID() == 0 {
		return
	}
	before, err := term.MakeRaw(int(s.file.Fd()))
	if err != nil {
		job.Kill("the terminal cannot be lent: " + err.Error())
		return
	}
	s.before = before
	go func() {
		_ = job.Resize(s.size()) // it may have changed since it was asked for
		for range s.sizes {
			_ = job.Resize(s.size()) // the terminal of a command that has ended needs none
		}
	}()
}

// Read reads the input of the person for the command.
func (s *screen) Read(p []byte) (int, error) {
	<-s.lent
	return s.file.Read(p)
}

// shown is where the output of a command goes. What it writes before the terminal is lent waits: a terminal
// that is as it was would change it.
func (s *screen) shown(out io.Writer) io.Writer {
	if s == nil {
		return out
	}
	return shown{out, s.lent}
}

type shown struct {
	io.Writer
	lent <-chan struct{}
}

func (w shown) Write(p []byte) (int, error) {
	<-w.lent
	return w.Writer.Write(p)
}

// restore restores the settings of the terminal.
func (s *screen) restore() {
	if s == nil || s.before == nil {
		return
	}
	signal.Stop(s.sizes)
	_ = term.Restore(int(s.file.Fd()), s.before) // an error means that it is gone
	s.before = nil
}
