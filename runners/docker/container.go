package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// container returns the id of a running container as it is planned, and whether it was made now.
func (e *Engine) container(ctx context.Context, p *plan) (id string, made bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	found, err := e.cli.ContainerInspect(ctx, p.name)
	switch {
	case errdefs.IsNotFound(err):
		return e.create(ctx, p)
	case err != nil:
		return "", false, e.explain("look for container "+p.name, err)
	case found.Config == nil || found.Config.Labels[labelState] != e.state:
		return "", false, fmt.Errorf(
			"container %s is there and is not sallyport's, or belongs to another user's: rename or remove it "+
				"(docker rm %s)", p.name, p.name)
	}
	why := p.outdated(found)
	if why == "" {
		p.spec.Tell("reuse", map[string]any{"container": p.name, "container_id": short(found.ID),
			"found": found.State.Status})
		err := e.revive(ctx, found)
		if err == nil || found.State.Running {
			return found.ID, false, err
		}
		why = "it does not start: " + err.Error() // a mount's source may be gone
	}
	used, err := e.inUse(ctx, found)
	if err != nil {
		return "", false, err
	}
	if used {
		return "", false, fmt.Errorf(
			"container %s is in use by another sallyport with other settings (%s): end that one "+
				"(the resident process: sallyport serve --stop), or use another session", p.name, why)
	}
	p.spec.Tell("recreate", map[string]any{"container": p.name, "why": why})
	if err := e.discard(ctx, found.ID); err != nil {
		return "", false, err
	}
	return e.create(ctx, p)
}

// outdated says why a container does not match its plan; "" if it does.
func (p *plan) outdated(found container.InspectResponse) string {
	switch {
	case found.Config.Labels[labelSpec] != p.labels[labelSpec]:
		return "its settings have changed"
	case found.State == nil || found.State.Dead:
		return "it is dead"
	}
	switch found.State.Status {
	case container.StateRunning, container.StatePaused, container.StateCreated, container.StateExited:
		return ""
	default:
		return "it is " + found.State.Status
	}
}

// revive starts a container that was stopped, and lets one go on that was paused.
func (e *Engine) revive(ctx context.Context, found container.InspectResponse) error {
	switch found.State.Status {
	case container.StatePaused:
		if err := e.cli.ContainerUnpause(ctx, found.ID); err != nil &&
			!strings.Contains(err.Error(), "is not paused") {
			return e.explain("let container "+found.Name+" go on", err)
		}
	case container.StateCreated, container.StateExited:
		return e.start(ctx, found.ID)
	}
	return nil
}

// create makes and starts the container.
func (e *Engine) create(ctx context.Context, p *plan) (id string, made bool, err error) {
	if err := e.volume(ctx, p); err != nil {
		return "", false, err
	}
	c, err := e.cli.ContainerCreate(ctx, p.config, p.host, nil, nil, p.name)
	if errdefs.IsConflict(err) { // another sallyport was faster, or a removal is under way
		time.Sleep(50 * time.Millisecond)
		return "", false, fmt.Errorf("create container %s: %w: %w", p.name, errGone, err)
	}
	if err != nil {
		return "", false, e.explain("create container "+p.name, err)
	}
	p.spec.Tell("create", map[string]any{"container": p.name, "container_id": short(c.ID), "image": p.image.Ref,
		"image_id": p.image.ID})
	err = errors.Join(e.supply(ctx, p, c.ID), p.accounts.put(ctx, e, c.ID, p.host.ReadonlyRootfs))
	if err == nil {
		err = e.start(ctx, c.ID)
	}
	if err != nil {
		_ = e.discard(context.WithoutCancel(ctx), c.ID)
		return "", false, err
	}
	return c.ID, true, nil
}

func (e *Engine) start(ctx context.Context, id string) error {
	if err := e.cli.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return e.explain("start container "+short(id), err)
	}
	return nil
}

// stop ends a container. Its first process ends at once when it is asked to.
func (e *Engine) stop(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	second := 1
	err := e.cli.ContainerStop(ctx, id, container.StopOptions{Timeout: &second})
	if err != nil && !errdefs.IsNotFound(err) {
		return e.explain("stop container "+short(id), err)
	}
	return nil
}

// discard removes a container of ours with its volumes, running or not.
func (e *Engine) discard(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	found, err := e.cli.ContainerInspect(ctx, id)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err == nil && (found.Config == nil || found.Config.Labels[labelState] != e.state) {
		return fmt.Errorf("remove container %s: %w", short(id), ErrNotOurs)
	}
	if err == nil {
		err = e.cli.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	}
	switch {
	case err == nil, errdefs.IsNotFound(err):
		return nil
	case strings.Contains(err.Error(), "already in progress"):
		return e.awaitGone(ctx, id)
	default:
		return e.explain("remove container "+short(id), err)
	}
}

