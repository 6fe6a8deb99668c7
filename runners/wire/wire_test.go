package wire_test

import (
	"context"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// here opens the environment of this machine for a server.
func here(s wire.Settings) (engine.Environment, wire.Place, error) {
	r, err := local.New(local.Options{Venv: s.Venv, Host: append(os.Environ(), s.Env...)})
	if err != nil {
		return nil, wire.Place{}, err
	}
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{Layout: facts.Layout{Workspace: s.Workspace}})
	return env, wire.Place{Release: "test", OS: runtime.GOOS, Arch: runtime.GOARCH, Home: "/home/there", Temporary: []string{"/tmp"}}, err
}

// pair serves this machine over a pipe and connects to it.
func pair(t testing.TB, o wire.Options) *wire.Environment {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- wire.Serve(context.Background(), far, here) }()
	env, err := wire.Connect(context.Background(), near, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return env
}

func TestConformance(t *testing.T) {
	// The tests of each runner show how processes end.
	o := runnertest.Options{Parts: []string{"streams", "surroundings", "refusals", "output", "ends", "signals", "terminal", "many", "files", "leaks"}}
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment { return pair(t, wire.Options{}) })
}
