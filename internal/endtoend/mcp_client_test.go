package endtoend

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// server is a running `sallyport mcp` with a client that speaks JSON-RPC, a message a line, and knows
// nothing else: it sends whatever a test wants, and holds every line that comes back to the protocol.
type server struct {
	t         *testing.T
	workspace string
	env       []string
	global    []string // before "mcp"
	args      []string // after "mcp"
	relayed   bool     // there is a client process of its own between the test and the server
	deaf      bool     // the test keeps the client from reading, so the last message may be cut off
	cmd       *exec.Cmd
	in        io.WriteCloser
	errs      string        // file with the server's stderr
	gone      chan struct{} // closed when the process has ended and all that it wrote was read
	wire      *wire
}

// unhurried is a configuration in which a busy machine reaches no time limit.
const unhurried = "timeout: 1h"

// newServer prepares a server in a home of its own. The lines are its configuration file.
func newServer(t *testing.T, config ...string) *server {
	t.Helper()
	workspace, env := home(t)
	if len(config) > 0 {
		text := "version: 1\nworkspace: " + workspace + "\n" + strings.Join(config, "\n") + "\n"
		if !strings.Contains(text, "\nlocal:") && !confines() {
			text += withoutSandbox
		}
		configure(t, filepath.Dir(workspace), text)
	}
	return &server{
		t: t, workspace: workspace, env: env, errs: filepath.Join(filepath.Dir(workspace), "stderr"), gone: make(chan struct{}),
		wire: &wire{waiting: map[string]chan message{}, got: map[string]int{}, stray: make(chan message, 1000)},
	}
}

// startServer starts a server and shakes hands with it.
func startServer(t *testing.T, config ...string) *server {
	t.Helper()
	s := newServer(t, append(config, unhurried)...)
	s.start()
	s.greet()
	return s
}

// start starts the server as a host would.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(program, append(append(slices.Clone(s.global), "mcp"), s.args...)...)
	errs, err := os.Create(s.errs)
	if err != nil {
		s.t.Fatal(err)
	}
	defer errs.Close()
	s.cmd.Env = s.env
	if s.relayed {
		s.cmd = exec.Command(os.Args[0], s.cmd.Args...)
		s.cmd.Env = append(slices.Clone(s.env), relayVariable+"=1")
	}
	s.cmd.Dir, s.cmd.Stderr = s.workspace, errs
	in, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.in = in
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(out)
	}()
	go func() {
		<-read
		_ = s.cmd.Wait()
		close(s.gone)
	}()
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.gone
		if s.t.Failed() && s.stderr() != "" {
			s.t.Logf("the server's stderr:\n%s", s.stderr())
		}
	})
}

// stderr is what the server has told its operator so far.
func (s *server) stderr() string {
	text, err := os.ReadFile(s.errs)
	if err != nil {
		s.t.Error(err)
	}
	return string(text)
}

// read takes in every line of the server: each must be one message of the protocol.
func (s *server) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var m message
			if bad := json.Unmarshal(line, &m); err != nil && s.deaf {
				return // the end of the server cut this one off
			} else if bad != nil || err != nil {
				s.t.Errorf("stdout holds something that is no message: %.200q: %v", line, bad)
			} else {
				s.wire.dispatch(m)
			}
		}
		if err != nil {
			return
		}
		s.wire.reading.Lock()
		s.wire.reading.Unlock() //nolint:staticcheck // to wait is all that is wanted
	}
}

// within is the same server for a subtest.
func (s *server) within(t *testing.T) *server {
	sub := *s
	sub.t = t
	return &sub
}

// raw writes a line as it is.
func (s *server) raw(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("write to the server: %v\n%s", err, s.stderr())
	}
}

// send asks for something and returns where the reply comes, and the id.
func (s *server) send(method string, params any) (<-chan message, string) {
	s.t.Helper()
	id := s.wire.next()
	c := s.wire.expect(id)
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	s.raw(string(text))
	return c, id
}

// reply waits for a reply.
func (s *server) reply(c <-chan message) message {
	s.t.Helper()
	select {
	case m := <-c:
		return m
	case <-s.gone:
		select {
		case m := <-c:
			return m
		default:
			s.t.Fatalf("the server ended without a reply: %v\n%s", s.cmd.ProcessState, s.stderr())
		}
	case <-await.Context(s.t).Done():
		s.t.Fatal("no reply")
	}
	return message{}
}

// greet shakes hands.
func (s *server) greet() {
	s.t.Helper()
	c, _ := s.send("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "endtoend", "version": "1"},
	})
	if m := s.reply(c); m.Error != nil {
		s.t.Fatalf("initialize: %+v", m.Error)
	}
	s.raw(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// ask sends a tools/call and does not wait.
func (s *server) ask(tool string, arguments any) (<-chan message, string) {
	s.t.Helper()
	return s.send("tools/call", map[string]any{"name": tool, "arguments": arguments})
}

// call calls a tool and waits for its result.
func (s *server) call(tool string, arguments any) toolResult {
	s.t.Helper()
	c, _ := s.ask(tool, arguments)
	return s.result(s.reply(c))
}

func (s *server) result(m message) toolResult {
	s.t.Helper()
	var r toolResult
	if m.Error != nil {
		s.t.Fatalf("an error of the protocol: %+v", *m.Error)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		s.t.Fatalf("read result %s: %v", m.Result, err)
	}
	return r
}

// background starts a background shell, which must start.
func (s *server) background(text string) string {
	s.t.Helper()
	r := s.call("start_background_shell", map[string]any{"command": text})
	if r.IsError || r.Structured.ShellID == "" {
		s.t.Fatalf("start %q: %+v", text, r)
	}
	return r.Structured.ShellID
}

// alive checks that the server still does its work.
func (s *server) alive() {
	s.t.Helper()
	if r := s.call("execute_command", map[string]any{"command": "echo alive"}); r.Structured.Stdout != "alive\n" {
		s.t.Fatalf("the server answers %+v", r)
	}
}

// ended waits for the end of the server and returns its exit status.
func (s *server) ended() int {
	s.t.Helper()
	await.Receive(s.t, "end of the server", s.gone)
	return s.cmd.ProcessState.ExitCode()
}

// quit closes the server's stdin and waits for a clean end.
func (s *server) quit() {
	s.t.Helper()
	if err := s.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		s.t.Fatal(err)
	}
	if code := s.ended(); code != 0 {
		s.t.Errorf("exit status %d after the end of input\n%s", code, s.stderr())
	}
}

// appears waits for a file in the workspace.
func (s *server) appears(name string) {
	s.t.Helper()
	await.True(s.t, name+" is in the workspace", func() bool { return s.has(name) })
}

// has reports whether a file is in the workspace.
func (s *server) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.workspace, name))
	return err == nil
}