// awaitGone waits for a removal that somebody else began.
func (e *Engine) awaitGone(ctx context.Context, id string) error {
	for {
		_, err := e.cli.ContainerInspect(ctx, id)
		if errdefs.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return e.explain("remove container "+short(id), err)
		}
		select {
		case <-ctx.Done():
			return e.explain("remove container "+short(id), ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// inUse reports whether a supervisor of any sallyport runs in a container.
func (e *Engine) inUse(ctx context.Context, c container.InspectResponse) (bool, error) {
	if c.ContainerJSONBase == nil || c.State == nil || !c.State.Running {
		return false, nil
	}
	for _, id := range c.ExecIDs {
		x, err := e.cli.ContainerExecInspect(ctx, id)
		switch {
		case errdefs.IsNotFound(err) || errors.Is(err, errGone):
		case err != nil:
			return false, e.explain("list processes of container "+c.Name, err)
		case x.Running:
			return true, nil
		}
	}
	return false, nil
}

// short is the form of an id that people are used to.
func short(id string) string { return id[:min(12, len(id))] }

// plan is the container that a session is to have.
type plan struct {
	name  string
	image Image
	user  wire.User
	view
	delivery delivery
	accounts *accounts // nil: the image has them
	profile  string    // filter of system calls, or its file; "" for the engine's
	labels   map[string]string
	config   *container.Config
	host     *container.HostConfig
	spec     engine.EnvironmentSpec
	keeps    bool   // it stays when the session ends
	kept     string // place of this machine for changed files; "" for none
	state    string // state directory of sallyport
	stateID  string // its digest, by which things are ours
	podman   bool   // the engine is one
}

// home is where commands are at home in every container.
const home = "/home/sallyport"

// program is where the supervisor lies in a container.
const program = "/.sallyport/sallyport-supervisor"

// plan works out a container. It creates nothing but the image, where packages go into it.
func (r *Runner) plan(ctx context.Context, e *Engine, spec engine.EnvironmentSpec) (*plan, error) {
	o := r.o
	p := &plan{spec: spec, keeps: o.Keep, state: o.State, stateID: e.state, podman: e.podman}
	var err error
	if p.view, err = o.view(e, spec.Layout); err != nil {
		return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
	}
	if p.delivery, err = o.delivery(e); err != nil {
		return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
	}
	if p.profile, err = noSetUID(); err != nil {
		return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
	}
	if e.podman && p.profile != "" {
		if p.profile, err = e.filterFile(o.State, p.profile); err != nil {
			return nil, fmt.Errorf("open runner %s: filter of system calls: %w", o.name(), err)
		}
	}
	if p.image, p.user, err = r.start(ctx, e, spec, p.binds); err != nil {
		return nil, err
	}
	if p.accounts, err = e.accounts(ctx, o, p.image, p.user); err != nil {
		return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
	}
	workspace := spec.Layout.Workspace
	p.name = containerName(o.name(), e.state, workspace, spec.Agent, spec.Session)
	p.config, p.host = o.config(p), o.hostConfig(p)
	if o.keepable(e) {
		if err := p.keep(o, p.host); err != nil {
			return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
		}
	}
	made, err := digestOf(struct {
		Config     *container.Config
		Host       *container.HostConfig
		User       wire.User
		Image      string
		Supervisor string
		Accounts   *accounts
	}{p.config, p.host, p.user, p.image.ID, p.delivery.version, p.accounts})
	if err != nil {
		return nil, fmt.Errorf("describe container %s: %w", p.name, err)
	}
	p.labels = map[string]string{
		labelState: e.state, labelRunner: o.name(), labelAgent: spec.Agent, labelSession: spec.Session,
		labelWorkspace: workspace, labelSpec: made, labelKeep: strconv.FormatBool(o.Keep),
	}
	maps.Copy(p.labels, self().labels())
	p.config.Labels = p.labels
	return p, nil
}

// start is the image of a container, with packages where configured, and its user.
func (r *Runner) start(ctx context.Context, e *Engine, spec engine.EnvironmentSpec,
	binds []mounts.Mount) (Image, wire.User, error) {
	image, err := e.image(ctx, r.o, spec.Tell)
	if err != nil {
		return Image{}, wire.User{}, err
	}
	user, err := userOf(r.o.User, spec.Layout.Workspace)
	if err == nil {
		image, err = r.prepared(ctx, e, image, user, binds, spec)
	}
	if err != nil {
		return Image{}, wire.User{}, fmt.Errorf("open runner %s: %w", r.o.name(), err)
	}
	return image, user, nil
}

// userOf is the user of commands: the named one, else the owner of the workspace.
func userOf(named, workspace string) (wire.User, error) {
	if named == "" {
		return ownerOfFile(workspace)
	}
	id, group, both := strings.Cut(named, ":")
	uid, err := strconv.ParseUint(id, 10, 31)
	gid := uid
	if err == nil && both {
		gid, err = strconv.ParseUint(group, 10, 31)
	}
	if err != nil {
		return wire.User{}, fmt.Errorf("docker.user %q: write it in numbers, as 1000 or 1000:1000", named)
	}
	if uid == 0 || gid == 0 {
		return wire.User{}, fmt.Errorf("docker.user %q: commands never run as root: name another", named)
	}
	return wire.User{UID: int(uid), GID: int(gid)}, nil
}
