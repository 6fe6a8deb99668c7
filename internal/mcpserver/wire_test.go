package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/background"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/policies/precompiled"
)

// world is a server over a real gate, whose commands really run on this machine.
type world struct {
	*Server
	dir    string // the workspace
	loaded *config.Loaded
	parts  *plugins.Sallyport
	shells *background.Manager
}

func newWorld(t *testing.T, text string, edit func(*Options)) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "home", "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host := config.Host{
		Dir: dir, Home: filepath.Join(root, "home"), Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	}
	if !strings.Contains(text, "local:") { // no supervisor lies beside a program of tests
		text += "\nlocal: {sandbox: none}\n"
	}
	l, err := config.Parse("version: 1\nworkspace: home/project\n"+text, filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "timeout") {
		l.Timeout = config.Duration(2 * await.Guard)
	}
	l.Limits.Approval = config.Duration(2 * await.Guard)
	precompiled.Into(t, l.CompiledDir())
	approver := NewApprover()
	parts, err := plugins.Assemble(t.Context(), l, plugins.Options{Approver: approver, Version: "test", Judge: await.Guard})
	if err != nil {
		t.Fatal(err)
	}
	shells := background.New(background.Options{Gate: parts, Limit: l.Limits.Background, Lines: l.Limits.RingLines})
	t.Cleanup(func() {
		if err := shells.Close(); err != nil {
			t.Error(err)
		}
		if err := parts.Close(); err != nil {
			t.Error(err)
		}
	})
	o := Options{
		Gate: parts, Approver: approver, Background: shells, Subject: parts.Subject, Redact: parts.Redact, Version: "test",
		Progress: 20 * time.Millisecond, Quiet: 2 * await.Guard,
	}
	if edit != nil {
		edit(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &world{Server: s, dir: dir, loaded: l, parts: parts, shells: shells}
}

// write makes a file of the workspace.
func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// has reports whether the workspace has a file.
func (w *world) has(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}

// message is what a server sends.
type message struct {
	ID     any            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	Result map[string]any `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// wire is a client of a stdio server that says exactly what it is told to.
type wire struct {
	in   *io.PipeWriter
	got  chan message
	done chan error // of ServeStdio
	stop context.CancelFunc
	last int
}

// connect serves a client.
func connect(t *testing.T, s *Server) *wire {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{in: inW, got: make(chan message, 10_000), done: make(chan error, 1), stop: cancel}
	go func() {
		err := s.ServeStdio(ctx, inR, outW)
		outW.Close()
		w.done <- err
	}()
	go func() {
		defer close(w.got)
		r := bufio.NewReader(outR)
		for {
			l, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(l, &m); err != nil {
				t.Errorf("stdout has a line that is no message: %q", l)
			}
			w.got <- m
		}
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
	})
	return w
}

// say sends a line.
func (w *wire) say(t *testing.T, l string) {
	t.Helper()
	if _, err := io.WriteString(w.in, l+"\n"); err != nil {
		t.Fatal(err)
	}
}

// send sends a request and returns its id.
func (w *wire) send(t *testing.T, method string, params any) int {
	t.Helper()
	w.last++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.last, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	w.say(t, string(text))
	return w.last
}

// next returns the next message.
func (w *wire) next(t *testing.T) message {
	t.Helper()
	m := await.Receive(t, "message of the server", w.got)
	if m.ID == nil && m.Method == "" && m.Error == nil {
		t.Fatal("the server has closed its side")
	}
	return m
}

// reply returns the answer to a request; what else comes meanwhile goes to other, if there is one.
func (w *wire) reply(t *testing.T, id int, other func(message)) message {
	t.Helper()
	for {
		m := w.next(t)
		if n, ok := m.ID.(float64); ok && int(n) == id && m.Method == "" {
			return m
		}
		if other != nil {
			other(m)
		}
	}
}

// hello shakes hands as a client of the legacy era.
func (w *wire) hello(t *testing.T, capabilities map[string]any) message {
	t.Helper()
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	id := w.send(t, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "clientInfo": map[string]any{"name": "tester", "version": "7"}, "capabilities": capabilities,
	})
	m := w.reply(t, id, nil)
	w.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// callResult is the result of a tools/call.
type callResult struct {
	IsError bool
	Text    string
	Fields  map[string]any
	Raw     map[string]any
}

func (c callResult) str(name string) string {
	s, _ := c.Fields[name].(string)
	return s
}

func (c callResult) num(name string) float64 {
	n, _ := c.Fields[name].(float64)
	return n
}

func (c callResult) is(name string) bool {
	b, _ := c.Fields[name].(bool)
	return b
}

// rules are the ids of the reasons.
func (c callResult) rules() []string {
	var out []string
	reasons, _ := c.Fields["reasons"].([]any)
	for _, r := range reasons {
		out = append(out, r.(map[string]any)["rule"].(string))
	}
	return out
}

// resultOf reads the result of a tools/call.
func resultOf(t *testing.T, m message) callResult {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("an error of the protocol: %d %s", m.Error.Code, m.Error.Message)
	}
	c := callResult{Raw: m.Result}
	c.IsError, _ = m.Result["isError"].(bool)
	c.Fields, _ = m.Result["structuredContent"].(map[string]any)
	if content, ok := m.Result["content"].([]any); ok && len(content) == 1 {
		c.Text, _ = content[0].(map[string]any)["text"].(string)
	}
	return c
}

// call calls a tool and waits for its result.
func (w *wire) call(t *testing.T, tool string, args map[string]any) callResult {
	t.Helper()
	return resultOf(t, w.reply(t, w.send(t, "tools/call", map[string]any{"name": tool, "arguments": args}), nil))
}

// end closes the client's side and waits for the server.
func (w *wire) end(t *testing.T) {
	t.Helper()
	w.in.Close()
	ends(t, w.done)
}

// ends waits for a server, which must not fail.
func ends(t *testing.T, done <-chan error) {
	t.Helper()
	if err := await.Receive(t, "end of the server", done); err != nil {
		t.Error(err)
	}
}
