package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

// Options configure a Gate. Evaluators, Runner and Recorder are required to run anything.
type Options struct {
	Layout     facts.Layout
	Evaluators []Evaluator // every one judges; the strictest effect holds
	Runner     Runner
	Recorder   Recorder // nil: the gate can only Check
	Approver   Approver // nil: nobody can be asked, so ask refuses
	Ledger     Ledger   // nil: nothing was read before, nothing is remembered
	Boundary   Boundary // nil: nobody looks at files that commands leave
	Mode       Mode
	Limits     Limits
	Subject    facts.Subject // for requests that name none
	Start      StartBody     // the start record of this process
	Look       bool          // the gate runs nothing by itself: environments are looked at, as for Check
	Trial      bool          // a trial answers questions that policies ask for want of knowledge only
	// Programs judges the programs that commands start, where the environment can ask.
	Programs Starts
	Once     bool // the gate ends with the first command that it runs: outcome and stop are one write

	// Faulted receives each fault of the audit log, which may not be on record; may be nil.
	Faulted func(*Fault)

	// Now and NewID stand in for the clock and for decision ids in tests.
	Now   func() time.Time
	NewID func() string
}

// Limits bound every request. Zero values mean the defaults.
type Limits struct {
	Timeout    time.Duration // of a request that names none; default 60 s
	MaxTimeout time.Duration // caps every request; default 1 h
	Grace      time.Duration // between TERM and KILL; default 400 ms
	Output     int           // bytes kept per stream; default 1 MiB
	Judge      time.Duration // reading and judging one request; default 30 s, which a busy machine may need
	Approve    time.Duration // waiting for a person; default 5 min
}

// Gate is the one way through: it judges, records and runs requests. It is safe for concurrent use.
type Gate struct {
	o       Options
	jobs    jobs
	past    history
	stands  standing
	excuses excuses
	judging chan struct{}   // programs that are judged at once; the others wait
	closing context.Context // ends when the gate is closed
	close   context.CancelFunc

	mu      sync.Mutex
	env     Environment
	builder *build.Builder
	started bool
	closed  error // why the gate takes no more requests; nil while it does
}

// ErrRequest is wrapped by the error for a request that is invalid, regardless of the policies.
var ErrRequest = errors.New("invalid request")

// ErrNobody is wrapped by the error of an Approver that can ask nobody.
var ErrNobody = errors.New("nobody can be asked")

// errClosed is why a closed gate refuses.
var errClosed = errors.New("the gate is closed")

// New makes a gate. It opens and starts nothing.
func New(o Options) (*Gate, error) {
	if len(o.Evaluators) == 0 {
		return nil, errors.New("make gate: no evaluator: without policies nothing can be judged")
	}
	if o.Runner == nil {
		return nil, errors.New("make gate: no runner")
	}
	switch o.Mode {
	case "":
		o.Mode = Enforce
	case Enforce, Monitor:
	default:
		return nil, fmt.Errorf("make gate: mode %q: use enforce or monitor", o.Mode)
	}
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	g := &Gate{o: o, judging: make(chan struct{}, 2*runtime.NumCPU())}
	g.closing, g.close = context.WithCancel(context.Background())
	for _, e := range o.Evaluators {
		if c, ok := e.(Changing); ok {
			c.OnChange(g.past.moved)
		}
	}
	return g, nil
}

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&l.Timeout, time.Minute)
	set(&l.MaxTimeout, time.Hour)
	set(&l.Grace, 400*time.Millisecond)
	set(&l.Judge, 30*time.Second)
	set(&l.Approve, 5*time.Minute)
	if l.Output <= 0 {
		l.Output = 1 << 20
	}
	return l
}

// Check judges a request and runs nothing. It writes no record, and the session does not remember it.
func (g *Gate) Check(ctx context.Context, r Request) (Outcome, error) {
	j, err := g.judge(ctx, r, false)
	if err != nil {
		return Outcome{}, err
	}
	return j.outcome(), nil
}

