package mcpserver

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestEndOfInputLosesNoReply(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) {
		<-release
		return allowed(r), nil
	}, func(o *Options) { o.Calls = 3 }))
	for i := range 20 {
		w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": fmt.Sprint("c", i+1)}})
	}
	w.in.Close()
	close(release)
	ends(t, w.done)
	got := map[int]string{}
	for m := range w.got {
		got[int(m.ID.(float64))] = resultOf(t, m).str("stdout")
	}
	for i := 1; i <= 20; i++ {
		if got[i] != fmt.Sprint("c", i) {
			t.Errorf("call %d: got %q", i, got[i])
		}
	}
}

// TestLastLineNeedsNoLineFeed: printf '%s' into the server is a request all the same.
func TestLastLineNeedsNoLineFeed(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, nil, nil))
	if _, err := io.WriteString(w.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil {
		t.Fatal(err)
	}
	w.end(t)
	if m := <-w.got; m.ID != 1.0 || m.Error != nil {
		t.Errorf("got %+v", m)
	}
}

func TestInvalidMessageGetsErrorResponse(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) { return allowed(r), nil },
		func(o *Options) { o.Line = 1 << 20 }))
	w.hello(t, nil)
	for name, c := range map[string]struct {
		line string
		code int
	}{
		"not JSON":                    {`{"jsonrpc":`, -32700},
		"words":                       {`hello`, -32700},
		"two values":                  {`{} {}`, -32700},
		"invalid UTF-8":               {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", -32700},
		"a batch":                     {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600},
		"a number":                    {`7`, -32600},
		"method of another type":      {`{"jsonrpc":"2.0","id":1,"method":7}`, -32600},
		"id is an object":             {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600},
		"id is a truth":               {`{"jsonrpc":"2.0","id":true,"method":"tools/call"}`, -32600},
		"another version":             {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		"unknown method":              {`{"jsonrpc":"2.0","id":1,"method":"nothing/here"}`, -32601},
		"unknown tool":                {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`, -32602},
		"longer than the longest":     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, -32600},
		"params of another type":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, -32600},
		"unknown resource":            {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, -32002},
		"an answer that nobody wants": {`{"jsonrpc":"2.0","id":99,"result":{}}`, 0},
		"a call without an id":        {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"execute_command","arguments":{"command":"x"}}}`, 0},
		"an empty line":               {"  ", 0},
	} {
		w.say(t, c.line)
		if c.code != 0 {
			if m := w.next(t); m.Error == nil || m.Error.Code != c.code {
				t.Errorf("%s: got %+v %+v, want error %d", name, m, m.Error, c.code)
			}
		}
		if m := w.reply(t, w.send(t, "ping", nil), func(m message) { t.Errorf("%s: also %+v", name, m) }); m.Error != nil {
			t.Errorf("after %s: %+v", name, m.Error)
		}
	}
}

// TestLargeArguments: 10 MB pass the pump; what they are good for is for the gate to say.
func TestLargeArguments(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) {
		return engine.Outcome{Decision: engine.Decision{ID: "D", Effect: engine.Deny}}, nil
	}, nil))
	r := w.call(t, "execute_command", map[string]any{"command": strings.Repeat("x", 10<<20)})
	if !r.IsError || r.is("ran") {
		t.Errorf("got %v", r.IsError)
	}
}

