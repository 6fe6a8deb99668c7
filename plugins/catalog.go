// Package plugins assembles the parts of sallyport: one table of the parts of this build, and one
// function that makes a gate of a configuration. These two show all of the wiring.
//
// It has no hidden registration and decides nothing about commands. A setting that no part of this
// build can honour is an error here, never ignored.
package plugins

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit/publish"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// Runner is a built-in runner.
type Runner struct {
	Name    string
	Summary string
	Open    func(*config.Loaded) (Opened, error)
}

// Opened is a runner that is ready, and the facts about it that readers of texts need.
type Opened struct {
	engine.Runner
	POSIX    bool     // its shell is not bash
	Warnings []string // requests of the operator that cannot be met, and risks
}

// Runners lists the runners of this build.
func Runners() []Runner {
	return []Runner{
		{Name: "local", Summary: "this machine, as the same user, in a sandbox where there can be one",
			Open: openLocal},
		{Name: "docker", Summary: "a container of a Docker engine", Open: openDocker},
		{Name: "docker-sudo", Summary: "a container of a Docker engine, in which sudo can be granted",
			Open: openDocker},
	}
}

// openDocker makes a runner for containers.
func openDocker(l *config.Loaded) (Opened, error) {
	e := l.Environment
	given, err := local.Given(local.Options{EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env,
		Host: l.Environ()})
	if err != nil {
		return Opened{}, fmt.Errorf("open runner %s: %w", l.Runner, err)
	}
	if err := l.Installable(); err != nil {
		return Opened{}, err
	}
	o := DockerOptions(l)
	o.Given = given
	c := l.Docker.Credentials
	o, warnings, err := o.Grant(docker.Credentials{
		Mount: c.Mount, EnvFile: string(c.EnvFile), EnvFileNames: c.EnvFileNames, Env: c.Env, PassAll: c.PassAll,
	}, string(l.Workspace))
	if err != nil {
		return Opened{}, fmt.Errorf("open runner %s: %w", l.Runner, err)
	}
	r, err := docker.New(o)
	return Opened{Runner: r, Warnings: warnings}, err // its environment names its shell
}

// DockerOptions are a configuration's options of the engine and its containers, but for variables of
// commands.
func DockerOptions(l *config.Loaded) docker.Options {
	d := l.Docker
	o := docker.Options{
		Elevated: l.Runner == "docker-sudo",
		Host:     d.Host, Environ: l.Environ(), Home: l.Home(),
		Image: d.Image, Pull: d.Pull, Runtime: d.Runtime, Copy: d.Deliver == "copy", Mount: d.Deliver == "mount",
		User: d.User, Network: d.Network, Memory: int64(d.Memory), CPUs: d.CPUs, PIDs: int64(d.PIDs),
		Files:    int64(d.OpenFiles),
		FileSize: int64(d.FileSize), Temporary: int64(d.Tmp), Writable: d.Root == "writable",
		UnixSockets: d.UnixSockets,
		Programs:    l.Programs.Mode != "unseen",
		Keep:        d.Keep, State: l.StateDir(), Venv: l.Environment.Venv, Prefix: l.Environment.Prefix,
	}
	if l.Undo.Enabled {
		o.Undo = undoOptions(l)
	}
	o.Packages = docker.Packages{
		System: d.Packages.System, Python: d.Packages.Python, NPM: d.Packages.NPM,
		Network: d.InstallNetwork(), Continue: d.Packages.OnFailure == "continue",
	}
	for _, m := range d.Mounts {
		o.Mounts = append(o.Mounts, docker.Mount{Source: string(m.Source), Target: m.Target,
			Write: m.Access == "write"})
	}
	if o.Supervisor = string(l.Supervisor); o.Supervisor == "" {
		o.Supervisor = filepath.Join(beside(), "sallyport-supervisor")
	}
	return o
}

// openCommand makes the runner of the operator's own that is in use.
func openCommand(l *config.Loaded) (Opened, error) {
	e := l.Environment
	given, err := local.Given(local.Options{EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env,
		Host: l.Environ()})
	if err != nil {
		return Opened{}, fmt.Errorf("open runner %s: %w", l.Runner, err)
	}
	r, err := commandRunner(l, l.Runner, given)
	return Opened{Runner: r}, err // its environment names its shell
}

// commandRunner makes a runner of the operator's own, with variables of commands.
func commandRunner(l *config.Loaded, name string, given []string) (*command.Runner, error) {
	e, own := l.Environment, l.Runners[name]
	o := command.Options{
		Name: name, Command: own.Command, Isolation: own.Isolation, Network: own.Network,
		Host: l.Environ(), Venv: e.Venv, Prefix: e.Prefix, Given: given, Beside: beside(),
		Programs: l.Programs.Mode != "unseen",
	}
	if own.Plugin != "" {
		p, err := command.LoadPlugin(string(own.Plugin))
		if err != nil {
			return nil, fmt.Errorf("open runner %s: %w", name, err)
		}
		o.Plugin, o.Command = &p, slices.Concat(p.Command, own.Args)
		o.Facts = p.Facts
		o.Isolation, o.Network = cmp.Or(own.Isolation, p.Isolation), cmp.Or(own.Network, p.Network)
	}
	return command.New(o)
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
	return Runner{}, fmt.Errorf("no runner named %s in this build; available: %s", name,
		strings.Join(names, ", "))
}

// honoured returns an error for every setting that this build cannot honour.
func honoured(l *config.Loaded) error {
	var problems []config.Problem
	no := func(key, text string) { problems = append(problems, l.At(key, text)) }
	for i, place := range l.Audit.Checkpoint.Publish {
		if err := publish.Check(place); err != nil {
			no(fmt.Sprintf("audit.checkpoint.publish[%d]", i), err.Error())
		}
	}
	if l.Runner == "local" && !bubblewrap.Supported {
		if l.Local.Sandbox == "bubblewrap" {
			no("local.sandbox", "bubblewrap is of Linux: use \"none\", or a runner that confines")
		}
		if l.Local.Network == "none" {
			no("local.network", "the local runner cannot take the network away on this system: remove the key")
		}
	}
	_, elsewhere := l.Elsewhere()
	if (elsewhere || strings.HasPrefix(l.Runner, "docker")) && l.Environment.PassAll {
		no("environment.pass_all",
			"the variables of this machine make no sense elsewhere: name those that do under environment.env")
	}
	if isDocker(l.Runner) && l.Environment.PassAll {
		no("environment.pass_all",
			"the variables of this machine make no sense in a container: name those that do under environment.env, "+
				"or use docker.credentials.pass_all")
	}
	if _, err := RunnerNamed(l, l.Runner); err != nil {
		no("runner", err.Error())
	}
	return l.Refuse(problems)
}
