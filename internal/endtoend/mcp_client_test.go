package endtoend

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a running `sallyport mcp` with a client that speaks JSON-RPC, a message a line, and knows
// nothing else: it sends whatever a test wants, and holds every line that comes back to the protocol.
type server struct {
	t         *testing.T
	workspace string
	env       []string
	args      []string // after "mcp"
	relayed   bool     // there is a client process of its own between the test and the server
	deaf      bool     // the test keeps the client from reading, so the last message may be cut off
	cmd       *exec.Cmd
	in        io.WriteCloser
	errs      string        // file with the server's stderr
	gone      chan struct{} // closed when the process has ended and all that it wrote was read
	wire      *wire
}

// wire is what is expected from a server and what has come.
type wire struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan message
	got     map[string]int // replies by id
	stray   chan message   // replies that no request waits for, such as errors without an id

	reading sync.Mutex // a test that holds it keeps the client from reading on
}

// message is a JSON-RPC message from the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// toolResult is a result of tools/call; Structured holds the fields that the tests look at.
type toolResult struct {
	IsError    bool                    `json:"isError"`
	Content    []struct{ Text string } `json:"content"`
	Structured shellResult             `json:"structuredContent"`
}

type shellResult struct {
	Success       bool    `json:"success"`
	ShellID       string  `json:"shell_id"`
	Status        string  `json:"status"`
	Signal        string  `json:"signal"`
	ExitCode      *int    `json:"exit_code"`
	PID           int     `json:"pid"`
	Stdout        string  `json:"stdout"`
	Stderr        string  `json:"stderr"`
	Error         string  `json:"error"`
	DecisionID    string  `json:"decision_id"`
	Effect        string  `json:"effect"`
	ExecutionTime float64 `json:"execution_time"`
}

const waitTime = 60 * time.Second // for what must come; it is spent only where the test fails

// newServer prepares a server in a home of its own. The lines are its configuration file.
func newServer(t *testing.T, config ...string) *server {
	t.Helper()
	workspace, env := home(t)
	if len(config) > 0 {
		dir := filepath.Join(filepath.Dir(workspace), ".config", "sallyport")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := "version: 1\nworkspace: " + workspace + "\n" + strings.Join(config, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &server{
		t: t, workspace: workspace, env: env, errs: filepath.Join(filepath.Dir(workspace), "stderr"), gone: make(chan struct{}),
		wire: &wire{waiting: map[string]chan message{}, got: map[string]int{}, stray: make(chan message, 1000)},
	}
}

// relayVariable makes the test program a client that only passes on what it gets.
const relayVariable = "SALLYPORT_ENDTOEND_RELAY"

// relay runs a command with pipes of its own, as a client does, and connects them with this process's streams.
func relay(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(in, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, out)
	return cmd.Wait()
}

// startServer starts a server and shakes hands with it.
func startServer(t *testing.T, config ...string) *server {
	t.Helper()
	s := newServer(t, config...)
	s.start()
	s.greet()
	return s
}

// start starts the server as a host would.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(program, append([]string{"mcp"}, s.args...)...)
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

func (w *wire) dispatch(m message) {
	if m.Method != "" {
		return // a notification: nothing here depends on one
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := string(m.ID)
	w.got[id]++
	if c := w.waiting[id]; c != nil {
		delete(w.waiting, id)
		c <- m
		return
	}
	w.stray <- m
}

// expect returns where the reply to an id comes.
func (w *wire) expect(id string) <-chan message {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan message, 1)
	w.waiting[id] = c
	return c
}

// next returns an id that was not used before.
func (w *wire) next() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	return fmt.Sprint(w.last)
}

// forget drops the replies that nobody waited for.
func (w *wire) forget() {
	for {
		select {
		case <-w.stray:
		default:
			return
		}
	}
}

// replies counts the replies to an id.
func (w *wire) replies(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got[id]
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
	case <-time.After(waitTime):
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
	select {
	case <-s.gone:
	case <-time.After(waitTime):
		s.t.Fatal("the server does not end")
	}
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

// record is what the tests look at of an audit record.
type record struct {
	Kind     string `json:"kind"`
	Decision string `json:"decision_id"`
	Killed   string `json:"killed"`
	Signal   string `json:"signal"`
	TimedOut bool   `json:"timed_out"`
	Input    struct {
		Request struct {
			Command string `json:"command"`
		} `json:"request"`
	} `json:"input"`
}

// records verifies the log and returns what it holds.
func (s *server) records() []record {
	s.t.Helper()
	if r := run(s.t, s.workspace, s.env, program, "audit", "verify"); r.code != 0 {
		s.t.Errorf("the log does not verify: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r := run(s.t, s.workspace, s.env, program, "audit", "list", "--format", "json")
	if r.code != 0 {
		s.t.Fatalf("list the log: exit %d\n%s", r.code, r.stderr)
	}
	var all []record
	for line := range strings.Lines(r.stdout) {
		var rec record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, rec)
	}
	return all
}

// balanced checks that the log tells a whole story: one start and one stop, and for each of so many calls
// one decision with one outcome.
func (s *server) balanced(calls int) []record {
	s.t.Helper()
	all := s.records()
	kinds := map[string]int{}
	of := map[string][2]int{}
	for _, r := range all {
		kinds[r.Kind]++
		n := of[r.Decision]
		switch r.Kind {
		case "decision":
			n[0]++
		case "outcome":
			n[1]++
		default:
			continue
		}
		of[r.Decision] = n
	}
	if kinds["start"] != 1 || kinds["stop"] != 1 || len(of) != calls {
		s.t.Errorf("%d starts, %d stops, %d decisions, want 1, 1, %d", kinds["start"], kinds["stop"], len(of), calls)
	}
	for id, n := range of {
		if n != [2]int{1, 1} {
			s.t.Errorf("decision %s: %d decisions and %d outcomes", id, n[0], n[1])
		}
	}
	return all
}

// appears waits for a file in the workspace and reports whether it came in time.
func (s *server) appears(name string, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.workspace, name)); err == nil {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
