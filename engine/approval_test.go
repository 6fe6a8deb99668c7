package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	granted := func(context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: true, By: "terminal:ann"}, nil
	}
	cases := map[string]struct {
		approve func(context.Context) (engine.Approval, error)
		limit   time.Duration
		ran     bool
	}{
		"nobody there": {},
		"granted":      {approve: granted, ran: true},
		"refused":      {approve: func(context.Context) (engine.Approval, error) { return engine.Approval{By: "terminal:ann"}, nil }},
		"error": {approve: func(context.Context) (engine.Approval, error) {
			return engine.Approval{Granted: true}, errors.New("no tty")
		}},
		"panic": {approve: func(context.Context) (engine.Approval, error) { panic("oh") }},
		"too late": {limit: 10 * time.Millisecond, approve: func(ctx context.Context) (engine.Approval, error) {
			<-ctx.Done()
			return engine.Approval{Granted: true}, nil
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.policy.answer = judgement(engine.Ask)
			w.options.Limits.Approve = c.limit
			if c.approve != nil {
				w.options.Approver = approver(c.approve)
			}
			out := w.do(t, engine.Request{Command: "touch x"})
			if out.Ran != c.ran || out.Approval == nil || out.Approval.Granted != c.ran {
				t.Errorf("ran %v, approval %+v: want %v", out.Ran, out.Approval, c.ran)
			}
			if got := w.log.lines(); !slices.Contains(got, "record approval") {
				t.Errorf("no approval record in %v", got)
			}
		})
	}
}

func TestApprovalThatCannotBeRecordedIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy.answer = judgement(engine.Ask)
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) { return engine.Approval{Granted: true}, nil })
	w.recorder.fail = engine.KindApproval
	if out := w.do(t, engine.Request{Command: "touch x"}); out.Ran || out.Decision.Effect != engine.Deny || out.Fault == nil {
		t.Errorf("outcome %+v: want a fault and nothing run", out)
	}
}

func TestMonitorRefusesNothingAndRecordsAll(t *testing.T) {
	t.Parallel()
	for _, effect := range []engine.Effect{engine.Deny, engine.Ask} {
		w := newWorld(t)
		w.options.Mode = engine.Monitor
		w.policy.answer = judgement(effect)
		out := w.do(t, engine.Request{Command: "true"})
		if !out.Ran || out.Decision.Effect != effect || out.Decision.Mode != engine.Monitor {
			t.Errorf("%s: ran %v, decision %+v", effect, out.Ran, out.Decision)
		}
		w = newWorld(t)
		w.options.Mode = engine.Monitor
		w.recorder.fail = engine.KindDecision
		if out := w.do(t, engine.Request{Command: "true"}); out.Ran {
			t.Error("ran without a record in monitor mode")
		}
	}
}

// grantsForAnHour has the policies ask, and a person grant for an hour from now. It counts the questions.
func (w *world) grantsForAnHour(now *time.Time, asked *int) {
	w.policy.answer = judgement(engine.Ask)
	w.options.Now = func() time.Time { return *now }
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
		*asked++
		return engine.Approval{Granted: true, By: "ann", Until: now.Add(time.Hour)}, nil
	})
}

// TestStandingApproval: an answer with an end counts for equal requests until then, each on record, and for
// no others.
func TestStandingApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now, asked := time.Unix(1_700_000_000, 0), 0
	w.grantsForAnHour(&now, &asked)
	g := w.gate(t)
	do := func(g *engine.Gate, command string) engine.Outcome {
		out, err := g.Do(t.Context(), engine.Request{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for i, step := range []struct {
		command string
		later   time.Duration
		asked   int
	}{
		{"touch x", 0, 1}, {"touch x", 30 * time.Minute, 1}, {"touch y", 0, 2}, {"touch x ", 0, 3},
		{"touch x", 31 * time.Minute, 4},
	} {
		now = now.Add(step.later)
		out := do(g, step.command)
		if !out.Ran || out.Approval == nil || out.Approval.By != "ann" || asked != step.asked {
			t.Errorf(
				"step %d: ran %v, approval %+v, asked %d times, want %d",
				i,
				out.Ran,
				out.Approval,
				asked,
				step.asked,
			)
		}
	}
	others := func(l string) bool { return l != "record approval" }
	if n := len(slices.DeleteFunc(w.log.lines(), others)); n != 5 {
		t.Errorf("%d approval records, want 5", n)
	}

	// One without an end, a refusal and an answer that cannot be recorded count once.
	for name, a := range map[string]engine.Approval{
		"once": {Granted: true}, "refused": {Until: now.Add(time.Hour)},
	} {
		asked = 0
		w := newWorld(t)
		w.policy.answer = judgement(engine.Ask)
		w.options.Now = func() time.Time { return now }
		w.options.Approver = approver(
			func(context.Context) (engine.Approval, error) { asked++; return a, nil },
		)
		g := w.gate(t)
		do(g, "touch x")
		if do(g, "touch x"); asked != 2 {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
}

// TestStandingApprovalsMakeRoom: expired answers make room for later ones.
func TestStandingApprovalsMakeRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now, asked := time.Unix(1_700_000_000, 0), 0
	w.grantsForAnHour(&now, &asked)
	g := w.gate(t)
	do := func(command string) {
		if out, err := g.Do(t.Context(), engine.Request{Command: command}); err != nil || !out.Ran {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	const most = 1000
	for i := range most {
		do(fmt.Sprint("touch ", i))
	}
	now = now.Add(2 * time.Hour)
	for range 2 {
		do("touch x")
	}
	if asked != most+1 {
		t.Errorf("asked %d times, want %d", asked, most+1)
	}
}
