package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// runner checks the place where commands would run: first its requirements, then an environment itself.
func (d *doctor) runner(ctx context.Context, l *config.Loaded) {
	if !d.engine(ctx, l) {
		return
	}
	tried, err := plugins.Trial(ctx, l)
	if err != nil {
		what, fix := apart(err)
		d.add("runner", "fail", what, fix)
		return
	}
	d.add("runner", "ok", fmt.Sprintf("%s: isolation %s, network %s", tried.Name, tried.Isolation, tried.Network), "")
	d.supervisor(tried)
	if tool, ok := tried.Made["sandbox"].(string); ok {
		d.add("sandbox", "ok", fmt.Sprintf("%s: its promises were tried and hold; protected repositories: %v", tool, tried.Made["repositories"]), "")
	}
	for _, w := range tried.Wanting {
		what, fix := apart(errors.New(w))
		d.add("runner", "warn", what, fix)
	}
	d.container(l, tried)
	if tried.Isolation == "none" {
		d.add("confinement", "warn", "commands that are allowed run as you, with all that you may do", "use runner: docker, or a sandbox (docs/environments.md), or run agents as a user of their own")
	}
}

// engine looks at the engine and the image, and reports whether a container can be made.
func (d *doctor) engine(ctx context.Context, l *config.Loaded) bool {
	e, err := plugins.LookAtEngine(ctx, l)
	if err != nil {
		what, fix := apart(err)
		d.add("engine", "fail", what, fix)
		return false
	}
	if e == nil {
		return true
	}
	d.add("engine", "ok", fmt.Sprintf("Docker %s, API %s, at %s (%s); %s/%s, cgroup v%s, runtimes %s",
		e.Version, e.API, e.Host, e.From, e.OS, e.Arch, e.Cgroup, strings.Join(e.Runtimes, " ")), "")
	switch {
	case e.Rootless:
		d.add("engine", "ok", "rootless: root in a container is an ordinary user of this machine", "")
	case e.UserNS:
		d.add("engine", "ok", "users are mapped: root in a container is nobody on this machine", "")
	}
	if !e.Seccomp {
		d.add("engine", "warn", "it filters no system calls", "start the engine with its default seccomp profile, on a kernel that has seccomp")
	}
	if !e.ImagePresent {
		state := "fail"
		fix := e.HowToGet
		if l.Docker.Pull == "missing" {
			state, fix = "warn", "the first command pulls it; or get it now: docker pull "+e.Image.Ref
		}
		d.add("image", state, e.Image.Ref+" is not there", fix)
		return false
	}
	d.add("image", "ok", fmt.Sprintf("%s, %s, made %.10s, %d MB", e.Image.Ref, e.Image.ID, e.ImageCreated, e.ImageSize/1e6), "")
	return true
}

// supervisor reports the supervisor that answered, if one did.
func (d *doctor) supervisor(tried plugins.Tried) {
	if tried.Place == "" {
		return
	}
	if own := version().Sallyport; tried.Supervisor != own {
		d.add("supervisor", "warn", fmt.Sprintf("%s; this sallyport is %s", tried.Place, own), "bring the supervisor of this release there (docs/runners.md)")
		return
	}
	d.add("supervisor", "ok", tried.Place, "")
}

// container reports the bounds of a live container, and the limits that are not set.
func (d *doctor) container(l *config.Loaded, tried plugins.Tried) {
	for _, c := range tried.Bounds {
		if c.OK {
			d.add("container", "ok", c.Name+": "+c.Detail, "")
		} else {
			d.add("container", "fail", c.Name+": "+c.Detail, c.Mend)
		}
	}
	if tried.Isolation != "container" || len(tried.Bounds) == 0 {
		return
	}
	if l.Docker.Memory == 0 {
		d.add("limits", "warn", "memory is not limited: one command can use up that of the machine", "set docker.memory, such as 2g")
	}
	if l.Docker.CPUs == 0 {
		d.add("limits", "warn", "processors are not limited", "set docker.cpus, such as 2")
	}
	if l.Docker.Network == "host" {
		d.add("network", "warn", "commands have the network of this machine, and reach services on loopback", "use docker.network: bridge, or none")
	}
	if l.Docker.Credentials.PassAll {
		d.add("credentials", "warn", "commands get all variables of sallyport's own environment, secrets included", "name those that are needed under docker.credentials.env")
	}
}

// apart divides a message into the problem and its fix, which follows the last colon outside of parentheses.
// An error of the system that stands there is no fix.
func apart(err error) (problem, fix string) {
	text, depth := err.Error(), 0
	var system syscall.Errno
	if errors.As(err, &system) && strings.HasSuffix(text, system.Error()) {
		return text, ""
	}
	for i := len(text) - 1; i > 0; i-- {
		switch {
		case text[i] == ')':
			depth++
		case text[i] == '(':
			depth--
		case depth == 0 && text[i-1:i+1] == ": ":
			return text[:i-1], text[i+1:]
		}
	}
	return text, ""
}
