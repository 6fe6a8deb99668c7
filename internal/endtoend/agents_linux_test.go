package endtoend

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// pair builds the two programs of an installation, side by side, and returns sallyport.
func pair(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	front := filepath.Join(dir, "sallyport")
	if err := testprogram.Build(dir, "sallyport=internal/front"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(front+"-full", text, 0o755) //nolint:gosec // a program
	}
	if err != nil {
		t.Fatal(err)
	}
	return front
}

// agentRecord is a decision or an outcome of the log.
type agentRecord struct {
	Kind     string `json:"kind"`
	Decision string `json:"decision_id"`
	Result   struct {
		Effect string `json:"effect"`
	} `json:"result"`
	Input struct {
		Request struct {
			Command string `json:"command"`
		} `json:"request"`
		Subject struct {
			Session string `json:"session"`
		} `json:"subject"`
	} `json:"input"`
}

// TestManyAgents: twenty agents at once, half by hooks and half over MCP, write one log. It verifies, and
// each session has its own calls in it, in order, each with its own decision and outcome. SALLYPORT_TEST_CALLS
// is the number of calls of each.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	const agents = 20
	calls := 20
	if text := os.Getenv("SALLYPORT_TEST_CALLS"); text != "" {
		var err error
		if calls, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	front := pair(t)
	first := newServer(t, unhurried, "local: {sandbox: none}", "resident: {start: never}")
	serve := exec.Command(front+"-full", "serve")
	serve.Env = first.env
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	await.True(t, "the resident process answers", func() bool {
		return run(t, first.workspace, first.env, front, "serve", "--status").code == 0
	})
	var at sync.WaitGroup
	for agent := range agents {
		if agent%2 == 0 {
			at.Go(func() { hookAgent(t, first, front, agent, calls) })
			continue
		}
		s := *first
		s.wire = &wire{waiting: map[string]chan message{}, got: map[string]int{}, stray: make(chan message, 1000)}
		s.errs, s.gone = fmt.Sprintf("%s-%d", first.errs, agent), make(chan struct{})
		s.args = []string{"--session", fmt.Sprint("agent-", agent)}
		s.start()
		s.greet()
		at.Go(func() { mcpAgent(t, &s, agent, calls) })
	}
	at.Wait()
	if t.Failed() {
		return
	}
	if r := run(t, first.workspace, first.env, front, "audit", "verify"); r.code != 0 {
		t.Fatalf("the log does not verify: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	compareAgents(t, first, front, agents, calls)
}

// command is the call of an agent. Every fifth is refused.
func command(agent, call int) string {
	if call%5 == 4 {
		return fmt.Sprintf("rm -rf ~/agent-%d-call-%d ~", agent, call)
	}
	return fmt.Sprintf("echo agent-%d-call-%d", agent, call)
}

func hookAgent(t *testing.T, s *server, front string, agent, calls int) {
	for call := range calls {
		event := func(name, more string) (string, error) {
			cmd := exec.Command(front, "hook", "claude-code")
			cmd.Dir, cmd.Env = s.workspace, s.env
			cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"agent-%d","cwd":%q,"hook_event_name":%q,`+
				`"tool_use_id":"%d","tool_name":"Bash","tool_input":{"command":%q}%s}`,
				agent, s.workspace, name, call, command(agent, call), more))
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		got, err := event("PreToolUse", "")
		if refused := strings.Contains(got, `"deny"`); err != nil || refused != (call%5 == 4) {
			t.Errorf("agent %d, call %d: %s, %v", agent, call, got, err)
			return
		} else if refused {
			continue
		}
		if got, err = event("PostToolUse", `,"tool_response":{"stdout":"","stderr":""}`); err != nil {
			t.Errorf("agent %d, after call %d: %s, %v", agent, call, got, err)
			return
		}
	}
}

func mcpAgent(t *testing.T, s *server, agent, calls int) {
	for call := range calls {
		r := s.call("execute_command", map[string]any{"command": command(agent, call)})
		want := fmt.Sprintf("agent-%d-call-%d\n", agent, call)
		if call%5 == 4 {
			want = ""
		}
		if r.Structured.Stdout != want {
			t.Errorf("agent %d, call %d: %+v", agent, call, r)
			return
		}
	}
	s.quit()
}

// compareAgents compares the log with the calls that were made.
func compareAgents(t *testing.T, s *server, front string, agents, calls int) {
	t.Helper()
	r := run(t, s.workspace, s.env, front, "audit", "list", "--format", "json")
	if r.code != 0 {
		t.Fatalf("list the log: exit %d\n%s", r.code, r.stderr)
	}
	made := map[string][]string{} // by session
	outcomes := map[string]int{}  // by decision
	effects := map[string]string{}
	for line := range strings.Lines(r.stdout) {
		var rec agentRecord
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case "decision":
			session := rec.Input.Subject.Session
			made[session] = append(made[session], rec.Input.Request.Command)
			effects[rec.Decision] = rec.Result.Effect
		case "outcome":
			outcomes[rec.Decision]++
		}
	}
	for agent := range agents {
		session := fmt.Sprint("agent-", agent)
		if agent%2 == 0 {
			session = "claude-code:" + session
		}
		got := made[session]
		delete(made, session)
		if len(got) != calls {
			t.Errorf("%s has %d calls on record, want %d", session, len(got), calls)
			continue
		}
		for call, text := range got {
			if text != command(agent, call) {
				t.Errorf("%s: call %d on record is %q", session, call, text)
			}
		}
	}
	if len(made) > 0 || len(effects) != agents*calls {
		t.Errorf("%d decisions on record, want %d; other sessions: %v", len(effects), agents*calls, made)
	}
	for id, effect := range effects {
		if want := map[string]int{"allow": 1, "deny": 0}[effect]; outcomes[id] != want || effect == "" {
			t.Errorf("decision %s, %s: %d outcomes, want %d", id, effect, outcomes[id], want)
		}
	}
}
