package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/inline"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/background"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/internal/mcpserver"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// Each benchmark of this file times one promise of the documents. Tests show the same by the
// order of events. How late something comes is printed; nothing fails for being late.

// late reports by how many milliseconds more than promised f takes, at the median.
func late(b *testing.B, promised time.Duration, f func()) {
	b.Helper()
	var s sample
	for b.Loop() {
		s.time(f)
	}
	b.ReportMetric(float64((s.quantile(0.5)-promised).Microseconds())/1e3, "ms-late")
	b.ReportMetric(float64(promised.Microseconds())/1e3, "ms-promised")
}

// ends runs a command that must end as check says.
func ends(b *testing.B, g engineGate, r engine.Request, check func(engine.Outcome) bool) {
	b.Helper()
	r.Tool = "execute_command"
	if out, err := g.Do(context.Background(), r); err != nil || !check(out) {
		b.Fatalf("%+v, %v", out, err)
	}
}

type engineGate interface {
	Do(ctx context.Context, r engine.Request) (engine.Outcome, error)
}

const (
	limit = 300 * time.Millisecond
	deaf  = "trap '' TERM; echo up; while :; do sleep 1000; done"
)

// BenchmarkPromiseTimeLimit: a command ends at its time limit (docs/configuration.md: timeout).
func BenchmarkPromiseTimeLimit(b *testing.B) {
	g := gate(b, false)
	late(b, limit, func() {
		r := engine.Request{Command: "sleep 1000", Timeout: limit}
		ends(b, g, r, func(o engine.Outcome) bool { return o.Exit.TimedOut })
	})
}

// BenchmarkPromiseGrace: a command that ignores TERM is killed after limits.grace (docs/configuration.md).
func BenchmarkPromiseGrace(b *testing.B) {
	const grace = 200 * time.Millisecond
	g := assembled(b, configured(b, "limits: {grace: 200ms}\n"), false)
	late(b, limit+grace, func() {
		r := engine.Request{Command: deaf, Timeout: limit}
		ends(b, g, r, func(o engine.Outcome) bool { return o.Exit.Signal == "SIGKILL" })
	})
}

// BenchmarkPromiseCancel: a call that the host cancels is killed (docs/mcp.md).
func BenchmarkPromiseCancel(b *testing.B) {
	g := gate(b, false)
	late(b, 0, func() {
		ctx, cancel := context.WithCancel(context.Background())
		r := engine.Request{Tool: "execute_command", Command: "echo up; sleep 1000", Stdout: first(cancel)}
		out, err := g.Do(ctx, r)
		if err != nil || out.Exit.Killed == "" {
			b.Fatalf("%+v, %v", out, err)
		}
	})
}

// first calls itself at the first output.
type first func()

func (f first) Write(p []byte) (int, error) { f(); return len(p), nil }

// BenchmarkPromiseLeftBehind: a process left running with its output open delays no answer (SECURITY.md).
func BenchmarkPromiseLeftBehind(b *testing.B) {
	g := gate(b, false)
	late(b, 0, func() {
		ends(b, g, engine.Request{Command: "sleep 1000 & echo up"}, func(o engine.Outcome) bool {
			return o.Exit.Code == 0 && o.Exit.Stdout.Text == "up\n"
		})
	})
}

// BenchmarkPromiseSessionEnd: all commands of a session end with it (SECURITY.md), at once.
func BenchmarkPromiseSessionEnd(b *testing.B) {
	l := configured(b, "limits: {background: 20}\n")
	var s sample
	for b.Loop() {
		b.StopTimer()
		g := assembled(b, l, false)
		m := background.New(background.Options{Gate: g, Limit: 20})
		var pids []int
		for range 20 {
			r := engine.Request{Tool: "start_background_shell", Command: deaf}
			shell, _, err := m.Start(context.Background(), r)
			if err != nil {
				b.Fatal(err)
			}
			pids = append(pids, shell.PID)
		}
		b.StartTimer()
		s.time(func() {
			if err := m.Close(); err != nil {
				b.Error(err)
			}
		})
		for _, pid := range pids {
			if alive(pid) {
				b.Errorf("process %d is left", pid)
			}
		}
	}
	b.ReportMetric(float64((s.quantile(0.5)-400*time.Millisecond).Microseconds())/1e3, "ms-late") // after the grace period
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return err == nil && !bytes.HasPrefix(after, []byte(" Z")) && !bytes.HasPrefix(after, []byte(" X"))
}

// running starts the program with a command that writes its process ids, and waits for them.
func running(b *testing.B, text string) (*exec.Cmd, []int) {
	b.Helper()
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	home := b.TempDir()
	cmd := exec.Command(bin, "exec", "-c", text)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+b.TempDir(), "XDG_STATE_HOME="+home+"/state", "SALLYPORT_CONFIG="+unconfined(b))
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return cmd, written(b, filepath.Join(home, "pids"), 2)
}

// BenchmarkPromiseKilled: when sallyport is killed, all that it started dies with it (docs/cli.md).
func BenchmarkPromiseKilled(b *testing.B) {
	var s sample
	for b.Loop() {
		cmd, pids := running(b, "setsid sleep 1000 & echo $! > pids; echo $$ >> pids; wait")
		s.time(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			await.True(b, "all of it is gone", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
		})
	}
	b.ReportMetric(float64(s.quantile(0.5).Microseconds())/1e3, "ms-late")
}

