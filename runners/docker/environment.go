package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// environment is a session's container with a supervisor in it.
type environment struct {
	*wire.Environment
	r    *Runner
	e    *Engine
	p    *plan
	id   string // of the container
	exec string // of the supervisor

	once   sync.Once
	closed error
	seen   seen
}

// reachTime bounds the wait for a supervisor to answer.
const reachTime = 30 * time.Second

// attach starts a supervisor in a container and greets it.
func (r *Runner) attach(ctx context.Context, e *Engine, p *plan, id string) (*environment, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	env := &environment{r: r, e: e, p: p, id: id}
	s, exec, err := e.exec(ctx, id, container.ExecOptions{
		User: "0:0", Cmd: []string{program}, WorkingDir: "/",
	})
	env.exec = exec
	if err != nil {
		return nil, e.unreached(ctx, p, id, exec, err, "")
	}
	var reached atomic.Bool
	o := r.wire(p)
	o.Explain = func(err error) error {
		if reached.Load() {
			return e.lost(p, id, err, s.said.Text())
		}
		return e.unreached(context.WithoutCancel(ctx), p, id, exec, err, s.said.Text())
	}
	if env.Environment, err = wire.Connect(ctx, s, o); err != nil {
		return nil, err
	}
	reached.Store(true)
	return env, nil
}

// wire are the options of the connection to the supervisor.
func (r *Runner) wire(p *plan) wire.Options {
	o := wire.Options{Settings: r.settings(p)}
	if prefix := strings.TrimSpace(r.o.Prefix); prefix != "" {
		o.Prefixed = func(text string, posix bool) string { return local.Prefixed(prefix, text, posix) }
	}
	return o
}

// settings are the supervisor's settings.
func (r *Runner) settings(p *plan) wire.Settings {
	s := wire.Settings{
		Workspace: p.spec.Layout.Workspace, Venv: r.o.Venv, Env: slices.Concat(p.image.Env, r.o.Given), Home: home, User: &p.user,
		Roots: append([]string{home, "/tmp", "/var/tmp"}, p.image.Writable...), NoSetID: true, NoUnixSockets: !r.o.UnixSockets,
	}
	for _, b := range p.binds {
		s.Roots = append(s.Roots, b.Target)
		if b.Write && r.o.Elevated {
			s.Reown = append(s.Reown, b.Target)
		}
	}
	return s
}

// unreached says why no supervisor answers in a container that was just started.
func (e *Engine) unreached(ctx context.Context, p *plan, id, exec string, err error, said string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if found, ierr := e.cli.ContainerInspect(ctx, id); errdefs.IsNotFound(ierr) || ierr == nil && !found.State.Running {
		how := "it is gone"
		if ierr == nil {
			how = fmt.Sprintf("it is %s, status %d %s", found.State.Status, found.State.ExitCode, found.State.Error)
		}
		return fmt.Errorf("reach the supervisor in container %s: %w (%s): %w", p.name, errGone, strings.TrimSpace(how), err)
	}
	code := 0
	if exec != "" {
		if x, xerr := e.cli.ContainerExecInspect(ctx, exec); xerr == nil && !x.Running {
			code = x.ExitCode
		}
	}
	text := err.Error() + " " + said
	mend := "run \"docker exec -i " + p.name + " " + program + " --version\" to see what it says"
	switch {
	case strings.Contains(text, "exec format error"):
		mend = fmt.Sprintf("the supervisor is built for another system: the engine needs one for %s/%s: name it under supervisor", p.image.OS, p.image.Arch)
	case strings.Contains(text, "neither bash nor sh"):
		mend = fmt.Sprintf("commands need bash or sh, and image %s has neither: use an image with a shell", p.image.Ref)
	case errors.Is(err, context.DeadlineExceeded):
		mend = "the container does not answer in time: is the machine overloaded, or the container's memory used up?"
	}
	return fmt.Errorf("reach the supervisor in container %s: %w (%s): %s", p.name, err, exitReason(said, code), mend)
}

// exitReason describes why a supervisor ended.
func exitReason(said string, code int) string {
	var known []string
	if code != 0 {
		known = append(known, fmt.Sprintf("exit status %d", code))
	}
	if said != "" {
		known = append(known, "it says: "+said)
	}
	if len(known) == 0 {
		return "it says nothing"
	}
	return strings.Join(known, ", ")
}

// lost says why the connection to a supervisor broke that had answered before.
func (e *Engine) lost(p *plan, id string, err error, said string) error {
	ctx, cancel := context.WithTimeout(context.Background(), engineTime)
	defer cancel()
	state := e.fate(ctx, id)
	if said != "" {
		state += "; the supervisor says: " + said
	}
	return fmt.Errorf("container %s: %w (%s): the next request opens it again", p.name, err, state)
}

// fateTime is how long the engine gets to notice that a container has ended: the stream breaks first.
const fateTime = 10 * time.Second

// fate describes the end of a container.
func (e *Engine) fate(ctx context.Context, id string) string {
	for deadline := time.Now().Add(fateTime); ; time.Sleep(50 * time.Millisecond) {
		found, err := e.cli.ContainerInspect(ctx, id)
		switch {
		case errdefs.IsNotFound(err):
			return "the container was removed"
		case err != nil:
			return "the engine does not answer"
		case found.State.OOMKilled && !found.State.Running:
			return "the container ran out of memory: raise docker.memory"
		case !found.State.Running:
			return fmt.Sprintf("the container was stopped, status %d", found.State.ExitCode)
		case found.State.Paused:
			return "the container was paused"
		case e.lives(ctx, found) || time.Now().After(deadline):
			return "the container runs on, the supervisor in it ended"
		}
	}
}

