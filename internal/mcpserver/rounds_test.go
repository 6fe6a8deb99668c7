package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// inquisitive is a gate with commands that ask about programs, one for each word, and end with the answers.
func inquisitive(t *testing.T, ended chan<- string, within func(context.Context) context.Context) *Server {
	t.Helper()
	var s *Server
	do := func(ctx context.Context, r engine.Request) (engine.Outcome, error) {
		out := allowed(r)
		out.Exit.Stdout.Text = ""
		for word := range strings.FieldsSeq(r.Command) {
			a, err := s.o.Approver.Approve(within(ctx), engine.ApprovalRequest{
				Command: word, Request: engine.Request{Tool: engine.ToolProgram},
				Decision: engine.Decision{Reasons: []engine.Reason{{Rule: "system/publish", Effect: engine.Ask}}},
			})
			out.Exit.Stdout.Text += fmt.Sprintf("%s %v %v\n", word, a.Granted, err != nil)
		}
		if ctx.Err() != nil {
			out.Exit.Killed = "cancelled"
		}
		ended <- r.Command
		return out, nil
	}
	s = plain(t, do, func(o *Options) { o.Calls = 1 })
	return s
}

// A client without sessions is asked about each program of a command that goes on meanwhile, and the last
// call has the result.
func TestProgramsAreAskedBetweenCalls(t *testing.T) {
	t.Parallel()
	ended := make(chan string, 1)
	w := connect(t, inquisitive(t, ended, func(ctx context.Context) context.Context { return ctx }))
	args := map[string]any{"command": "one two"}
	first, text := w.question(t, "execute_command", args)
	if !strings.HasPrefix(text, "system/publish: one") {
		t.Errorf("asked %q", text)
	}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", map[string]any{"command": "one three"},
		answerOf(first, yes))); !r.IsError || !strings.Contains(r.Text, "does not belong to this request") {
		t.Errorf("the answer counts for another command: %q", r.Text)
	}
	more := map[string]any{"command": "more"}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", more, nil)); !r.IsError ||
		!strings.Contains(r.Text, "1 commands wait for answers") {
		t.Errorf("a second command waits: %q", r.Text)
	}
	if got := await.Receive(t, "end", ended); got != "more" {
		t.Fatalf("%q ended", got)
	}
	m := w.modern(t, "elicitation", "execute_command", args, answerOf(first, yes))
	second, _ := m.Result["requestState"].(string)
	if second == "" || second == first {
		t.Fatalf("no second question: %+v", m.Result)
	}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", args, answerOf(first, yes))); !r.IsError ||
		!strings.Contains(r.Text, "was used already") {
		t.Errorf("the answer counts twice: %q", r.Text)
	}
	r := resultOf(t, w.modern(t, "elicitation", "execute_command", args,
		answerOf(second, map[string]any{"action": "decline"})))
	if r.IsError || !strings.Contains(r.Text, "one true false\ntwo false false\n") {
		t.Errorf("the result is %q", r.Text)
	}
	if got := await.Receive(t, "end", ended); got != "one two" || len(ended) > 0 {
		t.Errorf("%q ended", got)
	}
}

// expired is a context with a time that is over when done is closed.
type expired struct {
	context.Context
	done chan struct{}
}

func (e expired) Done() <-chan struct{} { return e.done }

func (e expired) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A question without an answer in time ends its command: the client may have left. The late answer finds the
// result.
func TestNoAnswerBetweenCallsEndsTheCommand(t *testing.T) {
	t.Parallel()
	ended, done := make(chan string, 1), make(chan struct{})
	s := inquisitive(t, ended, func(ctx context.Context) context.Context { return expired{ctx, done} })
	w := connect(t, s)
	args := map[string]any{"command": "one"}
	state, _ := w.question(t, "execute_command", args)
	close(done)
	await.Receive(t, "end", ended)
	r := resultOf(t, w.modern(t, "elicitation", "execute_command", args, answerOf(state, yes)))
	if !r.IsError || !strings.Contains(r.Text, "one false true") || !strings.Contains(r.Text, "cancelled") {
		t.Errorf("the result is %q", r.Text)
	}
	// An ended command makes place for others when its time is over.
	s.rounds.all = map[string]*inquiry{"old": {round: &round{ended: done}}}
	if _, err := s.rounds.keep(&inquiry{}, 1); err != nil {
		t.Error(err)
	}
}
