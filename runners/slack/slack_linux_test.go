package slack

import (
	"os/exec"
	"runtime"
	"testing"
)

// TestInherited: a program has the slack of the thread that starts it.
func TestInherited(t *testing.T) {
	runtime.LockOSThread() // and the thread ends with the test
	has := func(want string) {
		t.Helper()
		out, err := exec.Command("cat", "/proc/self/timerslack_ns").Output()
		if err != nil || string(out) != want {
			t.Errorf("slack %q, want %q: %v", out, want, err)
		}
	}
	if !change(usual, usual) {
		t.Skip("this process has a slack of its own choice, which stays")
	}
	if Narrow() {
		t.Error("the kernel's slack was narrowed")
	}
	if !Widen() || Widen() {
		t.Error("slack is widened once")
	}
	has("1000003\n")
	if !Narrow() {
		t.Error("slack was not narrowed")
	}
	has("50000\n")
}
