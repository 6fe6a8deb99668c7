package mcpserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestLongCommandsTakeAWord: the first line of the question, and the fields, name the reason and the part of
// the command that it is about; a yes to a command of several lines counts with the word alone.
func TestLongCommandsTakeAWord(t *testing.T) {
	t.Parallel()
	const tidy = "echo one\necho two\ntouch ask-me\necho three"
	for name, c := range map[string]struct {
		command, answer string
		typed, runs     bool
	}{
		"one line":              {"touch ask-me", `{"approve":true}`, false, true},
		"one line and the word": {"touch ask-me", `{"approve":true,"word":"run"}`, false, true},
		"lines":                 {tidy, `{"approve":true}`, true, false},
		"another word":          {tidy, `{"approve":true,"word":"yes"}`, true, false},
		"the word as no text":   {tidy, `{"approve":true,"word":true}`, true, false},
		"the word alone":        {tidy, `{"word":"run"}`, true, false},
		"a no and the word":     {tidy, `{"approve":false,"word":"run"}`, true, false},
		"lines and the word":    {tidy, `{"approve":true,"word":" run "}`, true, true},
		"a long line":           {"touch ask-me " + strings.Repeat("x", 700), `{"approve":true}`, true, false},
		"it and the word": {"touch ask-me " + strings.Repeat("x", 200), `{"approve":true,"word":"run"}`,
			false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, asking, nil)
			w := connect(t, world.Server)
			w.hello(t, canAsk)
			var question map[string]any
			id := w.send(t, "tools/call", map[string]any{
				"name": "execute_command", "arguments": map[string]any{"command": c.command},
			})
			r := resultOf(t, w.reply(t, id, func(m message) {
				if m.Method == "elicitation/create" {
					question = m.Params
					w.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":%s}}`, m.ID, c.answer))
				}
			}))
			if r.is("ran") != c.runs || world.has("ask-me") != c.runs {
				t.Errorf("ran %v, file %v: %s", r.is("ran"), world.has("ask-me"), r.Text)
			}
			first, _, _ := strings.Cut(question["message"].(string), "\n")
			want := "filters/denied: touch ask-me"
			if c.command == tidy {
				want += " (line 3 of 4)"
			}
			if !strings.HasPrefix(first, want) || !strings.Contains(first, "tester") &&
				!strings.Contains(first, "agent") {
				t.Errorf("the first line is %q, want %q and the agent", first, want)
			}
			properties := question["requestedSchema"].(map[string]any)["properties"].(map[string]any)
			reason := properties["approve"].(map[string]any)["description"].(string)
			if !strings.HasPrefix(reason, "touch matches a denied pattern. Anything") {
				t.Errorf("the field does not tell the reason: %q", reason)
			}
			field, typed := properties["word"].(map[string]any)
			if typed != c.typed {
				t.Errorf("a word must be typed: %v, want %v", typed, c.typed)
			}
			whole := "Line 3: touch ask-me. It has 4 lines, 41 characters: " + strings.ReplaceAll(tidy, "\n", " ⏎ ")
			if typed && c.command == tidy && field["description"] != whole {
				t.Errorf("the field does not show the text: %q", field["description"])
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
	world := newWorld(t, asking, func(o *Options) { o.Quiet = 1 })
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
		if m.Method == "notifications/cancelled" {
			continue // of the second question
		}
		if r := resultOf(t, m); !r.IsError || r.is("ran") {
			t.Errorf("got %s", r.Text)
		}
	}
	if granted, refused := approvals(t, world); world.has("ask-me") || granted != 0 || refused != 2 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}
