package engine_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// trying is a runner with trials that end well and change nothing.
type trying struct {
	seeing
	tryErr, closeErr error
}

func (r trying) Open(context.Context, engine.EnvironmentSpec) (engine.Environment, error) {
	return r, nil
}

func (r trying) Try(context.Context, engine.EnvironmentSpec) (engine.Trial, error) {
	if r.tryErr != nil {
		return nil, r.tryErr
	}
	return trial{&fakeRunner{log: r.log, started: func() {}}, r.closeErr}, nil
}

type trial struct {
	*fakeRunner
	closeErr error
}

func (t trial) Start(context.Context, engine.Command) (engine.Process, error) {
	t.log.add("try")
	p := &fakeProcess{killed: make(chan string, 1)}
	p.killed <- ""
	return p, nil
}

func (t trial) Close() error                                    { return t.closeErr }
func (trial) End() (c engine.Changes, lost []string, err error) { return engine.Changes{}, nil, nil }
func (trial) Conflicts(engine.Changes) []string                 { return nil }
func (trial) Lstat(string) (fs.FileInfo, error)                 { return nil, fs.ErrNotExist }
func (trial) Open(string) (io.ReadCloser, error)                { return nil, fs.ErrNotExist }

// unknown asks for want of knowledge.
func unknown() engine.Judgement {
	j := judgement(engine.Ask)
	j.Reasons[0].Trial = true
	return j
}

// TestProgramsHaveNoTrial: a trial answers no question about a program. Its changes would be applied, and the
// program would not start.
func TestProgramsHaveNoTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &byTool{fakePolicy: w.policy, program: unknown()}
	w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, trying{seeing: seeing{w.runner}}
	w.options.Programs = engine.Starts{Judged: true, Wait: true}
	w.options.Trial = true
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: true, By: "x"}, nil
	})
	program := engine.Program{Path: "/usr/bin/tool", File: "/usr/bin/tool", Dir: "/", Argv: []string{"tool"}}
	w.runner.started = func() {
		if !w.runner.last.MayStart(program).May {
			t.Error("a program may not start that a person granted")
		}
	}
	if _, err := w.gate(t).Do(t.Context(), engine.Request{Tool: "execute_command", Command: "x"}); err != nil {
		t.Fatal(err)
	}
	if lines := w.log.lines(); slices.Contains(lines, "try") {
		t.Errorf("a trial answered: %v", lines)
	}
}

// TestTrialThatCannotBeIsNotRunning: a trial that could not begin is not among the requests that run.
func TestTrialThatCannotBeIsNotRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &keeping{fakePolicy: w.policy}
	w.options.Evaluators = []engine.Evaluator{p}
	w.options.Runner = trying{seeing: seeing{w.runner}, tryErr: errors.New("none here")}
	g := w.gate(t)
	for range 2 {
		out, err := g.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "x", Trial: engine.DryRun})
		if err != nil || out.Exit.Error == nil {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if n := p.last.Session.Counts.Running; n != 0 {
		t.Errorf("%d requests run, want 0", n)
	}
}

// keeping keeps the last input.
type keeping struct {
	*fakePolicy
	last *facts.Input
}

func (p *keeping) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	p.last = in
	return p.fakePolicy.Evaluate(ctx, in)
}

// TestTrialThatIsNotDiscarded: that a trial could not be discarded shows in the outcome of the command for
// which it answered.
func TestTrialThatIsNotDiscarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy.answer = unknown()
	w.options.Runner = trying{seeing: seeing{w.runner}, closeErr: errors.New("still mounted")}
	w.options.Trial = true
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if out.Fault == nil || !strings.Contains(out.Fault.Error(), "still mounted") {
		t.Errorf("ran %v, fault %v", out.Ran, out.Fault)
	}
}
