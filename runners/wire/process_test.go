package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// honest is a supervisor that starts everything at once, and ends it when it is killed or, with soon, by
// itself.
func honest(t *testing.T, soon bool) *Environment {
	return liar(t, func(st net.Conn, o opening) {
		if o.For != forProcess {
			_, _ = io.Copy(io.Discard, st)
			return
		}
		var ask order
		_ = readFrame(st, &ask)
		_, _ = st.Write(framed(`{"started":{"pid":7}}`))
		if !soon {
			_ = readFrame(st, &ask)
		}
		_, _ = io.WriteString(st, anExit()+theEnd+theEnd)
		_, _ = io.Copy(io.Discard, st)
	})
}

var sleep = engine.Command{ID: "D", Text: "sleep 60", WorkDir: "/", Timeout: time.Minute, Output: 10}

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
		time.Sleep(time.Millisecond)
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