// Do takes a request all the way: judge, record, approve, run, record. When ctx ends, its processes are
// killed. The error is only ever about an invalid request (ErrRequest); a denial, and a fault of ours, are
// part of the Outcome.
func (g *Gate) Do(ctx context.Context, r Request) (Outcome, error) {
	job, err := g.Start(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	stop := context.AfterFunc(ctx, func() { job.Kill("cancelled") })
	defer stop()
	return job.Wait(), nil
}

// Start takes a request as far as its run: judge, record, approve, start. The process outlives ctx and ends
// with the gate; its outcome goes on record at its end. The error is as that of Do.
func (g *Gate) Start(ctx context.Context, r Request) (*Job, error) {
	if len(r.Touches) > 0 || strings.HasPrefix(r.Tool, facts.MCPTool) {
		return nil, fmt.Errorf("%w: a tool of another server: its host runs it", ErrRequest)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(g.closing, cancel) // nobody is asked any more
	defer stop()
	leave := g.jobs.enter()
	j, err := g.judge(ctx, r, true)
	if err != nil {
		leave()
		return nil, err
	}
	out, answered, allowed := g.settle(ctx, j)
	if answered || !allowed {
		if !answered {
			j.entry.refused()
		}
		leave()
		return over(out), nil
	}
	if r.Trial != "" {
		return g.launchTrial(ctx, j, out, leave), nil
	}
	return g.launch(ctx, j, out, leave), nil
}

// settle puts the decision on record, asks a trial or a person where it says so, and reports whether to go
// on, or that the trial was the answer.
func (g *Gate) settle(ctx context.Context, j *judged) (out Outcome, answered, allowed bool) {
	out = j.outcome()
	if err := g.recordDecision(ctx, j); err != nil {
		return g.faulted(out, "audit", err), false, false
	}
	if out.Decision.Mode != Enforce {
		return out, false, j.env != nil // without an environment nothing can run, in any mode
	}
	if out.Decision.Effect != Ask {
		return out, false, out.Decision.Effect == Allow
	}
	if j.unknown() && j.request.Trial != "" {
		if err := g.approvedByTrial(ctx, j, &out); err != nil {
			return g.faulted(out, "audit", err), false, false
		}
		return out, false, true
	}
	if g.o.Trial && j.triable() {
		if tried, answered := g.answer(ctx, j, out); answered {
			return tried, true, false
		}
	}
	a, err := g.approve(ctx, j)
	if err != nil {
		return g.faulted(out, "audit", err), false, false
	}
	out.Approval = &a
	j.entry.approved(a.Granted)
	return out, false, a.Granted
}

// Close ends everything that runs, records how it ended, closes the environment and records the stop.
func (g *Gate) Close() error {
	g.close() // end the waits for a person or for an environment
	g.mu.Lock()
	env := g.env
	already := g.closed != nil
	if !already {
		g.closed = errClosed
	}
	g.env = nil
	g.mu.Unlock()
	var errs []error
	if env != nil {
		errs = append(errs, env.Close())
	}
	g.jobs.kill()
	if g.o.Boundary != nil {
		if _, f := g.hold(g.o.Boundary.Close(), g.o.Subject); f != nil {
			errs = append(errs, f)
		}
	}
	g.mu.Lock()
	started := g.started // also by a request that was under way
	g.mu.Unlock()
	if started && !already {
		errs = append(errs, g.o.Recorder.Record(context.Background(), g.stopRecord()))
	}
	return errors.Join(errs...)
}

// shut makes the gate refuse from now on: its audit log cannot be trusted to take another record.
func (g *Gate) shut(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = why
	}
}

// open returns the environment and the builder of facts about it, opening both on first use.
func (g *Gate) open(ctx context.Context) (Environment, *build.Builder, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return nil, nil, g.closed
	}
	if g.env == nil || lost(g.env) != nil {
		g.env = nil
		s := g.o.Subject
		env, err := g.opener()(ctx, EnvironmentSpec{Agent: s.Agent, Session: s.Session, Layout: g.o.Layout})
		if err != nil {
			return nil, nil, fmt.Errorf("open environment %s: %w", g.o.Runner.Describe().Name, err)
		}
		layout := g.o.Layout
		if r, ok := env.(Remote); ok {
			layout = r.Layout(layout)
		}
		g.env = env
		g.builder = build.NewBuilder(layout, env.FS(), g.o.Ledger)
	}
	return g.env, g.builder, nil
}

// opener is how the environment is opened: only to be looked at, where nothing runs.
func (g *Gate) opener() func(context.Context, EnvironmentSpec) (Environment, error) {
	if l, ok := g.o.Runner.(Looker); ok && (g.o.Recorder == nil || g.o.Look) {
		return l.Look
	}
	return g.o.Runner.Open
}

// lost says why an environment can be used no more; nil as long as it can.
func lost(env Environment) error {
	if r, ok := env.(Remote); ok {
		return r.Err()
	}
	return nil
}
