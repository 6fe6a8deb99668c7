package endtoend

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests below take turns, since they measure a time that is promised.

func TestDeathByKill(t *testing.T) {
	s, p, ids := mortal(t, false)
	for i, id := range ids {
		killed := time.Now()
		r := s.call("kill_background_shell", map[string]any{"shell_id": id})
		took := time.Since(killed)
		if left := p.pids()[i]; len(left) != 0 {
			t.Errorf("%s: the kill is answered and %d processes are there", daemons[i].name, len(left))
		}
		if took > promised+patience(t) {
			t.Errorf("%s: the kill took %v", daemons[i].name, took)
		}
		if r.IsError || r.Structured.Status != "killed" || r.Structured.Signal != "SIGTERM" {
			t.Errorf("%s: %+v", daemons[i].name, r)
		}
		t.Logf("%s: %v", daemons[i].name, took.Round(time.Millisecond))
	}
	s.quit()
	s.balanced(len(ids))
}

// timeLimit is long enough for all kinds to be up before, however slow the machine is.
const timeLimit = 10 * time.Second

func TestDeathByTimeout(t *testing.T) {
	survive(t)
	s := startServer(t, "limits: {grace: 200ms}")
	p := newPack(t)
	c, _ := s.ask("execute_command", map[string]any{"command": p.texts(), "timeout": timeLimit.Seconds()})
	p.up()
	r := s.result(s.reply(c))
	if left := p.left(); len(left) > 0 {
		t.Errorf("the call is answered and %v are there", left)
	}
	over := time.Duration(r.Structured.ExecutionTime*float64(time.Second)) - timeLimit
	if over < 0 || over > promised+patience(t) {
		t.Errorf("it ended %v after its time", over)
	}
	t.Logf("all gone after %v", over.Round(time.Millisecond))
	s.quit()
	for _, r := range s.balanced(1) {
		if r.Kind == "outcome" && !r.TimedOut {
			t.Errorf("%+v", r)
		}
	}
}

func TestDeathByTimeoutInTheBackground(t *testing.T) {
	survive(t)
	s := startServer(t, "limits: {grace: 200ms}")
	p := newPack(t)
	asked := time.Now()
	r := s.call("start_background_shell", map[string]any{"command": p.texts(), "timeout": timeLimit.Seconds()})
	answered := time.Now()
	p.up()
	time.Sleep(time.Until(asked.Add(timeLimit - 100*time.Millisecond)))
	if left := p.left(); len(left) < len(daemons) && time.Since(asked) < timeLimit {
		t.Errorf("before the time is over there are only %v", left)
	}
	time.Sleep(time.Until(answered.Add(timeLimit)))
	p.gone(answered.Add(timeLimit))
	id := map[string]any{"shell_id": r.Structured.ShellID}
	if r := s.call("kill_background_shell", id); r.IsError || r.Structured.Status != "killed" || r.Structured.Signal != "" {
		t.Errorf("a kill after the end says %+v", r)
	}
	s.quit()
	s.balanced(1)
}

func TestDeathByEndOfInput(t *testing.T) {
	s, p, ids := mortal(t, false)
	closed := time.Now()
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.gone(closed)
	if code := s.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.balanced(len(ids))
}

// TestDeathOfTheClient kills the client while a call is under way: nobody closes anything in order.
func TestDeathOfTheClient(t *testing.T) {
	s, p, ids := mortal(t, true)
	s.ask("execute_command", map[string]any{"command": "touch up; sleep 60"})
	if !s.appears("up", waitTime) {
		t.Fatal("the call does not run")
	}
	killed := time.Now()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.gone(killed)
	s.stopped()
	s.balanced(len(ids) + 1)
}

func TestDeathBySignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			s, p, ids := mortal(t, false)
			s.ask("execute_command", map[string]any{"command": "touch up; sleep 60"})
			if !s.appears("up", waitTime) {
				t.Fatal("the call does not run")
			}
			sent := time.Now()
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			p.gone(sent)
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
	s, p, ids := mortal(t, false)
	s.wire.reading.Lock()
	s.deaf = true
	for i := range 5 { // each reply is more than a pipe holds
		s.ask("execute_command", map[string]any{"command": fmt.Sprintf("head -c 300000 /dev/zero | tr '\\0' x; touch up-%d", i)})
	}
	for i := range 5 {
		if !s.appears(fmt.Sprintf("up-%d", i), waitTime) {
			t.Fatalf("call %d does not run", i)
		}
	}
	sent := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.gone(sent)
	s.stopped() // and it does not wait for the client for ever
	s.wire.reading.Unlock()
	if code := s.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.balanced(len(ids) + 5)
}

func TestDeathOfTheServer(t *testing.T) {
	s, p, _ := mortal(t, false)
	killed := time.Now()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.gone(killed)
	s.ended()
	s.records() // what was written verifies
}

// stopped waits until the log says that the server has stopped.
func (s *server) stopped() {
	s.t.Helper()
	for deadline := time.Now().Add(waitTime); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		r := run(s.t, s.workspace, s.env, program, "audit", "list", "--format", "json")
		if strings.Contains(r.stdout, `"kind":"stop"`) {
			return
		}
	}
	s.t.Fatal("the server does not stop")
}

// TestFlood lets a background shell write as fast as it can for ten seconds and reads along.
func TestFlood(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.alive()
	before := s.resident()
	id := s.background("yes")
	var most int64
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(100 * time.Millisecond) {
		if r := s.call("get_background_shell_output", map[string]any{"shell_id": id}); r.IsError || r.Structured.Status != "running" {
			t.Fatalf("%.300v", r)
		}
		most = max(most, s.resident()-before)
	}
	// Kept are 2 MiB for each stream; a reply with 20 KB of it comes ten times a second.
	if limit := int64(48 << 20); most > limit {
		t.Errorf("the server grew by %d bytes, want less than %d", most, limit)
	}
	t.Logf("the server grew from %d by %d KiB at most", before>>10, most>>10)
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
