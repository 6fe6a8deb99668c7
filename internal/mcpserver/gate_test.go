package mcpserver

import (
	"context"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/background"
)

// gate stands in for the real one where only the protocol is tried.
type gate struct {
	do func(ctx context.Context, r engine.Request) (engine.Outcome, error)
}

func (g gate) Check(ctx context.Context, r engine.Request) (engine.Outcome, error) {
	return g.do(ctx, r)
}

func (g gate) Do(ctx context.Context, r engine.Request) (engine.Outcome, error) { return g.do(ctx, r) }

// allowed is the outcome of a command that printed its own text.
func allowed(r engine.Request) engine.Outcome {
	return engine.Outcome{
		Decision: engine.Decision{ID: "D-1", Effect: engine.Allow, Mode: engine.Enforce, Reasons: []engine.Reason{}},
		Ran:      true, Exit: engine.Exit{Stdout: engine.Stream{Text: r.Command, Bytes: int64(len(r.Command))}},
	}
}

// plain is a server whose gate is a function.
func plain(t *testing.T, do func(ctx context.Context, r engine.Request) (engine.Outcome, error), edit func(*Options)) *Server {
	t.Helper()
	o := Options{
		Gate: gate{do}, Approver: NewApprover(), Background: background.New(background.Options{Limit: 1}),
		Redact: func(s string) string { return s }, Version: "test", Subject: facts.Subject{Agent: "coder"},
		Quiet: 2 * await.Guard,
	}
	if edit != nil {
		edit(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
