package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

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
		State: c.State, Created: time.Unix(c.Created, 0), Kept: c.Labels[labelKeep] == "true",
		Dead: ownerOf(c.Labels).dead(),
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

// Labels of our containers.
const (
	labelState     = "dev.sallyport.state"     // hash of the state directory: the owner of the container
	labelRunner    = "dev.sallyport.runner"    // docker or docker-sudo
	labelAgent     = "dev.sallyport.agent"     // its agent
	labelSession   = "dev.sallyport.session"   // for which session
	labelWorkspace = "dev.sallyport.workspace" // and where
	labelSpec      = "dev.sallyport.spec"      // digest of its specification
	labelPID       = "dev.sallyport.pid"       // of the sallyport that made it
	labelStarted   = "dev.sallyport.started"   // when that started, as its machine counts
	labelMachine   = "dev.sallyport.machine"   // on which machine
	labelKeep      = "dev.sallyport.keep"      // "true": it stays
	labelMade      = "dev.sallyport.made"      // places that were made to be mounted on, as JSON
	labelPackages  = "dev.sallyport.packages"  // of a prepared image: the packages installed in it
	// labelWritable is one of images: directories, separated by blanks, that any user may write to.
	labelWritable = "dev.sallyport.writable"
)

// digest is a short hash of identifying values, for names and labels.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// digestOf is the digest of a value by its JSON.
func digestOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return digest(string(text)), nil
}

// containerName makes a name that the engine takes and people can tell apart.
func containerName(runner, state, workspace, agent, session string) string {
	parts := []string{"sallyport"}
	for _, p := range []string{agent, session} {
		if p = clean(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(append(parts, digest(runner, state, workspace, agent, session)), "-")
}

// clean keeps the characters of a text that are valid in the name of a container.
func clean(s string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.':
			return r
		default:
			return '-'
		}
	}, s)
	return strings.Trim(kept[:min(len(kept), 40)], "-.")
}

// ours lists the containers of the state directory.
func (e *Engine) ours(ctx context.Context) ([]container.Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	all, err := e.cli.ContainerList(ctx, container.ListOptions{
		All: true, Filters: stateFilter(e.state),
	})
	if err != nil {
		return nil, e.explain("list containers", err)
	}
	return all, nil
}

// stateFilter finds the objects of a state directory.
func stateFilter(state string) filters.Args {
	return filters.NewArgs(filters.Arg("label", labelState+"="+state))
}

// sweep removes the remains of sessions of dead sallyport processes. It is best effort: the rest is removed
// the next time.
func (e *Engine) sweep(ctx context.Context, p *plan) {
	all, err := e.ours(ctx)
	if err != nil {
		return
	}
	for _, c := range all {
		name := nameOf(c)
		if name == p.name || !orphan(c) {
			continue
		}
		if removed, _ := e.sweepOne(ctx, p.state, c); removed {
			p.spec.Tell("sweep", map[string]any{"container": name, "agent": c.Labels[labelAgent],
				"session": c.Labels[labelSession]})
		}
	}
}

// orphan reports whether the session of a container has ended without a word.
func orphan(c container.Summary) bool {
	return c.Labels[labelKeep] != "true" && ownerOf(c.Labels).dead()
}

// nameOf is the name of a container in a list.
func nameOf(c container.Summary) string {
	if len(c.Names) == 0 {
		return short(c.ID)
	}
	return c.Names[0][1:]
}

// sweepOne removes the container of a dead session, if nobody is in it or about to enter it.
func (e *Engine) sweepOne(ctx context.Context, state string, c container.Summary) (removed bool, err error) {
	unlock, err := tryLock(state, nameOf(c))
	if err != nil || unlock == nil {
		return false, err
	}
	defer unlock()
	found, err := e.cli.ContainerInspect(ctx, c.ID)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, e.explain("look at container "+nameOf(c), err)
	}
	if used, err := e.inUse(ctx, found); err != nil || used {
		return false, err
	}
	err = e.discard(ctx, c.ID)
	return err == nil, err
}
