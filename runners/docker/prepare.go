package docker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// preparedName is the name of images with packages in them; their tag is the key of their packages.
const preparedName = "sallyport/prepared"

// installTime bounds one installation.
const installTime = 15 * time.Minute

// preparation is an image that is being made from another by installing packages.
type preparation struct {
	done   chan struct{} // closed when the rest is set
	image  Image
	events []map[string]any // for the log of the environment
	err    error
}

// prepared returns the image with the packages of the options in it. If absent it is built, and the build
// goes on when ctx ends: the next caller has it sooner. It ends with the runner.
func (r *Runner) prepared(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount, spec engine.EnvironmentSpec) (Image, error) {
	if len(r.o.Packages.steps()) == 0 {
		return from, nil
	}
	p := r.preparing(e, from, u, binds)
	select {
	case <-p.done:
	case <-ctx.Done():
		return Image{}, fmt.Errorf("wait until the packages are installed: %w (it goes on as long as this sallyport runs; \"sallyport image prepare\" does it ahead of a session)", ctx.Err())
	}
	for _, event := range p.events {
		spec.Tell("packages", event)
	}
	return p.image, p.err
}

// preparing returns the preparation of an image that is under way, or begins one.
func (r *Runner) preparing(e *Engine, from Image, u wire.User, binds []mounts.Mount) *preparation {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(from.ID, u, binds)
	if p := r.preparations[key]; p != nil {
		return p
	}
	p := &preparation{done: make(chan struct{})}
	r.preparations[key] = p
	r.working.Go(func() {
		p.err = r.prepare(r.life, e, from, u, binds, p)
		r.mu.Lock()
		delete(r.preparations, key)
		r.mu.Unlock()
		close(p.done)
	})
	return p
}

// prepare goes from image to image, by one installation each: those of an earlier session are there already.
func (r *Runner) prepare(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount, p *preparation) error {
	p.image = from
	for _, s := range r.o.Packages.steps() {
		began := time.Now()
		next, found, err := r.installed(ctx, e, p.image, u, binds, s)
		took := time.Since(began).Seconds()
		event := map[string]any{"kind": s.kind, "packages": s.names, "from": p.image.ID, "seconds": took, "found": found}
		p.events = append(p.events, event)
		if err != nil {
			event["error"] = err.Error()
			r.report.step("%s packages could not be installed", s.kind)
			if !r.o.Packages.Continue || ctx.Err() != nil {
				return fmt.Errorf("install %s packages: %w: fix docker.packages.%s, or set docker.packages.on_failure to continue without them", s.kind, err, s.kind)
			}
			r.report.step("commands run without them: %v", err)
			continue
		}
		event["image"] = next.ID
		if !found {
			r.report.step("%s packages are in %s, after %.0f s", s.kind, next.Ref, took)
		}
		next.Ref, p.image = from.Ref, next
	}
	return nil
}

// installed returns the image with the packages of a step: the one that is there, or a new one.
func (r *Runner) installed(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount, s step) (_ Image, found bool, err error) {
	key, err := s.key(from, u, binds)
	if err != nil {
		return Image{}, false, err
	}
	ref := preparedName + ":" + key
	// The engine is asked again behind the lock: another sallyport may have made it meanwhile.
	for _, locked := range []bool{false, true} {
		if locked && r.o.State != "" {
			unlock, err := lock(ctx, filepath.Join(r.o.State, "images"), key)
			if err != nil {
				return Image{}, false, err
			}
			defer unlock()
		}
		i, err := e.Image(ctx, ref)
		if err == nil {
			return i, true, nil
		}
		if !errdefs.IsNotFound(err) {
			return Image{}, false, err
		}
	}
	r.report.step("installing %s packages: %s", s.kind, strings.Join(s.names, " "))
	ctx, cancel := context.WithTimeoutCause(ctx, installTime, fmt.Errorf("it takes longer than %v", installTime))
	defer cancel()
	if err := e.install(ctx, r.o, from, u, forInstaller(binds), s, key, r.report); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = errors.Join(cause, err)
		}
		return Image{}, false, err
	}
	i, err := e.Image(ctx, ref)
	return i, false, err
}

// Prepare makes the image that a session would get, so that none has to wait for it, and returns it.
func (r *Runner) Prepare(ctx context.Context, spec engine.EnvironmentSpec) (Image, error) {
	e, err := r.connected(ctx)
	if err != nil {
		return Image{}, err
	}
	v, err := r.o.view(e, spec.Layout)
	if err != nil {
		return Image{}, fmt.Errorf("open runner %s: %w", r.o.name(), err)
	}
	there := slices.DeleteFunc(v.binds, func(b mounts.Mount) bool { return !exists(b.Source) }) // masked sources do not exist
	image, _, err := r.start(ctx, e, spec, there)
	return image, err
}

// Watch lets somebody see how installations go. It is called before the first environment is opened.
func (r *Runner) Watch(report Report) { r.report = report }

// Close ends the runner's background work: installations. Their containers are gone when it returns.
func (r *Runner) Close() error {
	r.end()
	r.working.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.e != nil {
		return r.e.Close()
	}
	return nil
}

// preparedLabels are those of an image with packages. The labels of the container that it was made in would be the image's too,
// and those of every container that anybody makes from it: they are emptied, so that none of these is taken for ours.
func preparedLabels(s step, key string) map[string]string {
	labels := map[string]string{images.Label: "prepared", labelPackages: s.kind + ": " + strings.Join(s.names, " ")}
	for _, name := range []string{
		labelState, labelRunner, labelAgent, labelSession, labelWorkspace, labelPID, labelStarted, labelMachine, labelKeep, labelMade,
	} {
		labels[name] = ""
	}
	labels[labelSpec] = key
	return labels
}
