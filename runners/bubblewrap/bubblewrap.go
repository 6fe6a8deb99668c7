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
	"github.com/sallyport-dev/sallyport/runners/overlay"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Options configure a Runner.
type Options struct {
	Bwrap       string   // the program; "" to look for bwrap in PATH
	Supervisor  string   // path of sallyport-supervisor; "" to look beside Beside, then in PATH
	Beside      string   // directory of sallyport itself
	Network     string   // "host" or "" for the network of this machine, "none" for none
	Required    bool     // the configuration wants it: errors name no setting for commands without it
	UnixSockets bool     // commands may make sockets of AF_UNIX, for programs that cannot do without
	Programs    bool     // engine.Command.MayStart is asked
	Scratch     int64    // bytes of /tmp, /var/tmp, /dev/shm and HOME, each, up to Memory/8; 0 for 1 GiB
	PIDs        int64    // processes and threads at once; 0 for 2048
	Memory      int64    // bytes; 0 for three quarters of the machine's
	State       string   // directory that caches facts about sandboxes; "" for none
	Environ     []string // variables of every command, NAME=value
	Venv        string   // see local.Options
	Prefix      string
	Copies      []string          // files below the home directory of which commands get copies
	Files       map[string]string // with their content, read-only, in /run
	Undo        undo.Options      // where the files are kept that commands change
	onlyLook    bool
	trial       *overlay.View // the places where commands write are shown by it; nil for themselves
	// Otherwise previews the environment where the sandbox is not available. Nil: Look fails there, too.
	Otherwise engine.Looker
}

// Runner opens sandboxes. It is safe for concurrent use.
type Runner struct {
	o Options

	mu      sync.Mutex
	notice  func(string)
	tried   facts.Confinement
	missing error // the reason for which there can be no sandbox, as Look found it
}

var (
	_ engine.Looker = (*Runner)(nil)
	_ engine.Trier  = (*Runner)(nil)
)

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
	if o.Scratch <= 0 {
		o.Scratch = defaultScratch
	}
	if strings.TrimSpace(o.Prefix) != "" {
		o.Venv = "none" // a prefix sets up its own
	}
	if o.PIDs <= 0 {
		o.PIDs = defaultPIDs
	}
	if o.Memory > 0 {
		o.Scratch = min(o.Scratch, o.Memory/8) // full ones must leave some to commands
	}
	return &Runner{o: o}, nil
}

// Notify sets the receiver of messages for people, about suspicious files that a sandbox left.
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
	if r.missing != nil {
		return r.o.Otherwise.Describe()
	}
	return facts.Runner{Name: "local", Isolation: "namespace", Network: r.o.Network, Confinement: r.tried}
}

// Open starts a sandbox and tries it. There is no way without: where the machine cannot make one, the error
// names the reason and the setting for commands that are not confined.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	env, err := r.open(ctx, r.o, spec, open)
	if errors.Is(err, errUnavailable) {
		advice := "No sandbox can be made on this machine: \"sallyport doctor\" names the reason and the fix."
		if !r.o.Required {
			err = fmt.Errorf("%w, or set local.sandbox to none (commands then run as you, not confined)", err)
			advice += " Only your user decides whether commands run without one (local.sandbox: none)."
		}
		err = &engine.Advised{Err: err, Advice: advice}
	}
	return env, err
}

// Look previews the sandbox of Open. If one of the same specification has held, its cached facts are used;
// else one is made and tried, in which nothing can be written, so that nothing has to be protected in it.
// Where the machine cannot make one, it previews the environment without it: policies judge, and nothing
// runs.
func (r *Runner) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if r.Missing() != nil {
		return r.o.Otherwise.Look(ctx, spec)
	}
	o := r.o
	o.onlyLook = true
	env, err := r.open(ctx, o, spec, look)
	if r.o.Otherwise == nil || ctx.Err() != nil || !errors.Is(err, errUnavailable) {
		return env, err
	}
	r.mu.Lock()
	r.missing = err
	r.mu.Unlock()
	return r.o.Otherwise.Look(ctx, spec)
}

type opening func(context.Context, Options, engine.EnvironmentSpec, func(string)) (engine.Environment, error)

func (r *Runner) open(
	ctx context.Context, o Options, spec engine.EnvironmentSpec, make opening,
) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	env, err := make(ctx, o, spec, r.tell)
	if told, ok := env.(interface{ confinement() facts.Confinement }); ok && err == nil {
		r.mu.Lock()
		r.tried = told.confinement()
		r.mu.Unlock()
	}
	return env, err
}

// Missing reports that commands would not run, because the machine cannot make the sandbox, and the reason.
// Look determines it.
func (r *Runner) Missing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missing
}

// errUnavailable is wrapped by errors that say that there can be no sandbox here.
var errUnavailable = errors.New("no sandbox")

// unavailable is the reason for which there can be no sandbox, and the fix.
func unavailable(mend, format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", errUnavailable, fmt.Errorf(format, args...), mend)
}
