package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// world is a gate's surroundings, with one log of all events in their order.
type world struct {
	log      *events
	policy   *fakePolicy
	runner   *fakeRunner
	recorder *fakeRecorder
	options  engine.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	log := &events{}
	w := &world{
		log:      log,
		policy:   &fakePolicy{answer: engine.Judgement{Effect: engine.Allow}},
		runner:   &fakeRunner{log: log, started: func() {}},
		recorder: &fakeRecorder{log: log, after: func(engine.Kind) {}},
	}
	dir := t.TempDir()
	w.options = engine.Options{
		Layout:     facts.Layout{Workspace: dir, Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}}},
		Evaluators: []engine.Evaluator{w.policy},
		Runner:     w.runner,
		Recorder:   w.recorder,
		Limits:     engine.Limits{Judge: await.Guard},
	}
	return w
}

type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf(format, args...))
}

func (e *events) lines() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}

type fakePolicy struct {
	answer engine.Judgement
	err    error
	panics bool
	late   bool // it ignores the deadline and answers all the same
}

func (p *fakePolicy) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "r1"} }

func (p *fakePolicy) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	if p.panics {
		panic("policy")
	}
	if in.Version != facts.Version {
		return engine.Judgement{}, errors.New("no input")
	}
	if p.late {
		<-ctx.Done()
	}
	return p.answer, p.err
}

type fakeRecorder struct {
	log    *events
	fail   engine.Kind
	after  func(engine.Kind)
	mu     sync.Mutex
	writes []int // how many records each call had
	last   engine.OutcomeBody
}

func (r *fakeRecorder) Record(_ context.Context, all ...engine.Record) error {
	for _, rec := range all {
		if rec.Kind == r.fail {
			return errors.New("disk full")
		}
	}
	r.mu.Lock()
	r.writes = append(r.writes, len(all))
	r.mu.Unlock()
	for _, rec := range all {
		if body, ok := rec.Body.(engine.OutcomeBody); ok {
			r.mu.Lock()
			r.last = body
			r.mu.Unlock()
		}
		r.log.add("record %s", rec.Kind)
		r.after(rec.Kind)
	}
	return nil
}

// fakeRunner is a runner and its only environment. Its processes exit with 7.
type fakeRunner struct {
	log                 *events
	openErr, prepareErr error
	block               bool
	files               engine.Files
	started             func()
	elevated            bool // as policies see it
	place               facts.Surroundings
	forward             bool // its commands come prepared as elevated, and with something to read
	mu                  sync.Mutex
	last                engine.Command
}

func (r *fakeRunner) Describe() facts.Runner {
	return facts.Runner{Name: "fake", Isolation: "none", Network: "none", Elevated: r.elevated, Place: r.place}
}

func (r *fakeRunner) Open(context.Context, engine.EnvironmentSpec) (engine.Environment, error) {
	return r, r.openErr
}

func (r *fakeRunner) Prepare(text, _ string) (engine.Command, error) {
	c := engine.Command{Text: text, Env: []string{"PATH=/bin"}}
	if r.forward {
		c.Elevated, c.Stdin = true, strings.NewReader("from the environment")
	}
	return c, r.prepareErr
}

func (r *fakeRunner) Files() engine.Files { return r.files }

func (r *fakeRunner) FS() facts.FS { return facts.OSFS{} }

func (r *fakeRunner) Close() error {
	r.log.add("close")
	return nil
}

func (r *fakeRunner) Start(_ context.Context, c engine.Command) (engine.Process, error) {
	r.log.add("start %s", c.Text)
	r.mu.Lock()
	r.last = c
	r.mu.Unlock()
	p := &fakeProcess{exit: engine.Exit{Code: 7, Stdout: engine.Stream{Text: "out"}}, killed: make(chan string, 1)}
	if !r.block {
		p.killed <- ""
	}
	r.started()
	return p, nil
}

type fakeProcess struct {
	engine.Process
	exit   engine.Exit
	killed chan string
}

func (p *fakeProcess) Wait() engine.Exit {
	p.exit.Killed = <-p.killed
	return p.exit
}
func (p *fakeProcess) Kill(reason string)                     { p.killed <- reason }
func (p *fakeProcess) PID() int                               { return 1 }
func (p *fakeProcess) Output() (stdout, stderr engine.Stream) { return p.exit.Stdout, p.exit.Stderr }

type approver func(context.Context) (engine.Approval, error)

func (a approver) Approve(ctx context.Context, _ engine.ApprovalRequest) (engine.Approval, error) {
	return a(ctx)
}

type fakeLedger struct{ log *events }

func (l *fakeLedger) Seen(string) string     { return "none" }
func (l *fakeLedger) Downloaded(string) bool { return false }

func (l *fakeLedger) Labels(string, bool) []string { return nil }
func (l *fakeLedger) Begin(*facts.Input, facts.FS) func(facts.FS, int) error {
	l.log.add("ledger begin")
	return func(_ facts.FS, code int) error {
		l.log.add("ledger end %d", code)
		return nil
	}
}

// lookingRunner is a runner that notes whether it is opened or looked at.
type lookingRunner struct{ *fakeRunner }

func (r lookingRunner) Open(ctx context.Context, s engine.EnvironmentSpec) (engine.Environment, error) {
	r.log.add("open")
	return r.fakeRunner.Open(ctx, s)
}

func (r lookingRunner) Look(ctx context.Context, s engine.EnvironmentSpec) (engine.Environment, error) {
	r.log.add("look")
	return r.fakeRunner.Open(ctx, s)
}

func judgement(e engine.Effect) engine.Judgement {
	j := engine.Judgement{Effect: e}
	if e != engine.Allow {
		j.Reasons = []engine.Reason{{Rule: "test/rule", Effect: e}}
	}
	return j
}

func (w *world) gate(t *testing.T) *engine.Gate {
	t.Helper()
	g, err := engine.New(w.options)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (w *world) do(t *testing.T, r engine.Request) engine.Outcome {
	t.Helper()
	out, err := w.gate(t).Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