// BenchmarkPromiseSignal: a command that ignores a signal to sallyport is killed after 5 seconds (docs/cli.md).
func BenchmarkPromiseSignal(b *testing.B) {
	const promised = 5 * time.Second
	var s sample
	for b.Loop() {
		cmd, _ := running(b, "trap '' INT TERM; sleep 1000 & echo $! > pids; echo $$ >> pids; wait; sleep 1000")
		s.time(func() {
			_ = cmd.Process.Signal(syscall.SIGINT)
			_ = cmd.Wait()
		})
	}
	b.ReportMetric(float64((s.quantile(0.5)-promised).Microseconds())/1e3, "ms-late")
}

// slow is an evaluator that does not answer, or that asks an approver which does not answer.
type slow struct{ asks bool }

func (slow) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "bench"} }

func (s slow) Evaluate(ctx context.Context, _ *facts.Input) (engine.Judgement, error) {
	if s.asks {
		reasons := []engine.Reason{{Rule: "bench/ask", Effect: engine.Ask}}
		return engine.Judgement{Effect: engine.Ask, Reasons: reasons}, nil
	}
	<-ctx.Done()
	return engine.Judgement{}, ctx.Err()
}

func (slow) Approve(ctx context.Context, _ engine.ApprovalRequest) (engine.Approval, error) {
	<-ctx.Done()
	return engine.Approval{}, ctx.Err()
}

func (slow) Record(context.Context, ...engine.Record) error { return nil }

// refuses times how long a gate waits that gets no answer.
func refuses(b *testing.B, s slow, limits engine.Limits) {
	b.Helper()
	r, err := local.New(local.Options{})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	g, err := engine.New(engine.Options{
		Layout: facts.Layout{
			Workspace: dir, Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}},
		},
		Evaluators: []engine.Evaluator{s}, Approver: s, Recorder: s, Runner: r, Limits: limits,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = g.Close() })
	late(b, limit, func() {
		ends(b, g, engine.Request{Command: "true"}, func(o engine.Outcome) bool { return !o.Ran })
	})
}

// BenchmarkPromiseJudging: policies that take longer than they may are a fault, which denies
// (docs/writing-policies.md; there the limit is 5 s).
func BenchmarkPromiseJudging(b *testing.B) { refuses(b, slow{}, engine.Limits{Judge: limit}) }

// BenchmarkPromiseLargeBatch: the largest batch of files that a call may name is judged within those 5 s.
func BenchmarkPromiseLargeBatch(b *testing.B) {
	l := configured(b, "rules: {deletion/read_before_delete: off}\n")
	for i := range 5000 {
		dir := filepath.Join(string(l.Workspace), "logs", fmt.Sprint(i/100))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	g := assembled(b, l, true)
	late(b, 5*time.Second, func() {
		tool := filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "logs"})
		r := engine.Request{Tool: tool.Result().Operation, Operation: tool}
		if out, err := g.Check(context.Background(), r); err != nil || len(out.Input.Paths) < 5000 {
			b.Fatalf("%+v, %v", out.Fault, err)
		}
	})
}

// BenchmarkPromiseApproval: no answer within limits.approval refuses (docs/configuration.md).
func BenchmarkPromiseApproval(b *testing.B) {
	refuses(b, slow{asks: true}, engine.Limits{Approve: limit})
}

// BenchmarkPromiseBody: a client over HTTP that does not send its body is answered after 30 s (docs/mcp.md).
func BenchmarkPromiseBody(b *testing.B) {
	g := gate(b, false)
	s, err := mcpserver.New(mcpserver.Options{
		Gate: g, Approver: mcpserver.NewApprover(), Redact: g.Redact, Version: "bench", Sets: []string{"shell"},
	})
	if err != nil {
		b.Fatal(err)
	}
	const token = "a-token-of-this-benchmark"
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- s.ListenHTTP(ctx, mcpserver.HTTPOptions{
			Address: "127.0.0.1:0", Token: token,
			End:   func() error { return nil },
			Ready: func(url string) { ready <- url },
		})
	}()
	url := await.Receive(b, "address", ready)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	late(b, 30*time.Second, func() {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 10\r\n\r\n{"
		fmt.Fprintf(conn, head, token)
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			b.Fatalf("%q, %v", answer, err)
		}
	})
	stop()
	if err := await.Receive(b, "end of the server", done); err != nil {
		b.Error(err)
	}
}

// BenchmarkPromiseLinear: the time and the memory for a text grow with its length. The metrics are those for eight
// times the text, divided by eight times those for it: 1 is linear, 8 is quadratic.
func BenchmarkPromiseLinear(b *testing.B) {
	red := redact.New([]byte("bench"), redact.Extra{})
	bash := func(s string) { _, _ = walk.Parse(s, shell.Options{}) }
	for name, c := range map[string]struct {
		unit string
		n    int
		read func(string)
	}{
		"redact":   {"TOKEN=ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6 run --password x\n", 50, func(s string) { red.String(s) }},
		"shell":    {"cp a.txt \"$HOME/b\" && rm -rf ./build | tee log\n", 20, bash},
		"one word": {"a", 4000, bash},
		"python":   {"import os\nos.remove('a' + str(1))\n", 20, func(s string) { inline.Scan("python", s) }},
		"node":     {"require('fs').unlinkSync('a' + `b`);\n", 20, func(s string) { inline.Scan("node", s) }},
	} {
		b.Run(name, func(b *testing.B) {
			short, long := strings.Repeat(c.unit, c.n), strings.Repeat(c.unit, 8*c.n)
			var once, eight sample
			for b.Loop() {
				once.time(func() { c.read(short) })
				eight.time(func() { c.read(long) })
			}
			b.ReportMetric(float64(eight.quantile(0.5))/float64(8*once.quantile(0.5)), "x-time")
			few := testing.AllocsPerRun(3, func() { c.read(short) })
			many := testing.AllocsPerRun(3, func() { c.read(long) })
			b.ReportMetric((many+1)/(8*few+1), "x-allocations")
		})
	}
}
