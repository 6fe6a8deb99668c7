package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// fakeBoundary finds the same files at each end.
type fakeBoundary struct {
	log   *events
	found []string
}

func (b *fakeBoundary) Enter() { b.log.add("enter") }

func (b *fakeBoundary) Changed() engine.Changes {
	return engine.Changes{
		Created: 1,
		Whole:   true,
		List:    []engine.Change{{Path: "/made", What: engine.Created}},
	}
}

func (b *fakeBoundary) Released(string) bool { return false }

func (b *fakeBoundary) Leave() []string {
	b.log.add("leave")
	return slices.Clone(b.found)
}

func (b *fakeBoundary) Close() []string {
	b.log.add("close boundary")
	return slices.Clone(b.found)
}

func (b *fakeBoundary) Hold(_ string, all []engine.Held) []engine.Held {
	for i := range all {
		b.log.add("hold %s", filepath.Base(all[i].Path))
		all[i].Left = "nothing"
	}
	return all
}

var (
	allow    = engine.Judgement{Effect: engine.Allow}
	allowing = fakePolicy{answer: allow}
)

// judging answers commands, and the files that they left, by different judgements.
type judging struct {
	fakePolicy
	changes engine.Judgement
	broken  error
	seen    *facts.Input
}

func (p *judging) judge(in *facts.Input) (engine.Judgement, error) {
	p.seen = in
	return p.changes, p.broken
}

// asked is a judgement about paths: a reason for each index.
func asked(e engine.Effect, paths ...int) engine.Judgement {
	j := engine.Judgement{Effect: e}
	for _, p := range paths {
		r := engine.Reason{Rule: "test/rule", Effect: e, Path: p, Command: -1, Message: "obeyed"}
		j.Reasons = append(j.Reasons, r)
	}
	return j
}

// The files that a command left are judged, on record and held before its outcome is.
func TestBoundary(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	const both = "leave, record decision, hold a, hold b, record outcome"
	tests := []struct {
		name    string
		changes engine.Judgement
		err     error
		mode    engine.Mode
		want    string // events from the end of the command on, apart by ", "
	}{
		{"allowed", allow, nil, "", "leave, record decision, record outcome, record outcome"},
		{"one is asked", asked(engine.Ask, 1), nil, "", "leave, record decision, hold b, record outcome"},
		{"both are denied", asked(engine.Deny, 0, 1), nil, "", both},
		{"denied as a whole", asked(engine.Deny, -1), nil, "", both},
		{"not judged", engine.Judgement{}, broken, "", both},
		{"monitored", asked(engine.Deny, 0), nil, engine.Monitor, "leave, record outcome"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := w.options.Layout.Workspace
			b := &fakeBoundary{w.log, []string{dir + "/a", dir + "/b"}}
			p := &judging{changes: tc.changes, broken: tc.err, fakePolicy: allowing}
			w.options.Boundary, w.options.Mode = b, tc.mode
			w.options.Evaluators = []engine.Evaluator{answering{p}}
			out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
			lines := w.log.lines()
			after := lines[slices.Index(lines, "leave"):]
			if diff := cmp.Diff(tc.want, strings.Join(after, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if i, j := slices.Index(lines, "enter"), slices.Index(lines, "start x"); i < 0 || j < i {
				t.Errorf("the command started before the boundary was entered: %q", lines)
			}
			if held := strings.Count(tc.want, "hold"); len(out.Held) != held {
				t.Errorf("outcome with %d held files, want %d", len(out.Held), held)
			}
			if tc.mode == engine.Monitor {
				return
			}
			seen := p.seen
			if seen.Request.Tool != "changes" || len(seen.Paths) != 2 || seen.Paths[0].Access != "write" {
				t.Errorf("judged %+v", seen.Request)
			}
			if (out.Fault != nil) != (tc.err != nil) {
				t.Errorf("fault %v", out.Fault)
			}
		})
	}
}

// A file is held if the facts cannot hold its name, in spite of an allowing policy.
func TestMisnamed(t *testing.T) {
	t.Parallel()
	for _, changes := range []engine.Judgement{{Effect: engine.Allow}, asked(engine.Ask, 0)} {
		w := newWorld(t)
		dir := w.options.Layout.Workspace
		w.options.Boundary = &fakeBoundary{w.log, []string{dir + "/a\xff/.envrc"}}
		p := &judging{changes: changes, fakePolicy: allowing}
		w.options.Evaluators = []engine.Evaluator{answering{p}}
		if out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"}); len(out.Held) != 1 {
			t.Errorf("%s: held %+v", changes.Effect, out.Held)
		}
	}
}

// answering is an evaluator with two answers.
type answering struct{ *judging }

func (c answering) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	if in.Request.Tool == "changes" {
		return c.judge(in)
	}
	return c.fakePolicy.Evaluate(ctx, in)
}

// A file that policies asked about, and that a person granted or the operator exempts, may stay. One that the
// request does not name, or that was no question, may not.
func TestExcused(t *testing.T) {
	t.Parallel()
	granted := approver(func(context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: true, By: "test"}, nil
	})
	exempt := allow
	exempt.Exempted = []engine.Reason{{Rule: "test/rule", Effect: engine.Ask, Command: 0}}
	for _, tc := range []struct {
		name    string
		command engine.Judgement
		text    string
		held    int
	}{
		{"granted", asked(engine.Ask, 0), "echo x > .envrc", 0},
		{"granted, another file", asked(engine.Ask, 0), "echo x > .nvmrc", 1},
		{"allowed", allow, "echo x > .envrc", 1},
		{"exempt", exempt, "echo x > .envrc", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.Approver = granted
			w.options.Boundary = &fakeBoundary{w.log, []string{w.options.Layout.Workspace + "/.envrc"}}
			p := &judging{changes: asked(engine.Ask, 0), fakePolicy: fakePolicy{answer: tc.command}}
			w.options.Evaluators = []engine.Evaluator{answering{p}}
			g := w.gate(t)
			out, err := g.Do(t.Context(), engine.Request{Tool: "execute_command", Command: tc.text})
			if err != nil || !out.Ran || len(out.Held) != tc.held {
				t.Errorf("ran %v, held %+v, %v", out.Ran, out.Held, err)
			}
			// The excuse ends with the command.
			out, err = g.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "echo x > other"})
			if err != nil || len(out.Held) != 1 {
				t.Errorf("the next command: held %+v, %v", out.Held, err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			lines := w.log.lines()
			want := []string{"close boundary", "record decision", "hold .envrc", "record stop"}
			if end := lines[len(lines)-4:]; !slices.Equal(end, want) {
				t.Errorf("at the end %q", end)
			}
		})
	}
}

// A full disk keeps no file in its place: the files are held although no record can be written.
func TestHeldWithoutRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Boundary = &fakeBoundary{w.log, []string{w.options.Layout.Workspace + "/a"}}
	p := &judging{changes: asked(engine.Ask, 0), fakePolicy: allowing}
	w.options.Evaluators = []engine.Evaluator{answering{p}}
	w.runner.started = func() { w.recorder.fail = engine.KindDecision }
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if out.Fault == nil || out.Fault.Part != "audit" || len(out.Held) != 1 {
		t.Errorf("fault %v, held %+v", out.Fault, out.Held)
	}
}
