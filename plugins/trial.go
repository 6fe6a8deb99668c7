package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Tried is the result of opening a runner.
type Tried struct {
	facts.Runner
	Place      string         // where a supervisor elsewhere stands; "" for none
	Supervisor string         // its release
	Made       map[string]any // the environment's description of itself; nil for none
	Judges     bool           // programs are judged at their start, if the configuration wants that
	Wanting    []string       // promises that the environment cannot keep there, for people
	Bounds     []docker.Check // confinement of the environment, as found and not as requested
}

// placed is an environment with its supervisor elsewhere.
type placed interface {
	engine.Environment
	Place() wire.Place
}

// trialTime is how long a trial may take: somebody waits for it.
const trialTime = 30 * time.Second

// Trial opens the runner of a configuration as a gate does and closes it again. A container that is made for
// it is not kept, and nothing is installed into it.
func Trial(ctx context.Context, l *config.Loaded) (Tried, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	l, spec := forTrial(ctx, l)
	chosen, err := RunnerNamed(l, l.Runner)
	if err != nil {
		return Tried{}, err
	}
	r, err := chosen.Open(l)
	if err != nil {
		return Tried{}, err
	}
	env, err := r.Open(ctx, spec)
	t := Tried{Runner: r.Describe()} // after it was opened: its findings are part of it
	if err != nil {
		return t, fmt.Errorf("open environment: %w", err)
	}
	t.Wanting = r.Warnings
	err = t.look(ctx, l, env)
	return t, errors.Join(err, env.Close())
}

// forTrial is the configuration and the environment of a trial. If there is a container of this agent it is
// that one.
func forTrial(ctx context.Context, l *config.Loaded) (*config.Loaded, engine.EnvironmentSpec) {
	spec := engine.EnvironmentSpec{Agent: l.Agent, Layout: l.Layout()}
	if !isDocker(l.Runner) {
		return l, spec
	}
	o := DockerOptions(l)
	if r, err := docker.New(o); err == nil {
		all, err := docker.List(ctx, o)
		if err == nil && slices.ContainsFunc(
			all, func(c docker.Container) bool { return c.Name == r.NameOf(spec) }) {
			return l, spec
		}
	}
	own := *l
	own.Docker.Keep, own.Docker.Pull, own.Docker.Packages = false, "never", config.Packages{}
	spec.Session = "doctor"
	return &own, spec
}

// look collects an open environment's description.
func (t *Tried) look(ctx context.Context, l *config.Loaded, env engine.Environment) error {
	if e, ok := env.(interface{ Shortcomings() []string }); ok {
		t.Wanting = append(t.Wanting, e.Shortcomings()...)
	}
	if e, ok := env.(engine.Seer); ok {
		t.Judges = e.SeesPrograms()
	}
	if e, ok := env.(interface{ Made() map[string]any }); ok {
		t.Made = e.Made()
	}
	if e, ok := env.(placed); ok {
		started := time.Now()
		_, err := e.FS().Lstat("/")
		if p := e.Place(); err == nil {
			t.Supervisor = p.Release
			t.Place = fmt.Sprintf("supervisor %s on %s/%s, home %s, an answer takes %s", p.Release, p.OS, p.Arch,
				p.Home, time.Since(started).Round(10*time.Microsecond))
		}
		if info, err := e.FS().Lstat(l.Layout().Workspace); err != nil || !info.IsDir() {
			t.Wanting = append(
				t.Wanting, fmt.Sprintf("the workspace %s is not there: create it, or set runners.%s.workspace",
					l.Layout().Workspace, l.Runner))
		}
	}
	e, ok := env.(interface {
		Hardening(context.Context) ([]docker.Check, error)
	})
	if !ok {
		return nil
	}
	var err error
	t.Bounds, err = e.Hardening(ctx)
	return err
}

// Engine describes the engine of a configuration before a container is made.
type Engine struct {
	docker.Survey
	HowToGet string // the image, where it is absent
}

// LookAtEngine describes the engine of a configuration. There is none for a runner without containers.
func LookAtEngine(ctx context.Context, l *config.Loaded) (*Engine, error) {
	if !isDocker(l.Runner) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	s, err := docker.Look(ctx, DockerOptions(l))
	if err != nil {
		return nil, err
	}
	return &Engine{s, docker.HowToGet(DockerOptions(l))}, nil
}
