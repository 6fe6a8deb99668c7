package plugins

import (
	"context"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Tried is what came of opening a runner.
type Tried struct {
	facts.Runner
	Place   string   // where a supervisor elsewhere stands; "" for none
	Wanting []string // for people: what the environment cannot do there
}

// trialTime is how long a trial may take: somebody waits for it.
const trialTime = 20 * time.Second

// Trial opens the runner of a configuration as a gate does and closes it again.
func Trial(ctx context.Context, l *config.Loaded) (Tried, error) {
	chosen, err := RunnerNamed(l, l.Runner)
	if err != nil {
		return Tried{}, err
	}
	r, err := chosen.Open(l)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{Runner: r.Describe()}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	env, err := r.Open(ctx, engine.EnvironmentSpec{Agent: l.Agent, Layout: l.Layout()})
	if err != nil {
		return t, fmt.Errorf("open environment: %w", err)
	}
	if e, ok := env.(interface{ Shortcomings() []string }); ok {
		t.Wanting = e.Shortcomings()
	}
	if e, ok := env.(*wire.Environment); ok {
		started := time.Now()
		_, err := e.FS().Lstat("/")
		if p := e.Place(); err == nil {
			t.Place = fmt.Sprintf("supervisor %s on %s/%s, home %s, an answer takes %s", p.Release, p.OS, p.Arch, p.Home, time.Since(started).Round(10*time.Microsecond))
		}
		if info, err := e.FS().Lstat(l.Layout().Workspace); err != nil || !info.IsDir() {
			t.Wanting = append(t.Wanting, fmt.Sprintf("the workspace %s is not there: create it, or set runners.%s.workspace", l.Layout().Workspace, l.Runner))
		}
	}
	return t, env.Close()
}
