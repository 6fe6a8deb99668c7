package plugins

import (
	"context"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies/precompiled"
)

// Within sets the time limit of a custom policy, and a request and its plugins to more than a test lasts. The
// deadlines of plugins read clock.
func (o Options) Within(timeout time.Duration, clock func() time.Time) Options {
	o.Judge, o.wasm = await.Guard, wasm.Options{Clock: clock, Compile: await.Guard}
	o.policies = func(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
		r, err := regoOptions(l, nil)
		if err != nil {
			return nil, err
		}
		r.Timeout = timeout
		return evaluator(ctx, l, r)
	}
	return o
}

// Unhurried lets a request take as long as a test does.
func (o Options) Unhurried() Options { return o.Within(await.Guard, nil) }

// Precompiled puts the native code of the built-in policies where the configuration keeps it.
func Precompiled(t testing.TB, l *config.Loaded) *config.Loaded {
	t.Helper()
	precompiled.Into(t, l.CompiledDir())
	return l
}

// KeyOf is the key under which a Keeper keeps a gate.
func KeyOf(l *config.Loaded, o Options) (string, error) { return keyOf(l, o) }

// KeeperOf is a Keeper of gates that assemble makes.
func KeeperOf(assemble func(context.Context, *config.Loaded, Options) (*Sallyport, error)) *Keeper {
	return &Keeper{assemble: assemble}
}

// MostKept is the number of gates beyond which a Keeper closes some.
const MostKept = mostKept
