package docker

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// plan is the container that a session is to have.
type plan struct {
	name  string
	image Image
	user  wire.User
	view
	delivery delivery
	accounts *accounts // nil: the image has them
	profile  string    // filter of system calls; "" for the engine's
	labels   map[string]string
	config   *container.Config
	host     *container.HostConfig
	spec     engine.EnvironmentSpec
	keep     bool
	state    string // state directory of sallyport
	stateID  string // its digest, by which things are ours
}

// home is where commands are at home in every container.
const home = "/home/sallyport"

// program is where the supervisor lies in a container.
const program = "/.sallyport/sallyport-supervisor"

// plan works out a container. It creates nothing but the image, where packages go into it.
func (r *Runner) plan(ctx context.Context, e *Engine, spec engine.EnvironmentSpec) (*plan, error) {
	o := r.o
	p := &plan{spec: spec, keep: o.Keep, state: o.State, stateID: e.state}
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
	if p.image, p.user, err = r.start(ctx, e, spec, p.binds); err != nil {
		return nil, err
	}
	if p.accounts, err = e.accounts(ctx, o, p.image, p.user); err != nil {
		return nil, fmt.Errorf("open runner %s: %w", o.name(), err)
	}
	workspace := spec.Layout.Workspace
	p.name = containerName(o.name(), e.state, workspace, spec.Agent, spec.Session)
	p.config, p.host = o.config(p), o.hostConfig(p)
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
func (r *Runner) start(ctx context.Context, e *Engine, spec engine.EnvironmentSpec, binds []mounts.Mount) (Image, wire.User, error) {
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
