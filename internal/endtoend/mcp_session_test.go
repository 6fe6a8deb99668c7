package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// both runs a text in the foreground and in the background and returns what was said of it each time.
func (s *server) both(arguments map[string]any) (fore, back shellResult) {
	s.t.Helper()
	fore = s.call("execute_command", arguments).Structured
	r := s.call("start_background_shell", arguments).Structured
	if r.ShellID == "" {
		return fore, r
	}
	await.True(s.t, r.ShellID+" ends", func() bool {
		back = s.call("get_background_shell_output", map[string]any{"shell_id": r.ShellID}).Structured
		return back.Status != "running"
	})
	back.Effect = r.Effect
	return fore, back
}

// TestBackgroundTakesTheSamePath runs the same text in both ways: what one may do and see, so may the other.
func TestBackgroundTakesTheSamePath(t *testing.T) {
	t.Parallel()
	s := newServer(t, "rules: {dangerous/permissions: ask}", unhurried)
	s.env = append(s.env, "FAKE_API_KEY=sk-do-not-leak")
	s.start()
	s.greet()
	sub := filepath.Join(s.workspace, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(s.workspace), "outside")
	for _, tc := range []struct {
		name      string
		arguments map[string]any
		effect    string // "" where nothing is decided
	}{
		{"status and output", map[string]any{"command": "echo out; echo err >&2; exit 3"}, "allow"},
		{"working directory", map[string]any{"command": "pwd", "work_dir": "sub"}, "allow"},
		{"no such working directory", map[string]any{"command": "touch ran", "work_dir": "missing"}, "deny"},
		{"working directory outside", map[string]any{"command": "touch ran", "work_dir": filepath.Dir(s.workspace)}, "deny"},
		{"environment", map[string]any{"command": "env | grep -v SALLYPORT_COMMAND= | sort"}, "allow"},
		{"shell", map[string]any{"command": `echo "${BASH_VERSION%%.*}" {1..3}`}, "allow"},
		{"standard input", map[string]any{"command": "cat; echo end"}, "allow"},
		{"limits", map[string]any{"command": "umask; ulimit -n"}, "allow"},
		{"refused", map[string]any{"command": "touch ../outside"}, "deny"},
		{"a person would be asked", map[string]any{"command": "touch ran; chmod 777 ran"}, "ask"},
		{"unreadable", map[string]any{"command": "touch ran; echo '"}, "deny"},
		{"no command", map[string]any{"work_dir": "sub"}, "none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := s.within(t)
			fore, back := s.both(tc.arguments)
			if fore.Effect != tc.effect || back.Effect != tc.effect {
				t.Errorf("decided %q in the foreground and %q in the background, want %q", fore.Effect, back.Effect, tc.effect)
			}
			if tc.effect == "allow" && (fore.Stdout != back.Stdout || fore.Stderr != back.Stderr || *fore.ExitCode != *back.ExitCode) {
				t.Errorf("foreground %+v\nbackground %+v", fore, back)
			}
			if tc.effect == "allow" && fore.Stdout == "" {
				t.Errorf("no output, so nothing is shown: %+v", fore)
			}
			if strings.Contains(fore.Stdout+back.Stdout, "sk-do-not-leak") {
				t.Error("a key of the host reaches commands")
			}
		})
	}
	for _, file := range []string{outside, filepath.Join(s.workspace, "ran"), filepath.Join(filepath.Dir(s.workspace), "ran")} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	// Without the gate it would have been.
	if r := run(t, s.workspace, s.env, "bash", "-c", "touch ../outside"); r.code != 0 {
		t.Errorf("touch: %+v", r)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	s.quit()
}

// TestListIsShort lists shells with long commands: a list goes into the context of a model.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const shells = 8
	long := "true " + strings.Repeat("x", 50_000)
	for range shells {
		s.background(long)
	}
	c, _ := s.ask("list_background_shells", map[string]any{})
	if m := s.reply(c); len(m.Result) > 50_000 || strings.Count(string(m.Result), `"shell_id"`) != shells {
		t.Errorf("a list of %d bytes: %.300s", len(m.Result), m.Result)
	}
	s.quit()
}

// TestManyClients lets servers of the same user work at the same time on one log, each with calls that
// overlap: every reply belongs to its call, and the log tells each once.
func TestManyClients(t *testing.T) {
	t.Parallel()
	const clients, calls = 3, 20
	guard := await.Context(t)
	first := newServer(t, unhurried)
	var wg sync.WaitGroup
	for n := range clients {
		s := newServer(t)
		s.workspace, s.env = first.workspace, first.env
		s.start()
		s.greet()
		wg.Go(func() {
			replies := make([]<-chan message, calls)
			for i := range calls {
				replies[i], _ = s.ask("execute_command", map[string]any{"command": fmt.Sprintf("echo %d.%d", n, i)})
			}
			for i, c := range replies {
				select {
				case m := <-c:
					if !strings.Contains(string(m.Result), fmt.Sprintf(`"stdout":"%d.%d\n"`, n, i)) {
						t.Errorf("call %d.%d is answered by %s", n, i, m.Result)
					}
				case <-guard.Done():
					t.Errorf("call %d.%d is not answered", n, i)
				}
			}
			_ = s.in.Close()
			if <-s.gone; s.cmd.ProcessState.ExitCode() != 0 {
				t.Errorf("client %d: exit status %d", n, s.cmd.ProcessState.ExitCode())
			}
		})
	}
	wg.Wait()
	decided, ended := map[string]int{}, map[string]int{}
	commands := map[string]bool{}
	for _, r := range first.records() {
		switch r.Kind {
		case "decision":
			decided[r.Decision]++
			commands[r.Input.Request.Command] = true
		case "outcome":
			ended[r.Decision]++
		}
	}
	if len(decided) != clients*calls || len(ended) != clients*calls || len(commands) != clients*calls {
		t.Errorf("%d decisions, %d outcomes, %d commands, want %d of each", len(decided), len(ended), len(commands), clients*calls)
	}
	for id := range decided {
		if decided[id] != 1 || ended[id] != 1 {
			t.Errorf("decision %s: %d decisions, %d outcomes", id, decided[id], ended[id])
		}
	}
}
