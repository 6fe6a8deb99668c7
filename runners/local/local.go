// Package local runs commands on the machine that sallyport runs on, as the same user.
//
// Nothing confines them: Describe says so to policies, in the isolation "none" and the network
// "host". What the package does is to choose what a command may know: it builds the environment
// of its processes from an allow list, so that no key of the host reaches it unasked, and it
// puts a Python environment or a command prefix before it.
package local

import (
	"context"
	"fmt"
	"os"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/files"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// Options are what a Runner is made of. The zero value runs commands in the allow-listed
// environment of the host and detects virtual environments.
type Options struct {
	// Venv is "auto" or "" to use .venv of the working directory or of the workspace, "none", or the
	// absolute path of a virtual environment. A Prefix turns it off.
	Venv string
	// Prefix is put before every command: "uv run", "conda run -n tools". See Environment.Prepare.
	Prefix       string
	EnvFile      string   // file of NAME=value lines, read once; "" for none
	EnvFileNames []string // what to take of the file; empty for all of it
	Env          []string // names of further variables of the host that commands get
	PassAll      bool     // commands get every variable of the host, secrets included
	Host         []string // the host's environment, NAME=value; nil for that of this process
}

// Runner opens environments on this machine.
type Runner struct {
	opts  Options
	base  []string // environment of every command, sorted, without PWD and virtual environment
	shell supervisor.Shell
}

// New reads what it needs of the host once, so that a command cannot change it for the next.
func New(opts Options) (*Runner, error) {
	if opts.Host == nil {
		opts.Host = os.Environ()
	}
	shell, err := supervisor.FindShell(valueOf(opts.Host, "PATH"))
	if err != nil {
		return nil, fmt.Errorf("open local runner: %w", err)
	}
	base, err := baseEnv(opts, shell)
	if err != nil {
		return nil, fmt.Errorf("open local runner: %w", err)
	}
	if opts.namesVenv() && !isVenv(opts.Venv) {
		return nil, fmt.Errorf("open local runner: virtual environment %s: has no %s directory: create it or set venv to auto", opts.Venv, venvBin)
	}
	return &Runner{opts: opts, base: base, shell: shell}, nil
}

// Shell returns the shell that runs texts. Where it is not bash, texts must be judged with the
// POSIX grammar (facts.Layout.POSIX).
func (r *Runner) Shell() supervisor.Shell { return r.shell }

// Describe tells policies that nothing confines a command.
func (r *Runner) Describe() facts.Runner {
	return facts.Runner{Name: "local", Isolation: "none", Network: "host"}
}

// Open makes an environment. Of the layout it uses the workspace, to look for a virtual environment;
// the places that processes can reach are all of the host's.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	s, err := supervisor.New(supervisor.Options{Shell: &r.shell})
	if err != nil {
		return nil, err
	}
	return &Environment{supervisor: s, runner: r, workspace: spec.Layout.Workspace}, nil
}

// Environment runs commands on this machine.
type Environment struct {
	supervisor *supervisor.Supervisor
	runner     *Runner
	workspace  string
}

var _ engine.Environment = (*Environment)(nil)

// Start begins c. See supervisor.Supervisor.Start.
func (e *Environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	p, err := e.supervisor.Start(ctx, c)
	if err != nil {
		return nil, err // and not a nil *supervisor.Process in an interface
	}
	return p, nil
}

// FS shows the host's files.
func (e *Environment) FS() facts.FS { return hostFS{} }

// Files reaches the host's files, those that were judged and no link in their place.
func (e *Environment) Files() engine.Files { return files.Host{} }

// Close ends everything that was started.
func (e *Environment) Close() error { return e.supervisor.Close() }

// Shortcomings says, for people, what this machine does not let the environment do.
func (e *Environment) Shortcomings() []string { return e.supervisor.Shortcomings() }
