package mcpclients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// confined is a configuration in which commands are confined.
func confined(t *testing.T, name string) string {
	t.Helper()
	if name == "docker" {
		leftout.NeedDocker(t)
		return "runner: docker\n"
	}
	leftout.Command(t, "bwrap")
	return "local: {sandbox: bubblewrap}\n"
}

const makefile = `test:
	@echo compile; echo warning: unused >&2
	@for i in 1 2 3; do echo "ok $$i"; done
	@echo 2 of 3 failed; exit 1
`

// In mode run, Claude Code's own shell runs make test in the sandbox and in a container with the output that it
// has without, and sees no files beside the workspace.
func TestRunMode(t *testing.T) {
	t.Parallel()
	a := agents(t)[0]
	var without []string
	for _, where := range []string{"", "bubblewrap", "docker"} {
		t.Run("in "+where, func(t *testing.T) {
			settings, mode := "", ""
			if where != "" {
				settings, mode = confined(t, where), "run"
			}
			p, env := arm(t, a, mode)
			p.confine(t, settings)
			p.write(t, "Makefile", makefile)
			if where == "docker" && os.Geteuid() == 0 { // whose files no container gets
				must(t, os.Chown(p.workspace, 1000, 1000))
			}
			calls := []live.Call{a.shell("make test"), a.shell("ls -A ..")}
			results := p.drive(t, a, live.Script{Main: calls}, env)
			if where == "" {
				without = results
			}
			if results[0] != without[0] {
				t.Errorf("%q, without the sandbox %q", results[0], without[0])
			}
			if sees := strings.Contains(results[1], ".config"); sees != (where == "") {
				t.Errorf("beside the workspace it sees %q", results[1])
			}
		})
	}
}

// confine replaces the configuration.
func (p place) confine(t *testing.T, text string) {
	t.Helper()
	if text == "" {
		return
	}
	file := filepath.Join(p.home, ".config", "sallyport", "config.yaml")
	text = fmt.Sprintf("version: 1\nworkspace: %q\n%s", p.workspace, text)
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

// terminal is the screen of a program, as the bytes that drew it.
type terminal struct {
	mu    sync.Mutex
	drawn []byte
}

func (s *terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = append(s.drawn, b...)
	return len(b), nil
}

func (s *terminal) shows(word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.drawn, []byte(word))
}

// In mode run, Esc at Claude Code's terminal ends the whole tree of a command. Without the hook, a process in a
// session of its own survives.
func TestRunModeEsc(t *testing.T) {
	t.Parallel()
	a := agents(t)[0]
	settings := confined(t, "bubblewrap")
	for _, mode := range []string{"", "run"} {
		t.Run("mode "+mode, func(t *testing.T) {
			p, env := arm(t, a, mode)
			p.confine(t, settings)
			tag := runnertest.NewTag()
			wait := "tail -F none." + tag // Claude Code refuses long sleeps
			text := fmt.Sprintf("%s & (setsid %s &); touch started; %s", wait, wait, wait)
			m, err := live.Serve(live.Script{Main: []live.Call{a.shell(text)}})
			must(t, err)
			defer m.Close()
			var screen terminal
			keys := p.sit(t, a, m.URL, env, &screen)
			await.True(t, "the command has started", func() bool {
				return strings.Contains(p.made(t), "started") && len(runnertest.Tagged(tag)) >= 3
			})
			_, err = keys.WriteString("\x1b")
			must(t, err)
			if mode == "run" {
				await.True(t, "no process is left", func() bool { return len(runnertest.Tagged(tag)) == 0 })
			}
			await.True(t, "Claude Code tells the end", func() bool { return screen.shows("nterrupted") })
			left := runnertest.Tagged(tag)
			if (len(left) > 0) != (mode == "") {
				t.Errorf("processes that are left: %v", left)
			}
			for _, pid := range left {
				must(t, syscall.Kill(pid, syscall.SIGKILL))
			}
		})
	}
}

// onboarded answers the questions of Claude Code's first start, beside its servers.
func (p place) onboarded(t *testing.T) {
	t.Helper()
	file, all := filepath.Join(p.home, ".claude.json"), map[string]any{}
	if text, err := os.ReadFile(file); err == nil {
		must(t, json.Unmarshal(text, &all))
	}
	all["hasCompletedOnboarding"], all["theme"] = true, "dark"
	all["customApiKeyResponses"] = map[string]any{"approved": []string{"none"}}
	all["projects"] = map[string]any{p.workspace: map[string]any{"hasTrustDialogAccepted": true}}
	text, err := json.Marshal(all)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

// sit starts Claude Code at a terminal with the first prompt. It ends with the test.
func (p place) sit(t *testing.T, a agent, model string, env []string, screen *terminal) *os.File {
	t.Helper()
	h, err := live.Named(a.name)
	must(t, err)
	line, err := h.Line(model, t.TempDir(), true)
	must(t, err)
	words := slices.DeleteFunc(line.Argv[1:], func(w string) bool {
		return w == "-p" || w == "--strict-mcp-config" || w == "--no-session-persistence"
	})
	if i := slices.Index(words, "--add-dir"); i >= 0 { // about which it would ask
		words = slices.Delete(words, i, i+2)
	}
	p.onboarded(t)
	cmd := exec.Command(a.program[0], append([]string{"--permission-mode", "default"}, words...)...)
	cmd.Dir, cmd.Env = p.workspace, append(line.Over(env), "TERM=xterm-256color")
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(t, err)
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		_, _ = io.Copy(screen, keys) // until the terminal has no user
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-drawn
		_ = keys.Close()
		if t.Failed() {
			t.Logf("the screen: %q", screen.drawn)
		}
	})
	return keys
}
