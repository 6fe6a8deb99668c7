// Package journal keeps an environment.log for every environment that a runner opens: its specification, when
// it was opened, broke and was closed, and each command with its end and the head and tail of its output.
//
// Operators of environments read it. It is no audit record: nothing waits for it, it is
// bounded and pruned, and it decides nothing. When it cannot be written the operator is told, and the command
// goes on.
//
// A log lies below the state directory, not in the environment, so it outlives the environment. Lines are
// JSON. Texts are redacted as the audit log redacts them; of variables only the names are kept.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Options configure a journal.
type Options struct {
	Dir string // of all environments: each has its own directory below it
	// Redact takes the secrets out of texts that belong together. Nil keeps texts as they are.
	Redact func(texts ...string) []string
	// Warn tells the operator that a log cannot be written, once until it can be again. Nil tells nobody.
	Warn func(error)
	Now  func() time.Time // nil: time.Now
	// Keep is for how long a log that nobody writes to is kept; 0 for 30 days.
	Keep time.Duration
	// MaxBytes bounds one file of a log; there are two at most. 0 for 4 MiB.
	MaxBytes int64
}

// Identity tells environments apart: a runner makes one for each.
type Identity struct {
	Runner    string `json:"runner"`
	Agent     string `json:"agent"`
	Session   string `json:"session"`
	Workspace string `json:"workspace"`
}

// Name is the name of an environment and of its directory, where the runner gives it none: readable, and its
// own for each identity.
func (id Identity) Name() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{id.Runner, id.Agent, id.Session, id.Workspace}, "\x00")))
	name := harmless(id.Runner) + "-" + harmless(id.Agent)
	if id.Session != "" {
		name += "-" + harmless(id.Session)
	}
	return name + "-" + hex.EncodeToString(sum[:4])
}

// harmless keeps the characters of a text that are valid in file names everywhere, up to a readable length.
func harmless(s string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}
	s = strings.Trim(strings.Map(keep, s), ".")
	return s[:min(len(s), 24)]
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(texts ...string) []string { return texts }
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.Keep <= 0 {
		o.Keep = 30 * 24 * time.Hour
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 20
	}
	return o
}

// Wrap makes a runner with logged environments.
func Wrap(r engine.Runner, o Options) engine.Runner { return &runner{r, o.withDefaults()} }

type runner struct {
	engine.Runner
	o Options
}

// Open opens an environment and tells of it.
func (r *runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	d := r.Describe()
	if _, err := Prune(r.o.Dir, r.o.Now().Add(-r.o.Keep)); err != nil {
		r.o.Warn(err)
	}
	id := Identity{Runner: d.Name, Agent: spec.Agent, Session: spec.Session, Workspace: spec.Layout.Workspace}
	name := id.Name()
	if n, ok := r.Runner.(interface {
		NameOf(engine.EnvironmentSpec) string
	}); ok {
		name = n.NameOf(spec)
	}
	l := newLog(r.o, id, name)
	l.hold()
	l.write(Event{Event: KindOpening, Details: map[string]any{"roots": roots(spec.Layout)}})
	also := spec.Note
	spec.Note = func(event string, details map[string]any) {
		l.write(Event{Event: KindStep, Step: event, Details: details})
		if also != nil {
			also(event, details)
		}
	}
	env, err := r.Runner.Open(ctx, spec)
	if err != nil {
		l.write(Event{Event: KindFailed, Error: err.Error()})
		l.release()
		return nil, err
	}
	l.write(Event{Event: KindOpened, Details: openedDetails(r.Describe(),
		env)}) // some runners have their description only now
	e := &environment{Environment: env, log: l}
	if far, ok := env.(engine.Remote); ok {
		return &remote{e, far}, nil
	}
	return e, nil
}

// roots are the granted places, for people.
func roots(l facts.Layout) (out []string) {
	for _, r := range l.Roots {
		access := "read"
		if r.Write {
			access = "write"
		}
		root := access + " " + r.Path
		if len(r.Protected) > 0 {
			root += " but " + strings.Join(r.Protected, ", ")
		}
		out = append(out, root)
	}
	return out
}

// openedDetails describes the opened environment and the place of its supervisor.
func openedDetails(d facts.Runner, env engine.Environment) map[string]any {
	out := map[string]any{"isolation": d.Isolation, "network": d.Network, "elevated": d.Elevated}
	if m, ok := env.(interface{ Made() map[string]any }); ok {
		for k, v := range m.Made() {
			out[k] = v
		}
	}
	if p, ok := env.(interface{ Place() wire.Place }); ok {
		place := p.Place()
		out["place"] = fmt.Sprintf("supervisor %s on %s/%s, home %s", place.Release, place.OS, place.Arch,
			place.Home)
	}
	if s, ok := env.(interface{ Shortcomings() []string }); ok && len(s.Shortcomings()) > 0 {
		out["shortcomings"] = s.Shortcomings()
	}
	return out
}

// Tell adds a step to the log of an environment that others look after: that it was removed by hand, and the
// like.
func Tell(o Options, name string, id Identity, step string, details map[string]any) {
	newLog(o.withDefaults(), id, name).write(Event{Event: KindStep, Step: step, Details: details})
}

// Try opens a trial of the runner. It has no log: nothing of it stays.
func (r *runner) Try(ctx context.Context, spec engine.EnvironmentSpec) (engine.Trial, error) {
	t, ok := r.Runner.(engine.Trier)
	if !ok {
		const text = "runner %s has no trials: use the local one with its sandbox"
		return nil, fmt.Errorf(text, r.Describe().Name)
	}
	return t.Try(ctx, spec)
}
