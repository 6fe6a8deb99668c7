package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestSetsChooseTools(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", func(o *Options) { o.Sets = []string{"shell"} })
	w := connect(t, world.Server)
	var names []string
	for _, tool := range w.listTools(t) {
		names = append(names, tool["name"].(string))
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"check_command", "execute_command"}) {
		t.Errorf("got %v", names)
	}
	id := w.send(t, "tools/call", map[string]any{"name": "write_file", "arguments": map[string]any{"path": "x", "content": "x"}})
	if m := w.reply(t, id, nil); m.Error == nil || world.has("x") {
		t.Errorf("a tool that is not served: %+v", m)
	}
	words := fmt.Sprint(w.hello(t, nil).Result["instructions"])
	for _, want := range []string{"explain the results", "check_command"} {
		if !strings.Contains(words, want) {
			t.Errorf("the instructions lack %q", want)
		}
	}
	if strings.Contains(words, "start_background_shell") {
		t.Error("the instructions speak of a tool that is not there")
	}
}

// TestTheRecordNamesTheClient, in both eras.
func TestTheRecordNamesTheClient(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", nil)
	w := connect(t, world.Server)
	w.call(t, "execute_command", map[string]any{"command": "echo before"})
	w.hello(t, nil)
	w.call(t, "execute_command", map[string]any{"command": "echo with"})
	w.modern(t, "", "execute_command", map[string]any{"command": "echo modern"}, nil)
	got := map[string]string{}
	for e, err := range audit.Read(string(world.loaded.Audit.Dir), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != "decision" {
			continue
		}
		d, err := e.Decision()
		if err != nil {
			t.Fatal(err)
		}
		got[d.Input.Request.Command] = d.Input.Subject.Client.Name + " " + d.Input.Subject.Client.Version
	}
	want := map[string]string{"echo before": " ", "echo with": "tester 7", "echo modern": "tester 8"}
	for command, client := range want {
		if got[command] != client {
			t.Errorf("%s: client %q, want %q", command, got[command], client)
		}
	}
}

func TestAFaultShowsItsIDOnly(t *testing.T) {
	t.Parallel()
	fault := &engine.Fault{ID: "F-1", Part: "policy", Err: errors.New("inner secret")}
	denied := engine.Outcome{Decision: engine.Decision{ID: "D-1", Effect: engine.Deny, Mode: engine.Enforce, Fault: "F-1"}, Fault: fault}
	ran := allowed(engine.Request{Command: "x"})
	ran.Fault = fault
	for name, out := range map[string]engine.Outcome{"before the run": denied, "after the run": ran} {
		w := connect(t, plain(t, func(context.Context, engine.Request) (engine.Outcome, error) { return out, nil }, nil))
		for _, tool := range []string{"execute_command", "check_command"} {
			r := w.call(t, tool, map[string]any{"command": "x"})
			if !r.IsError || r.is("success") || !strings.Contains(r.Text, "F-1") || strings.Contains(fmt.Sprint(r.Raw), "secret") {
				t.Errorf("%s, %s: %v", name, tool, r.Raw)
			}
		}
	}
}

func TestWorkDirOfCallsThatNameNone(t *testing.T) {
	t.Parallel()
	world := newWorld(t, "", func(o *Options) { o.WorkDir = "sub" })
	world.write(t, "sub/inner", "")
	w := connect(t, world.Server)
	if r := w.call(t, "execute_command", map[string]any{"command": "ls"}); r.str("stdout") != "inner\n" {
		t.Errorf("got %s", r.Text)
	}
	if r := w.call(t, "execute_command", map[string]any{"command": "ls", "work_dir": "."}); r.str("stdout") != "sub\n" {
		t.Errorf("got %s", r.Text)
	}
}

