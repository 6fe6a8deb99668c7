//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalEndsTheTree: a signal to sallyport ends the command and all that it started, the outcome
// is recorded, and the status says which signal it was.
func TestSignalEndsTheTree(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
			sallyport := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
				cmd := exec.Command("sallyport", args...)
				out := &bytes.Buffer{}
				cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
				return cmd, out
			}
			cmd, out := sallyport("exec", "-c", `sleep 61.5 & echo $! > pids; echo $$ >> pids; wait; touch mark`)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids := waitFor(t, filepath.Join(dir, "pids"), 2)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 128+int(sig) {
				t.Errorf("exit %d, want %d; output %s", got, 128+int(sig), out)
			}
			for _, pid := range pids {
				if _, err := os.Stat("/proc/" + pid); err == nil {
					t.Errorf("process %s is still there", pid)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "mark")); err == nil {
				t.Error("the command went on")
			}
			list, records := sallyport("audit", "list", "--format", "json")
			if err := list.Run(); err != nil || !strings.Contains(records.String(), `"killed":"`) {
				t.Errorf("records: %v\n%s", err, records)
			}
		})
	}
}

// waitFor waits until a file has n lines and returns them.
func waitFor(t *testing.T, file string, n int) []string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil && bytes.Count(text, []byte("\n")) >= n {
			return strings.Fields(string(text))
		}
	}
	t.Fatalf("%s does not get %d lines", file, n)
	return nil
}
