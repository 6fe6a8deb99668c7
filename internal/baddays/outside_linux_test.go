package baddays

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// meddling is what somebody else may do to a container.
var meddling = []struct {
	name, says string
	words      []string // of the docker command, before the container's name
}{
	{"removed", "the container was removed|the container was stopped", []string{"rm", "-f"}},
	{"killed", "the container was stopped", []string{"kill"}},
	{"stopped", "the container was stopped", []string{"stop"}},
	{"restarted", "ended|stopped|runs on", []string{"restart", "-t", "0"}},
	// Nothing tells but the silence, after the time limit.
	{"paused", "paused|does not answer|timeout", []string{"pause"}},
}

// TestMeddling has somebody else do something to the container, between commands and in the middle of one.
func TestMeddling(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	t.Parallel()
	for _, m := range meddling {
		t.Run(m.name+" between commands", func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := contain(t, h.container(t))
			env := open(t, r, h.spec())
			run(t, env, h.workspace, "echo kept >file")
			cli(t, append(m.words, name(t, env))...)
			done := make(chan error, 1)
			go func() {
				c, err := env.Prepare("echo x >>file", h.workspace)
				if err == nil {
					c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Second, time.Second, 1024
					var p engine.Process
					if p, err = env.Start(t.Context(), c); err == nil {
						err = p.Wait().Error
					}
				}
				done <- err
			}()
			says(t, await.Receive(t, "answer", done), m.says, "opens it again|makes a new one")
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
			if m.name == "paused" {
				c.Timeout = 5 * time.Second
			}
			var x engine.Exit
			for ; ; c.Timeout *= 2 { // a slow machine gets more time to pause it before it ends
				p := start(t, env, c)
				begun(t, p, tag)
				cli(t, append(m.words, name(t, env))...)
				if x = ended(t, p); !x.TimedOut || x.Error != nil {
					break
				}
				cli(t, "unpause", name(t, env))
			}
			says(t, x.Error, m.says)
			if x.Code != -1 {
				t.Errorf("%+v", x)
			}
			again(t, h, r, env)
			gone(t, tag)
		})
	}
}

// begun waits until a command has said so and both of its processes are there, or it has ended.
func begun(t *testing.T, p engine.Process, tag string) {
	t.Helper()
	end := ending(p)
	await.True(t, "the command has begun", func() bool {
		out, _ := p.Output()
		return len(end) > 0 || out.Text == "begun\n" && len(runnertest.Tagged(tag)) > 1
	})
}

// again makes sure that the environment says that it is lost, and that another can be opened at once.
func again(t *testing.T, h *home, r engine.Runner, env engine.Environment) {
	t.Helper()
	if r, ok := env.(engine.Remote); !ok || r.Err() == nil {
		t.Error("the environment does not say that it is lost")
	}
	next, err := r.Open(await.Context(t), h.spec())
	must(t, err)
	serves(t, next, h.workspace)
	must(t, errors.Join(next.Close(), env.Close()))
	if out, err := exec.Command("docker", "inspect", name(t, next)).CombinedOutput(); err == nil {
		t.Errorf("the container is still there: %.200s", out)
	}
}
