// Package command runs commands where a command line of the operator's leads: on another machine by
// ssh, in a container by docker exec or kubectl exec, in a unit by systemd-run. Its
// standard input and output must reach sallyport-supervisor.
//
// The surroundings of the supervisor there confine a command. The package cannot see them: it
// passes the operator's description on to policies, or the facts that a plugin looked up. It does not install
// the supervisor and keeps nothing
// alive: when the command line ends, everything ends that ran, and the next request starts it again.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Options configure a Runner.
type Options struct {
	Name    string   // by which the operator knows it
	Command []string // the command line
	Plugin  *Plugin  // plugin of the program that is the first word of Command; nil for none
	Facts   bool     // the command line tells the facts of its place first
	// Isolation and Network are the facts for policies; "" for "remote" and "unknown".
	Isolation, Network string
	Host               []string // environment of the command line itself, NAME=value
	Beside             string   // directory in which its program is looked for first; "" for none
	Venv               string   // see local.Options; a directory is one there
	Prefix             string
	Given              []string // variables of every command, NAME=value; see local.Given
	Programs           bool     // engine.Command.MayStart is asked
}

// Runner opens environments through a command line.
type Runner struct {
	o    Options
	told atomic.Pointer[wire.Told] // by the plugin, of the last place
}

var _ engine.Runner = (*Runner)(nil)

// New makes a runner. It starts nothing.
func New(o Options) (*Runner, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, fmt.Errorf("open runner %s: the command line is empty", o.Name)
	}
	if o.Facts && o.Isolation+o.Network != "" {
		return nil, fmt.Errorf("open runner %s: %w", o.Name, errFacts)
	}
	if o.Isolation == "" {
		o.Isolation = "remote"
	}
	if o.Network == "" {
		o.Network = "unknown"
	}
	if strings.TrimSpace(o.Prefix) != "" {
		o.Venv = "none" // a prefix sets up its own
	}
	return &Runner{o: o}, nil
}

// Describe gives policies the operator's description of the place, or the facts of the last one.
func (r *Runner) Describe() facts.Runner {
	if t := r.told.Load(); t != nil {
		return facts.Runner{Name: r.o.Name, Isolation: t.Isolation, Network: t.Network, Place: t.Surroundings}
	}
	return facts.Runner{Name: r.o.Name, Isolation: r.o.Isolation, Network: r.o.Network}
}

// connectTime is the timeout of a supervisor's answer, unless the manifest of a plugin says another.
const connectTime = time.Minute

// Open starts the command line and greets the supervisor to which it leads.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	p, err := r.start()
	if err != nil {
		return nil, err
	}
	var reached atomic.Bool
	o := wire.Options{
		Settings: wire.Settings{Workspace: spec.Layout.Workspace, Venv: r.o.Venv, Env: r.o.Given,
			Programs: r.o.Programs},
		Explain: func(err error) error { return r.explain(p.Explain(err), reached.Load()) },
	}
	if prefix := strings.TrimSpace(r.o.Prefix); prefix != "" {
		o.Prefixed = func(text string, posix bool) string { return local.Prefixed(prefix, text, posix) }
	}
	if r.o.Facts {
		o.Told = func(t wire.Told) { r.told.Store(&t) }
	}
	timeout := connectTime
	if p := r.o.Plugin; p != nil {
		timeout = cmp.Or(p.startTime(), connectTime)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	env, err := wire.Connect(ctx, p, o)
	if err != nil {
		return nil, err
	}
	reached.Store(true)
	return env, nil
}

// start starts the command line, with further words. A program that differs from its manifest is not started.
func (r *Runner) start(more ...string) (*supervisor.Program, error) {
	words := slices.Concat(r.o.Command, more)
	o := supervisor.ProgramOptions{Command: words, Env: r.o.Host, Beside: r.o.Beside}
	if r.o.Plugin == nil {
		return supervisor.OpenProgramWith(o)
	}
	program, err := r.o.Plugin.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = program.Close() }() // its process has it
	o.Open, o.Command = program, append([]string{r.o.Plugin.Program}, words[1:]...)
	return supervisor.OpenProgramWith(o)
}

// explain adds the fix to the error of a connection that cannot be made or broke.
func (r *Runner) explain(err error, reached bool) error {
	mend := fmt.Sprintf(
		"try the command line by hand, which must say sallyport-supervisor/%d and nothing before that",
		wire.Version)
	switch {
	case reached:
		mend = "the next request starts it again: look there for why it ended"
	case r.o.Plugin != nil:
		mend = "do as the plugin says, or start it by hand"
	case errors.Is(err, context.DeadlineExceeded):
		mend = "it takes too long, or asks something: make it connect by itself"
	}
	return fmt.Errorf("reach the supervisor of runner %s: %w: %s", r.o.Name, err, mend)
}
