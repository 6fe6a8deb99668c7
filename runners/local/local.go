// Package local runs commands on the machine that sallyport runs on, as the same user.
//
// Nothing confines them: Describe says so to policies, in the isolation "none" and the network "host". The
// package chooses the knowledge of a command: it builds the environment of its processes from an allow list,
// so that no key of the host reaches it unasked, and it puts a Python environment or a command prefix before
// it. A supervisor in a container uses the package too, and has commands and calls of files run as another
// user (Options.User).
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/files"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Options configure a Runner. The zero value runs commands in the allow-listed environment of the host and
// detects virtual environments.
type Options struct {
	// Venv is "auto" or "" to use .venv of the working directory or of the workspace, "none", or the
	// absolute path of a virtual environment. A Prefix turns it off.
	Venv string
	// Prefix is put before every command: "uv run", "conda run -n tools". See Environment.Prepare.
	Prefix       string
	EnvFile      string   // file of NAME=value lines, read once; "" for none
	EnvFileNames []string // names to take from the file; empty for all
	Env          []string // names of further variables of the host that commands get
	PassAll      bool     // commands get every variable of the host, secrets included
	Host         []string // the host's environment, NAME=value; nil for that of this process

	// User is the user of commands and of file access; nil for that of this process. It is for a supervisor
	// that is root in a container: see supervisor.Options.
	User          *identity.User
	NoSetID       bool                  // see supervisor.Options
	NoUnixSockets bool                  // likewise
	Expendable    bool                  // likewise
	Apart         string                // likewise
	Roots         []string              // bounds of file tools; empty for none
	Watched       []string              // places where names are asked about: supervisor.Options.Suspect
	Undo          *undo.RecorderOptions // see supervisor.Options; Places are Watched
	Programs      string                // see supervisor.Options
	Reown         []string              // given to User after an elevated command; see files.Reown
}

// Runner opens environments on this machine.
type Runner struct {
	opts  Options
	base  []string // environment of every command, sorted, without PWD and virtual environment
	shell supervisor.Shell
}

// New reads its facts about the host once, so that a command cannot change them for the next.
func New(opts Options) (*Runner, error) {
	if opts.Host == nil {
		opts.Host = os.Environ()
	}
	if len(opts.Reown) > 0 && opts.User == nil {
		return nil, errors.New("open local runner: files are to be given to a user, and none is named")
	}
	shell, err := supervisor.FindShell(valueOf(opts.Host, "PATH"))
	if err != nil {
		return nil, fmt.Errorf("open local runner: %w", err)
	}
	base, err := baseEnv(opts, shell)
	if err != nil {
		return nil, fmt.Errorf("open local runner: %w", err)
	}
	if opts.namesVenv() && !opts.isVenv(opts.Venv) {
		return nil, fmt.Errorf(
			"open local runner: virtual environment %s: has no %s directory: create it or set venv to auto", opts.Venv,
			venvBin)
	}
	return &Runner{opts: opts, base: base, shell: shell}, nil
}

// Shell returns the shell that runs texts. Where it is not bash, texts must be judged with the
// POSIX grammar (facts.Layout.POSIX).
func (r *Runner) Shell() supervisor.Shell { return r.shell }

// Environ returns the variables that every command gets, NAME=value.
func (r *Runner) Environ() []string { return slices.Clone(r.base) }

// Describe tells policies that nothing confines a command.
func (r *Runner) Describe() facts.Runner {
	return facts.Runner{Name: "local", Isolation: "none", Network: "host",
		Confinement: facts.Confinement{Write: facts.Open, Read: facts.Open, Connect: facts.Open}}
}

// Open makes an environment. Of the layout it uses the workspace, to look for a virtual environment;
// the places that processes can reach are all of the host's.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	e, err := r.look(ctx, spec)
	if err != nil {
		return nil, err
	}
	e.supervisor, err = supervisor.New(supervisor.Options{Shell: &r.shell, User: r.opts.User, Rights: e.rights,
		NoSetID:       r.opts.NoSetID,
		NoUnixSockets: r.opts.NoUnixSockets, Expendable: r.opts.Expendable, Apart: r.opts.Apart,
		After: r.after(), Suspect: r.suspect(), Undo: r.undo(), Programs: r.opts.Programs})
	if err != nil {
		e.rights.Close()
		return nil, err
	}
	return e, nil
}

// Look makes an environment that cannot start processes.
func (r *Runner) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	e, err := r.look(ctx, spec)
	if err != nil {
		return nil, err
	}
	return e, nil // and not a nil *Environment in an interface
}

func (r *Runner) look(ctx context.Context, spec engine.EnvironmentSpec) (*Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	e := &Environment{runner: r, workspace: spec.Layout.Workspace, files: files.Host{}}
	var err error
	if r.opts.User != nil {
		if e.rights, err = identity.NewRights(*r.opts.User); err != nil {
			return nil, fmt.Errorf("open environment: %w", err)
		}
		e.files = userFiles{e.rights, e.files}
	}
	if len(r.opts.Roots) > 0 {
		if e.files, err = files.Below(r.opts.Roots, e.files); err != nil {
			e.rights.Close()
			return nil, fmt.Errorf("open environment: %w", err)
		}
	}
	return e, nil
}

// undo says where changed files are kept; nil for nowhere.
func (r *Runner) undo() *undo.RecorderOptions {
	if r.opts.Undo == nil {
		return nil
	}
	o := *r.opts.Undo
	o.Places = r.opts.Watched
	return &o
}

// after runs after an elevated command; may be nil.
func (r *Runner) after() func() error {
	if len(r.opts.Reown) == 0 {
		return nil
	}
	return func() error { return files.Reown(r.opts.Reown, *r.opts.User) }
}

var _ engine.Looker = (*Runner)(nil)

// Environment runs commands on this machine.
type Environment struct {
	supervisor *supervisor.Supervisor // nil where there is only to look
	runner     *Runner
	workspace  string
	rights     *identity.Rights // nil for those of this process
	files      engine.Files
	closing    sync.Once
}

var _ engine.Environment = (*Environment)(nil)

// Start begins c. See supervisor.Supervisor.Start.
func (e *Environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	if e.supervisor == nil {
		return nil, errors.New("start command: the environment was opened to look at it")
	}
	p, err := e.supervisor.Start(ctx, c)
	if err != nil {
		return nil, err // and not a nil *supervisor.Process in an interface
	}
	return p, nil
}

// FS shows the host's files.
func (e *Environment) FS() facts.FS { return FS(e.rights) }

// FS shows the host's files with somebody's rights, nil for those of this process.
func FS(rights *identity.Rights) facts.FS {
	if rights == nil {
		return hostFS{}
	}
	return userFS{rights, hostFS{}}
}

// Files reaches the host's files, those that were judged and no link in their place.
func (e *Environment) Files() engine.Files { return e.files }

// Close ends everything that was started.
func (e *Environment) Close() error {
	defer e.closing.Do(e.rights.Close)
	if e.supervisor == nil {
		return nil
	}
	return e.supervisor.Close()
}

// Shortcomings lists, for people, the promises that this machine cannot keep.
func (e *Environment) Shortcomings() []string {
	if e.supervisor == nil {
		return nil
	}
	return e.supervisor.Shortcomings()
}

// SeesPrograms reports whether engine.Command.MayStart is asked.
func (e *Environment) SeesPrograms() bool { return e.supervisor != nil && e.supervisor.SeesPrograms() }
