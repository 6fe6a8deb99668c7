package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// A name that a command is about to make is judged as the files are that commands leave; the outcome names
// the refused ones.
func TestMayMake(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name    string
		changes engine.Judgement
		err     error
		want    bool
		events  string // between the start of the command and its end, apart by ", "
	}{
		{"allowed", allow, nil, true, "record decision, record outcome"},
		{"asked", asked(engine.Ask, 0), nil, false, "record decision"},
		{"denied", asked(engine.Deny, -1), nil, false, "record decision"},
		{"not judged", engine.Judgement{}, broken, false, "record decision"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			name := w.options.Layout.Workspace + "/.envrc"
			w.options.Boundary = &fakeBoundary{log: w.log}
			p := &judging{changes: tc.changes, broken: tc.err, fakePolicy: allowing}
			w.options.Evaluators = []engine.Evaluator{answering{p}}
			w.runner.started = func() {
				if got := w.runner.last.MayMake(name); got != tc.want {
					t.Errorf("may make %s: %v", name, got)
				}
			}
			out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
			if (len(out.Held) == 0) != tc.want {
				t.Fatalf("held %+v", out.Held)
			}
			if !tc.want &&
				(!out.Held[0].Refused || !strings.HasPrefix(out.Held[0].String(), "refused: "+name)) {
				t.Errorf("refused %+v: %s", out.Held[0], out.Held[0])
			}
			if (out.Fault != nil) != (tc.err != nil) {
				t.Errorf("fault %v", out.Fault)
			}
			lines := w.log.lines()
			from, to := slices.Index(lines, "start x")+1, slices.Index(lines, "leave")
			if got := strings.Join(lines[from:to], ", "); got != tc.events {
				t.Errorf("events %q, want %q", got, tc.events)
			}
		})
	}
}

// A name is not asked about if a person approved the command that writes it, or released a version of the
// file; in monitor mode nothing is.
func TestMayMakeWithoutQuestion(t *testing.T) {
	t.Parallel()
	granted := approver(func(context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: true, By: "test"}, nil
	})
	for _, tc := range []struct {
		name     string
		text     string
		released bool
		want     bool
	}{
		{"approved", "echo x > .envrc", false, true},
		{"another name", "echo x > other", false, false},
		{"released", "echo x > other", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.Approver = granted
			w.options.Boundary = releasing{&fakeBoundary{log: w.log}, tc.released}
			p := &judging{changes: asked(engine.Ask, 0), fakePolicy: fakePolicy{answer: asked(engine.Ask, 0)}}
			w.options.Evaluators = []engine.Evaluator{answering{p}}
			w.runner.started = func() {
				if got := w.runner.last.MayMake(w.options.Layout.Workspace + "/.envrc"); got != tc.want {
					t.Errorf("may make it: %v", got)
				}
			}
			w.do(t, engine.Request{Tool: "execute_command", Command: tc.text})
		})
	}
	w := newWorld(t)
	w.options.Boundary, w.options.Mode = &fakeBoundary{log: w.log}, engine.Monitor
	w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if w.runner.last.MayMake != nil {
		t.Error("monitor mode asks about names")
	}
}

// releasing is a boundary with released files.
type releasing struct {
	*fakeBoundary
	all bool
}

func (b releasing) Released(string) bool { return b.all }

// The outcome lists the files that changed, and so does its record.
func TestChangesInOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Boundary = &fakeBoundary{log: w.log}
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if out.Changes == nil || out.Changes.Created != 1 || out.Changes.String("/") != "created 1 (made)" {
		t.Errorf("changes %+v", out.Changes)
	}
}

func TestChangesInWords(t *testing.T) {
	t.Parallel()
	c := engine.Changes{Created: 7, Removed: 1, Whole: false, List: []engine.Change{
		{
			Path: "/elsewhere/gone",
			What: engine.Removed,
		}, {Path: "/ws/a", What: engine.Created, Mode: "-rw-r--r--"},
	}}
	const want = "removed 1 (/elsewhere/gone); created 7 (a, …); perhaps others"
	if got := c.String("/ws"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (engine.Changes{Whole: true}).String("/ws"); got != "" {
		t.Errorf("no change is %q", got)
	}
}
