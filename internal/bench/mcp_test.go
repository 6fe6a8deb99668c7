package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mcpServer is an MCP server on stdio, and a client that does as little as a client can.
type mcpServer struct {
	b       *testing.B
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	tool    string
	args    string // JSON
	answers string // what is in each right answer
	last    int
	killed  bool // a failed end is expected
}

func startMCP(b *testing.B, dir string, tool, args, answers string, argv ...string) *mcpServer {
	b.Helper()
	s := &mcpServer{b: b, cmd: exec.Command(argv[0], argv[1:]...), tool: tool, args: args, answers: answers}
	s.cmd.Dir, s.cmd.Stderr = dir, os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.stop)
	s.send(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
			`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n")
	if _, err := s.out.ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	s.call(1) // what a server makes on first use is not what a call costs
	return s
}

func (s *mcpServer) stop() {
	if err := s.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		s.b.Error(err)
	}
	if err := s.cmd.Wait(); err != nil && !s.killed {
		s.b.Error(err)
	}
}

func (s *mcpServer) send(text string) {
	if _, err := io.WriteString(s.in, text); err != nil {
		s.b.Fatal(err)
	}
}

// call sends n calls at once and waits for all their answers.
func (s *mcpServer) call(n int) {
	s.b.Helper()
	open := map[int]bool{}
	var text strings.Builder
	for range n {
		s.last++
		open[s.last] = true
		fmt.Fprintf(&text, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+
			"\n", s.last, s.tool, s.args)
	}
	s.send(text.String())
	for len(open) > 0 {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			s.b.Fatal(err)
		}
		var answer struct{ ID int }
		if err := json.Unmarshal(line, &answer); err != nil {
			s.b.Fatal(err)
		}
		if !open[answer.ID] || !strings.Contains(string(line), s.answers) {
			s.b.Fatalf("no answer to a call: %s", line)
		}
		delete(open, answer.ID)
	}
}

// resident is how much memory the server holds, in MiB; 0 where the system does not tell.
func (s *mcpServer) resident() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				s.b.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}

// idleServer builds a server whose tool does nothing.
func idleServer(b *testing.B) *mcpServer {
	b.Helper()
	path := filepath.Join(b.TempDir(), "idle")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/idle").CombinedOutput(); err != nil {
		b.Fatalf("build the idle server: %v\n%s", err, out)
	}
	return startMCP(b, b.TempDir(), "nothing", "{}", "nothing", path)
}

// sallyportServer starts the whole program in a home of its own, with a sandbox if there can be one.
func sallyportServer(b *testing.B, tool, answers string) *mcpServer {
	b.Helper()
	return sallyportWith(b, "auto", tool, answers)
}

// sallyportWith starts it with local.sandbox.
func sallyportWith(b *testing.B, sandbox, tool, answers string) *mcpServer {
	b.Helper()
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	home := b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	b.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	workspace, config := filepath.Join(home, "project"), filepath.Join(home, "config.yaml")
	text := "version: 1\nrunner: local\nlocal:\n  sandbox: " + sandbox + "\n"
	if err := errors.Join(os.Mkdir(workspace, 0o755), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		b.Fatal(err)
	}
	b.Setenv("SALLYPORT_CONFIG", config)
	return startMCP(b, workspace, tool, `{"command":"true"}`, answers, bin, "mcp")
}

// together is how many calls a client has under way at once.
const together = 10

// BenchmarkMCP makes calls over stdio, against a server of the same library whose tool does nothing. A
// check costs reading, facts and judgement on top of the protocol; an execution two durable records and a
// shell as well.
func BenchmarkMCP(b *testing.B) {
	for name, answers := range map[string]string{"check_command": `"would_run":true`, "execute_command": `"exit_code":0`} {
		b.Run(name, func(b *testing.B) {
			idle := idleServer(b) // first: the other gives itself a home without a build cache
			ours := sallyportServer(b, name, answers)
			var gated, nothing sample
			for b.Loop() {
				gated.time(func() { ours.call(together) })
				nothing.time(func() { idle.call(together) })
			}
			rate := func(s sample, name string) {
				b.ReportMetric(together/s.quantile(0.5).Seconds(), name+"-calls/s")
			}
			rate(gated, name)
			rate(nothing, "idle")
			ratio(b, gated, nothing, "idle-server")
		})
	}
}

// BenchmarkMCPCommand makes one call after the other, each of which runs a command, against the floor: a
// shell at the end of a pipe reads a line, runs the command with a new bash, and writes a line.
func BenchmarkMCPCommand(b *testing.B) {
	for _, sandbox := range []string{"auto", "none"} {
		b.Run("sandbox-"+sandbox, func(b *testing.B) { benchmarkMCPCommand(b, sandbox) })
	}
}

func benchmarkMCPCommand(b *testing.B, sandbox string) {
	floor := exec.Command("bash", "-c", "while read x; do bash -c true; echo done; done")
	in, err := floor.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := floor.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := floor.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = floor.Wait() }()
	lines := bufio.NewReader(out)
	ours := sallyportWith(b, sandbox, "execute_command", `"exit_code":0`)
	var gated, least sample
	for b.Loop() {
		gated.time(func() { ours.call(1) })
		least.time(func() {
			if _, err := io.WriteString(in, "x\n"); err != nil {
				b.Fatal(err)
			}
			if _, err := lines.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		})
	}
	ratio(b, gated, least, "floor")
}

// BenchmarkMCPMemory tells what the program holds when it has started, and after ten thousand commands.
func BenchmarkMCPMemory(b *testing.B) {
	const calls = 10_000
	for b.Loop() {
		s := sallyportServer(b, "execute_command", `"exit_code":0`)
		b.ReportMetric(s.resident(), "MiB-at-start")
		for range calls / 10 / together {
			s.call(together)
		}
		b.ReportMetric(s.resident(), "MiB-after-1000-calls")
		for range calls * 9 / 10 / together {
			s.call(together)
		}
		b.ReportMetric(s.resident(), "MiB-after-10000-calls")
	}
}
