package live

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is a tool call that a model makes.
type Call struct {
	Tool  string         `yaml:"tool"`
	In    string         `yaml:"in"` // namespace of the tool, where the host has such
	Input map[string]any `yaml:"input"`
	Text  string         `yaml:"text"` // in place of Input, for tools that take a text
	// Wait delays the next call until the subagents have made theirs.
	Wait bool `yaml:"wait"`
}

// Script is a conversation: the calls of the main loop and those of its subagents, who are known by
// SubagentPrompt in their prompt.
type Script struct{ Main, Subagent []Call }

// SubagentPrompt marks the prompts of subagents.
const SubagentPrompt = "sallyport subagent"

// patience is the longest wait for subagents.
const patience = 10 * time.Second

// ownTools is the largest number of tools in requests that hosts make for themselves, such as for a title.
const ownTools = 3

// Model is a model on loopback. Each conversation gets the next call of its script, and is done after the
// last one. It speaks the protocols of Anthropic (messages), OpenAI (responses) and Google (contents).
type Model struct {
	URL    string
	script Script
	server *http.Server

	mu      sync.Mutex
	results map[bool][]string // of the main loop (false) and of subagents
	tools   []string
	done    chan struct{} // closed when subagents have made their calls
	once    sync.Once
}

// Serve starts a model on a free port of loopback. Close ends it.
func Serve(s Script) (*Model, error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start model: %w", err)
	}
	m := &Model{
		URL: "http://" + at.Addr().String(), script: s, results: map[bool][]string{},
		done: make(chan struct{}),
	}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(at) }() // until Close
	return m, nil
}

// Close ends the model.
func (m *Model) Close() { _ = m.server.Close() }

// Results are the texts that the host returned for the calls of the main loop, or of subagents, in order.
func (m *Model) Results(subagent bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results[subagent])
}

// Tools are the names of the tools that the host offered to the main loop; none if it never asked.
func (m *Model) Tools() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// asked is a request: the texts of the user, the results of tools so far, and the tools on offer.
type asked struct {
	said    []string
	results []string
	tools   []string
}

// ServeHTTP answers a request of a host.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	err := json.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(&body)
	p := protocolOf(r.URL.Path)
	if err != nil || p == nil {
		w.Header().Set("Content-Type", "application/json")
		// A count of tokens, which needs no more. The host has left if this fails.
		_, _ = io.WriteString(w, `{"input_tokens": 1, "totalTokens": 1}`)
		return
	}
	a := p.read(body)
	if m.waits(a) {
		select {
		case <-m.done:
		case <-r.Context().Done():
		case <-time.After(patience):
		}
	}
	call, id := m.next(a)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range p.write(call, id) {
		name, _ := e["type"].(string)
		text, _ := json.Marshal(e) // of texts, numbers and parsed YAML
		if name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text) // the host has left if this fails
	}
}

// waits reports whether the answer to a request follows the calls of subagents.
func (m *Model) waits(a asked) bool {
	n := len(a.results)
	return !a.subagent() && n > 0 && n <= len(m.script.Main) && m.script.Main[n-1].Wait
}

// subagent reports whether a subagent asks.
func (a asked) subagent() bool {
	return slices.ContainsFunc(a.said, func(s string) bool { return strings.Contains(s, SubagentPrompt) })
}

// next is the call that answers a request; nil for a text that ends the conversation.
func (m *Model) next(a asked) (*Call, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	subagent := a.subagent()
	calls, name := m.script.Main, "main"
	if subagent {
		calls, name = m.script.Subagent, "subagent"
	} else if len(a.tools) > ownTools {
		m.tools = a.tools
	}
	if len(a.results) > len(m.results[subagent]) {
		m.results[subagent] = a.results
	}
	at := len(a.results)
	if subagent && at == len(calls) {
		m.once.Do(func() { close(m.done) })
	}
	if len(a.tools) <= ownTools || at >= len(calls) {
		return nil, ""
	}
	return calls[at].following(a.results), fmt.Sprintf("call_%s_%d", name, at)
}

// session is how Codex names a running shell.
var session = regexp.MustCompile(`session ID ([0-9]+)`)

