package mcpserver

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongCallsShowProgress: to who asked, in order, and never after the reply.
func TestLongCallsShowProgress(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	w := connect(t, world.Server)
	w.hello(t, nil)
	var told []map[string]any
	id := w.send(t, "tools/call", map[string]any{
		"name": "execute_command", "_meta": map[string]any{"progressToken": "tok"},
		"arguments": map[string]any{"command": `printf 'first\nsecond \033[31mred'; until test -e told; do sleep 0.01; done; echo; echo err >&2`},
	})
	r := resultOf(t, w.reply(t, id, func(m message) {
		if m.Method != progressMethod {
			return
		}
		if told = append(told, m.Params); strings.Contains(fmt.Sprint(m.Params), "second") {
			world.write(t, "told", "") // the command waits for it, for as long as it may run
		}
	}))
	if r.IsError || len(told) == 0 {
		t.Fatalf("%d notifications, %s", len(told), r.Text)
	}
	before := -1.0
	for _, p := range told {
		if n := p["progress"].(float64); p["progressToken"] != "tok" || n <= before {
			t.Errorf("after %v came %v", before, p)
		} else {
			before = n
		}
	}
	if all := fmt.Sprint(told); !strings.Contains(all, `bytes of output: second \u{1b}[31mred`) {
		t.Errorf("said %s", all)
	}
	if m := w.reply(t, w.send(t, "ping", nil), func(m message) { t.Errorf("after the reply: %+v", m) }); m.Error != nil {
		t.Error("ping")
	}
	// A call without a token shows none, while one with a token does.
	silent := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{
		"command": "until test -e seen; do sleep 0.01; done",
	}})
	id = w.send(t, "tools/call", map[string]any{
		"name": "execute_command", "_meta": map[string]any{"progressToken": "other"},
		"arguments": map[string]any{"command": "until test -e seen; do sleep 0.01; done"},
	})
	replies := 0
	for times := 0; replies < 2; {
		switch m := w.next(t); {
		case m.ID == float64(silent) || m.ID == float64(id):
			replies++
		case m.Params["progressToken"] != "other":
			t.Errorf("unasked: %+v", m)
		default:
			if times++; times == 3 {
				world.write(t, "seen", "")
			}
		}
	}
}

// TestProgressNeverFollowsTheReply, many times over: mcp-go's own way loses that race.
func TestProgressNeverFollowsTheReply(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "", func(o *Options) { o.Progress = 1 }).Server) // as fast as it goes
	w.hello(t, nil)
	over := map[string]bool{}
	see := func(m message) {
		if m.Method == progressMethod && over[fmt.Sprint(m.Params["progressToken"])] {
			t.Error("progress after the reply")
		}
	}
	for i := range 20 {
		token := fmt.Sprint("tok", i)
		id := w.send(t, "tools/call", map[string]any{
			"name": "execute_command", "_meta": map[string]any{"progressToken": token}, "arguments": map[string]any{"command": "sleep 0.005"},
		})
		w.reply(t, id, see)
		over[token] = true
	}
	w.end(t)
	for m := range w.got {
		see(m)
	}
}

func TestTheLastLineIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		writes []string
		last   string
		bytes  int64
	}{
		{nil, "", 0},
		{[]string{"one\n"}, "one", 4},
		{[]string{"one\ntwo"}, "two", 7},
		{[]string{"one\ntw", "o\n\n"}, "two", 9},
		{[]string{"a", "b", "c\n", "d"}, "d", 5},
		{[]string{"a\nb\nc\n"}, "c", 6},
		{[]string{"x\xff\x00y\n"}, `x\u{fffd}\u{0}y`, 5},
		{[]string{strings.Repeat("long", 100_000)}, strings.Repeat("long", progressWidth/4)[:progressWidth-1] + "…", 400_000},
	} {
		var seen tail
		for _, s := range c.writes {
			if n, err := seen.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("write: %d, %v", n, err)
			}
		}
		if n, last := seen.seen(); n != c.bytes || last != c.last {
			t.Errorf("%.40q: got %d %q, want %d %q", c.writes, n, last, c.bytes, c.last)
		}
		if len(seen.line) > tailBytes || len(seen.last) > tailBytes {
			t.Errorf("%d and %d bytes are kept", len(seen.line), len(seen.last))
		}
	}
}