func TestAnIDIsUsedOnceAtATime(t *testing.T) {
	t.Parallel()
	b := newBlocked()
	w := connect(t, plain(t, b.do, nil))
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"x"}}}`
	w.say(t, call)
	receive(t, b.began)
	w.say(t, call)
	if m := w.next(t); m.Error == nil || m.Error.Code != -32600 || m.ID != 7.0 {
		t.Errorf("got %+v", m)
	}
	close(b.release)
	if m := w.next(t); m.Error != nil || m.ID != 7.0 {
		t.Errorf("got %+v", m)
	}
	if b.ran.Load() != 1 {
		t.Errorf("%d ran", b.ran.Load())
	}
}

// TestListeningHoldsNothingUp: a client of the modern era opens a stream of notifications and leaves it open.
func TestListeningHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) { return allowed(r), nil },
		func(o *Options) { o.Calls = 1 }))
	w.say(t, `{"jsonrpc":"2.0","id":50,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`)
	if r := w.call(t, "execute_command", map[string]any{"command": "x"}); r.IsError {
		t.Errorf("got %+v", r)
	}
	w.end(t)
}

// TestPanicIsAFaultAndNoMore: the agent learns an id, not what broke.
func TestPanicIsAFaultAndNoMore(t *testing.T) {
	t.Parallel()
	w := connect(t, plain(t, func(context.Context, engine.Request) (engine.Outcome, error) { panic("inner secret") }, nil))
	r := w.call(t, "execute_command", map[string]any{"command": "x"})
	if !r.IsError || !strings.Contains(r.Text, "fault F-") || strings.Contains(fmt.Sprint(r.Raw), "secret") {
		t.Errorf("got %+v", r)
	}
	if m := w.reply(t, w.send(t, "ping", nil), nil); m.Error != nil {
		t.Error("the server is gone")
	}
}

// TestTaskCallsAreOrdinaryCalls: mcp-go skips the checks of arguments for calls that ask to be a task; ours
// are in the tool.
func TestTaskCallsAreOrdinaryCalls(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) {
		ran.Add(1)
		return allowed(r), nil
	}, nil))
	id := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": 7}, "task": map[string]any{}})
	if r := resultOf(t, w.reply(t, id, nil)); !r.IsError || ran.Load() != 0 {
		t.Errorf("wrong arguments reached the gate: %+v", r)
	}
	id = w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "x"}, "task": map[string]any{}})
	if r := resultOf(t, w.reply(t, id, nil)); r.IsError || ran.Load() != 1 {
		t.Errorf("got %+v, %d ran", r, ran.Load())
	}
}

// TestIDsComeBackAsTheyWere, digits beyond those of a float among them.
func TestIDsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		_ = plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) { return allowed(r), nil }, nil).ServeStdio(t.Context(), inR, outW)
		outW.Close()
	}()
	ids := []string{`9007199254740993`, `"9007199254740993"`, `-1`, `"\u00e9"`, `""`, `0`}
	go func() {
		for _, id := range ids {
			fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"method":"ping"}`+"\n", id)
		}
		fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":18446744073709551615,"method":"tools/call","params":{"name":"check_command","arguments":{"command":"x"}}}`)
		fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":18446744073709551616,"method":"tools/call","params":{"name":"none"}}`)
		inW.Close()
	}()
	all, err := io.ReadAll(outR)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range append(ids, "18446744073709551615", "18446744073709551616") {
		if !strings.Contains(string(all), `"id":`+id+`,`) {
			t.Errorf("no reply for %s in %s", id, all)
		}
	}
}

// TestMessagesUnderWayAreBounded: a client cannot fill the memory with calls that wait.
func TestMessagesUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	q := newCalls(0, newCrew()) // nothing runs
	one := func(id string, size int) string {
		return q.add(&pending{id: id, size: size, cancel: func() {}, abandon: func(*pending) {}})
	}
	if why := one("first", 2*messageBytes); why != "" {
		t.Errorf("a single one: %s", why)
	}
	if one("second", 1) == "" {
		t.Error("more than the bound")
	}
	q.cancel("first")
	for i := range waitingMost {
		if why := one(fmt.Sprint(i), 1); why != "" {
			t.Fatalf("%d: %s", i, why)
		}
	}
	if one("more", 1) == "" {
		t.Error("more calls than the bound")
	}
	q.endAll()
	<-q.empty()
	if one("late", 1) == "" || q.bytes != 0 || len(q.all) != 0 {
		t.Errorf("after the end: %d bytes, %d calls", q.bytes, len(q.all))
	}
}

// broken is an input that fails.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// TestOnlyABrokenInputIsAnError: a client that is gone is none.
func TestOnlyABrokenInputIsAnError(t *testing.T) {
	t.Parallel()
	for err, isError := range map[error]bool{
		io.EOF: false, io.ErrClosedPipe: false, os.ErrClosed: false, syscall.ECONNRESET: false, syscall.EIO: false,
		&fs.PathError{Op: "read", Err: syscall.EISDIR}: true,
	} {
		got := plain(t, nil, nil).ServeStdio(t.Context(), broken{err}, io.Discard)
		if (got != nil) != isError {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
