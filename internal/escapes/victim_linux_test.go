package escapes

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// victim is a process of the host.
type victim struct {
	cmd    *exec.Cmd
	at, fd string
	before string
}

// condition is what has been done to a process from elsewhere. A signal counts from when it is sent: the process may come to it
// later. What is not pending any more shows in the thread that took it up, so that is looked at second.
func (v *victim) condition() string {
	at := fmt.Sprintf("/proc/%d/", v.cmd.Process.Pid)
	status, _ := os.ReadFile(at + "status")
	_, rest, _ := strings.Cut(string(status), "\nShdPnd:")
	var pending uint64
	if _, err := fmt.Sscanf(rest, "%x", &pending); err != nil {
		return "dead"
	}
	sent := func(s syscall.Signal) bool { return pending>>(s-1)&1 == 1 }
	var states string
	threads, _ := filepath.Glob(at + "task/*/stat")
	for _, thread := range threads {
		b, _ := os.ReadFile(thread)
		_, rest, _ := strings.Cut(string(b), ") ")
		state, _, _ := strings.Cut(rest, " ")
		states += state
	}
	switch {
	case sent(syscall.SIGKILL), states == "", strings.ContainsAny(states, "ZX"):
		return "dead"
	case sent(syscall.SIGSTOP), strings.ContainsAny(states, "Tt"):
		return "stopped"
	}
	return "alive"
}

func startVictim(t *testing.T, w *world) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(built.probe, "hold", w.outside+"/secret")}
	in, err := v.cmd.StdinPipe()
	must(t, err)
	out, err := v.cmd.StdoutPipe()
	must(t, err)
	must(t, v.cmd.Start())
	t.Cleanup(func() {
		_ = v.cmd.Process.Signal(syscall.SIGCONT)
		_ = in.Close()
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	if _, err := fmt.Sscan(line, &v.at, &v.fd); err != nil {
		t.Fatalf("the process to attack says %q: %v", line, err)
	}
	v.before = v.condition()
	return v
}
