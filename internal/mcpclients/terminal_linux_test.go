package mcpclients

import (
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/live"
)

// screen keeps all that a program writes to its terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestGeminiAsks holds that Gemini CLI asks its user at a terminal about a call that a rule asks about, and runs it
// after a yes. TestAgents holds that the call is refused where it asks nobody.
func TestGeminiAsks(t *testing.T) {
	t.Parallel()
	all := agents(t)
	a := all[slices.IndexFunc(all, func(a agent) bool { return a.name == "gemini" })]
	p, env := arm(t, a, "judge")
	m, err := live.Serve(live.Script{Main: []live.Call{a.shell("(git branch -D x || true); touch asked")}})
	must(t, err)
	defer m.Close()
	h, err := live.Named(a.name)
	must(t, err)
	line, err := h.Line(m.URL, t.TempDir(), true)
	must(t, err)
	words := slices.Clone(line.Argv[1:])
	words[slices.Index(words, "-p")] = "-i"
	cmd := exec.Command(a.program[0], slices.Concat(a.program[1:], words)...)
	cmd.Dir, cmd.Env = p.workspace, append(line.Over(env), "TERM=xterm-256color", "COLUMNS=200", "LINES=60")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 200})
	must(t, err)
	var seen screen
	go func() { _, _ = io.Copy(&seen, tty) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		if t.Failed() {
			t.Logf("the screen: %q", seen.String())
		}
	})
	await.True(t, "Gemini CLI asks", func() bool {
		return strings.Contains(seen.String(), "Allow execution") || len(m.Results(false)) > 0
	})
	if got := p.made(t); got != "" {
		t.Errorf("before the answer it made %s", got)
	}
	_, err = tty.WriteString("\r")
	must(t, err)
	await.True(t, "the call has a result", func() bool { return len(m.Results(false)) > 0 })
	if got := p.made(t); got != "asked" {
		t.Errorf("after a yes it made %q: %q", got, m.Results(false))
	}
}
