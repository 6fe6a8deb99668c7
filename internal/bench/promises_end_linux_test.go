package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// serving starts the MCP server with a call under way, and returns the process ids of its command: the shell
// and a child in a session of its own.
func serving(b *testing.B) (*mcpServer, []int) {
	b.Helper()
	b.Setenv("SALLYPORT_CONFIG", unconfined(b))
	s := sallyportServer(b, "execute_command", `"exit_code":0`)
	args := `{"command":"setsid sleep 1000 & echo $! > pids; echo $$ >> pids; wait"}`
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", s.tool, args))
	return s, written(b, filepath.Join(s.cmd.Dir, "pids"), 2)
}

// BenchmarkPromiseEndOfInput: a call that runs when the host's input ends is ended after two seconds without
// an answer (docs/mcp.md).
func BenchmarkPromiseEndOfInput(b *testing.B) {
	var s sample
	for b.Loop() {
		server, pids := serving(b)
		s.time(func() {
			_ = server.in.Close()
			await.True(b, "the command is gone", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
		})
	}
	b.ReportMetric(float64((s.quantile(0.5)-2*time.Second).Microseconds())/1e3, "ms-late")
}

// BenchmarkPromiseServerKilled: when the MCP server is killed, its commands die with it (docs/mcp.md).
func BenchmarkPromiseServerKilled(b *testing.B) {
	var s sample
	for b.Loop() {
		server, pids := serving(b)
		server.killed = true
		s.time(func() {
			_ = server.cmd.Process.Kill()
			await.True(b, "the command is gone", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
		})
	}
	b.ReportMetric(float64(s.quantile(0.5).Microseconds())/1e3, "ms-late")
}

// BenchmarkPromiseCheckpoint: a record is covered by a checkpoint after 10 seconds at the latest
// (docs/audit-log.md).
func BenchmarkPromiseCheckpoint(b *testing.B) {
	const promised = 10 * time.Second
	dir := b.TempDir()
	log, err := audit.Open(audit.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			b.Error(err)
		}
	}()
	covered := func() string {
		note, _ := os.ReadFile(filepath.Join(dir, "checkpoint"))
		return string(note)
	}
	record := func() {
		before := covered()
		r := engine.Record{Kind: engine.KindDecision, Time: time.Now().UTC(), Decision: "D-1", Body: engine.DecisionBody{}}
		if err := log.Record(context.Background(), r); err != nil {
			b.Fatal(err)
		}
		await.True(b, "a checkpoint covers the record", func() bool { return covered() != before })
	}
	record() // the first is covered at once
	late(b, promised, record)
}

// BenchmarkPromiseLostLine: a supervisor that falls silent is noticed within a minute (docs/runners.md).
func BenchmarkPromiseLostLine(b *testing.B) {
	program := supervisorFile(b)
	late(b, time.Minute, func() {
		dir := b.TempDir()
		line := []string{"sh", "-c", `echo $$ > "$0/pids"; exec "$1"`, dir, program}
		p, err := supervisor.OpenProgram(line, os.Environ(), "")
		if err != nil {
			b.Fatal(err)
		}
		env, err := wire.Connect(context.Background(), p, wire.Options{Explain: p.Explain})
		if err != nil {
			b.Fatal(err)
		}
		c, err := env.Prepare("sleep 1000", "/")
		if err != nil {
			b.Fatal(err)
		}
		c.ID, c.Timeout, c.Output = "bench", await.Guard, 1<<10
		running, err := env.Start(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		pid := written(b, filepath.Join(dir, "pids"), 1)[0]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			b.Fatal(err)
		}
		if x := running.Wait(); x.Error == nil {
			b.Errorf("the silence was not noticed: %+v", x)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // closing may have ended it already
		_ = env.Close()
	})
}

// written waits for a file of n lines and returns the process ids in it.
func written(b *testing.B, file string, n int) (pids []int) {
	b.Helper()
	await.True(b, "the command runs", func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for word := range strings.FieldsSeq(string(text)) {
			var pid int
			if _, err := fmt.Sscan(word, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		return strings.Count(string(text), "\n") == n && len(pids) == n
	})
	return pids
}

// unconfined writes a configuration without a sandbox, and returns its path.
func unconfined(b *testing.B) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nlocal: {sandbox: none}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}
