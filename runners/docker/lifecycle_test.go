package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// list returns the containers of a lab.
func (l *lab) list() []Container {
	l.t.Helper()
	all, err := List(context.Background(), l.o)
	must(l.t, err)
	return all
}

// engine connects to the engine, for what tests do to containers from outside.
func (l *lab) engine() *Engine {
	l.t.Helper()
	e, err := Connect(context.Background(), l.o)
	must(l.t, err)
	l.t.Cleanup(func() { _ = e.Close() })
	return e
}

// says expects a command to end well with an output.
func says(t testing.TB, env engine.Environment, dir, text, want string) {
	t.Helper()
	x := run(t, env, dir, text)
	if x.Error != nil || x.Code != 0 || strings.TrimSpace(x.Stdout.Text) != want {
		t.Errorf("%s: status %d, %v, output %q %q, want %q", text, x.Code, x.Error, x.Stdout.Text, x.Stderr.Text, want)
	}
}

func TestOneContainerForASession(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	env := l.open(l.spec())
	says(t, env, l.workspace, "echo kept > /tmp/state && pwd", l.workspace)
	says(t, env, l.workspace, "cat /tmp/state", "kept")
	second := l.open(l.spec()) // another sallyport of the same session
	says(t, second, l.workspace, "cat /tmp/state", "kept")
	if second.id != env.id || len(l.list()) != 1 {
		t.Errorf("containers %v, want one", l.list())
	}
	must(t, env.Close())
	says(t, second, l.workspace, "cat /tmp/state", "kept") // it was not pulled away
	must(t, second.Close())
	if left := l.list(); len(left) != 0 {
		t.Errorf("after the last one closed: %v", left)
	}
}

func TestSessionsAndAgentsAreApart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	spec := l.spec()
	one := l.open(spec)
	defer one.Close()
	says(t, one, l.workspace, "echo mine > /tmp/state; echo secret > note; echo ok", "ok")
	for _, other := range []engine.EnvironmentSpec{
		{Agent: "other", Session: spec.Session, Layout: spec.Layout}, {Agent: spec.Agent, Session: "s2", Layout: spec.Layout}, {Agent: spec.Agent, Layout: spec.Layout},
	} {
		two := l.open(other)
		says(t, two, l.workspace, "cat /tmp/state 2>/dev/null || echo absent", "absent")
		must(t, two.Close())
	}
	elsewhere := filepath.Join(filepath.Dir(l.workspace), "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o755))
	l.give(elsewhere)
	two := l.open(engine.EnvironmentSpec{Agent: "other", Layout: facts.Layout{Workspace: elsewhere, Roots: []facts.Root{{Path: elsewhere, Write: true}}}})
	defer two.Close()
	says(t, two, elsewhere, "cat "+l.workspace+"/note 2>/dev/null || echo absent", "absent")
	says(t, one, l.workspace, "cat "+l.workspace+"/note", "secret")
}

// give makes a place the property of the user that commands run as.
func (l *lab) give(places ...string) {
	l.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	for _, p := range places {
		must(l.t, os.Chown(p, 1000, 1000))
	}
}

func TestConcurrentFirstCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const n = 6
	envs := make([]engine.Environment, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := l.runner() // each is a sallyport of its own
			env, err := r.Open(context.Background(), l.spec())
			if err != nil {
				t.Error(err)
				return
			}
			envs[i] = env
		})
	}
	all.Wait()
	if got := l.list(); len(got) != 1 {
		t.Errorf("%d containers, want one", len(got))
	}
	for _, env := range envs {
		if env == nil {
			continue
		}
		all.Go(func() {
			says(t, env, l.workspace, "echo here", "here")
			if err := env.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := l.list(); len(got) != 0 {
		t.Errorf("%d containers are left", len(got))
	}
}

func TestKeptContainerIsFoundAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Keep = true
	e := l.engine()
	env := l.open(l.spec())
	id := env.id
	says(t, env, l.workspace, "echo kept > /opt/venv/state && echo ok", "ok")
	must(t, env.Close())
	if left := l.list(); len(left) != 1 || left[0].State != "exited" {
		t.Errorf("after the session: %v", left)
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"stopped", func(context.Context) error { return nil }},
		{"running", func(context.Context) error { return nil }},
		{"paused", func(ctx context.Context) error { return e.cli.ContainerPause(ctx, id) }},
		{"killed", func(ctx context.Context) error { return e.cli.ContainerKill(ctx, id, "KILL") }},
	} {
		if c.name != "stopped" { // a sallyport that died leaves it as it is
			dead := l.open(l.spec())
			dead.leave(context.Background())
		}
		must(t, c.do(context.Background()))
		if c.name == "paused" { // the engine answers before its own list says so
			await.True(t, "the container is paused", func() bool { return l.list()[0].State == "paused" })
		}
		env := l.open(l.spec())
		if env.id != id {
			t.Errorf("%s: another container was made", c.name)
		}
		says(t, env, l.workspace, "cat /opt/venv/state", "kept")
		must(t, env.Close())
	}
	must(t, e.cli.ContainerRemove(context.Background(), id, container.RemoveOptions{Force: true}))
	again := l.open(l.spec())
	if again.id == id {
		t.Error("the container that was removed is back")
	}
	must(t, again.Close())
	removed, err := Prune(context.Background(), l.o, true)
	must(t, err)
	if len(removed) != 0 {
		t.Errorf("pruned %v, whose sallyport lives", removed)
	}
	must(t, Remove(context.Background(), l.o, again.id))
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestChangedSettingsTakeEffect holds that a grant that was taken away is gone in a kept container.
func TestChangedSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Keep = true
	extra := filepath.Join(filepath.Dir(l.workspace), "extra")
	must(t, os.Mkdir(extra, 0o755))
	l.give(extra)
	spec := l.spec()
	spec.Layout.Roots = append(spec.Layout.Roots, facts.Root{Path: extra, Write: true})
	env := l.open(spec)
	says(t, env, l.workspace, "touch "+extra+"/a && echo ok", "ok")
	// While somebody is in it, other settings are refused and nobody is thrown out.
	readonly := spec
	readonly.Layout.Roots = []facts.Root{spec.Layout.Roots[0], {Path: extra}}
	if _, err := l.runner().Open(context.Background(), readonly); err == nil || !strings.Contains(err.Error(), "in use by another sallyport with other settings") {
		t.Errorf("open with other settings: %v", err)
	}
	says(t, env, l.workspace, "echo still here", "still here")
	must(t, env.Close())
	var told []string
	readonly.Note = func(event string, _ map[string]any) { told = append(told, event) }
	env = l.open(readonly)
	says(t, env, l.workspace, "touch "+extra+"/b 2>/dev/null || echo refused", "refused")
	must(t, env.Close())
	if got := strings.Join(told, " "); got != "recreate create stop" {
		t.Errorf("told %q", got)
	}
	env = l.open(l.spec())
	says(t, env, l.workspace, "ls "+extra+" 2>/dev/null || echo absent", "absent")
	must(t, env.Close())
	l.o.PIDs = 100
	env = l.open(l.spec())
	found, err := env.e.cli.ContainerInspect(context.Background(), env.id)
	must(t, err)
	if *found.HostConfig.PidsLimit != 100 {
		t.Errorf("pids %d", *found.HostConfig.PidsLimit)
	}
	must(t, env.Close())
}