// following puts the shell that an earlier call started in the place of "$session".
func (c Call) following(results []string) *Call {
	found := session.FindStringSubmatch(strings.Join(results, "\n"))
	for name, v := range c.Input {
		if v == "$session" && found != nil {
			c.Input = maps.Clone(c.Input)
			c.Input[name] = json.Number(found[1])
		}
	}
	return &c
}

type object = map[string]any

// protocol reads the requests of a host and writes the events of an answer.
type protocol struct {
	read  func(object) asked
	write func(*Call, string) []object
}

func protocolOf(path string) *protocol {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return &protocol{readMessages, writeMessages}
	case strings.HasSuffix(path, "/responses"):
		return &protocol{readResponses, writeResponses}
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return &protocol{readContents, writeContents}
	}
	return nil
}

// objects are the objects in a list.
func objects(v any) (out []object) {
	list, _ := v.([]any)
	for _, one := range list {
		if o, ok := one.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// textOf is a text, or the texts in a list of parts.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var all []string
	for _, part := range objects(v) {
		if s, ok := part["text"].(string); ok {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

func namesOf(tools any) (out []string) {
	for _, t := range objects(tools) {
		if name, ok := t["name"].(string); ok {
			out = append(out, name)
		}
	}
	return out
}

func readMessages(body object) (a asked) {
	a.tools = namesOf(body["tools"])
	for _, message := range objects(body["messages"]) {
		if message["role"] != "user" {
			continue
		}
		a.said = append(a.said, textOf(message["content"]))
		for _, part := range objects(message["content"]) {
			if part["type"] == "tool_result" {
				a.results = append(a.results, textOf(part["content"]))
			}
		}
	}
	return a
}

func writeMessages(c *Call, id string) []object {
	block, stop := object{"type": "text", "text": ""}, "end_turn"
	delta := object{"type": "text_delta", "text": "done"}
	if c != nil {
		input, _ := json.Marshal(c.Input) // parsed from YAML
		block = object{"type": "tool_use", "id": id, "name": c.Tool, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	return []object{
		{"type": "message_start", "message": object{
			"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []any{},
			"stop_reason": nil, "usage": usage,
		}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage},
		{"type": "message_stop"},
	}
}

func readResponses(body object) (a asked) {
	a.tools = namesOf(body["tools"])
	for _, item := range objects(body["input"]) {
		kind, _ := item["type"].(string)
		switch {
		case kind == "message" && item["role"] == "user":
			a.said = append(a.said, textOf(item["content"]))
		case strings.HasSuffix(kind, "_call_output"):
			a.results = append(a.results, textOf(item["output"]))
		}
	}
	return a
}

func writeResponses(c *Call, id string) []object {
	item := object{
		"type": "message", "role": "assistant", "id": "msg",
		"content": []any{object{"type": "output_text", "text": "done"}},
	}
	if c != nil {
		item = object{"type": "custom_tool_call", "call_id": id, "name": c.Tool, "input": c.Text}
		if c.Text == "" {
			input, _ := json.Marshal(c.Input) // parsed from YAML
			item = object{"type": "function_call", "call_id": id, "name": c.Tool, "arguments": string(input)}
		}
		if c.In != "" {
			item["namespace"] = c.In
		}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	return []object{
		{"type": "response.created", "response": object{"id": "r"}},
		{"type": "response.output_item.done", "item": item},
		{"type": "response.completed", "response": object{"id": "r", "usage": usage}},
	}
}

func readContents(body object) (a asked) {
	for _, t := range objects(body["tools"]) {
		a.tools = append(a.tools, namesOf(t["functionDeclarations"])...)
	}
	for _, content := range objects(body["contents"]) {
		if content["role"] == "model" {
			continue
		}
		a.said = append(a.said, textOf(content["parts"]))
		for _, part := range objects(content["parts"]) {
			if result, ok := part["functionResponse"].(object); ok {
				text, _ := json.Marshal(result["response"]) // parsed from JSON
				a.results = append(a.results, string(text))
			}
		}
	}
	return a
}

func writeContents(c *Call, _ string) []object {
	part := object{"text": "done"}
	if c != nil {
		part = object{"functionCall": object{"name": c.Tool, "args": c.Input}}
	}
	return []object{{
		"candidates": []any{object{
			"content":      object{"role": "model", "parts": []any{part}},
			"finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}}
}
