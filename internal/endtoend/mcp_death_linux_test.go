package endtoend

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestDeathByKill(t *testing.T) {
	t.Parallel()
	s, p, ids := mortal(t, false)
	for i, id := range ids {
		r := s.call("kill_background_shell", map[string]any{"shell_id": id})
		if left := p.pids()[i]; len(left) != 0 {
			t.Errorf("%s: the kill is answered and %d processes are there", daemons[i].name, len(left))
		}
		if r.IsError || r.Structured.Status != "killed" || r.Structured.Signal != "SIGTERM" {
			t.Errorf("%s: %+v", daemons[i].name, r)
		}
	}
	s.quit()
	s.balanced(len(ids))
}

// overrun starts all kinds with a time limit, twice as long each time until it ends after all of them were
// up, and checks each time that none outlives it. It returns the number of its calls. The function call makes
// the call and returns a function that reports whether it has ended.
func (s *server) overrun(call func(arguments map[string]any) (ended func() bool)) (calls int) {
	s.t.Helper()
	p := newPack(s.t)
	for limit, up := 2, false; !up; limit *= 2 {
		ended := call(map[string]any{"command": p.texts(), "timeout": limit})
		await.True(s.t, "the call ends", func() bool {
			up = up || len(p.left()) == len(daemons)
			return ended()
		})
		if left := p.left(); len(left) > 0 {
			s.t.Errorf("the call has ended and %v are there", left)
		}
		calls++
	}
	for _, r := range s.records() {
		if r.Kind == "outcome" && !r.TimedOut {
			s.t.Errorf("%+v", r)
		}
	}
	return calls
}

func TestDeathByTimeout(t *testing.T) {
	t.Parallel()
	s := startServer(t, "limits: {grace: 200ms}")
	calls := s.overrun(func(arguments map[string]any) func() bool {
		c, _ := s.ask("execute_command", arguments)
		return func() bool {
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
	})
	s.quit()
	s.balanced(calls)
}

func TestDeathByTimeoutInTheBackground(t *testing.T) {
	t.Parallel()
	s := startServer(t, "limits: {grace: 200ms}")
	var id map[string]any
	calls := s.overrun(func(arguments map[string]any) func() bool {
		id = map[string]any{"shell_id": s.call("start_background_shell", arguments).Structured.ShellID}
		return func() bool { return s.call("get_background_shell_status", id).Structured.Status != "running" }
	})
	if r := s.call("kill_background_shell", id); r.IsError || r.Structured.Status != "killed" || r.Structured.Signal != "" {
		t.Errorf("a kill after the end says %+v", r)
	}
	s.quit()
	s.balanced(calls)
}

func TestDeathByEndOfInput(t *testing.T) {
	t.Parallel()
	s, p, ids := mortal(t, false)
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.gone()
	if code := s.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.balanced(len(ids))
}

// TestDeathOfTheClient kills the client while a call is under way: nobody closes anything in order.
func TestDeathOfTheClient(t *testing.T) {
	t.Parallel()
	s, p, ids := mortal(t, true)
	s.ask("execute_command", map[string]any{"command": "touch up; sleep 1200"})
	s.appears("up")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.gone()
	s.stopped()
	s.balanced(len(ids) + 1)
}

func TestDeathBySignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s, p, ids := mortal(t, false)
			s.ask("execute_command", map[string]any{"command": "touch up; sleep 1200"})
			s.appears("up")
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			p.gone()
			if code := s.ended(); code != 0 { // and stdin is still open
				t.Errorf("exit status %d", code)
			}
			for _, r := range s.balanced(len(ids) + 1) {
				if r.Kind == "outcome" && r.Killed == "" {
					t.Errorf("the log does not say that it was ended: %+v", r)
				}
			}
		})
	}
}

// TestDeathWhileNobodyReads ends a server whose client has stopped reading in the middle of a reply.
func TestDeathWhileNobodyReads(t *testing.T) {
	t.Parallel()
	s, p, ids := mortal(t, false)
	s.wire.reading.Lock()
	s.deaf = true
	for i := range 5 { // each reply is more than a pipe holds
		s.ask("execute_command", map[string]any{"command": fmt.Sprintf("head -c 300000 /dev/zero | tr '\\0' x; touch up-%d", i)})
	}
	for i := range 5 {
		s.appears(fmt.Sprintf("up-%d", i))
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.gone()
	s.stopped() // and it does not wait for the client for ever
	s.wire.reading.Unlock()
	if code := s.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.balanced(len(ids) + 5)
}

func TestDeathOfTheServer(t *testing.T) {
	t.Parallel()
	s, p, _ := mortal(t, false)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.gone()
	s.ended()
	s.records() // what was written verifies
}

// stopped waits until the log says that the server has stopped.
func (s *server) stopped() {
	s.t.Helper()
	await.True(s.t, "the server has stopped, says the log", func() bool {
		r := run(s.t, s.workspace, s.env, program, "audit", "list", "--format", "json")
		return strings.Contains(r.stdout, `"kind":"stop"`)
	})
}

// TestFlood lets a background shell write without end and reads along until it has written far more than the
// server may keep.
func TestFlood(t *testing.T) {
	t.Parallel()
	// Kept are 2 MiB for each stream, and a reply has 20 KB of it.
	const written, limit = 128 << 20, 48 << 20
	s := startServer(t)
	s.alive()
	before := s.resident()
	id := s.background("yes")
	await.True(t, "enough is written", func() bool {
		r := s.call("get_background_shell_output", map[string]any{"shell_id": id})
		if r.IsError || r.Structured.Status != "running" {
			t.Fatalf("%.300v", r)
		}
		if grown := s.resident() - before; grown > limit {
			t.Fatalf("the server grew by %d bytes, want less than %d", grown, limit)
		}
		return r.Structured.StdoutNext > written
	})
	s.call("kill_background_shell", map[string]any{"shell_id": id})
	s.quit()
	s.balanced(2)
}

// resident is the server's memory.
func (s *server) resident() int64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return kib << 10
		}
	}
	s.t.Fatal("no VmRSS")
	return 0
}
