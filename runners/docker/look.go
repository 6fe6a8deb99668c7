package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// Look tells what commands would see. A container of the session that runs is entered and left as it is. Where there is none, its
// mounts are looked at here, and one is made only for what is not known of another made of the same things.
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
	p, err := r.plan(ctx, e, spec, nil)
	if err != nil {
		return nil, err
	}
	found, err := e.cli.ContainerInspect(ctx, p.name)
	switch {
	case errdefs.IsNotFound(err):
		return r.foresee(ctx, e, p)
	case err != nil:
		return nil, e.explain("look for container "+p.name, err)
	case found.Config == nil || found.Config.Labels[labelState] != e.state || p.outdated(found) != "" || found.State.Status != container.StateRunning:
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
	return visit{env}, nil
}

// visit is a container that is left as it was found.
type visit struct{ *environment }

// Start is an error.
func (visit) Start(context.Context, engine.Command) (engine.Process, error) {
	return nil, errors.New("start command: the container was entered to look at it")
}

// Close leaves.
func (v visit) Close() error {
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

// foresee shows what a container would that is made as it is planned.
func (r *Runner) foresee(ctx context.Context, e *Engine, p *plan) (engine.Environment, error) {
	host, free, err := eyes(p.user)
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
		Live: p.live, Masks: p.masked(), Host: host, Free: free, Open: func(ctx context.Context) (looks.Opened, error) { return r.openAsSelf(ctx, e, p.spec) },
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
func (r *Runner) openAsSelf(ctx context.Context, e *Engine, spec engine.EnvironmentSpec) (looks.Opened, error) {
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

// live says what of this machine a path shows: of the deepest mount around it, if that is of this machine.
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
			shown, ok = looks.Shown{Source: b.Source, Rest: strings.TrimPrefix(at[len(b.Target):], "/"), Mask: p.maskOf(b)}, true
		}
	}
	own := []string{"/proc", "/sys", "/dev", path.Dir(program), "/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}
	for _, m := range p.host.Mounts {
		if m.Type != mount.TypeBind || !slices.ContainsFunc(p.binds, func(b mounts.Mount) bool { return b.Target == m.Target }) {
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

// maskOf is what stands in for what a mount shows, should that be missing; 0 for nothing.
func (p *plan) maskOf(b mounts.Mount) fs.FileMode {
	switch mask, ok := p.masks[b.Source]; {
	case !ok:
		return 0
	case mask.Dir:
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// masked are the places of a container where something stands in for what is missing.
func (p *plan) masked() (targets []string) {
	for _, b := range p.binds {
		if p.maskOf(b) != 0 && !exists(b.Source) {
			targets = append(targets, b.Target)
		}
	}
	return targets
}
