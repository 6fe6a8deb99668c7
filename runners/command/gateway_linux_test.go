package command_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// start runs a text as the gate would.
func start(env engine.Environment, text string, vars ...string) (engine.Process, error) {
	c, err := env.Prepare(text, "/")
	if err != nil {
		return nil, err
	}
	c.ID, c.Timeout, c.Grace, c.Output = fmt.Sprintf("D-%d", rand.Int64()), time.Hour, 100*time.Millisecond, 1<<16
	c.Env = append(c.Env, vars...)
	return env.Start(context.Background(), c)
}

// TestDeathOfGateway takes sallyport away, in ways that leave it no chance to clean up, and looks at
// what is left of a command elsewhere.
func TestDeathOfGateway(t *testing.T) {
	over := append(ssh(t, "restrict"), program)
	for _, tc := range []struct {
		name    string
		command []string
		limit   time.Duration
		signal  syscall.Signal
	}{
		{"killed", []string{program}, time.Hour, syscall.SIGKILL},
		{"killed, by ssh", over, time.Hour, syscall.SIGKILL},
		// It lives, and does not answer: the time limit must hold without it.
		{"stopped before the time limit", []string{program}, 5 * time.Second, syscall.SIGSTOP},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runnertest.Hold(t, "line", tc.limit, theLine+"="+strings.Join(tc.command, " ")).End(t, tc.signal)
		})
	}
}

// TestDeathOfSupervisor kills the supervisor itself, from within a command. Nothing survives, the
// command is not tried again, and the error says what is lost.
func TestDeathOfSupervisor(t *testing.T) {
	tag, file := runnertest.NewTag(), t.TempDir()+"/ran"
	escapes, want := runnertest.Escapes()
	env := open(t, command.Options{Command: []string{program}})
	p, err := start(env, escapes+`until [ -e "$RAN.go" ]; do sleep 0.05; done; echo once >>"$RAN"; kill -9 $PPID; sleep 1200`, "TAG="+tag, "RAN="+file)
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the processes that are to die are there", func() bool { return len(runnertest.Tagged(tag)) >= want })
	write(t, file+".go", "")
	x := p.Wait()
	if x.Code != -1 || x.Error == nil || !strings.Contains(x.Error.Error(), "signal: killed") || !strings.Contains(x.Error.Error(), "is lost") || !strings.Contains(x.Error.Error(), "the next request starts it again") {
		t.Errorf("exit %+v", x)
	}
	await.True(t, "none of them is left", func() bool { return len(runnertest.Tagged(tag)) == 0 })
	if ran, _ := os.ReadFile(file); string(ran) != "once\n" {
		t.Errorf("it ran %q", ran)
	}
	if r, ok := env.(engine.Remote); !ok || r.Err() == nil {
		t.Error("the environment does not say that it is lost")
	}
	if _, err := start(env, "true"); err == nil {
		t.Error("a lost environment started something")
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}
