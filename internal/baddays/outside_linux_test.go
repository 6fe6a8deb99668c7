package baddays

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// meddling is what somebody else may do to a container.
var meddling = []struct {
	name, says string
	words      []string      // of the docker command, before the container's name
	limit      time.Duration // of the wait for an answer
	patience   time.Duration // time limit of the command in the middle
}{
	{"removed", "the container was removed|the container was stopped", []string{"rm", "-f"}, 30 * time.Second, time.Minute},
	{"killed", "the container was stopped", []string{"kill"}, 30 * time.Second, time.Minute},
	{"stopped", "the container was stopped", []string{"stop"}, 40 * time.Second, time.Minute},
	{"restarted", "ended|stopped|runs on", []string{"restart", "-t", "0"}, 40 * time.Second, time.Minute},
	// Nothing tells but the silence, after the time limit, within which it must have begun and been paused.
	{"paused", "paused|does not answer|timeout", []string{"pause"}, 100 * time.Second, 15 * time.Second},
}

// TestMeddling has somebody else do something to the container, between commands and in the middle of one.
func TestMeddling(t *testing.T) {
	for _, m := range meddling {
		t.Run(m.name+" between commands", func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := contain(t, h.container(t))
			env := open(t, r, h.spec())
			run(t, env, h.workspace, "echo kept >file")
			cli(t, append(m.words, name(t, env))...)
			began := time.Now()
			done := make(chan error, 1)
			go func() {
				c, err := env.Prepare("echo x >>file", h.workspace)
				if err == nil {
					c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Second, time.Second, 1024
					var p engine.Process
					if p, err = env.Start(context.Background(), c); err == nil {
						err = p.Wait().Error
					}
				}
				done <- err
			}()
			select {
			case err := <-done:
				t.Logf("after %v: %v", time.Since(began).Round(time.Millisecond), err)
				says(t, err, m.says, "opens it again|makes a new one")
			case <-time.After(m.limit):
				t.Fatalf("no answer within %v", m.limit)
			}
			again(t, h, r, env)
			if x := run(t, open(t, r, h.spec()), h.workspace, "cat file"); x.Stdout.Text != "kept\n" {
				t.Errorf("in the workspace is %q", x.Stdout.Text)
			}
		})
		t.Run(m.name+" in the middle", func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := contain(t, h.container(t))
			env := open(t, r, h.spec())
			tag := runnertest.NewTag()
			c := prepared(t, env, h.workspace, `echo begun; (setsid sleep "$TAG" &); sleep "$TAG"`)
			c.Env = append(c.Env, "TAG="+tag)
			c.Timeout = m.patience
			p := start(t, env, c)
			if !runnertest.Await(patience, func() bool { out, _ := p.Output(); return out.Text == "begun\n" && len(runnertest.Tagged(tag)) > 1 }) {
				t.Fatal("it did not begin")
			}
			cli(t, append(m.words, name(t, env))...)
			began := time.Now()
			x := soon(t, p, m.limit)
			t.Logf("after %v: %v", time.Since(began).Round(time.Millisecond), x.Error)
			says(t, x.Error, m.says)
			if x.Code != -1 {
				t.Errorf("%+v", x)
			}
			again(t, h, r, env)
			if !runnertest.Await(patience, func() bool { return len(runnertest.Tagged(tag)) == 0 }) {
				t.Errorf("%d processes are left", len(runnertest.Tagged(tag)))
			}
		})
	}
}

// again makes sure that the environment says that it is lost, and that another can be opened at once.
func again(t *testing.T, h *home, r engine.Runner, env engine.Environment) {
	t.Helper()
	if r, ok := env.(engine.Remote); !ok || r.Err() == nil {
		t.Error("the environment does not say that it is lost")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, err := r.Open(ctx, h.spec())
	must(t, err)
	serves(t, next, h.workspace)
	must(t, errors.Join(next.Close(), env.Close()))
	if out, err := exec.Command("docker", "inspect", name(t, next)).CombinedOutput(); err == nil {
		t.Errorf("the container is still there: %.200s", out)
	}
}
