package plugins

import (
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Trial opens the runner of a configuration as a gate does, closes it again, and returns what it
// tells policies about itself and, for people, what this machine does not let it do.
func Trial(ctx context.Context, l *config.Loaded) (facts.Runner, []string, error) {
	chosen, err := RunnerNamed(l.Runner)
	if err != nil {
		return facts.Runner{}, nil, err
	}
	r, err := chosen.Open(l)
	if err != nil {
		return facts.Runner{}, nil, err
	}
	env, err := r.Open(ctx, engine.EnvironmentSpec{Agent: l.Agent, Layout: l.Layout()})
	if err != nil {
		return r.Describe(), nil, fmt.Errorf("open environment: %w", err)
	}
	var wanting []string
	if e, ok := env.(interface{ Shortcomings() []string }); ok {
		wanting = e.Shortcomings()
	}
	return r.Describe(), wanting, env.Close()
}
