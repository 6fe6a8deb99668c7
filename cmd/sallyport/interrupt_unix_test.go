//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// gated is a place in which sallyport runs commands.
type gated struct {
	dir string
	env []string
}

func newGated(t *testing.T) gated {
	dir := t.TempDir()
	if err := bare(filepath.Join(dir, "config")); err != nil {
		t.Fatal(err)
	}
	return gated{dir, append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))}
}

// sallyport makes a command whose output goes into a buffer.
func (g gated) sallyport(args ...string) (*exec.Cmd, *bytes.Buffer) {
	return g.program("sallyport", args...)
}

func (g gated) program(name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(name, args...)
	out := &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = g.dir, g.env, out, out
	return cmd, out
}

// outcome is the recorded end of the only command.
func (g gated) outcome(t *testing.T) (killed, signal string) {
	t.Helper()
	list, records := g.sallyport("audit", "list", "--kind", "outcome", "--format", "json")
	var record struct{ Killed, Signal string }
	if err := list.Run(); err != nil {
		t.Errorf("records: %v: %s", err, records)
	} else if err := json.Unmarshal(records.Bytes(), &record); err != nil {
		t.Errorf("records: %v: %s", err, records)
	}
	return record.Killed, record.Signal
}

// TestSignalEndsTheTree: a signal to sallyport ends the command and all that it started, the outcome
// is recorded, and the status says which signal it was.
func TestSignalEndsTheTree(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // else nohup before go test would reach the program
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			cmd, out := g.program("patient-sallyport", "exec", "-c", `sleep 1000 & echo $! > pids; echo $$ >> pids; wait; touch mark`)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids := waitFor(t, filepath.Join(g.dir, "pids"), 2)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 128+int(sig) {
				t.Errorf("exit %d, want %d; output %s", got, 128+int(sig), out)
			}
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("process %s is still there", pid)
				}
			}
			if _, err := os.Stat(filepath.Join(g.dir, "mark")); err == nil {
				t.Error("the command went on")
			}
			if killed, signal := g.outcome(t); killed != "" || signal != unix.SignalName(sig) {
				t.Errorf("on record: killed %q, signal %q", killed, signal)
			}
		})
	}
}

// TestSignalIsTheCommands: a command that takes up a signal ends as it wants, as at a shell. One that does not is
// ended after a while, or at the second signal.
func TestSignalIsTheCommands(t *testing.T) {
	t.Parallel()
	const ignores = `trap '' INT TERM; echo > up; sleep 1000 & wait; touch mark`
	for name, tc := range map[string]struct {
		text   string
		send   []syscall.Signal
		code   int
		killed string
		shown  string
	}{
		"it tidies up":   {`trap 'echo bye; exit 5' INT; echo > up; while :; do sleep 0.05; done`, []syscall.Signal{syscall.SIGINT}, 5, "", "bye\n"},
		"it ends well":   {`trap 'exit 0' TERM; echo > up; while :; do sleep 0.05; done`, []syscall.Signal{syscall.SIGTERM}, 0, "", ""},
		"it ignores one": {ignores, []syscall.Signal{syscall.SIGINT}, 128 + 2, "asked to stop: interrupt", ""},
		"it goes on, and again": {`trap 'echo > told' INT TERM; echo > up; while :; do sleep 0.05; done; touch mark`,
			[]syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, 128 + 15, "asked to stop: terminated", ""},
		"it tells how far it is": {`trap 'echo here; echo > told' USR1; trap 'echo there; exit 7' QUIT; echo > up; while :; do sleep 0.05; done`,
			[]syscall.Signal{syscall.SIGUSR1, syscall.SIGQUIT}, 7, "", "there\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			program := "patient-sallyport"
			if tc.text == ignores {
				program = "hasty-sallyport"
			}
			cmd, out := g.program(program, "exec", "--timeout", "1h", "-c", tc.text)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, filepath.Join(g.dir, "up"), 1)
			for i, sig := range tc.send {
				if i > 0 { // of signals that wait together the second may be the first to arrive
					waitFor(t, filepath.Join(g.dir, "told"), 1)
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tc.code || !strings.Contains(out.String(), tc.shown) {
				t.Errorf("exit %d, want %d; output %q, want %q in it", got, tc.code, out, tc.shown)
			}
			if _, err := os.Stat(filepath.Join(g.dir, "mark")); err == nil {
				t.Error("the command went on")
			}
			if killed, _ := g.outcome(t); killed != tc.killed {
				t.Errorf("on record: killed %q, want %q", killed, tc.killed)
			}
		})
	}
}

// waitFor waits until a file has n lines and returns them.
func waitFor(t *testing.T, file string, n int) []string {
	t.Helper()
	var text []byte
	await.True(t, fmt.Sprintf("%s gets %d lines", file, n), func() bool {
		text, _ = os.ReadFile(file)
		return bytes.Count(text, []byte("\n")) >= n
	})
	return strings.Fields(string(text))
}

// alive reports whether a process runs. Where nobody reaps the dead, they stay as zombies.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	after := stat[bytes.LastIndexByte(stat, ')')+1:] // the name before it may hold anything
	return !bytes.HasPrefix(after, []byte(" Z")) && !bytes.HasPrefix(after, []byte(" X"))
}
