package wire

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// fixed is a runner with one environment, and all that a gate needs besides.
type fixed struct{ env engine.Environment }

func (fixed) Describe() facts.Runner { return facts.Runner{Name: "box", Isolation: "remote"} }
func (f fixed) Open(context.Context, engine.EnvironmentSpec) (engine.Environment, error) {
	return f.env, nil
}
func (fixed) Policy() engine.PolicyInfo                      { return engine.PolicyInfo{} }
func (fixed) Record(context.Context, ...engine.Record) error { return nil }
func (fixed) Evaluate(context.Context, *facts.Input) (engine.Judgement, error) {
	return engine.Judgement{Effect: engine.Allow}, nil
}

// TestSlowSupervisor delays answers past the deadline of a request. The request is refused, without the facts so far
// and without a longer wait. The connection stays open: a slow line is no fault.
func TestSlowSupervisor(t *testing.T) {
	t.Parallel()
	slow, judged := make(chan struct{}), make(chan struct{})
	var asked atomic.Int64 // since it is slow
	env := liar(t, func(st net.Conn, _ opening) {
		for {
			var q request
			if readFrame(st, &q) != nil {
				return
			}
			answer := reply{Info: &info{File: "x"}}
			switch q.Op {
			case opEnviron:
				answer = reply{Env: variables{"PATH=/bin"}, Nodes: nodes{}}
			case opWalk:
				answer = reply{}
				fallthrough
			default:
				select {
				case <-slow:
					asked.Add(1)
					<-judged
				default:
				}
			}
			if writeFrame(st, answer) != nil {
				return
			}
		}
	})
	f := fixed{env}
	gate := func(judge time.Duration) *engine.Gate {
		t.Helper()
		g, err := engine.New(engine.Options{
			Layout: facts.Layout{Workspace: "/srv/work"}, Evaluators: []engine.Evaluator{f}, Runner: f, Recorder: f, Limits: engine.Limits{Judge: judge},
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	check := func(g *engine.Gate) engine.Outcome {
		t.Helper()
		out, err := g.Check(await.Context(t), engine.Request{Tool: "execute_command", Command: "cat a b c d e f g h i j k l m n o p"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := check(gate(await.Guard)); out.Fault != nil || out.Decision.Effect != engine.Allow {
		t.Errorf("in time: %+v, %v", out.Decision, out.Fault)
	}
	g := gate(200 * time.Millisecond)
	check(g) // looks at the place, which no limit bounds
	close(slow)
	out := check(g)
	if out.Fault == nil || out.Decision.Effect != engine.Deny || !errors.Is(out.Fault, context.DeadlineExceeded) {
		t.Errorf("too late: %+v, %v", out.Decision, out.Fault)
	}
	if n := asked.Load(); n > 1 {
		t.Errorf("%d questions were asked, one of them when the time was over", n)
	}
	close(judged)
	if err := env.Err(); err != nil {
		t.Errorf("the connection is given up: %v", err)
	}
	if _, err := (remoteFS{env, time.Now()}).Lstat("/x"); !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "lstat") {
		t.Errorf("after the time: %v", err)
	}
	if _, err := env.FS().Lstat("/x"); err != nil {
		t.Errorf("somebody with time is not answered: %v", err)
	}
}

// TestOneQuestion counts the questions by which facts become known: one for the environment of a command and
// its working directory, and one more for all of its operands.
func TestOneQuestion(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	env := liar(t, func(st net.Conn, _ opening) {
		for {
			var q request
			if readFrame(st, &q) != nil {
				return
			}
			asked.Add(1)
			answer := reply{Error: failureOf(fs.ErrNotExist)}
			if len(q.Paths) > 0 {
				answer = reply{Env: variables{"PATH=/bin"}, Nodes: nodes{}}
				for _, p := range append(q.Paths, "/", "/srv") {
					dir := p == "/" || p == "/srv" || p == "/srv/work"
					answer.Nodes[string(p)] = facts.Node{Exists: dir, Absent: !dir, Mode: fs.ModeDir}
				}
			}
			if writeFrame(st, answer) != nil {
				return
			}
		}
	})
	f := fixed{env}
	g, err := engine.New(engine.Options{
		Layout: facts.Layout{Workspace: "/srv/work"}, Evaluators: []engine.Evaluator{f}, Runner: f, Recorder: f,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text string
		want int64
	}{{"true", 0}, {"true", 1}, {"ls a b c", 2}} { // the first check looks at the place
		asked.Store(0)
		out, err := g.Check(await.Context(t), engine.Request{Tool: "execute_command", Command: tc.text})
		if err != nil || out.Fault != nil || out.Decision.Effect != engine.Allow {
			t.Fatalf("%s: %+v, %v, %v", tc.text, out.Decision, out.Fault, err)
		}
		if got := asked.Load(); tc.want > 0 && got != tc.want {
			t.Errorf("%s: %d questions, want %d", tc.text, got, tc.want)
		}
	}
}