// lives reports whether the first process of a container lives. When it ends it is in no list from then on;
// the engine hears of it later.
func (e *Engine) lives(ctx context.Context, found container.InspectResponse) bool {
	top, err := e.cli.ContainerTop(ctx, found.ID, []string{"-o", "pid"})
	first := strconv.Itoa(found.State.Pid)
	return err == nil && slices.ContainsFunc(top.Processes, func(row []string) bool { return slices.Contains(row, first) })
}

// Shortcomings lists, for people, the promises that do not hold in this container.
func (v *environment) Shortcomings() []string {
	all := append(v.Environment.Shortcomings(), v.p.guarded.Notes...)
	if v.r.o.Elevated && !v.has("sudo") {
		all = append(all, fmt.Sprintf("image %s has no sudo, so that no command can use it: use %s, or begin your own with it (docs/images.md)", v.p.image.Ref, RuntimeSudoImage))
	}
	return all
}

// has reports whether a program of the system is there.
func (v *environment) has(name string) bool {
	return slices.ContainsFunc([]string{"/usr/bin", "/bin", "/usr/local/bin"}, func(dir string) bool {
		_, err := v.FS().Lstat(path.Join(dir, name))
		return err == nil
	})
}

// Layout adds the places of the container that commands can write to and that last no longer than it, and the
// operator's mounts besides the granted places: a mount is a grant.
func (v *environment) Layout(l facts.Layout) facts.Layout {
	return v.r.layout(v.p, l, v.Environment.Layout)
}

func (r *Runner) layout(p *plan, l facts.Layout, there func(facts.Layout) facts.Layout) facts.Layout {
	l.Roots = slices.Clone(l.Roots)
	for _, m := range r.o.Mounts {
		if !m.Given {
			l.Roots = append(l.Roots, facts.Root{Path: path.Clean(m.Target), Write: m.Write, Zone: "context"})
		}
	}
	l = there(l)
	l.Temporary = append(append(l.Temporary, home), p.image.Writable...)
	return l
}

// Close ends everything that runs, and removes the container unless it is kept or another sallyport is in it.
func (v *environment) Close() error {
	v.once.Do(func() { v.closed = errors.Join(v.Environment.Close(), v.remove()) })
	return v.closed
}

// Start begins a command. See wire.Environment.Start.
func (v *environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	p, err := v.Environment.Start(ctx, c)
	switch {
	case err != nil && strings.Contains(err.Error(), syscall.EAGAIN.Error()):
		err = fmt.Errorf("%w: as many processes run in the container as docker.pids allows: end some, or raise it", err)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: commands run as user %d:%d in the container: give that user the right, or name another under docker.user", err, v.p.user.UID, v.p.user.GID)
	}
	return p, err
}

// leave ends the supervisor, and waits until the engine knows.
func (v *environment) leave(ctx context.Context) {
	_ = v.Environment.Close()
	v.awaitEnd(context.WithoutCancel(ctx))
}

func (v *environment) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), engineTime)
	defer cancel()
	unlock, err := lock(ctx, v.r.o.State, v.p.name)
	if err != nil {
		return err
	}
	defer unlock()
	found, err := v.e.cli.ContainerInspect(ctx, v.id)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return v.e.explain("look for container "+v.p.name, err)
	}
	found.ExecIDs = slices.DeleteFunc(found.ExecIDs, func(id string) bool { return id == v.exec })
	used, err := v.e.inUse(ctx, found)
	if used {
		v.awaitEnd(ctx) // or the last one to leave would count us as present
	}
	if err != nil || used {
		return err
	}
	if v.p.keep { // its next start mounts the present files
		v.p.spec.Tell("stop", map[string]any{"container": v.p.name})
		return v.e.stop(ctx, v.id)
	}
	v.p.spec.Tell("remove", map[string]any{"container": v.p.name})
	return v.e.discard(ctx, v.id)
}

// awaitEnd waits until the engine knows that our supervisor has ended, so that nobody takes the container
// for one that is in use.
func (v *environment) awaitEnd(ctx context.Context) {
	for deadline := time.Now().Add(engineTime); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if x, err := v.e.cli.ContainerExecInspect(ctx, v.exec); err != nil || !x.Running {
			return
		}
	}
}

// Hardening describes the confinement of the container, as the engine reports it now.
func (v *environment) Hardening(ctx context.Context) ([]Check, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	found, err := v.e.cli.ContainerInspect(ctx, v.id)
	if err != nil {
		return nil, v.e.explain("look at container "+v.p.name, err)
	}
	return Checks(found, v.r.o), nil
}

// Made describes the environment, for its operator.
func (v *environment) Made() map[string]any {
	o, shown := v.r.o, make([]string, len(v.p.binds))
	for i, b := range v.p.binds {
		shown[i] = b.Target + " " + b.Access()
	}
	return map[string]any{
		"container": v.p.name, "container_id": short(v.id), "image": v.p.image.Ref, "image_id": v.p.image.ID,
		"user": fmt.Sprintf("%d:%d", v.p.user.UID, v.p.user.GID), "mounts": shown, "network": o.Network,
		"memory": o.Memory, "cpus": o.CPUs, "pids": o.PIDs, "runtime": defaultTo(o.Runtime, "default"),
		"read_only": !o.Writable, "keep": o.Keep, "env": names(o.Given),
	}
}

// names are those of variables, without their values.
func names(environ []string) []string {
	out := make([]string, len(environ))
	for i, kv := range environ {
		out[i], _, _ = strings.Cut(kv, "=")
	}
	return out
}