// resource reads one as JSON.
func (w *wire) resource(t *testing.T, uri string, into any) string {
	t.Helper()
	m := w.reply(t, w.send(t, "resources/read", map[string]any{"uri": uri}), nil)
	if m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	text := m.Result["contents"].([]any)[0].(map[string]any)["text"].(string)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRecentDecisionsAreRedactedAndBounded(t *testing.T) {
	t.Parallel()
	world := newWorld(t, `commands: {deny: ["touch mark"]}`+"\n", nil)
	w := connect(t, world.Server)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	w.call(t, "execute_command", map[string]any{"command": "echo " + strings.Repeat("x", recentCommand-20) + " " + secret})
	w.call(t, "execute_command", map[string]any{"command": "touch mark"})
	w.call(t, "write_file", map[string]any{"path": "a.txt", "content": "TOKEN=" + secret})
	w.call(t, "check_command", map[string]any{"command": "echo not on record"})
	w.call(t, "execute_command", map[string]any{"command": 7})
	var got struct{ Decisions []decided }
	text := w.resource(t, decisionsURI, &got)
	if strings.Contains(text, secret[:12]) {
		t.Errorf("a secret is shown: %s", text)
	}
	if len(got.Decisions) != 3 {
		t.Fatalf("%d decisions: %s", len(got.Decisions), text)
	}
	if d := got.Decisions[1]; d.Ran || d.Effect != "deny" || !slices.Contains(d.Rules, "filters/denied") || d.What != "touch mark" || d.ID == "" {
		t.Errorf("got %+v", d)
	}
	if d := got.Decisions[2]; d.Tool != "write_file" || !strings.Contains(d.What, "path: a.txt") {
		t.Errorf("got %+v", d)
	}
	var r recent
	for i := range 2*recentMost + 5 {
		r.add(decided{ID: fmt.Sprint(i)})
	}
	if all := r.list(); len(all) != recentMost || all[0].ID != fmt.Sprint(recentMost+5) || all[recentMost-1].ID != fmt.Sprint(2*recentMost+4) {
		t.Errorf("%d are kept, from %s", len(all), all[0].ID)
	}
}

func TestPolicyResourceTellsRulesAndNoPatterns(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "", func(o *Options) {
		o.Policy = func(context.Context) (Policy, error) {
			return Policy{Profile: "standard", Mode: "enforce", Rules: []Rule{{ID: "a/b", Level: "own", Title: "T"}}}, nil
		}
	}).Server)
	var got Policy
	w.resource(t, policyURI, &got)
	if got.Profile != "standard" || len(got.Rules) != 1 || got.Rules[0].ID != "a/b" {
		t.Errorf("got %+v", got)
	}
}

// TestManyCallsAtOnceAreNotMixedUp: each answer belongs to its question.
func TestManyCallsAtOnceAreNotMixedUp(t *testing.T) {
	t.Parallel()
	for client := range 4 {
		t.Run(fmt.Sprint(client), func(t *testing.T) {
			t.Parallel()
			w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) { return allowed(r), nil }, nil))
			want := map[int]string{}
			for i := range 200 {
				command := fmt.Sprintf("client %d call %d", client, i)
				want[w.send(t, "tools/call", map[string]any{"name": "execute_command", "arguments": map[string]any{"command": command}})] = command
			}
			w.end(t)
			for m := range w.got {
				id := int(m.ID.(float64))
				if got := resultOf(t, m).str("stdout"); got != want[id] {
					t.Errorf("%d: got %q, want %q", id, got, want[id])
				}
				delete(want, id)
			}
			if len(want) > 0 {
				t.Errorf("%d calls have no reply", len(want))
			}
		})
	}
}

func TestCheckRunsAndRecordsNothing(t *testing.T) {
	t.Parallel()
	settings := `commands: {deny: ["touch mark"]}` + "\n" + "rules: {filters/denied: ask}\n"
	world := newWorld(t, settings, nil)
	w := connect(t, world.Server)
	r := w.call(t, "check_command", map[string]any{"command": "touch other"})
	if r.IsError || !r.is("would_run") || r.str("effect") != "allow" || !strings.Contains(r.Text, "ALLOWED") {
		t.Errorf("got %s", r.Text)
	}
	r = w.call(t, "check_command", map[string]any{"command": "touch mark"})
	if r.IsError || r.is("would_run") || r.str("effect") != "ask" || !strings.Contains(r.Text, "ASK") || !slices.Contains(r.rules(), "filters/denied") {
		t.Errorf("got %s", r.Text)
	}
	if r.str("how_to_allow") == "" {
		t.Error("how to allow it is not said to a client that cannot ask")
	}
	asking := connect(t, newWorld(t, settings, nil).Server)
	asking.hello(t, canAsk)
	if how := asking.call(t, "check_command", map[string]any{"command": "touch mark"}).str("how_to_allow"); how != "" {
		t.Errorf("the client supports elicitation, and the answer says how to allow it: %q", how)
	}
	if world.has("other") || world.has("mark") {
		t.Error("it ran")
	}
	n := 0
	for range audit.Read(string(world.loaded.Audit.Dir), audit.Filter{}) {
		n++
	}
	if n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestWhatAClientSaysOfItselfIsBounded(t *testing.T) {
	t.Parallel()
	var got facts.Subject
	w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) {
		got = r.Subject
		return allowed(r), nil
	}, nil))
	id := w.send(t, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "a\u202eb\n" + strings.Repeat("x", 10_000), "version": "1"},
	})
	w.reply(t, id, nil)
	w.call(t, "execute_command", map[string]any{"command": "x"})
	if n := len([]rune(got.Client.Name)); n != nameLength || !strings.HasPrefix(got.Client.Name, `a\u{202e}b\nx`) || got.Agent != "coder" {
		t.Errorf("got %d characters: %.50q, %+v", n, got.Client.Name, got.Agent)
	}
}
