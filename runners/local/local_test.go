package local_test

import (
	"context"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

func TestConformance(t *testing.T) {
	runnertest.Run(t, func(t *testing.T) engine.Environment {
		return open(t, local.Options{}, "")
	})
}

func open(t testing.TB, opts local.Options, workspace string) *local.Environment {
	t.Helper()
	r, err := local.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	spec := engine.EnvironmentSpec{}
	spec.Layout.Workspace = workspace
	env, err := r.Open(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return env.(*local.Environment)
}
