package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine"
)

// round is a command of a client that cannot be asked while a call is under way. A question about one of its
// programs ends the call, and the command goes on: the program waits. The client calls again with the answer,
// and that call ends with the next question, or with the result.
type round struct {
	output    tails
	questions chan *inquiry
	cancel    context.CancelFunc
	ended     chan struct{} // closed after the end of the command
	result    result
}

// inquiry is a question about a program that waits.
type inquiry struct {
	round    *round
	question mcp.ElicitationParams
	typed    bool // it takes a word
	expires  time.Time
	answer   chan engine.Approval
	digest   string // of the arguments of the call that it ended
}

// rounds are the inquiries that clients have not answered yet, by the states that name them.
type rounds struct {
	mu  sync.Mutex
	all map[string]*inquiry
}

// programState begins the states of inquiries. It tells them from the answers about whole calls.
const programState = "program."

// begin runs a command that outlives the call.
func (c *call) begin(ctx context.Context, run func(context.Context, *round) result) *round {
	w := &round{questions: make(chan *inquiry), ended: make(chan struct{})}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.round = w
	c.server.crew.run(func() {
		defer close(w.ended)
		defer w.cancel()
		defer func() {
			if p := recover(); p != nil {
				w.result = c.broken(p)
			}
		}()
		w.result = run(ctx, w)
	})
	return w
}

// wait returns the result of a command, or leaves a question in the call. The end of the call ends the
// command.
func (w *round) wait(ctx context.Context, c *call) result {
	select {
	case <-w.ended:
		return w.result
	case q := <-w.questions:
		q.digest = c.digest()
		state, err := c.server.rounds.keep(q, c.server.o.Calls)
		if err == nil {
			c.ask.Store(server.NewInputRequestBuilder(state).Elicit(answerKey, q.question))
			return nil
		}
		w.cancel()
		<-w.ended
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	case <-ctx.Done():
		w.cancel()
		<-w.ended
		return w.result
	}
}

// inquire has the next call, or the one under way, end with a question, and waits for the answer. Without an
// answer in time nobody may be there any more: the command ends.
func (w *round) inquire(ctx context.Context, q *inquiry) (engine.Approval, error) {
	questions := w.questions
	for {
		select {
		case questions <- q:
			questions = nil
		case a := <-q.answer:
			return a, nil
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				w.cancel()
			}
			return engine.Approval{}, fmt.Errorf("ask through the client: %w", ctx.Err())
		}
	}
}

// keep stores an inquiry, and returns its state. Those of ended commands are forgotten with their time.
func (r *rounds) keep(q *inquiry, most int) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for state, old := range r.all {
		select {
		case <-old.round.ended:
			if time.Now().After(old.expires) {
				delete(r.all, state)
			}
		default:
		}
	}
	if len(r.all) >= most {
		return "", fmt.Errorf("%d commands wait for answers about their programs: answer these first", len(r.all))
	}
	if r.all == nil {
		r.all = map[string]*inquiry{}
	}
	state := programState + rand.Text()
	r.all[state] = q
	return state, nil
}

// resumed takes the answer of a call, once, and returns the command that asked; nil if the call answers none.
func (c *call) resumed() (*round, error) {
	state := c.request.Params.RequestState
	if !strings.HasPrefix(state, programState) {
		return nil, nil
	}
	r := &c.server.rounds
	r.mu.Lock()
	q := r.all[state]
	foreign := q != nil && q.digest != c.digest()
	if q != nil && !foreign {
		delete(r.all, state)
	}
	r.mu.Unlock()
	switch {
	case q == nil:
		return nil, errUsedState
	case foreign:
		return nil, errForeignState
	}
	q.answer <- c.approval(server.ElicitationResponse(c.request.Params.InputResponses, answerKey), q.typed)
	return q.round, nil
}
