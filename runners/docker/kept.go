package docker

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Pool keeps environments of kept containers open between the gates of one process. A gate gets the open one
// if a new one would be equal; otherwise that is closed first, as soon as no gate has it.
type Pool struct {
	mu    sync.Mutex
	slots map[string]*slot // by the name of the container
}

// mostIdle is the number of open environments beyond which those without a gate are closed.
const mostIdle = 8

// slot is an open environment, or a place for one.
type slot struct {
	opening sync.Mutex // held while it is looked at, opened or closed
	note    atomic.Pointer[func(string, map[string]any)]

	env    *environment // nil for none
	runner *Runner      // of env
	users  int          // gates that have it or wait for it; under Pool.mu
}

// Runner makes a runner that takes its environments from the pool. The given one belongs to it from now on.
func (p *Pool) Runner(r *Runner) engine.Runner {
	w := &pooled{pool: p, own: r}
	w.now.Store(r)
	return w
}

// Close closes the environments that no gate has.
func (p *Pool) Close() error {
	p.mu.Lock()
	var idle []*slot
	for name, s := range p.slots {
		if s.users == 0 {
			idle = append(idle, s)
			delete(p.slots, name)
		}
	}
	p.mu.Unlock()
	var err error
	for _, s := range idle {
		err = errors.Join(err, s.close())
	}
	return err
}

func (p *Pool) take(name string) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[name]
	if s == nil {
		if p.slots == nil {
			p.slots = map[string]*slot{}
		}
		s = &slot{}
		p.slots[name] = s
	}
	s.users++
	return s
}

// leave gives an environment back. It is closed if it is broken, or if too many are open.
func (p *Pool) leave(name string, s *slot) error {
	s.opening.Lock()
	broken := s.env == nil || s.env.Err() != nil
	s.opening.Unlock()
	p.mu.Lock()
	s.users--
	gone := s.users == 0 && (broken || len(p.slots) > mostIdle)
	if gone {
		delete(p.slots, name)
	}
	p.mu.Unlock()
	if gone {
		return s.close()
	}
	return nil
}

func (p *Pool) alone(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.users == 1
}

func (s *slot) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.env == nil {
		return nil
	}
	err := errors.Join(s.env.Close(), s.runner.Close())
	s.env, s.runner = nil, nil
	return err
}

// tell passes an event of the container to the log of the gate that opened it last.
func (s *slot) tell(event string, details map[string]any) {
	if note := s.note.Load(); note != nil && *note != nil {
		(*note)(event, details)
	}
}

// pooled is the runner of one gate.
type pooled struct {
	pool  *Pool
	own   *Runner
	given bool                   // own belongs to a slot
	now   atomic.Pointer[Runner] // of the environment
}

var _ engine.Looker = (*pooled)(nil)

// Describe tells policies about the open environment.
func (w *pooled) Describe() facts.Runner { return w.now.Load().Describe() }

// NameOf is that of Runner.
func (w *pooled) NameOf(spec engine.EnvironmentSpec) string { return w.own.NameOf(spec) }

// Look is that of Runner.
func (w *pooled) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	return w.own.Look(ctx, spec)
}

// Watch is that of Runner.
func (w *pooled) Watch(report Report) { w.own.Watch(report) }

// Close ends the runner, unless an environment of it stays open.
func (w *pooled) Close() error {
	if w.given {
		return nil
	}
	return w.own.Close()
}

// Open takes the open environment of the session, or opens one.
func (w *pooled) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	name := w.own.NameOf(spec)
	s := w.pool.take(name)
	env, err := w.open(ctx, s, spec)
	if err != nil {
		return nil, errors.Join(err, w.pool.leave(name, s))
	}
	w.now.Store(env.r)
	return &lent{environment: env, back: sync.OnceValue(func() error {
		if env != s.env {
			return errors.Join(env.Close(), w.pool.leave(name, s))
		}
		return w.pool.leave(name, s)
	})}, nil
}

// open returns the environment of a slot if it fits. One that no longer fits is closed first; if another gate
// has it, the engine decides whether there can be a second one.
func (w *pooled) open(ctx context.Context, s *slot, spec engine.EnvironmentSpec) (*environment, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	note := spec.Note
	s.note.Store(&note)
	if s.env != nil && s.env.fits(ctx, w.own, spec) {
		return s.env, nil
	}
	if s.env != nil && w.pool.alone(s) {
		err := errors.Join(s.env.Close(), s.runner.Close())
		s.env, s.runner = nil, nil
		if err != nil {
			return nil, err
		}
	}
	spec.Note = s.tell
	env, err := w.own.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	opened := env.(*environment)
	if s.env == nil {
		s.env, s.runner, w.given = opened, w.own, true
	}
	return opened, nil
}

// lent is an environment of the pool in a gate.
type lent struct {
	*environment
	back func() error
}

// Close gives it back.
func (l *lent) Close() error { return l.back() }

// fits reports whether a runner would open an environment like this one, which shows the granted places as
// they are now.
func (v *environment) fits(ctx context.Context, r *Runner, spec engine.EnvironmentSpec) bool {
	resumes := time.AfterFunc(pausedTime, func() { v.resume(ctx) })
	defer resumes.Stop()
	a, b := v.r.o, r.o
	a.Environ, b.Environ = engineVariables(a.Environ), engineVariables(b.Environ)
	if v.Err() != nil || !reflect.DeepEqual(a, b) {
		return false
	}
	p, err := r.plan(ctx, v.e, spec)
	if err != nil || p.labels[labelSpec] != v.p.labels[labelSpec] {
		return false
	}
	if v.Live() > 0 { // a file with a mount may be replaced by a command that runs
		shown, err := v.shows(v.p.workspace)
		return err == nil && (shown || !v.near)
	}
	return v.verify() == nil
}

// pausedTime is the time without an answer after which a container may be a paused one.
const pausedTime = time.Second

// resume lets a container go on that somebody paused: its supervisor answers then.
func (v *environment) resume(ctx context.Context) {
	found, err := v.e.cli.ContainerInspect(ctx, v.id)
	if err == nil && found.State.Paused {
		_ = v.e.revive(ctx, found)
	}
}

// engineVariables are those by which the engine is found.
func engineVariables(environ []string) []string {
	other := func(v string) bool { return !strings.HasPrefix(v, "DOCKER_") }
	out := slices.DeleteFunc(slices.Clone(environ), other)
	slices.Sort(out)
	return out
}
