package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// changing is an evaluator that is replaced while the gate asks for its revision, and then again while it
// judges.
type changing struct {
	now     engine.Evaluator
	changed func()
}

func (c *changing) OnChange(f func()) { c.changed = f }

func (c *changing) Current() engine.Evaluator { return c.now }

func (c *changing) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "nobody"} }

func (c *changing) Evaluate(context.Context, *facts.Input) (engine.Judgement, error) {
	return engine.Judgement{}, errors.New("asked in place of the current one")
}

type revision struct {
	name   string
	answer engine.Judgement
	during func()
}

func (r revision) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: r.name} }

func (r revision) Evaluate(context.Context, *facts.Input) (engine.Judgement, error) {
	r.during()
	return r.answer, nil
}

// A request keeps the policies under which it came: its record names the judging ones, though others
// take their place in between.
func TestRequestKeepsItsPolicies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &changing{}
	strict := revision{"strict", engine.Judgement{Effect: engine.Deny, Reasons: []engine.Reason{{Rule: "x", Effect: engine.Deny}}}, func() {}}
	c.now = revision{"mild", engine.Judgement{Effect: engine.Allow}, func() { c.now = strict }}
	w.options.Evaluators = []engine.Evaluator{w.policy, c}
	g, err := engine.New(w.options)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, want := range []struct {
		revision string
		effect   engine.Effect
	}{{"r1+mild", engine.Allow}, {"r1+strict", engine.Deny}} {
		out, err := g.Check(t.Context(), engine.Request{Command: "ls"})
		if err != nil || out.Decision.Policy.Revision != want.revision || out.Decision.Effect != want.effect {
			t.Errorf("got %s by %s, %v; want %v", out.Decision.Effect, out.Decision.Policy.Revision, err, want)
		}
	}
	c.now = nil // nobody judges: that is a fault, and denies
	if out, err := g.Check(t.Context(), engine.Request{Command: "ls"}); err != nil || out.Fault == nil || out.Decision.Effect != engine.Deny {
		t.Errorf("got %+v, %v", out.Decision, err)
	}
}

func TestRecordPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, err := engine.New(w.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.RecordPolicy(t.Context(), engine.PolicyBody{Error: "no"}); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	w.options.Recorder = nil
	if g, err = engine.New(w.options); err != nil {
		t.Fatal(err)
	}
	if err := g.RecordPolicy(t.Context(), engine.PolicyBody{}); err == nil {
		t.Error("it is on record without a log")
	}
}
