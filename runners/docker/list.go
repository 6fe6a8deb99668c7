package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/engine"
)

// Container is a container of ours.
type Container struct {
	ID, Name                          string
	Runner, Agent, Session, Workspace string
	Image, ImageID                    string
	State                             string // running, exited, created, paused, dead
	Created                           time.Time
	Kept                              bool // it stays when its session ends
	Dead                              bool // the sallyport that made it lives no more
}

// NameOf is the name of the container that Open finds or makes.
func (r *Runner) NameOf(spec engine.EnvironmentSpec) string {
	return containerName(r.o.name(), digest(r.o.State), spec.Layout.Workspace, spec.Agent, spec.Session)
}

// List returns the containers of the state directory, the newest first.
func List(ctx context.Context, o Options) ([]Container, error) {
	e, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	return e.list(ctx)
}

func (e *Engine) list(ctx context.Context) ([]Container, error) {
	all, err := e.ours(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Container, len(all))
	for i, c := range all {
		out[i] = containerOf(c)
	}
	slices.SortStableFunc(out, func(a, b Container) int { return b.Created.Compare(a.Created) })
	return out, nil
}

func containerOf(c container.Summary) Container {
	return Container{
		ID: c.ID, Name: nameOf(c), Runner: c.Labels[labelRunner], Agent: c.Labels[labelAgent],
		Session: c.Labels[labelSession], Workspace: c.Labels[labelWorkspace], Image: c.Image, ImageID: c.ImageID,
		State: c.State, Created: time.Unix(c.Created, 0), Kept: c.Labels[labelKeep] == "true", Dead: ownerOf(c.Labels).dead(),
	}
}

// ErrNotOurs is wrapped by the error about a container that is not sallyport's, or not of this state
// directory.
var ErrNotOurs = errors.New("it is not sallyport's, or belongs to another user's")

// Remove removes a container of ours by its id or name, with everything that runs in it.
func Remove(ctx context.Context, o Options, id string) error {
	e, err := Connect(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	found, err := e.cli.ContainerInspect(ctx, id)
	switch {
	case errdefs.IsNotFound(err):
		return fmt.Errorf("remove container %s: there is none: see \"sallyport env list\"", id)
	case err != nil:
		return e.explain("remove container "+id, err)
	}
	unlock, err := lock(ctx, o.State, strings.TrimPrefix(found.Name, "/"))
	if err != nil {
		return err
	}
	defer unlock()
	return e.discard(ctx, found.ID)
}

// Prune removes the remains of sessions of dead sallyport processes, in workspaces too, with kept also kept
// containers without a session. It returns those that it removed.
func Prune(ctx context.Context, o Options, kept bool) ([]Container, error) {
	e, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	all, err := e.ours(ctx)
	if err != nil {
		return nil, err
	}
	var removed []Container
	var errs []error
	for _, c := range all {
		if !ownerOf(c.Labels).dead() || !kept && c.Labels[labelKeep] == "true" {
			continue
		}
		switch done, err := e.sweepOne(ctx, o.State, c); {
		case err != nil:
			errs = append(errs, err)
		case done:
			removed = append(removed, containerOf(c))
		}
	}
	return removed, errors.Join(append(errs, e.pruneVolumes(ctx))...)
}

// Survey describes an engine, and says whether the image is there.
type Survey struct {
	Host, From             string // its address, and the setting that named it
	Version, API           string
	OS, Arch, Kernel       string
	Cgroup                 string // version
	Runtimes               []string
	Rootless, UserNS       bool
	Seccomp                bool
	Image                  Image
	ImagePresent           bool
	ImageCreated           string
	ImageSize              int64
	CPUs                   int
	Memory                 int64
	Driver                 string
	Containers, OurRunning int
}

// Look describes an engine.
func Look(ctx context.Context, o Options) (Survey, error) {
	o, err := o.complete()
	if err != nil {
		return Survey{}, err
	}
	e, err := Connect(ctx, o)
	if err != nil {
		return Survey{}, err
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	info, err := e.cli.Info(ctx)
	if err != nil {
		return Survey{}, e.explain("ask the engine", err)
	}
	s := Survey{
		Host: e.at.shown(), From: e.at.from, Version: info.ServerVersion, API: e.cli.ClientVersion(),
		OS: info.OperatingSystem, Arch: info.Architecture, Kernel: info.KernelVersion, Cgroup: info.CgroupVersion,
		CPUs: info.NCPU, Memory: info.MemTotal, Driver: info.Driver, Containers: info.Containers,
	}
	for name := range info.Runtimes {
		s.Runtimes = append(s.Runtimes, name)
	}
	slices.Sort(s.Runtimes)
	for _, option := range info.SecurityOptions {
		s.Rootless = s.Rootless || strings.Contains(option, "name=rootless")
		s.UserNS = s.UserNS || strings.Contains(option, "name=userns")
		s.Seccomp = s.Seccomp || strings.Contains(option, "name=seccomp")
	}
	ours, err := e.ours(ctx)
	if err != nil {
		return s, err
	}
	for _, c := range ours {
		if c.State == "running" {
			s.OurRunning++
		}
	}
	found, err := e.cli.ImageInspect(ctx, o.Image)
	switch {
	case errdefs.IsNotFound(err):
		s.Image.Ref = o.Image
	case err != nil:
		return s, e.explain("look at image "+o.Image, err)
	default:
		s.Image, s.ImagePresent = imageOf(o.Image, found), true
		s.ImageCreated, s.ImageSize = found.Created, found.Size
	}
	return s, nil
}

// HowToGet says how the image of the options comes to be there.
func HowToGet(o Options) string {
	o, err := o.complete()
	if err != nil {
		return err.Error()
	}
	return o.howToGet()
}
