package endtoend

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileMessages sends what no client should. Each message is answered by an error of the protocol or
// by a clean refusal, nothing of it runs, and the server goes on with its work.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	// A call that would leave a mark, with places for what makes it hostile.
	call := func(id, name, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, id, name, arguments)
	}
	const execute = `"execute_command"`
	big := strings.Repeat("x", 10<<20)
	for i, tc := range []struct {
		name, line string
		id         string // of the reply; "" for none or null
		silent     bool   // a notification, which has no reply
	}{
		{name: "no JSON", line: `touch mark`},
		{name: "half a message", line: `{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"na`},
		{name: "a list of two", line: "[" + call("901", execute, `{"command":"touch mark"}`) + "," + call("902", execute, `{"command":"touch mark"}`) + "]"},
		{name: "an empty list", line: `[]`},
		{name: "a number", line: `17`},
		{name: "null", line: `null`},
		{name: "no method", line: `{"jsonrpc":"2.0","id":903}`, id: "903"},
		{name: "unknown method", line: `{"jsonrpc":"2.0","id":904,"method":"tools/destroy"}`, id: "904"},
		{name: "method of a wrong type", line: `{"jsonrpc":"2.0","id":905,"method":7}`},
		{name: "id of a wrong type", line: call(`{"a":1}`, execute, `{"command":"touch mark"}`)},
		{name: "unknown notification", line: `{"jsonrpc":"2.0","method":"notifications/nothing"}`, silent: true},
		{name: "unknown tool", line: call("906", `"destroy"`, `{"command":"touch mark"}`), id: "906"},
		{name: "tool of a wrong type", line: call("907", `["execute_command"]`, `{"command":"touch mark"}`), id: "907"},
		{name: "no arguments", line: `{"jsonrpc":"2.0","id":908,"method":"tools/call","params":{"name":"execute_command"}}`, id: "908"},
		{name: "no params", line: `{"jsonrpc":"2.0","id":909,"method":"tools/call"}`, id: "909"},
		{name: "params as a list", line: `{"jsonrpc":"2.0","id":910,"method":"tools/call","params":["execute_command"]}`, id: "910"},
		{name: "arguments as a list", line: call("911", execute, `["touch mark"]`), id: "911"},
		{name: "arguments as text", line: call("912", execute, `"touch mark"`), id: "912"},
		{name: "command of a wrong type", line: call("913", execute, `{"command":["touch","mark"]}`), id: "913"},
		{name: "command is null", line: call("914", execute, `{"command":null}`), id: "914"},
		{name: "timeout of a wrong type", line: call("915", execute, `{"command":"touch mark","timeout":"1"}`), id: "915"},
		{name: "timeout below zero", line: call("916", execute, `{"command":"touch mark","timeout":-1}`), id: "916"},
		{name: "timeout out of range", line: call("917", execute, `{"command":"touch mark","timeout":1e999}`)},
		{name: "unknown argument", line: call("918", execute, `{"command":"touch mark","sudo":true}`), id: "918"},
		{name: "argument in another case", line: call("919", execute, `{"Command":"touch mark"}`), id: "919"},
		{name: "10 MiB of command", line: call("920", execute, `{"command":"touch mark #`+big+`"}`), id: "920"},
		{name: "10 MiB of name", line: call("921", `"`+big+`"`, `{"command":"touch mark"}`), id: "921"},
		{name: "10 MiB of argument name", line: call("922", execute, `{"command":"touch mark","`+big+`":1}`), id: "922"},
		{name: "more than a message may have", line: strings.Repeat(big, 4)},
		{name: "invalid UTF-8", line: call("923", execute, "{\"command\":\"touch mark \xff\xfe\"}")},
		{name: "half a surrogate pair", line: call("924", execute, `{"command":"touch mark \ud800","work_dir":"\udfff"}`), id: "924"},
		{name: "NUL in the command", line: call("925", execute, `{"command":"touch mark \u0000"}`), id: "925"},
		{name: "NUL as it is", line: call("926", execute, "{\"command\":\"touch mark \x00\"}")},
		{name: "nested without end", line: call("927", execute, `{"command":`+strings.Repeat("[", 1<<20)+strings.Repeat("]", 1<<20)+`}`)},
		{name: "nested and unfinished", line: strings.Repeat(`{"a":`, 1<<20)},
		{name: "unknown shell", line: call("928", `"kill_background_shell"`, `{"shell_id":"shell_00000000"}`), id: "928"},
		{name: "shell of a wrong type", line: call("929", `"get_background_shell_output"`, `{"shell_id":17}`), id: "929"},
		{name: "cancel what is not there", line: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}`, silent: true},
		{name: "cancel without saying what", line: `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, silent: true},
		{name: "a reply to nothing", line: `{"jsonrpc":"2.0","id":930,"result":{}}`, silent: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := s.within(t)
			from := (<-chan message)(s.wire.stray)
			if tc.id != "" {
				from = s.wire.expect(tc.id)
			}
			s.raw(tc.line)
			if !tc.silent {
				s.refused(s.reply(from))
			}
			s.alive()
			if _, err := os.Stat(filepath.Join(s.workspace, "mark")); err == nil {
				t.Errorf("case %d ran", i)
			}
		})
	}
	// The same message without anything hostile does run.
	c := s.wire.expect("999")
	s.raw(call("999", execute, `{"command":"touch mark"}`))
	s.reply(c)
	if _, err := os.Stat(filepath.Join(s.workspace, "mark")); err != nil {
		t.Error(err)
	}
	s.quit()
	s.records()
}

