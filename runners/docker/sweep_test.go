package docker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestNamesOfOthers holds that a container that is not ours is left alone, whatever it is called.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e := l.engine()
	name := l.runner().NameOf(l.spec())
	image, err := e.Image(context.Background(), l.o.Image)
	must(t, err)
	for _, labels := range []map[string]string{nil, {labelState: "of somebody else"}} {
		c, err := e.cli.ContainerCreate(context.Background(), &container.Config{Image: image.ID, Entrypoint: []string{"/bin/true"}, Labels: labels}, nil, nil, nil, name)
		must(t, err)
		_, err = l.runner().Open(context.Background(), l.spec())
		if err == nil || !strings.Contains(err.Error(), "is not sallyport's") {
			t.Errorf("open: %v", err)
		}
		if err := Remove(context.Background(), l.o, c.ID); !errors.Is(err, ErrNotOurs) {
			t.Errorf("remove: %v", err)
		}
		if _, err := e.cli.ContainerInspect(context.Background(), c.ID); err != nil {
			t.Errorf("the other's container: %v", err)
		}
		must(t, e.cli.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true}))
	}
}

// TestSweep removes what a dead sallyport left, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e := l.engine()
	image, err := e.Image(context.Background(), l.o.Image)
	must(t, err)
	mine := self()
	dead := map[string]string{labelState: digest(l.o.State), labelMachine: mine.machine, labelPID: "1", labelStarted: "of an earlier boot"}
	with := func(changes map[string]string) map[string]string {
		m := map[string]string{}
		for k, v := range dead {
			m[k] = v
		}
		for k, v := range changes {
			m[k] = v
		}
		return m
	}
	made := map[string]string{}
	for name, labels := range map[string]map[string]string{
		"dead":    dead,
		"kept":    with(map[string]string{labelKeep: "true"}),
		"living":  with(mine.labels()),
		"far":     with(map[string]string{labelMachine: "another"}),
		"foreign": with(map[string]string{labelState: "another"}),
	} {
		c, err := e.cli.ContainerCreate(context.Background(), &container.Config{Image: image.ID, Entrypoint: []string{"/bin/true"}, Labels: labels}, nil, nil, nil, "")
		must(t, err)
		made[name] = c.ID
		t.Cleanup(func() { _ = e.cli.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true}) })
	}
	must(t, l.open(l.spec()).Close())
	for name, id := range made {
		_, err := e.cli.ContainerInspect(context.Background(), id)
		if gone := err != nil; gone != (name == "dead") {
			t.Errorf("%s: gone %v", name, gone)
		}
	}
}

// TestStopEndsByTERM holds that a container that is stopped ends when it is asked to, and need not be killed
// after the engine's ten seconds.
func TestStopEndsByTERM(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	env := l.open(l.spec())
	c, err := env.Prepare("trap '' TERM; sleep 3600", l.workspace)
	must(t, err)
	c.ID, c.Timeout, c.Grace, c.Output = "D-test", await.Guard, 300*time.Millisecond, 1<<20
	p, err := env.Start(context.Background(), c)
	must(t, err)
	must(t, env.e.cli.ContainerStop(context.Background(), env.id, container.StopOptions{}))
	// What does not end when it is asked to is killed after those seconds: status 137.
	if x := p.Wait(); x.Error == nil || !strings.Contains(x.Error.Error(), "the container was stopped, status 0") {
		t.Errorf("the command ended with %v", x.Error)
	}
	must(t, env.Close())
}
