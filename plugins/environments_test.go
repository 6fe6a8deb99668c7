package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/journal"
)

func TestStatesOfEnvironments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		log       journal.State
		container docker.Container
		want      string
	}{
		{journal.Running, docker.Container{State: "running"}, envRunning},
		{journal.Running, docker.Container{State: "running", Dead: true}, envRunning}, // another sallyport has it now
		{journal.Dead, docker.Container{State: "running", Dead: true}, envDead},
		{journal.Dead, docker.Container{State: "exited", Dead: true}, envDead},
		{journal.Gone, docker.Container{State: "exited", Dead: true, Kept: true}, envStopped},
		{journal.Gone, docker.Container{State: "running", Dead: true, Kept: true}, envRunning},
		{journal.Gone, docker.Container{State: "paused"}, envStopped},
		{journal.Gone, docker.Container{State: "created"}, envStopped},
	} {
		e := environmentOf(journal.Environment{Name: "n", State: tc.log, Details: map[string]any{"image": "by name"}})
		tc.container.Image = "sha256:0123"
		e.contained(tc.container)
		if e.State != tc.want || e.Image != "by name" {
			t.Errorf("log %s, container %+v: %s, image %s; want %s", tc.log, tc.container, e.State, e.Image, tc.want)
		}
	}
}

func TestFindEnvironment(t *testing.T) {
	t.Parallel()
	all := []Environment{{Name: "local-a"}, {Name: "local-ab"}, {Name: "sallyport-a-1", Container: "0123456789"}, {Name: "sallyport-a-2", Container: "0129999999"}}
	for name, want := range map[string]string{
		"local-a": "local-a", "local-ab": "local-ab", "sallyport-a-1": "sallyport-a-1", "0123": "sallyport-a-1", "0129999999": "sallyport-a-2",
	} {
		if e, err := FindEnvironment(all, name); err != nil || e.Name != want {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	for name, want := range map[string]string{"": "no environment is named", "x": "no environment is named", "local": "the beginning of 2", "012": "the beginning of 2"} {
		if e, err := FindEnvironment(all, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", name, e, err)
		}
	}
}

// TestEnvironmentsWithoutAnEngine: what the logs know is listed; that the engine does not answer matters only where it would know more.
func TestEnvironmentsWithoutAnEngine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	host := config.Host{Dir: root, Home: root, Now: time.Now(), Getenv: func(string) string { return "" }}
	l, err := config.Parse("version: 1\ndocker: {host: \"unix:///nowhere/docker.sock\"}\n", filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Environments(t.Context(), l); err != nil || len(all) != 0 {
		t.Errorf("with nothing: %v, %v", all, err)
	}
	o := journal.Options{Dir: l.EnvironmentsDir()}
	journal.Tell(o, "local-a", journal.Identity{Runner: "local", Agent: "a"}, "x", nil)
	if all, err := Environments(t.Context(), l); err != nil || len(all) != 1 || all[0].State != envDead {
		t.Errorf("with a local one: %+v, %v", all, err)
	}
	journal.Tell(o, "sallyport-a-1", journal.Identity{Runner: "docker", Agent: "a"}, "x", nil)
	all, err := Environments(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "nothing answers at unix:///nowhere/docker.sock") || len(all) != 2 || all[0].State != envUnknown {
		t.Errorf("with a container: %+v, %v", all, err)
	}
	if err := RemoveEnvironment(t.Context(), l, all[0], true); err == nil || !strings.Contains(err.Error(), "cannot be asked") {
		t.Errorf("remove one that may have a container: %v", err)
	}
	if err := RemoveEnvironment(t.Context(), l, Environment{Name: "local-a", State: envRunning}, true); !errors.Is(err, journal.ErrOpen) {
		t.Errorf("remove one that is open: %v", err)
	}
	if err := RemoveEnvironment(t.Context(), l, all[1], true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(l.EnvironmentsDir(), "local-a")); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	p, err := PruneEnvironments(t.Context(), l, false, time.Now().Add(time.Minute))
	if err == nil || len(p.Logs) != 1 || len(p.Containers) != 0 {
		t.Errorf("prune: %+v, %v", p, err)
	}
}
