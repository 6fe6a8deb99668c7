package command_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// asGateway holds, in the environment, the command line through which this test binary is to run a
// command, as a gateway that gets no chance to clean up.
const asGateway = "SALLYPORT_COMMAND_TEST"

// escapes starts processes that try to outlive their command, in as many ways, and waits.
const escapes = `sleep "$TAG" &
(setsid sleep "$TAG" &)
( (trap '' TERM HUP INT; exec sleep "$TAG") & )
(nohup sleep "$TAG" >/dev/null 2>&1 &)
(sleep "$TAG" <&- >&- 2>&- &)
(sh -c 'kill -STOP $$; :' "$TAG" &)
(setsid env -i /bin/sh -c 'trap "" TERM; (sleep "$0" &); (sleep "$0" &)' "$TAG" &)
(setsid sh -c '(sleep "$0" &)' "$TAG" </dev/null >/dev/null 2>&1 &)
`

// escaped is how many processes come of escapes, at least.
const escaped = 9

func beGateway() int {
	env, err := try(command.Options{Command: strings.Fields(os.Getenv(asGateway))})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	timeout, err := time.ParseDuration(os.Getenv("LIMIT"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	p, err := start(env, escapes+"sleep 60", timeout, "TAG="+os.Getenv("TAG"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up")
	p.Wait()
	select {} // it does not close: what has to end must end without it
}

// start runs a text as the gate would.
func start(env engine.Environment, text string, timeout time.Duration, vars ...string) (engine.Process, error) {
	c, err := env.Prepare(text, "/")
	if err != nil {
		return nil, err
	}
	c.ID, c.Timeout, c.Grace, c.Output = fmt.Sprintf("D-%d", rand.Int64()), timeout, 300*time.Millisecond, 1<<16
	c.Env = append(c.Env, vars...)
	return env.Start(context.Background(), c)
}

// newTag is a number of seconds to sleep that nothing else sleeps.
func newTag() string { return fmt.Sprintf("120.%015d", rand.Int64N(1e15)) }

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
		if err == nil && strings.Contains(string(b), tag) {
			n++
		}
	}
	return n
}

func await(limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// TestDeathOfGateway takes sallyport away, in ways that leave it no chance to clean up, and looks at
// what is left of a command elsewhere.
func TestDeathOfGateway(t *testing.T) {
	over := append(ssh(t, "restrict"), program)
	for _, tc := range []struct {
		name    string
		command []string
		limit   string
		signal  syscall.Signal
	}{
		{"killed", []string{program}, "60s", syscall.SIGKILL},
		{"killed, by ssh", over, "60s", syscall.SIGKILL},
		// It lives, and does not answer: the time limit must hold without it.
		{"stopped before the time limit", []string{program}, "3s", syscall.SIGSTOP},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tag := newTag()
			gateway := exec.Command(os.Args[0])
			gateway.Env = append(os.Environ(), asGateway+"="+strings.Join(tc.command, " "), "TAG="+tag, "LIMIT="+tc.limit)
			out, err := gateway.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := gateway.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				gateway.Process.Kill()
				gateway.Wait()
			}()
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
				t.Fatalf("gateway says %q", line)
			}
			if !await(10*time.Second, func() bool { return tagged(t, tag) >= escaped }) {
				t.Fatalf("%d processes that are to die started, want %d", tagged(t, tag), escaped)
			}
			if err := gateway.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			gone := await(10*time.Second, func() bool { return tagged(t, tag) == 0 })
			t.Logf("all gone: %v after %v", gone, time.Since(began).Round(time.Millisecond))
			if !gone {
				t.Errorf("%d processes survive", tagged(t, tag))
			}
		})
	}
}

// TestDeathOfSupervisor kills the supervisor itself, from within a command. Nothing survives, the
// command is not tried again, and the error says what is lost.
func TestDeathOfSupervisor(t *testing.T) {
	tag, file := newTag(), t.TempDir()+"/ran"
	env := open(t, command.Options{Command: []string{program}})
	p, err := start(env, escapes+`until [ -e "$RAN.go" ]; do sleep 0.05; done; echo once >>"$RAN"; kill -9 $PPID; sleep 60`, time.Minute, "TAG="+tag, "RAN="+file)
	if err != nil {
		t.Fatal(err)
	}
	if !await(10*time.Second, func() bool { return tagged(t, tag) >= escaped }) {
		t.Fatal("the processes that are to die did not start")
	}
	write(t, file+".go", "")
	x := p.Wait()
	if x.Code != -1 || x.Error == nil || !strings.Contains(x.Error.Error(), "signal: killed") || !strings.Contains(x.Error.Error(), "is lost") || !strings.Contains(x.Error.Error(), "the next request starts it again") {
		t.Errorf("exit %+v", x)
	}
	if !await(10*time.Second, func() bool { return tagged(t, tag) == 0 }) {
		t.Errorf("%d processes survive", tagged(t, tag))
	}
	if ran, _ := os.ReadFile(file); string(ran) != "once\n" {
		t.Errorf("it ran %q", ran)
	}
	if r, ok := env.(engine.Remote); !ok || r.Err() == nil {
		t.Error("the environment does not say that it is lost")
	}
	if _, err := start(env, "true", time.Minute); err == nil {
		t.Error("a lost environment started something")
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}
