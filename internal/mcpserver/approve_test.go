package mcpserver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/audit"
)

// asking is a configuration in which touching a file whose name begins with "ask" is for a person to allow.
const asking = `
commands: {deny: ["touch ask.*", "sleep 100"]}
rules: {filters/denied: ask}
`

var canAsk = map[string]any{"elicitation": map[string]any{}}

// person answers the questions of a server.
func (w *wire) person(t *testing.T, answer string, asked *[]string) func(message) {
	return func(m message) {
		if m.Method != "elicitation/create" {
			return
		}
		*asked = append(*asked, m.Params["message"].(string))
		w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, m.ID, answer))
	}
}

func approvals(t *testing.T, w *world) (granted, refused int) {
	t.Helper()
	for e, err := range audit.Read(string(w.loaded.Audit.Dir), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != "approval" {
			continue
		}
		b, err := e.Approval()
		if err != nil {
			t.Fatal(err)
		}
		if b.Granted {
			granted++
		} else {
			refused++
		}
	}
	return granted, refused
}

// TestAskThroughAClientOfTheHandshake: the server asks while the call waits. Only a plain yes runs it.
func TestAskThroughAClientOfTheHandshake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		runs   bool
	}{
		"yes":                     {`"result":{"action":"accept","content":{"approve":true,"comment":"go\u202eon"}}`, true},
		"accepted without a yes":  {`"result":{"action":"accept","content":{}}`, false},
		"accepted without fields": {`"result":{"action":"accept"}`, false},
		"accepted with a no":      {`"result":{"action":"accept","content":{"approve":false}}`, false},
		"yes as a text":           {`"result":{"action":"accept","content":{"approve":"true"}}`, false},
		"declined":                {`"result":{"action":"decline","content":{"approve":true}}`, false},
		"cancelled":               {`"result":{"action":"cancel"}`, false},
		"an unknown action":       {`"result":{"action":"allow","content":{"approve":true}}`, false},
		"no action":               {`"result":{"content":{"approve":true}}`, false},
		"another type":            {`"result":"accept"`, false},
		"an error":                {`"error":{"code":-32601,"message":"no such method"}`, false},
		"an error and a yes":      {`"error":{"code":1,"message":"no"},"result":{"action":"accept","content":{"approve":true}}`, false},
		"a yes and no error":      {`"error":null,"result":{"action":"accept","content":{"approve":true,"comment":"go\u202eon"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, asking, nil)
			w := connect(t, world.Server)
			w.hello(t, canAsk)
			var asked []string
			id := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "touch ask-me"}})
			r := resultOf(t, w.reply(t, id, w.person(t, c.answer, &asked)))
			if r.is("ran") != c.runs || world.has("ask-me") != c.runs || r.IsError == c.runs {
				t.Errorf("ran %v, file %v, result %s", r.is("ran"), world.has("ask-me"), r.Text)
			}
			if len(asked) != 1 || !strings.Contains(asked[0], "touch ask-me") || !strings.Contains(asked[0], world.dir) || !strings.Contains(asked[0], "filters/denied") {
				t.Errorf("asked %q", asked)
			}
			if r.str("effect") != "ask" {
				t.Errorf("effect %q", r.str("effect"))
			}
			granted, refused := approvals(t, world)
			if granted+refused != 1 || (granted == 1) != c.runs {
				t.Errorf("on record: %d granted, %d refused", granted, refused)
			}
			if a, ok := r.Fields["approval"].(map[string]any); c.runs && (!ok || a["by"] != "mcp:tester" || a["comment"] != `go\u{202e}on`) {
				t.Errorf("approval %v", a)
			}
		})
	}
}

// TestNobodyIsAskedThroughAClientThatCannotAsk: it is refused, with words on how a person can allow it.
func TestNobodyIsAskedThroughAClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	world := newWorld(t, asking, nil)
	for name, capabilities := range map[string]map[string]any{
		"none": {}, "only addresses": {"elicitation": map[string]any{"url": map[string]any{}}}, "another": {"sampling": map[string]any{}},
	} {
		w := connect(t, world.Server)
		w.hello(t, capabilities)
		id := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "touch ask-me"}})
		r := resultOf(t, w.reply(t, id, func(m message) { t.Errorf("%s: asked %+v", name, m) }))
		if !r.IsError || world.has("ask-me") {
			t.Errorf("%s: it ran", name)
		}
		if how := r.str("how_to_allow"); !strings.Contains(how, "filters/denied") || !strings.Contains(how, "sallyport exec") || !strings.Contains(r.Text, how) {
			t.Errorf("%s: how: %q in %s", name, how, r.Text)
		}
		w.end(t)
	}
	w := connect(t, world.Server) // without any handshake
	if r := w.call(t, "execute_command", map[string]any{"command": "touch ask-me"}); !r.IsError || world.has("ask-me") {
		t.Errorf("without a handshake: %+v", r)
	}
}

func TestMonitorModeAsksNobody(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "mode: monitor\n"+asking, nil)
	w := connect(t, world.Server)
	w.hello(t, canAsk)
	id := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "touch ask-me"}})
	r := resultOf(t, w.reply(t, id, func(m message) { t.Errorf("asked %+v", m) }))
	if !world.has("ask-me") || r.str("effect") != "ask" || !strings.Contains(r.Text, "Monitor mode") {
		t.Errorf("got %s", r.Text)
	}
}

// modern is a tools/call of the era without a handshake, in which a question ends the call.
func (w *wire) modern(t *testing.T, capabilities, tool string, args map[string]any, more map[string]any) message {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": args, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "tester", "version": "8"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
	if capabilities != "" {
		params["_meta"].(map[string]any)["io.modelcontextprotocol/clientCapabilities"] = map[string]any{capabilities: map[string]any{}}
	}
	for k, v := range more {
		params[k] = v
	}
	return w.reply(t, w.send(t, "tools/call", params), func(m message) { t.Errorf("unasked: %+v", m) })
}

// answerOf is what a client adds to its second call.
func answerOf(state string, answer map[string]any) map[string]any {
	return map[string]any{"requestState": state, "inputResponses": map[string]any{answerKey: answer}}
}

var yes = map[string]any{"action": "accept", "content": map[string]any{"approve": true}}

// question calls a tool and returns the state of the question that comes back.
func (w *wire) question(t *testing.T, tool string, args map[string]any) (state, text string) {
	t.Helper()
	m := w.modern(t, "elicitation", tool, args, nil)
	if m.Error != nil || m.Result["resultType"] != "input_required" {
		t.Fatalf("no question came: %+v %+v", m.Result, m.Error)
	}
	request := m.Result["inputRequests"].(map[string]any)[answerKey].(map[string]any)
	return m.Result["requestState"].(string), request["params"].(map[string]any)["message"].(string)
}

func TestAskThroughAClientWithoutHandshake(t *testing.T) {
	t.Parallel()
	world := newWorld(t, asking, nil)
	w := connect(t, world.Server)
	touch := map[string]any{"command": "touch ask-me"}
	state, text := w.question(t, "execute_command", touch)
	if !strings.Contains(text, "touch ask-me") || world.has("ask-me") {
		t.Errorf("asked %q", text)
	}
	r := resultOf(t, w.modern(t, "elicitation", "execute_command", touch, answerOf(state, yes)))
	if r.IsError || !world.has("ask-me") {
		t.Errorf("a yes did not run it: %s", r.Text)
	}
	if granted, refused := approvals(t, world); granted != 1 || refused != 1 {
		t.Errorf("on record: %d granted, %d refused, want the answer and the question", granted, refused)
	}
	r = resultOf(t, w.modern(t, "elicitation", "execute_command", touch, answerOf(state, yes)))
	if !r.IsError || !strings.Contains(r.Text, "used already") {
		t.Errorf("a second use: %s", r.Text)
	}
	state, _ = w.question(t, "execute_command", touch)
	no := map[string]any{"action": "decline"}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", touch, answerOf(state, no))); !r.IsError || !strings.Contains(r.Text, "refused") {
		t.Errorf("a no: %s", r.Text)
	}
	if r := resultOf(t, w.modern(t, "", "execute_command", touch, nil)); !r.IsError || r.str("how_to_allow") == "" {
		t.Errorf("a client that cannot ask: %s", r.Text)
	}
}

// TestAnAnswerCountsForItsQuestionOnly: each of these is a yes to something else.
func TestAnAnswerCountsForItsQuestionOnly(t *testing.T) {
	t.Parallel()
	world := newWorld(t, asking, nil)
	world.write(t, "sub/keep", "")
	w := connect(t, world.Server)
	touch := map[string]any{"command": "touch ask-me"}
	fresh := func() string {
		state, _ := w.question(t, "execute_command", touch)
		return state
	}
	flipped := func(s string) string {
		raw, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(raw), `"e":1`, `"e":9`, 1)))
	}
	for name, c := range map[string]struct {
		tool string
		args map[string]any
		more map[string]any
	}{
		"another command":       {"execute_command", map[string]any{"command": "touch ask-you"}, answerOf(fresh(), yes)},
		"another directory":     {"execute_command", map[string]any{"command": "touch ask-me", "work_dir": "sub"}, answerOf(fresh(), yes)},
		"another timeout":       {"execute_command", map[string]any{"command": "touch ask-me", "timeout": 5}, answerOf(fresh(), yes)},
		"another tool":          {"start_background_shell", touch, answerOf(fresh(), yes)},
		"a changed expiry":      {"execute_command", touch, answerOf(flipped(fresh()), yes)},
		"a made-up state":       {"execute_command", touch, answerOf("bm9uc2Vuc2U", yes)},
		"a state of no form":    {"execute_command", touch, answerOf("%%%", yes)},
		"an answer to no one":   {"execute_command", touch, map[string]any{"requestState": fresh(), "inputResponses": map[string]any{"other": yes}}},
		"no answer at all":      {"execute_command", touch, map[string]any{"requestState": fresh()}},
		"an answer of no shape": {"execute_command", touch, map[string]any{"requestState": fresh(), "inputResponses": map[string]any{answerKey: map[string]any{"x": 1}}}},
	} {
		m := w.modern(t, "elicitation", c.tool, c.args, c.more)
		if m.Error != nil {
			continue // mcp-go itself refuses what is no answer
		}
		if r := resultOf(t, m); !r.IsError || r.is("ran") {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	// Answers on a first call, without a state, are answers to nothing: the question comes all the same.
	m := w.modern(t, "elicitation", "execute_command", touch, map[string]any{"inputResponses": map[string]any{answerKey: yes}})
	if m.Result["resultType"] != "input_required" {
		t.Errorf("an answer before the question: %+v", m.Result)
	}
	if world.has("ask-me") || world.has("ask-you") || world.has("sub/ask-me") {
		t.Error("something ran")
	}
	r := resultOf(t, w.modern(t, "elicitation", "execute_command", touch, answerOf(fresh(), yes)))
	if r.IsError || !world.has("ask-me") {
		t.Errorf("and the right answer: %s", r.Text)
	}
}

// TestAnAnswerCountsForTheReasonsThatWereShown: what has become another question since is asked anew.
func TestAnAnswerCountsForTheReasonsThatWereShown(t *testing.T) {
	t.Parallel()
	world := newWorld(t, `
commands: {deny: ["rm -f ask.*"]}
rules: {filters/denied: ask, deletion/read_before_delete: ask}
`, nil)
	w := connect(t, world.Server)
	remove := map[string]any{"command": "rm -f ask-file"}
	state, text := w.question(t, "execute_command", remove)
	if strings.Contains(text, "read_before_delete") {
		t.Fatalf("asked %q", text)
	}
	world.write(t, "ask-file", "unread")
	r := resultOf(t, w.modern(t, "elicitation", "execute_command", remove, answerOf(state, yes)))
	if !r.IsError || !world.has("ask-file") {
		t.Errorf("it counted: %s", r.Text)
	}
	state, text = w.question(t, "execute_command", remove)
	if !strings.Contains(text, "read_before_delete") {
		t.Errorf("asked %q", text)
	}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", remove, answerOf(state, yes))); r.IsError || world.has("ask-file") {
		t.Errorf("and the right answer: %s", r.Text)
	}
}

func TestStatesExpireAndAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	s := newStates()
	s.now = func() time.Time { return now }
	b := bound{Command: "x"}
	state, err := s.issue(b, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	old, err := s.issue(b, now.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	if err := s.redeem(old, b); err != errOldState { //nolint:errorlint // the very value
		t.Errorf("expired: %v", err)
	}
	if err := newStates().redeem(state, b); err != errForeignState { //nolint:errorlint // the very value
		t.Errorf("of another process: %v", err)
	}
	if err := s.redeem(state, b); err != nil {
		t.Errorf("in time: %v", err)
	}
	if err := s.redeem(state, b); err != errUsedState { //nolint:errorlint // the very value
		t.Errorf("again: %v", err)
	}
	now = now.Add(time.Hour)
	if state, err = s.issue(b, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := s.redeem(state, b); err != nil || len(s.used) != 1 {
		t.Errorf("%v, %d states remembered: those that expired are to be forgotten", err, len(s.used))
	}
}

// TestAskForBackgroundAndFiles: the other tools ask in the same way.
func TestAskForBackgroundAndFiles(t *testing.T) {
	t.Parallel()
	world := newWorld(t, strings.Replace(asking, "ask}", "ask, deletion/read_before_delete: ask}", 1), nil)
	world.write(t, "unread.txt", "text")
	w := connect(t, world.Server)
	start := map[string]any{"command": "touch ask-me; sleep 100"}
	state, text := w.question(t, "start_background_shell", start)
	if !strings.Contains(text, "start_background_shell") || world.has("ask-me") {
		t.Errorf("asked %q", text)
	}
	r := resultOf(t, w.modern(t, "elicitation", "start_background_shell", start, answerOf(state, yes)))
	if r.IsError || r.str("status") != "running" {
		t.Errorf("background: %s", r.Text)
	}
	remove := map[string]any{"path": "unread.txt"}
	state, text = w.question(t, "delete_file", remove)
	if !strings.Contains(text, "path: unread.txt") {
		t.Errorf("asked %q", text)
	}
	r = resultOf(t, w.modern(t, "elicitation", "delete_file", remove, answerOf(state, yes)))
	if r.IsError || world.has("unread.txt") {
		t.Errorf("file: %s", r.Text)
	}
}

// TestTheQuestionShowsWhereLinksLead: a harmless name must not stand for another file, and an answer about
// one place does not hold when the link leads to another.
func TestTheQuestionShowsWhereLinksLead(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	world.write(t, ".env", "A=1")
	world.write(t, "sub/.env", "A=2")
	link := filepath.Join(world.dir, "notes.txt")
	if err := os.Symlink(".env", link); err != nil {
		t.Fatal(err)
	}
	w := connect(t, world.Server)
	read := map[string]any{"path": "notes.txt"}
	state, text := w.question(t, "read_file", read)
	real, err := filepath.EvalSymlinks(world.dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "leads to " + filepath.Join(real, ".env"); !strings.Contains(text, want) {
		t.Errorf("%q is not shown in %q", want, text)
	}
	if _, direct := w.question(t, "read_file", map[string]any{"path": ".env"}); strings.Contains(direct, "leads to") {
		t.Errorf("no link, and yet: %q", direct)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("sub/.env", link)); err != nil {
		t.Fatal(err)
	}
	if r := resultOf(t, w.modern(t, "elicitation", "read_file", read, answerOf(state, yes))); !r.IsError {
		t.Errorf("the answer about .env holds for sub/.env: %s", r.Text)
	}
	state, _ = w.question(t, "read_file", read)
	if r := resultOf(t, w.modern(t, "elicitation", "read_file", read, answerOf(state, yes))); r.IsError {
		t.Errorf("the answer about sub/.env does not hold: %s", r.Text)
	}
}

// TestTheQuestionShowsWhatIsThere: nothing in a command may hide from the person or look like our words.
func TestTheQuestionShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	world := newWorld(t, strings.Replace(asking, "ask}", "ask, shell/unparseable: ask}", 1), nil)
	w := connect(t, world.Server)
	_, text := w.question(t, "execute_command", map[string]any{"command": "touch ask-\u202etxt \x1b[2K\nsleep 100 #\u200b"})
	for _, hidden := range []string{"\u202e", "\x1b", "\u200b"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%q is hidden in %q", hidden, text)
		}
	}
	for _, shown := range []string{`ask-\u{202e}txt \u{1b}[2K` + "\n", `    sleep 100 #\u{200b}`} {
		if !strings.Contains(text, shown) {
			t.Errorf("%q is not shown in %q", shown, text)
		}
	}
	if strings.Contains(text, "to its end") {
		t.Errorf("said to be long: %q", text)
	}
	_, text = w.question(t, "execute_command", map[string]any{"command": "echo harmless" + strings.Repeat("\n", 40) + "touch ask-me"})
	if !strings.Contains(text, "41 lines") || !strings.Contains(text, "    touch ask-me\n") {
		t.Errorf("a long one: %q", text)
	}
}

// TestAQuestionEndsWithItsCall: the client is told that its dialog may go.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	world := newWorld(t, asking, nil)
	w := connect(t, world.Server)
	w.hello(t, canAsk)
	call := w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "touch ask-me"}})
	question := w.next(t)
	w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, call))
	if m := w.next(t); m.Method != "notifications/cancelled" || m.Params["requestId"] != question.ID {
		t.Errorf("got %+v", m)
	}
	w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"approve":true}}}`, question.ID)) // too late
	w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": "touch ask-me"}})
	w.next(t) // the second question, which the end of input leaves without an answer
	w.end(t)
	for m := range w.got {
		if r := resultOf(t, m); !r.IsError || r.is("ran") {
			t.Errorf("got %s", r.Text)
		}
	}
	if granted, refused := approvals(t, world); world.has("ask-me") || granted != 0 || refused != 2 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}
