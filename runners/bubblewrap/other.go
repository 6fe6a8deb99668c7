//go:build !linux || (!amd64 && !arm64)

package bubblewrap

import (
	"context"
	"runtime"

	"github.com/sallyport-dev/sallyport/engine"
)

// Supported says whether this build has the sandbox.
const Supported = false

func open(context.Context, Options, engine.EnvironmentSpec, func(string)) (engine.Environment, error) {
	const fix = "use another runner, such as docker"
	return nil, unavailable(fix, "bubblewrap does not run on %s/%s", runtime.GOOS, runtime.GOARCH)
}

func look(ctx context.Context, o Options, spec engine.EnvironmentSpec,
	notice func(string)) (engine.Environment, error) {
	return open(ctx, o, spec, notice)
}

// Try is of Linux.
func (r *Runner) Try(ctx context.Context, spec engine.EnvironmentSpec) (engine.Trial, error) {
	_, err := open(ctx, r.o, spec, r.tell)
	return nil, err
}
