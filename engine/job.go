package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// Job is a judged request with its process. A refused one has none and is over at once.
type Job struct {
	out  Outcome // until done is closed: the decision, without an exit
	kill func(reason string)
	sent Process // receiver of signals and sizes; nil if no process was started
	pid  int
	peek func() (stdout, stderr Stream)
	done chan struct{}
	end  Outcome // set before done is closed
}

// Outcome is the outcome so far: the decision at once, the exit when the job is done.
func (j *Job) Outcome() Outcome {
	select {
	case <-j.done:
		return j.end
	default:
		return j.out
	}
}

// PID returns the process id of the command's shell, or 0 where no process was started.
func (j *Job) PID() int { return j.pid }

// Done is closed when everything is over and on record.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait blocks until everything is over and on record.
func (j *Job) Wait() Outcome {
	<-j.done
	return j.end
}

// Kill ends the process, as Process.Kill does. It returns at once.
func (j *Job) Kill(reason string) {
	if j.kill != nil {
		j.kill(reason)
	}
}

// Signal passes a signal on to the command, as Process.Signal does. There is an error where nothing can be
// sent: then there is Kill.
func (j *Job) Signal(s Signal) error {
	if j.sent == nil {
		return errNoProcess
	}
	return j.sent.Signal(s)
}

// Resize tells the command's terminal that it shows more or less, as Process.Resize does.
func (j *Job) Resize(s WindowSize) error {
	if j.sent == nil {
		return errNoProcess
	}
	return j.sent.Resize(s)
}

// errNoProcess is why a job cannot be sent anything.
var errNoProcess = errors.New("no process was started")

// over is a job that ended before anything of it was started.
func over(out Outcome) *Job {
	j := &Job{out: out, end: out, done: make(chan struct{})}
	close(j.done)
	return j
}

// jobs are the requests of a gate that are under way.
type jobs struct {
	mu      sync.Mutex
	closed  bool
	running map[*Job]struct{}
	all     sync.WaitGroup
}

// enter takes up a request; leave must be called once when the last record about it is written. After
// kill nothing is taken up any more, and nothing can be started either: the gate is closed.
func (s *jobs) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return func() {}
	}
	s.all.Add(1)
	return s.all.Done
}

// add makes a job one that kill reaches.
func (s *jobs) add(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[*Job]struct{}{}
	}
	s.running[j] = struct{}{}
	if s.closed {
		j.Kill(errClosed.Error())
	}
}

// finish ends a job: its outcome is on record.
func (s *jobs) finish(j *Job, out Outcome) {
	j.end = out
	s.mu.Lock()
	delete(s.running, j)
	s.mu.Unlock()
	close(j.done)
}

// kill ends all jobs and waits until each request is on record.
func (s *jobs) kill() {
	s.mu.Lock()
	s.closed = true
	for j := range s.running {
		j.Kill(errClosed.Error())
	}
	s.mu.Unlock()
	s.all.Wait()
}

// launch starts the judged command. The job outlives ctx; leave is called when its outcome is on record.
func (g *Gate) launch(ctx context.Context, j *judged, out Outcome, leave func()) *Job {
	noted := func(int) error { return nil }
	if g.o.Ledger != nil && !rehearses(j.request.Operation) {
		end := g.o.Ledger.Begin(j.input, g.foresee(j))
		noted = func(code int) error { return end(g.foresee(j), code) }
	}
	j.entry.runs()
	if g.o.Boundary != nil {
		j.excuse = j.excused(out.Approval != nil && out.Approval.Granted)
		g.excuses.count(j.excuse, 1)
		g.o.Boundary.Enter()
	}
	out.Ran = true
	started := g.o.Now()
	if err := ctx.Err(); err != nil {
		defer leave()
		return over(g.conclude(j, out, Exit{Code: -1, Killed: "cancelled before it started", Started: started,
			Error: err}, noted))
	}
	job := &Job{out: out, done: make(chan struct{})}
	if j.request.Operation != nil {
		g.launchOperation(j, job, noted, leave)
		return job
	}
	cmd := j.command
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.request.Stdin, j.request.Stdout, j.request.Stderr
	cmd.Joined = j.request.Joined
	cmd.Elevated, cmd.MayMake = elevated(j.input), g.mayMake(j)
	if !cmd.Elevated {
		cmd.MayStart = g.mayStart(ctx, j)
	}
	p, err := j.env.Start(context.WithoutCancel(ctx), cmd)
	if err != nil {
		defer leave()
		return over(g.conclude(j, out, Exit{Code: -1, Started: started, Error: err}, noted))
	}
	j.starts.started(p.Kill)
	job.pid, job.kill, job.sent, job.peek = p.PID(), p.Kill, p, p.Output
	g.jobs.add(job)
	go func() {
		defer leave()
		g.jobs.finish(job, g.conclude(j, out, p.Wait(), noted))
	}()
	return job
}