// refused checks that a reply is an error of the protocol, or a result that says it is an error.
func (s *server) refused(m message) {
	s.t.Helper()
	if m.Error != nil {
		if m.Error.Code >= 0 || m.Error.Message == "" {
			s.t.Errorf("error %d: %.300s", m.Error.Code, m.Error.Message)
		}
		return
	}
	var r toolResult
	if err := json.Unmarshal(m.Result, &r); err != nil || !r.IsError || len(r.Content) == 0 || r.Content[0].Text == "" {
		s.t.Errorf("want a refusal, got %.300s: %v", m.Result, err)
	}
	if len(m.Result) > 256<<10 { // it goes into the context of a model
		s.t.Errorf("a refusal of %d bytes", len(m.Result))
	}
}

// TestMangledMessages changes good messages at random. Whatever comes of it, the server answers what comes
// after. The tool in them runs nothing.
func TestMangledMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	good := []string{
		`{"jsonrpc":"2.0","id":7001,"method":"tools/call","params":{"name":"check_command","arguments":{"command":"ls -la","work_dir":"."}}}`,
		`{"jsonrpc":"2.0","id":"text","method":"tools/call","params":{"name":"check_command","arguments":{"command":"a \u00e9 \"b\"","work_dir":null},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":7002,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":7003,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"n","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7001}}`,
		`{"jsonrpc":"2.0","id":7004,"result":{"action":"accept","content":{"approve":true}}}`,
		`{"jsonrpc":"2.0","id":7005,"method":"resources/read","params":{"uri":"sallyport://policy"}}`,
		`{"jsonrpc":"2.0","id":7006,"method":"ping"}`,
	}
	const pieces = `{}[]",:\/0-9eE.tfn` + "\x00\x1f\xff "
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		line := []byte(good[rnd.IntN(len(good))])
		for range 1 + rnd.IntN(4) {
			at := rnd.IntN(len(line))
			switch rnd.IntN(4) {
			case 0:
				line[at] = pieces[rnd.IntN(len(pieces))]
			case 1:
				line = append(line[:at], line[min(len(line), at+1+rnd.IntN(5)):]...)
			case 2:
				line = append(line[:at:at], append([]byte{pieces[rnd.IntN(len(pieces))]}, line[at:]...)...)
			case 3:
				line = append(line, line[at:]...)
			}
			line = append(line, ' ') // never empty
		}
		s.raw(strings.ReplaceAll(string(line), "\n", " "))
		if round%100 == 99 {
			c, _ := s.send("ping", map[string]any{})
			s.reply(c)
			s.wire.forget()
		}
	}
	s.alive()
	s.quit()
	if errs := s.stderr(); strings.Contains(errs, "panic") {
		t.Errorf("stderr: %s", errs)
	}
	s.records()
}

// TestRepliesAfterTheEndOfInput pipes in calls and closes stdin at once: every call is answered.
func TestRepliesAfterTheEndOfInput(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const calls = 20
	replies := map[string]<-chan message{}
	for i := range calls {
		c, _ := s.ask("execute_command", map[string]any{"command": fmt.Sprintf("sleep 0.%d; echo call %d", i%4, i)})
		replies[fmt.Sprintf("call %d\n", i)] = c
	}
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	for want, c := range replies {
		if r := s.result(s.reply(c)); r.Structured.Stdout != want {
			t.Errorf("want %q, got %+v", want, r)
		}
	}
	if code := s.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.balanced(calls)
}

// TestCancelledInTheQueue cancels a call before its turn comes: it must not run.
func TestCancelledInTheQueue(t *testing.T) {
	t.Parallel()
	s := newServer(t, unhurried)
	s.args = []string{"--calls", "5"}
	s.start()
	s.greet()
	const text = "touch up-%d; until [ -e release ]; do sleep 0.1; done"
	var busy []<-chan message
	for i := range 5 {
		c, _ := s.ask("execute_command", map[string]any{"command": fmt.Sprintf(text, i)})
		busy = append(busy, c)
	}
	for i := range 5 {
		s.appears(fmt.Sprintf("up-%d", i))
	}
	_, queued := s.ask("execute_command", map[string]any{"command": fmt.Sprintf(text, 5)})
	s.raw(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + queued + `,"reason":"test"}}`)
	_, twin := s.ask("execute_command", map[string]any{"command": fmt.Sprintf(text, 6)})
	if c, _ := s.send("ping", map[string]any{}); s.reply(c).Error != nil { // by its reply, all before it was read
		t.Error("ping fails")
	}
	if err := os.WriteFile(filepath.Join(s.workspace, "release"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range busy {
		if r := s.result(s.reply(c)); !r.Structured.Success {
			t.Errorf("%+v", r)
		}
	}
	s.quit()
	if s.has("up-5") || !s.has("up-6") {
		t.Error("the cancelled call ran, or its twin did not")
	}
	for _, r := range s.balanced(6) {
		if strings.Contains(r.Input.Request.Command, "up-5;") {
			t.Errorf("the cancelled call was judged: %+v", r)
		}
	}
	if n, m := s.wire.replies(queued), s.wire.replies(twin); n != 0 || m != 1 {
		t.Errorf("%d replies to the cancelled call, %d to its twin", n, m)
	}
}
