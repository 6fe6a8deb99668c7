// Package plugins is where the parts of sallyport are put together: one table of what this build
// has, and one function that makes a gate of a configuration. Who wants to know what is wired to
// what reads these two.
//
// It registers nothing behind anybody's back and decides nothing about commands. A setting that
// no part of this build can honour is an error here, never passed over.
package plugins

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// Runner is a built-in runner.
type Runner struct {
	Name    string
	Summary string
	Open    func(*config.Loaded) (Opened, error)
}

// Opened is a runner that is ready, and what the reading of texts must know about it.
type Opened struct {
	engine.Runner
	POSIX bool // its shell is not bash
}

// Runners lists the runners of this build.
func Runners() []Runner {
	return []Runner{
		{Name: "local", Summary: "this machine, as the same user, not confined", Open: openLocal},
	}
}

func openLocal(l *config.Loaded) (Opened, error) {
	e := l.Environment
	r, err := local.New(local.Options{
		Venv: e.Venv, Prefix: e.Prefix, EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env, PassAll: e.PassAll,
		Host: l.Environ(),
	})
	if err != nil {
		return Opened{}, err
	}
	return Opened{r, r.Shell().POSIX}, nil
}

// openCommand makes the runner of the operator's own that is in use.
func openCommand(l *config.Loaded) (Opened, error) {
	e, own := l.Environment, l.Runners[l.Runner]
	given, err := local.Given(local.Options{EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env, Host: l.Environ()})
	if err != nil {
		return Opened{}, fmt.Errorf("open runner %s: %w", l.Runner, err)
	}
	o := command.Options{
		Name: l.Runner, Command: own.Command, Isolation: own.Isolation, Network: own.Network,
		Host: l.Environ(), Venv: e.Venv, Prefix: e.Prefix, Given: given,
	}
	if exe, err := os.Executable(); err == nil {
		o.Beside = filepath.Dir(exe) // where a supervisor that belongs to this sallyport lies
	}
	r, err := command.New(o)
	return Opened{Runner: r}, err // its environment tells what shell there is
}

// RunnerNamed finds a runner of this build, or one of the operator's own.
func RunnerNamed(l *config.Loaded, name string) (Runner, error) {
	all := Runners()
	for _, own := range slices.Sorted(maps.Keys(l.Runners)) {
		all = append(all, Runner{Name: own, Summary: "wherever a command line of yours leads", Open: openCommand})
	}
	names := make([]string, len(all))
	for i, r := range all {
		if r.Name == name {
			return r, nil
		}
		names[i] = r.Name
	}
	return Runner{}, fmt.Errorf("no runner named %s in this build; available: %s", name, strings.Join(names, ", "))
}

// honoured returns an error for every setting that this build cannot honour.
func honoured(l *config.Loaded) error {
	var problems []config.Problem
	no := func(key, text string) { problems = append(problems, l.At(key, text)) }
	for i, p := range l.Policies {
		key := fmt.Sprintf("policies[%d]", i)
		if strings.Contains(p, "://") {
			no(key, "this build does not fetch bundles: name a directory or a file")
		}
	}
	if len(l.Audit.Checkpoint.Publish) > 0 {
		no("audit.checkpoint.publish", "this build does not publish checkpoints: remove the key")
	}
	if l.Runner == "local" {
		if l.Local.Sandbox == "bubblewrap" {
			no("local.sandbox", "the local runner of this build does not confine: use \"none\", or \"auto\" to have it once it does")
		}
		if l.Local.Network == "none" {
			no("local.network", "the local runner of this build cannot take the network away: remove the key")
		}
	}
	if _, elsewhere := l.Elsewhere(); elsewhere && l.Environment.PassAll {
		no("environment.pass_all", "the variables of this machine make no sense elsewhere: name those that do under environment.env")
	}
	if _, err := RunnerNamed(l, l.Runner); err != nil {
		no("runner", err.Error())
	}
	return l.Refuse(problems)
}
