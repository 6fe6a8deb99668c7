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
	return nil, unavailable("use another runner, or local.sandbox none", "bubblewrap does not run on %s/%s", runtime.GOOS, runtime.GOARCH)
}

func look(ctx context.Context, o Options, spec engine.EnvironmentSpec, notice func(string)) (engine.Environment, error) {
	return open(ctx, o, spec, notice)
}
