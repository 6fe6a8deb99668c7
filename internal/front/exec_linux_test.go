package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// keeps is a home with a resident process, and commands that run in a kept container.
type keeps struct {
	home
	front, full string
	process     *os.Process
}

func newKeeps(t *testing.T) keeps {
	t.Helper()
	image := os.Getenv("SALLYPORT_TEST_IMAGE")
	if image == "" {
		image = "sallyport/runtime:latest"
	}
	leftout.NeedDocker(t, image)
	front, full := programs(t)
	if err := testprogram.Build(filepath.Dir(full), "cmd/sallyport-supervisor"); err != nil {
		t.Fatal(err)
	}
	k := keeps{newHome(t, never+"runner: docker\ndocker: {keep: true, image: "+image+"}\n"), front, full, nil}
	for _, dir := range []string{k.dir, k.project} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 { // no command runs as root
		if err := os.Chown(k.project, 1000, 1000); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		k.said(t, "", full, "serve", "--stop")
		await.True(t, "the container is removed", func() bool {
			k.said(t, "", full, "env", "prune", "--kept")
			return !strings.Contains(k.said(t, "", full, "env", "list", "--format", "json"), `"kept": true`)
		})
	})
	k.process = k.stays(t, full)
	return k
}

// starts starts exec without a terminal.
func (k keeps) starts(t *testing.T, program string, out *os.File, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, append([]string{"exec"}, words...)...)
	cmd.Dir, cmd.Env = k.project, k.environ()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// runs is the output of exec and its end.
func (k keeps) runs(t *testing.T, program string, words ...string) string {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := k.starts(t, program, to, words...)
	_ = to.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(from); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	said := text.String()
	if at := strings.LastIndex(said, "decision "); at >= 0 {
		said = said[:at]
	}
	return fmt.Sprintf("%s\n%s", cmd.ProcessState, said)
}

// TestExec: a command that the resident process runs has the output and the end that it has without.
func TestExec(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	for _, words := range [][]string{
		{"-c", "echo one; echo two >&2; echo three; exit 7"},
		{"-c", "kill -TERM $$"},
		{"-c", "rm -rf /"},
		{"-c", "python3 -c \"$(cat x.py)\""},
		{"--timeout", "200ms", "-c", "sleep 1000"},
		{"--", "no-such-program"},
		{"--dry-run", "--", "true"},
		{"--session", "claude-code@process-1-2", "--", "true"},
		{"--work-dir", "missing", "--", "true"},
		{"--no-such-flag"},
	} {
		warm, cold := k.runs(t, k.front, words...), k.runs(t, k.full, words...)
		if warm != cold {
			t.Errorf("%q: by the resident process\n%s\nwithout\n%s", words, warm, cold)
		}
	}
	log := k.said(t, "", k.full, "audit", "verify")
	if !strings.Contains(log, "verdict      ok") {
		t.Error(log)
	}
}

// TestExecKeepsContainer: the container of a command stays for the next one, which has the settings and the
// places of its own time; a program that runs its command itself gets the container.
func TestExecKeepsContainer(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	boot := []string{"-c", "cut -d' ' -f22 /proc/1/stat"} // the start of the container
	first := k.runs(t, k.front, boot...)
	if second := k.runs(t, k.front, boot...); second != first {
		t.Errorf("another start of the container: %q, %q", first, second)
	}
	_, list, _ := strings.Cut(k.said(t, "", k.full, "env", "list", "--format", "json"), "\n")
	var kept []struct{ Container string }
	if err := json.Unmarshal([]byte(list), &kept); err != nil || len(kept) != 1 {
		t.Fatal(list, err)
	}
	if out, err := exec.Command("docker", "pause", kept[0].Container).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	if second := k.runs(t, k.front, boot...); second != first {
		t.Errorf("after a pause, another start of the container: %q, %q", first, second)
	}
	k.replaceProject(t)
	said := k.runs(t, k.front, "-c", "echo there > made")
	if text, err := os.ReadFile(filepath.Join(k.project, "made")); string(text) != "there\n" {
		t.Errorf("a replaced workspace is not shown: %q, %v: %s", text, err, said)
	}
	file := filepath.Join(k.dir, "config/sallyport/config.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.TrimPrefix(string(text), "version: 1\n")
	for i, program := range []string{k.front, k.full} {
		pids := 100 + i
		k.configure(t, strings.Replace(changed, "keep: true", fmt.Sprintf("keep: true, pids: %d", pids), 1))
		said := k.runs(t, program, "-c", "cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null")
		if !strings.Contains(said, fmt.Sprintf("\n%d\n", pids)) {
			t.Errorf("%s: the limit is not %d: %s", filepath.Base(program), pids, said)
		}
	}
	k.runs(t, k.front, "--", "true")
	k.said(t, "", k.full, "serve", "--stop")
	if all := k.said(t, "", k.full, "env", "list", "--format", "json"); !strings.Contains(all, `"stopped"`) {
		t.Errorf("after serve --stop the container is not stopped: %s", all)
	}
}

// watches counts the watches of directories that the resident process has open.
func (k keeps) watches(t *testing.T) (n int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", k.process.Pid)
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if at, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.Contains(at, "inotify") {
			n++
		}
	}
	return n
}

