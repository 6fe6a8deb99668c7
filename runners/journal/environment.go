package journal

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// environment logs its processes. It changes nothing about them.
type environment struct {
	engine.Environment
	log *log

	mu    sync.Mutex
	names []string // of the variables that were told last
	over  bool     // it was told that it broke, or it is closed
}

// remote is an environment that can break.
type remote struct {
	*environment
	far engine.Remote
}

var _ engine.Remote = (*remote)(nil)

// Layout adds the differences between the environment and this machine.
func (e *remote) Layout(l facts.Layout) facts.Layout { return e.far.Layout(l) }

// Err says why it is broken, and tells the log when that shows.
func (e *remote) Err() error {
	err := e.far.Err()
	e.look()
	return err
}

// SeesPrograms reports whether engine.Command.MayStart is asked.
func (e *environment) SeesPrograms() bool {
	s, ok := e.Environment.(engine.Seer)
	return ok && s.SeesPrograms()
}

// Start tells of the command before it starts, so that one which takes the environment down has a line.
func (e *environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	names := e.newNames(c.Env)
	variables := strings.Join(c.Env, "\n")
	told := e.log.o.Redact(c.Text, variables)
	e.log.write(Event{
		Event: KindCommand, Decision: c.ID, Text: cut(told[0], maxText), WorkDir: c.WorkDir,
		Timeout: c.Timeout.Seconds(), Elevated: c.Elevated, Variables: names,
	})
	p, err := e.Environment.Start(ctx, c)
	if err != nil {
		e.log.write(Event{Event: KindExit, Decision: c.ID, Code: new(-1),
			Error: e.log.o.Redact(err.Error(), variables)[0]})
		e.look()
		return nil, err
	}
	q := &process{Process: p, env: e, command: c, variables: variables, done: make(chan struct{})}
	go q.follow()
	return q, nil
}

// newNames returns the names of variables, if they are not those of the command before.
func (e *environment) newNames(env []string) []string {
	names := make([]string, 0, len(env))
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Equal(names, e.names) {
		return nil
	}
	e.names = names
	return names
}

// look tells that the environment broke, the first time that this shows.
func (e *environment) look() {
	far, ok := e.Environment.(engine.Remote)
	if !ok {
		return
	}
	err := far.Err()
	if err != nil && e.end() {
		e.log.write(Event{Event: KindBroke, Error: err.Error()})
		e.log.release()
	}
}

// end reports whether this is the end, and not an end that was told already.
func (e *environment) end() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := !e.over
	e.over = true
	return first
}

// Close closes the environment and tells of it.
func (e *environment) Close() error {
	first := e.end()
	err := e.Environment.Close()
	if first {
		ev := Event{Event: KindClosed}
		if err != nil {
			ev.Error = err.Error()
		}
		e.log.write(ev)
		e.log.release()
	}
	return err
}
