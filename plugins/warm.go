package plugins

import (
	"context"
	"sync"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/runners/boundary"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

// Warm keeps the parts of gates that take long to make and remember nothing of a session: compiled policies,
// kept containers with a supervisor in them, and the watches of their workspaces. The gates themselves are
// made anew.
type Warm struct {
	pool       docker.Pool
	boundaries boundary.Pool

	mu     sync.Mutex
	judges map[string]*rego.Evaluator // by keyOf
}

// mostJudges bounds the compiled policies; each takes some megabytes.
const mostJudges = 8

// Helps reports whether a gate of a configuration has such parts.
func (w *Warm) Helps(l *config.Loaded) bool {
	return (l.Runner == "docker" || l.Runner == "docker-sudo") && l.Docker.Keep && len(l.Servers()) == 0
}

// Assemble makes a gate of kept parts, for a configuration where they help.
func (w *Warm) Assemble(ctx context.Context, l *config.Loaded, o Options) (*Sallyport, error) {
	key, err := keyOf(l, Options{})
	if err != nil {
		return nil, err
	}
	o.policies = func(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
		return w.judge(ctx, key, l)
	}
	o.runner = func(r engine.Runner) engine.Runner {
		if d, ok := r.(*docker.Runner); ok {
			return w.pool.Runner(d)
		}
		return r
	}
	o.boundary = w.boundaries.New
	return Assemble(ctx, l, o)
}

func (w *Warm) judge(ctx context.Context, key string, l *config.Loaded) (*rego.Evaluator, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.judges[key]; e != nil {
		return e, nil
	}
	e, err := Policies(context.WithoutCancel(ctx), l) // others may wait for it
	if err != nil {
		return nil, err
	}
	if w.judges == nil || len(w.judges) >= mostJudges {
		w.judges = map[string]*rego.Evaluator{}
	}
	w.judges[key] = e
	return e, nil
}

// Yield closes the containers that no command uses, so that another process may change them, and ends the
// watches of their workspaces.
func (w *Warm) Yield() error {
	w.boundaries.Close()
	return w.pool.Close()
}