// TestLostAndOpenedAgain holds that after the container went away the next request gets another.
func TestLostAndOpenedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.runner()
	for _, c := range []struct {
		name, says string
		do         func(env *environment) error
	}{
		{"removed", "the container was removed", func(env *environment) error {
			return env.e.cli.ContainerRemove(context.Background(), env.id, container.RemoveOptions{Force: true})
		}},
		{"killed", "the container was stopped", func(env *environment) error {
			return env.e.cli.ContainerKill(context.Background(), env.id, "KILL")
		}},
		{"supervisor killed", "the container runs on", func(env *environment) error {
			keeper := strings.TrimSpace(run(t, env, l.workspace, "echo $PPID").Stdout.Text)
			s, _, err := env.e.exec(context.Background(), env.id, container.ExecOptions{User: "0:0", Cmd: []string{"sh", "-c", "kill -KILL " + keeper}})
			if err == nil {
				_, err = io.Copy(io.Discard, s)
				_ = s.Close()
			}
			return err
		}},
	} {
		opened, err := r.Open(context.Background(), l.spec())
		must(t, err)
		env := opened.(*environment)
		says(t, env, l.workspace, "echo before", "before")
		must(t, c.do(env))
		why := func() string {
			_, err := env.Prepare("true", l.workspace)
			return fmt.Sprint(err)
		}
		await.True(t, "the environment says that it is lost", func() bool {
			return strings.Contains(why(), "the next request")
		})
		said := why()
		onItsWay := c.name == "removed" && strings.Contains(said, "the container was stopped")
		if !strings.Contains(said, c.says) && !onItsWay || env.Err() == nil {
			t.Errorf("%s: %s (%v)", c.name, said, env.Err())
		}
		again, err := r.Open(context.Background(), l.spec())
		must(t, err)
		says(t, again, l.workspace, "echo after", "after")
		must(t, again.Close())
		must(t, env.Close())
	}
}

func TestDeliveredByVolume(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Copy = true
	env := l.open(l.spec())
	says(t, env, l.workspace, "echo delivered", "delivered")
	must(t, env.Close())
	env = l.open(l.spec())
	says(t, env, l.workspace, "touch /.sallyport/x 2>/dev/null || echo refused", "refused")
	must(t, env.Close())
	_, err := Prune(context.Background(), l.o, false)
	must(t, err)
	left, err := env.e.cli.VolumeList(context.Background(), volume.ListOptions{Filters: stateFilter(env.e.state)})
	must(t, err)
	if len(left.Volumes) != 0 {
		t.Errorf("volumes %v are left", left.Volumes)
	}
}

// TestVolumesOfARemovedContainer: somebody removes a container without its volumes. They are known by their
// label, and pruned.
func TestVolumesOfARemovedContainer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	env := l.open(l.spec())
	ours := func() int {
		left, err := env.e.cli.VolumeList(context.Background(), volume.ListOptions{Filters: stateFilter(env.e.state)})
		must(t, err)
		return len(left.Volumes)
	}
	if len(env.p.image.Writable) == 0 {
		t.Fatal("the image has no writable places: no volumes are made")
	}
	_, err := Prune(context.Background(), l.o, true)
	must(t, err)
	says(t, env, l.workspace, "echo still here", "still here") // what is in use is left
	must(t, env.e.cli.ContainerRemove(context.Background(), env.id, container.RemoveOptions{Force: true}))
	must(t, env.Close())
	if n := ours(); n != len(env.p.image.Writable) {
		t.Fatalf("%d volumes are left, want %d", n, len(env.p.image.Writable))
	}
	_, err = Prune(context.Background(), l.o, false)
	must(t, err)
	if n := ours(); n != 0 {
		t.Errorf("%d volumes are left", n)
	}
}
