package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

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

// TestAnAnswerElsewhereVoidsTheQuestion: a command that ran, because somebody else answered first, is not
// asked about: the client would call again, and it would run twice.
func TestAnAnswerElsewhereVoidsTheQuestion(t *testing.T) {
	t.Parallel()
	approver := NewApprover()
	s := plain(t, func(ctx context.Context, r engine.Request) (engine.Outcome, error) {
		asked := engine.ApprovalRequest{Request: r, Command: r.Command, Expires: time.Now().Add(time.Hour)}
		if _, err := approver.Approve(ctx, asked); !errors.Is(err, errAskedFirst) {
			t.Errorf("the client is not asked: %v", err)
		}
		out := allowed(r)
		out.Approval = &engine.Approval{Granted: true, By: "approvals:ann"}
		return out, nil
	}, func(o *Options) { o.Approver = approver })
	w := connect(t, s)
	args := map[string]any{"command": "echo once"}
	if r := resultOf(t, w.modern(t, "elicitation", "execute_command", args, nil)); !r.is("ran") {
		t.Errorf("the result of the command is lost: %+v", r.Raw)
	}
}
