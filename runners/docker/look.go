package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Look previews a session. A running container of the session is entered and left running. Without one, its
// mounts are looked at here, and a container is created only for facts that no container of the same
// specification has shown.
func (r *Runner) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	env, err := r.look(ctx, spec)
	if errors.Is(err, looks.ErrAsk) {
		return r.Open(ctx, spec)
	}
	return env, err
}

func (r *Runner) look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	e, err := r.connected(ctx)
	if err != nil {
		return nil, err
	}
	if r.o.State == "" || r.o.copies(e) { // the engine may have another machine's files
		return nil, looks.ErrAsk
	}
	p, err := r.plan(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	found, err := e.cli.ContainerInspect(ctx, p.name)
	switch {
	case errdefs.IsNotFound(err):
		return r.foresee(ctx, e, p)
	case err != nil:
		return nil, e.explain("look for container "+p.name, err)
	case found.Config == nil || found.Config.Labels[labelState] != e.state || p.outdated(found) != "" ||
		found.State.Status != container.StateRunning:
		return nil, looks.ErrAsk
	}
	env, err := r.attach(ctx, e, p, found.ID)
	if err != nil {
		return nil, looks.ErrAsk
	}
	if env.verify() != nil {
		env.leave(ctx)
		return nil, looks.ErrAsk
	}
	return attached{env}, nil
}

// attached is a running container that keeps running after Close.
type attached struct{ *environment }

// Start is an error.
func (attached) Start(context.Context, engine.Command) (engine.Process, error) {
	return nil, errors.New("start command: the container was entered to look at it")
}

// Close leaves.
func (v attached) Close() error {
	v.leave(context.Background())
	return nil
}

// foreseen is a container that is not there.
type foreseen struct {
	*looks.Environment
	r *Runner
	p *plan
}

// Layout is as of a container that is.
func (f foreseen) Layout(l facts.Layout) facts.Layout {
	return f.r.layout(f.p, l, f.Environment.Layout)
}

// foresee previews a container that would be created as planned.
func (r *Runner) foresee(ctx context.Context, e *Engine, p *plan) (engine.Environment, error) {
	host, free, err := hostView(p.user)
	if err != nil {
		return nil, err
	}
	settings := r.settings(p)
	key, err := digestOf(struct {
		Spec, Engine string
		Settings     wire.Settings
		Prefix       string
	}{p.labels[labelSpec], e.at.shown(), settings, r.o.Prefix})
	if err != nil {
		free()
		return nil, fmt.Errorf("describe container %s: %w", p.name, err)
	}
	env, err := looks.At(ctx, looks.Options{
		Dir: filepath.Join(r.o.State, "looks"), Key: key, Wire: r.wire(p),
		Live: p.live, Host: host, Free: free,
		Open: func(ctx context.Context) (looks.Opened, error) { return r.openAsSelf(ctx, e, p.spec) },
	})
	if err != nil {
		return nil, err
	}
	for _, b := range p.binds { // where a link of the image is on the way, it lies elsewhere
		for _, n := range env.FS().(facts.Far).Walk([]string{path.Dir(b.Target)}) {
			if n.Link != "" {
				return nil, errors.Join(looks.ErrAsk, env.Close())
			}
		}
	}
	return foreseen{env, r, p}, nil
}

// openAsSelf opens the container, if in it users have the numbers that they have here.
func (r *Runner) openAsSelf(ctx context.Context, e *Engine, spec engine.EnvironmentSpec) (looks.Opened,
	error) {
	info, err := e.cli.Info(ctx)
	if err != nil {
		return nil, e.explain("ask what it is", err)
	}
	for _, option := range info.SecurityOptions {
		if strings.Contains(option, "name=rootless") || strings.Contains(option, "name=userns") {
			return nil, looks.ErrAsk
		}
	}
	env, err := r.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return env.(*environment), nil
}

// live says which path of this machine a path shows: by the deepest mount around it, if that is of this
// machine.
func (p *plan) live(at string) (shown looks.Shown, ok bool) {
	deepest := 0
	on := func(target string) bool {
		if !within(at, target) || len(target) < deepest {
			return false
		}
		deepest = len(target)
		return true
	}
	for _, b := range p.binds {
		if on(b.Target) {
			shown, ok = looks.Shown{Source: b.Source, Rest: strings.TrimPrefix(at[len(b.Target):], "/")}, true
		}
	}
	own := []string{"/proc", "/sys", "/dev", path.Dir(program), "/etc/hostname", "/etc/hosts",
		"/etc/resolv.conf"}
	for _, m := range p.host.Mounts {
		if m.Type != mount.TypeBind || !slices.ContainsFunc(p.binds,
			func(b mounts.Mount) bool { return b.Target == m.Target }) {
			own = append(own, m.Target)
		}
	}
	for _, target := range slices.AppendSeq(own, maps.Keys(p.host.Tmpfs)) {
		if on(target) {
			shown, ok = looks.Shown{}, false
		}
	}
	return shown, ok
}
