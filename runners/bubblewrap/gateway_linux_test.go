//go:build amd64 || arm64

package bubblewrap_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// asGateway makes the test binary a process that opens a sandbox and is killed.
const asGateway = "SALLYPORT_BUBBLEWRAP_TEST"

// escapes starts processes that try to outlive what started them.
const escapes = `trap '' TERM HUP INT
	sleep "$TAG" &
	(setsid sleep "$TAG" &)
	(setsid bash -c 'trap "" TERM HUP; (sleep "$TAG" &)' &)
	nohup setsid env -i sleep "$TAG" >/dev/null 2>&1 </dev/null &
	`

// escaped is how many they are.
const escaped = 4

func beGateway() int {
	env, err := try(options(os.Getenv("STATE")), layout(os.Getenv("WS")))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := start(env, escapes+"sleep 60", "TAG="+os.Getenv("TAG")); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up")
	select {}
}

// Sallyport is killed without a chance to clean up: everything in the sandbox dies with it, and what it
// left in the workspace goes with the next session.
func TestDeathOfGateway(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap", "install bubblewrap")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		ws, state := repositories(t), t.TempDir()
		before := tree(t, ws)
		tag := fmt.Sprintf("120.%015d", rand.Int64N(1e15))
		gateway := exec.Command(os.Args[0])
		gateway.Env = append(os.Environ(), asGateway+"=1", "STATE="+state, "WS="+ws, "TAG="+tag)
		out, err := gateway.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := gateway.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = gateway.Process.Kill()
			_ = gateway.Wait()
		}()
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
			t.Fatalf("gateway says %q", line)
		}
		if !eventually(func() bool { return tagged(t, tag) >= escaped }) {
			t.Fatalf("%d processes that are to die started, want %d", tagged(t, tag), escaped)
		}
		if err := gateway.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = gateway.Wait()
		if !eventually(func() bool { return tagged(t, tag) == 0 }) {
			t.Errorf("%d processes survive", tagged(t, tag))
		}
		if len(tree(t, ws)) == len(before) {
			t.Error("no mask is left, so this shows nothing")
		}
		o := settings(t)
		o.State = state
		if err := open(t, o, layout(t.TempDir())).Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
			t.Errorf("left behind after the next session (-want +got):\n%s", diff)
		}
	}
}

// tagged counts the living processes with a tag among their arguments.
func tagged(t *testing.T, tag string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(b), "sleep\x00"+tag) {
			n++
		}
	}
	return n
}

// eventually waits until something holds.
func eventually(holds func() bool) bool {
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func killProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
