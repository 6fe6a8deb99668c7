package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// honest is a supervisor that starts everything at once. Its commands end by themselves, or when killed.
func honest(t *testing.T, byItself bool) *Environment {
	return liar(t, func(st net.Conn, o opening) {
		if o.For != forProcess {
			_, _ = io.Copy(io.Discard, st)
			return
		}
		var ask order
		_ = readFrame(st, &ask)
		_, _ = st.Write(framed(`{"started":{"pid":7}}`))
		if !byItself {
			_ = readFrame(st, &ask)
		}
		_, _ = io.WriteString(st, anExit()+theEnd+theEnd)
		_, _ = io.Copy(io.Discard, st)
	})
}

var sleep = engine.Command{ID: "D", Text: "sleep 60", WorkDir: "/", Timeout: time.Hour, Output: 10}

// A kill that comes late changes nothing, now or later.
func TestLateKill(t *testing.T) {
	t.Parallel()
	env := honest(t, true)
	p, err := env.Start(context.Background(), sleep)
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Killed != "" || x.Error != nil {
		t.Errorf("%+v", x)
	}
	p.Kill("late")
	if p.(*process).late.Stop() {
		t.Error("the end is waited for once more: the connection would break when it does not come")
	}
	if x := p.Wait(); x.Killed != "" {
		t.Errorf("%+v", x)
	}
}

// A supervisor that does not tell the end of a command is silent: a caller may have to end all by other
// means.
func TestSilentSupervisor(t *testing.T) {
	t.Parallel()
	env := honest(t, false)
	env.o.EndMargin = time.Millisecond
	var why error
	env.o.Explain = func(err error) error { why = err; return err }
	c := sleep
	c.Timeout = time.Millisecond
	p, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); !errors.Is(x.Error, ErrSilent) || !errors.Is(x.Error, ErrLost) || x.Code != -1 {
		t.Errorf("%+v", x)
	}
	if !errors.Is(why, ErrSilent) {
		t.Errorf("the caller is told %v", why)
	}
}

// Close overlooks nothing that starts at the same time.
func TestCloseWhileStarting(t *testing.T) {
	t.Parallel()
	for range 20 {
		env := honest(t, false)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				p, err := env.Start(context.Background(), sleep)
				if err == nil {
					p.Wait()
				} else if !strings.Contains(err.Error(), "closed") {
					t.Errorf("start: %v", err)
				}
			})
		}
		runtime.Gosched() // somewhere between the starts
		if err := env.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if n := len(env.live); n != 0 {
			t.Errorf("%d processes are left", n)
		}
	}
}

// What is too large to send was not sent, and breaks nothing.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	env := honest(t, true)
	c := sleep
	c.Env = []string{"A=" + strings.Repeat("x", maxFrame)}
	c.Stdout = io.Discard
	if _, err := env.Start(context.Background(), c); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	if err := env.Err(); err != nil {
		t.Errorf("the connection broke: %v", err)
	}
	if p, err := env.Start(context.Background(), sleep); err != nil {
		t.Error(err)
	} else if x := p.Wait(); x.Error != nil {
		t.Errorf("%+v", x)
	}
}

// A supervisor that does not tell the end is not waited for without end.
func TestOverdue(t *testing.T) {
	t.Parallel()
	env := honest(t, false)
	p, err := env.Start(context.Background(), sleep)
	if err != nil {
		t.Fatal(err)
	}
	p.(*process).late.Reset(0)
	if x := p.Wait(); x.Code != -1 || !errors.Is(x.Error, ErrLost) || !strings.Contains(x.Error.Error(), "no end of a command was told") {
		t.Errorf("%+v", x)
	}
}

// Whoever asks while the cause is still being looked for is told the cause.
func TestExplainedToAll(t *testing.T) {
	t.Parallel()
	looking, explaining := make(chan struct{}), make(chan struct{})
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), theirs, func(Settings) (engine.Environment, Place, error) {
			return nothing{}, Place{Home: "/"}, nil
		})
	}()
	env, err := Connect(context.Background(), ours, Options{Explain: func(err error) error {
		close(explaining)
		<-looking
		return errors.Join(err, errors.New("somebody pulled the plug"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	<-served
	<-explaining // by the connection's own reader: a call that is the first to notice would explain, not wait
	asked := make(chan error, 3)
	go func() { _, err := env.Prepare("true", "/"); asked <- err }()
	go func() { _, err := env.Start(context.Background(), sleep); asked <- err }()
	go func() {
		await.Holds(func() bool { return env.Err() != nil })
		asked <- env.Err()
	}()
	await.True(t, "all three wait for the cause", func() bool { return blocked("wire.(*Environment).Err(") >= 3 })
	close(looking)
	for range 3 {
		if err := <-asked; err == nil || !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "pulled the plug") {
			t.Errorf("got %v", err)
		}
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}

// blocked returns how many goroutines are in a function and wait to receive.
func blocked(function string) (n int) {
	stacks := make([]byte, 4<<20)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if head, _, _ := strings.Cut(g, "\n"); strings.Contains(head, "[chan receive") && strings.Contains(g, function) {
			n++
		}
	}
	return n
}

// nothing is an environment that is only closed.
type nothing struct{ engine.Environment }

func (nothing) Close() error { return nil }