// TestExecLeavesNothing: of the commands that have ended, one watch of their workspace stays in the resident
// process. A user has 128 watches by inotify_init(2), which all programs share.
func TestExecLeavesNothing(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	for range 3 {
		if said := k.runs(t, k.front, "--", "true"); said != "exit status 0\n" {
			t.Fatal(said)
		}
	}
	if n := k.watches(t); n != 1 {
		t.Errorf("%d watches of directories are left, want 1", n)
	}
}

// TestExecSeesReplacedWorkspace: no command runs in a workspace that was replaced since its container began,
// also while another one is in that container.
func TestExecSeesReplacedWorkspace(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	cmd := k.starts(t, k.front, nil, "-c", "echo > up; sleep 1000")
	await.True(t, "the command runs", func() bool {
		_, err := os.Stat(filepath.Join(k.project, "up"))
		return err == nil
	})
	k.replaceProject(t)
	for _, program := range []string{k.front, k.full} {
		said := k.runs(t, program, "--", "touch", "made")
		if !strings.Contains(said, "exit status 125") || !strings.Contains(said, "was replaced meanwhile") {
			t.Errorf("%s: %s", filepath.Base(program), said)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.True(t, "the next command has the present workspace", func() bool {
		k.runs(t, k.front, "--", "touch", "made")
		_, err := os.Stat(filepath.Join(k.project, "made"))
		return err == nil
	})
}

// TestExecEnds: signals come to the command, and nothing of it outlives the program that asked for it.
func TestExecEnds(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	up := filepath.Join(k.project, "up")
	begins := func(text string) *exec.Cmd {
		_ = os.Remove(up)
		cmd := k.starts(t, k.front, nil, "-c", text)
		await.True(t, "the command runs", func() bool { _, err := os.Stat(up); return err == nil })
		return cmd
	}
	asked := begins("trap 'exit 5' INT; echo > up; sleep 1000 & wait")
	if err := asked.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _ = asked.Wait(); asked.ProcessState.ExitCode() != 5 {
		t.Errorf("after an interrupt: %s", asked.ProcessState)
	}
	killed := begins("setsid sleep 4712 & echo > up; sleep 4712")
	_ = killed.Process.Kill()
	_ = killed.Wait()
	await.True(t, "nothing of it is left", func() bool {
		return strings.Contains(k.runs(t, k.front, "-c", "pgrep -x sleep || echo none"), "none")
	})
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	unread := k.starts(t, k.front, to, "--timeout", "10m", "--", "yes")
	_ = to.Close()
	_ = from.Close()
	_ = unread.Wait() // the command ends with its reader, and not with its time
	stopped := begins("echo > up; sleep 1000")
	_ = k.process.Kill()
	if _ = stopped.Wait(); stopped.ProcessState.ExitCode() != 125 {
		t.Errorf("without the resident process: %s", stopped.ProcessState)
	}
	if said := k.runs(t, k.front, "--", "echo", "again"); said != "exit status 0\nagain\n" {
		t.Errorf("after it: %q", said)
	}
}

// replaceProject puts a copy of the workspace in its place.
func (k *keeps) replaceProject(t *testing.T) {
	t.Helper()
	moved := k.project + ".old"
	if err := os.Rename(k.project, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(k.project, os.DirFS(moved)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(k.project, 1000, 1000); err != nil {
			t.Fatal(err)
		}
	}
}