// elevated reports whether a command may gain rights: only if that stays within the environment, and only if
// the judged text asks for it. Nothing else makes it so.
func elevated(in *facts.Input) bool {
	return in.Runner.Elevated && slices.ContainsFunc(in.Commands,
		func(c facts.Command) bool { return c.Elevated })
}

// foresee is the ledger's view of the files of a request. It has the same time limit as judging.
func (g *Gate) foresee(j *judged) facts.FS {
	return disk.Foresee(j.env.FS(), j.input.Paths, time.Now().Add(g.o.Limits.Judge))
}

// launchOperation runs a file tool's work. It is a job like a command: it can be killed, it has a
// timeout, and its outcome goes on record.
func (g *Gate) launchOperation(j *judged, job *Job, noted func(int) error, leave func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	job.kill = func(reason string) { cancel(killed(reason)) }
	g.jobs.add(job)
	go func() {
		defer leave()
		defer cancel(nil)
		ctx, stop := context.WithTimeout(ctx, j.command.Timeout)
		defer stop()
		g.jobs.finish(job, g.conclude(j, job.out, g.operate(ctx, j), noted))
	}()
}

// killed is the cause of a context that Kill ended.
type killed string

func (k killed) Error() string { return string(k) }

// operate does the work. An error of it ends with status 2, by which nothing counts as read.
func (g *Gate) operate(ctx context.Context, j *judged) (e Exit) {
	e = Exit{Started: g.o.Now()}
	defer func() {
		if p := recover(); p != nil {
			e.Error = fmt.Errorf("panic in %s: %v", j.request.Tool, p)
		}
		e.Duration = g.o.Now().Sub(e.Started)
		if e.Error == nil {
			return
		}
		e.Code = 2
		var why killed
		switch {
		case errors.As(context.Cause(ctx), &why):
			e.Killed = string(why)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			e.TimedOut = true
		}
	}()
	e.Error = j.request.Operation.Run(ctx, newJudgedFiles(j.env.Files(), j.input.Paths), j.input.Paths)
	return e
}

// conclude notes the actions and records the outcome.
func (g *Gate) conclude(j *judged, out Outcome, e Exit, noted func(int) error) Outcome {
	out.Exit = e
	defer j.entry.ended(e.Code)
	if err := noted(e.Code); err != nil {
		out.Fault = newFault("ledger", err)
	}
	if err := g.noteStarts(j); err != nil {
		out.Fault = newFault("ledger", err)
	}
	held, changes, f := g.leave(j)
	out.Changes = changes
	programs, unjudged := j.starts.end(e.Uncompared)
	out.Programs = programs
	f = cmp.Or(f, unjudged)
	refused, failed := j.refusals.all()
	if out.Held = slices.Concat(refused, held); cmp.Or(f, failed) != nil {
		out.Fault = cmp.Or(f, failed)
	}
	return g.recordOutcome(j, out)
}

// recordOutcome puts the end of a command on record.
func (g *Gate) recordOutcome(j *judged, out Outcome) Outcome {
	records := []Record{g.newRecord(KindOutcome, j.decision.ID, g.outcomeBody(out).in(j.input.Runner))}
	if g.o.Once {
		records = append(records, g.stopRecord())
		defer g.shut(errClosed)
	}
	if err := g.o.Recorder.Record(context.Background(), records...); err != nil {
		// The outcome cannot be put on record: the output stays here and no other request passes.
		g.shut(fmt.Errorf("audit log refused an outcome: %w", err))
		out.Exit.Stdout.Text, out.Exit.Stderr.Text = "", ""
		return g.faulted(out, "audit", err)
	}
	return out
}

// Output returns the kept output of a command's streams.
func (j *Job) Output() (stdout, stderr Stream) {
	if j.peek == nil {
		e := j.Outcome().Exit
		return e.Stdout, e.Stderr
	}
	return j.peek()
}

// timeoutOf returns the time that a request gets: its own or the default, and never more than the maximum. In
// the background the maximum is the default, since background work is meant to last.
func (l Limits) timeoutOf(r Request) time.Duration {
	asked := r.Timeout
	switch {
	case asked != 0:
	case r.Background:
		asked = l.MaxTimeout
	default:
		asked = l.Timeout
	}
	return min(asked, l.MaxTimeout)
}
