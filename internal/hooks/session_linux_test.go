package hooks

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// started starts a script under a name with words, and returns the id of the process that the script's shell
// has started.
func started(t *testing.T, name string, words ...string) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	const text = "#!/bin/sh\nsh -c 'echo $$; read line; :'; :\n"
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, words...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "\n")
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestProcessSession holds that the session of a process follows from the agent that has started it, and that
// one without such an agent, or of an agent with several sessions, has none.
func TestProcessSession(t *testing.T) {
	const at = "/workspace"
	one, other := started(t, "claude"), started(t, "claude")
	a, _, err := process(one)
	if err != nil {
		t.Fatal(err)
	}
	mine, again := ProcessSession(one, at), ProcessSession(one, at)
	if !strings.HasPrefix(mine, "claude-code"+sessionMark) || mine != again || a.pid != one {
		t.Errorf("session %q, again %q", mine, again)
	}
	if got := ProcessSession(other, at); got == mine || got == "" {
		t.Errorf("another agent has the session %q", got)
	}
	if got := ProcessSession(one, "/elsewhere"); got == mine || got == "" {
		t.Errorf("another workspace has the session %q", got)
	}
	for _, words := range [][]string{{"codex", "app-server"}, {"gemini", "--acp"}, {"other"}} {
		if got := ProcessSession(started(t, words[0], words[1:]...), at); got != "" {
			t.Errorf("%q has the session %q", words, got)
		}
		if got := ProcessSession(started(t, words[0]), at); got == "" && words[0] != "other" {
			t.Errorf("%s alone has no session", words[0])
		}
	}
	if got := ProcessSession(1, at); got != "" {
		t.Errorf("the first process has the session %q", got)
	}
}

// TestSessionsStayApart holds that neither an event nor a flag chooses the session of another process.
func TestSessionsStayApart(t *testing.T) {
	const at = "/workspace"
	pid, other := started(t, "claude"), started(t, "claude")
	theirs := ProcessSession(other, at)
	claude, codex := named(t, "claude-code"), named(t, "codex")
	if got, want := claude.SessionOf(Event{Session: "s"}, pid, at), ProcessSession(pid, at); got != want {
		t.Errorf("session %q, want %q", got, want)
	}
	if got := codex.SessionOf(Event{Session: "s"}, pid, at); got != "codex:s" {
		t.Errorf("below another agent: session %q", got)
	}
	for _, chosen := range []string{theirs, strings.TrimPrefix(theirs, "claude-code")} {
		if got := (&Host{Name: "claude-code"}).SessionOf(Event{Session: chosen}, 1, at); strings.Contains(got, sessionMark) {
			t.Errorf("an event chooses the session %q", got)
		}
	}
	if err := CheckSession(theirs, pid, at); err == nil {
		t.Error("a flag chooses the session of another process")
	}
	for _, name := range []string{"", "review", ProcessSession(pid, at)} {
		if err := CheckSession(name, pid, at); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func named(t *testing.T, name string) *Host {
	t.Helper()
	h, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
