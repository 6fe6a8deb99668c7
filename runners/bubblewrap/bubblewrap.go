// Package bubblewrap confines the commands of the local runner: they run on this machine, as the same
// user, in namespaces of their own that bubblewrap (bwrap) makes.
//
// The view of a command is built up from nothing: the granted places, the system's programs read-only, a
// small /etc, and a home and a /tmp that are empty and of a bounded size. Other files do not
// exist there, so no list of secrets is needed. Its processes see each other and no others, a filter
// refuses the system calls that lead out of sandboxes, and places in the workspace that the user's own
// programs would run (.git/hooks and their like) are read-only.
//
//	sallyport                     bwrap ── sallyport-supervisor ── bash -c …
//	engine.Gate ─▶ wire.Environment ══ stdin, stdout ══╯
//
// One sandbox serves all commands of an environment, so that only the first pays for it. When sallyport
// dies, so does everything in it. At its start the sandbox is tested, from inside and, to show that the test
// can fail, from outside: one that does not hold is not used.
//
// It does not judge, and it does not bound processors. Memory and processes of all commands together are
// bounded where sallyport may make control groups; elsewhere a limit of the user bounds processes, and
// nothing memory.
package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Options configure a Runner.
type Options struct {
	Bwrap       string   // the program; "" to look for bwrap in PATH
	Supervisor  string   // path of sallyport-supervisor; "" to look beside Beside, then in PATH
	Beside      string   // directory of sallyport itself
	Network     string   // "host" or "" for the network of this machine, "none" for none
	UnixSockets bool     // commands may make sockets of AF_UNIX, for programs that cannot do without
	Scratch     int64    // bytes that /tmp, /dev/shm and HOME may hold each; 0 for 1 GiB
	PIDs        int64    // processes and threads at once; 0 for 2048
	Memory      int64    // bytes; 0 for three quarters of the machine's
	State       string   // directory that caches facts about sandboxes; "" for none
	Environ     []string // variables of every command, NAME=value
	Venv        string   // see local.Options
	Prefix      string
	onlyLook    bool
	// Otherwise runs commands where the sandbox cannot be had. Nil: then nothing runs.
	Otherwise engine.Runner
}

// Runner opens sandboxes. It is safe for concurrent use.
type Runner struct {
	o Options

	mu      sync.Mutex
	notice  func(string)
	holds   bool  // a sandbox has been opened
	without error // why commands run without one; nil while that is not so
}

var _ engine.Looker = (*Runner)(nil)

// defaultScratch bounds HOME and /tmp each, in bytes: they lie in memory.
const defaultScratch = 1 << 30

// defaultPIDs is how many processes and threads there may be at once.
const defaultPIDs = 2048

// New makes a runner. It starts nothing.
func New(o Options) (*Runner, error) {
	switch o.Network {
	case "":
		o.Network = "host"
	case "host", "none":
	default:
		return nil, fmt.Errorf("open sandbox: network %q: use host or none", o.Network)
	}
	if o.Network == "none" && o.Otherwise != nil {
		o.Otherwise = nil // which has the network of this machine
	}
	if o.Scratch <= 0 {
		o.Scratch = defaultScratch
	}
	if strings.TrimSpace(o.Prefix) != "" {
		o.Venv = "none" // a prefix sets up its own
	}
	if o.PIDs <= 0 {
		o.PIDs = defaultPIDs
	}
	return &Runner{o: o}, nil
}

// Notify sets the receiver of messages for people: commands are not confined, and why; suspicious files that
// a sandbox left.
func (r *Runner) Notify(f func(string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notice = f
}

// tell tells it.
func (r *Runner) tell(text string) {
	r.mu.Lock()
	f := r.notice
	r.mu.Unlock()
	if f != nil {
		f(text)
	}
}

// Describe describes the confinement of commands for policies. Before Open has determined it, it is the
// least.
func (r *Runner) Describe() facts.Runner {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o.Otherwise != nil && !r.holds {
		return r.o.Otherwise.Describe()
	}
	return facts.Runner{Name: "local", Isolation: "namespace", Network: r.o.Network}
}

// Open starts a sandbox and tries it. If sandboxes are not available it opens the unconfined environment, and
// stays with that. After a first sandbox, there is no way back: then it is an error.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	return r.open(ctx, r.o, spec)
}

// Look previews the sandbox of Open. If one of the same specification has held, its cached facts are used;
// else one is made and tried, in which nothing can be written, so that nothing has to be protected in it.
func (r *Runner) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	o := r.o
	o.onlyLook = true
	return r.open(ctx, o, spec)
}

func (r *Runner) open(ctx context.Context, o Options, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	if why := r.Unconfined(); why != nil {
		return r.unconfined(ctx, o, spec, why)
	}
	make := open
	if o.onlyLook {
		make = look
	}
	env, err := make(ctx, o, spec, r.tell)
	r.mu.Lock()
	r.holds = r.holds || err == nil
	fallsBack := err != nil && r.o.Otherwise != nil && !r.holds && ctx.Err() == nil && errors.Is(err, errUnavailable)
	if fallsBack {
		r.without = fmt.Errorf("commands are not confined: %w", err)
	}
	r.mu.Unlock()
	if !fallsBack {
		return env, err
	}
	spec.Tell("unconfined", map[string]any{"why": err.Error()})
	why := r.Unconfined()
	r.tell(why.Error())
	return r.unconfined(ctx, o, spec, why)
}

// Unconfined reports that commands run without the sandbox that was asked for, and the reason; nil if they
// do not. Open or Look determines it.
func (r *Runner) Unconfined() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.without
}

// unconfined opens an environment that says of itself that nothing confines it.
func (r *Runner) unconfined(ctx context.Context, o Options, spec engine.EnvironmentSpec, why error) (engine.Environment, error) {
	open := r.o.Otherwise.Open
	if l, ok := r.o.Otherwise.(engine.Looker); ok && o.onlyLook {
		open = l.Look
	}
	env, err := open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return bare{env, why}, nil
}

// bare is an environment without the sandbox that was wanted.
type bare struct {
	engine.Environment
	why error
}

// Shortcomings lists, for people, the missing promises.
func (b bare) Shortcomings() []string {
	all := []string{b.why.Error()}
	if e, ok := b.Environment.(interface{ Shortcomings() []string }); ok {
		all = append(all, e.Shortcomings()...)
	}
	return all
}

// errUnavailable is wrapped by errors that say that there can be no sandbox here.
var errUnavailable = errors.New("no sandbox")

// unavailable is the reason for which there can be no sandbox, and the fix.
func unavailable(mend, format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", errUnavailable, fmt.Errorf(format, args...), mend)
}
