package live

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestModel holds that a conversation gets its next call by the results that it has, in each protocol, that
// subagents have calls of their own, and that requests with few tools get a text.
func TestModel(t *testing.T) {
	t.Parallel()
	m, err := Serve(Script{
		Main:     []Call{{Tool: "first", Input: object{"x": 1}}, {Tool: "second", Input: object{"id": "$session"}}},
		Subagent: []Call{{Tool: "below", Input: object{"y": 2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const tools = `[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]`
	const messages = `{"tools":` + tools + `,"messages":[{"role":"user","content":"go"}`
	const responses = `{"tools":` + tools + `,"input":[{"type":"message","role":"user","content":"go"}`
	const contents = `{"tools":[{"functionDeclarations":` + tools + `}],"contents":[{"role":"user","parts":[{"text":"go"}]}`
	for _, test := range []struct{ path, body, want string }{
		{"/v1/messages", messages + `]}`, `"name":"first"`},
		{"/v1/messages", messages + `,{"role":"user","content":[{"type":"tool_result","content":"session ID 7"}]}]}`,
			`{\"id\":7}`},
		{"/v1/messages", strings.Replace(messages, `"go"`, `"`+SubagentPrompt+`"`, 1) + `]}`, `"name":"below"`},
		{"/v1/messages", `{"tools":[{"name":"a"}],"messages":[]}`, `"text":"done"`},
		{"/v1/messages/count_tokens", `{}`, `"input_tokens": 1`},
		{"/responses", responses + `]}`, `"name":"first"`},
		{"/responses", responses + `,{"type":"function_call_output","output":"session ID 7"}]}`, `{\"id\":7}`},
		{"/v1beta/models/m:streamGenerateContent", contents + `]}`, `"name":"first"`},
		{"/v1beta/models/m:streamGenerateContent",
			contents + `,{"role":"user","parts":[{"functionResponse":{"response":{}}}]}]}`, `"name":"second"`},
	} {
		r, err := http.Post(m.URL+test.path, "application/json", bytes.NewBufferString(test.body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || !strings.Contains(string(text), test.want) {
			t.Errorf("%s %s: %s, %v; want %s", test.path, test.body, text, err, test.want)
		}
	}
	if got := m.Results(false); len(got) != 1 {
		t.Errorf("results %q", got)
	}
}

// TestHosts holds that each host of the table has a command line and calls.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-code", "codex", "gemini"} {
		h, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := h.Line("http://model", t.TempDir(), true)
		if err != nil || len(l.Argv) == 0 || !strings.Contains(strings.Join(l.Over(nil),
			" ")+strings.Join(l.Argv, " "),
			"http://model") {
			t.Errorf("%s: %v, %v", name, l, err)
		}
		for _, d := range h.Doors {
			if d.Name == "" || len(d.Calls) == 0 {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
	if _, err := Named("cursor"); err == nil {
		t.Error("cursor can be tried")
	}
}
