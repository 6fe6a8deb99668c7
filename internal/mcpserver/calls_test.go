package mcpserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// blocked is a gate in which every command waits until it is released or cancelled.
type blocked struct {
	began, ended chan string
	release      chan struct{}
	ran          atomic.Int64
}

func (b *blocked) do(ctx context.Context, r engine.Request) (engine.Outcome, error) {
	b.ran.Add(1)
	b.began <- r.Command
	out := allowed(r)
	select {
	case <-b.release:
	case <-ctx.Done():
		out.Exit.Killed, out.Exit.Code = "cancelled", 143
		b.ended <- r.Command
	}
	return out, nil
}

func newBlocked() *blocked {
	return &blocked{began: make(chan string, 1000), ended: make(chan string, 1000), release: make(chan struct{})}
}

func receive(t *testing.T, c <-chan string) string {
	t.Helper()
	return await.Receive(t, "command", c)
}

// TestCancelledWhileItWaitsItNeverRuns holds for any number of calls at once.
func TestCancelledWhileItWaitsItNeverRuns(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 5, 40} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			b := newBlocked()
			w := connect(t, plain(t, b.do, func(o *Options) { o.Calls = most }))
			for i := range most {
				w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": fmt.Sprint("busy", i)}})
			}
			for range most {
				receive(t, b.began)
			}
			dropped := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "dropped"}})
			kept := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "kept"}})
			w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, dropped))
			w.reply(t, w.send(t, "ping", nil), nil) // by now the cancellation has been read
			close(b.release)
			replies := []int{}
			w.reply(t, kept, func(m message) { replies = append(replies, int(m.ID.(float64))) })
			w.end(t)
			for m := range w.got {
				replies = append(replies, int(m.ID.(float64)))
			}
			if slices.Contains(replies, dropped) {
				t.Error("a cancelled call was answered")
			}
			if n := b.ran.Load(); n != int64(most+1) {
				t.Errorf("%d commands ran, want %d: all but the cancelled one", n, most+1)
			}
		})
	}
}

func TestCancelledWhileItRunsItEndsWithoutReply(t *testing.T) {
	t.Parallel()
	b := newBlocked()
	w := connect(t, plain(t, b.do, nil))
	w.say(t, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"execute_command","arguments":{"command":"text id"}}}`)
	receive(t, b.began)
	w.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`)
	w.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
	w.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"user"}}`)
	if got := receive(t, b.ended); got != "text id" {
		t.Errorf("ended %q", got)
	}
	if m := w.reply(t, w.send(t, "ping", nil), nil); m.Error != nil {
		t.Errorf("ping: %+v", m.Error)
	}
	w.end(t)
	for m := range w.got {
		t.Errorf("answered: %+v", m)
	}
}

// TestStuckCallsEndWithTheInput: the server does not wait for ever for calls of a client that has closed its side.
func TestStuckCallsEndWithTheInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBlocked()
		w := connect(t, plain(t, b.do, func(o *Options) { o.Quiet, o.Calls = 0, 1 }))
		running := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "runs"}})
		waiting := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "waits"}})
		receive(t, b.began)
		w.end(t)
		var replies []int
		for m := range w.got {
			replies = append(replies, int(m.ID.(float64)))
			if m.ID == float64(waiting) {
				if m.Error == nil || !strings.Contains(m.Error.Message, "did not run") {
					t.Errorf("a call whose turn never came: %+v", m)
				}
				continue
			}
			if r := resultOf(t, m); !r.IsError || r.is("success") {
				t.Errorf("a killed command succeeded: %+v", r)
			}
		}
		slices.Sort(replies)
		if !slices.Equal(replies, []int{running, waiting}) || b.ran.Load() != 1 {
			t.Errorf("replies %v, %d ran", replies, b.ran.Load())
		}
	})
}

func TestEndOfContextEndsCalls(t *testing.T) {
	t.Parallel()
	b := newBlocked()
	w := connect(t, plain(t, b.do, nil))
	w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "runs"}})
	receive(t, b.began)
	w.stop() // as a signal does; the input stays open
	receive(t, b.ended)
	ends(t, w.done)
}

// TestDeadClientEndsCalls: both pipes are closed at once, as when the client is killed.
func TestDeadClientEndsCalls(t *testing.T) {
	t.Parallel()
	b := newBlocked()
	s := plain(t, b.do, nil)
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(t.Context(), inR, outW) }()
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"runs"}}}`)
	receive(t, b.began)
	outR.Close()
	inW.Close()
	receive(t, b.ended)
	ends(t, done)
	inR.Close()
	outW.Close()
}

// TestASignalEndsAServerWhoseClientDoesNotRead: its replies hang, and it must not.
func TestASignalEndsAServerWhoseClientDoesNotRead(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe() // nobody reads from it
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- plain(t, nil, nil).ServeStdio(ctx, inR, outW) }()
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":2,"method":"ping"}`) // it was read, so the first is being answered
	cancel()
	ends(t, done)
	outR.Close()
	inW.Close()
}
