package escapes

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
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

// condition is what can be done to a process from elsewhere.
func (v *victim) condition() string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.cmd.Process.Pid))
	_, rest, ok := strings.Cut(string(b), ") ")
	state, _, _ := strings.Cut(rest, " ")
	switch {
	case !ok, state == "Z", state == "X":
		return "dead"
	case state == "T", state == "t":
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
