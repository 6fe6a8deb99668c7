package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
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
	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/undo"
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
	near bool   // the engine is of this machine

	store *undo.Store // of changed files; nil for none

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
	if env.store, err = r.store(p, &o); err == nil {
		env.Environment, err = wire.Connect(ctx, s, o)
	}
	if err != nil {
		env.store.Close()
		return nil, err
	}
	reached.Store(true)
	return env, nil
}

// wire are the options of the connection to the supervisor.
func (r *Runner) wire(p *plan) wire.Options {
	o := wire.Options{Settings: r.settings(p), EndMargin: endMargin}
	if prefix := strings.TrimSpace(r.o.Prefix); prefix != "" {
		o.Prefixed = func(text string, posix bool) string { return local.Prefixed(prefix, text, posix) }
	}
	return o
}

// settings are the supervisor's settings.
func (r *Runner) settings(p *plan) wire.Settings {
	s := wire.Settings{
		Workspace: p.spec.Layout.Workspace, Venv: r.o.Venv, Env: slices.Concat(p.image.Env, r.o.Given), Home: home,
		User:  &p.user,
		Roots: append([]string{home, "/tmp", "/var/tmp"}, p.image.Writable...), NoSetID: true,
		NoUnixSockets: !r.o.UnixSockets,
		Programs:      r.o.Programs,
	}
	for _, b := range p.binds {
		s.Roots = append(s.Roots, b.Target)
		if b.Write && r.o.Elevated {
			s.Reown = append(s.Reown, b.Target)
		}
		if b.Write && b.Source == b.Target { // policies judge the name that it has on this machine
			s.Watched = append(s.Watched, b.Target)
		}
	}
	return s
}

// unreached says why no supervisor answers in a container that was just started.
func (e *Engine) unreached(ctx context.Context, p *plan, id, exec string, err error, said string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if found, ierr := e.cli.ContainerInspect(ctx, id); errdefs.IsNotFound(ierr) || ierr == nil &&
		!found.State.Running {
		how := "it is gone"
		if ierr == nil {
			how = fmt.Sprintf("it is %s, status %d %s", found.State.Status, found.State.ExitCode, found.State.Error)
		}
		return fmt.Errorf("reach the supervisor in container %s: %w (%s): %w", p.name, errGone,
			strings.TrimSpace(how), err)
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
		mend = fmt.Sprintf(
			"the supervisor is built for another system: the engine needs one for %s/%s: name it under supervisor",
			p.image.OS, p.image.Arch)
	case strings.Contains(text, "neither bash nor sh"):
		mend = fmt.Sprintf("commands need bash or sh, and image %s has neither: use an image with a shell",
			p.image.Ref)
	case errors.Is(err, context.DeadlineExceeded):
		mend = "the container does not answer in time: is the machine overloaded, or the container's memory " +
			"used up?"
	}
	return fmt.Errorf("reach the supervisor in container %s: %w (%s): %s", p.name, err, exitReason(said, code),
		mend)
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
	ctx, cancel := context.WithTimeout(context.Background(), lostTime)
	defer cancel()
	state := e.fate(ctx, id)
	if state == runsOn && errors.Is(err, wire.ErrSilent) {
		state = e.kill(ctx, id)
		p.spec.Tell("kill", map[string]any{"container": p.name, "result": state})
	}
	if said != "" {
		state += "; the supervisor says: " + said
	}
	return fmt.Errorf("container %s: %w (%s): the next request opens it again", p.name, err, state)
}

const (
	// lostTime bounds the questions to the engine about a lost connection.
	lostTime = 15 * time.Second
	// fateTime is how long the engine gets to notice that a container has ended: the stream breaks first.
	fateTime = 10 * time.Second
	// endMargin is the time past its limit within which the end of a command must be told. After it the
	// engine kills the container.
	endMargin = 10 * time.Second
	// runsOn is the fate of a container that lives.
	runsOn = "the container runs on, the supervisor in it ended"
)

// kill has the kernel end everything in a container, by the end of its first process, and says how that went.
func (e *Engine) kill(ctx context.Context, id string) string {
	err := e.cli.ContainerKill(ctx, id, "SIGKILL")
	for running := true; running && err == nil; time.Sleep(20 * time.Millisecond) {
		var found container.InspectResponse
		found, err = e.cli.ContainerInspect(ctx, id)
		running = err == nil && found.State.Running
	}
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // it has ended by itself
		return fmt.Sprintf("the container runs on and cannot be killed: %v", err)
	}
	return "the container was killed, and all its processes with it"
}

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
			return runsOn
		}
	}
}

// lives reports whether the first process of a container lives. When it ends it is in no list from then on;
// the engine hears of it later.
func (e *Engine) lives(ctx context.Context, found container.InspectResponse) bool {
	top, err := e.cli.ContainerTop(ctx, found.ID, []string{"-o", "pid"})
	first := strconv.Itoa(found.State.Pid)
	return err == nil && slices.ContainsFunc(top.Processes,
		func(row []string) bool { return slices.Contains(row, first) })
}

// Shortcomings lists, for people, the promises that do not hold in this container.
func (v *environment) Shortcomings() []string {
	all := append(v.Environment.Shortcomings(), v.p.guarded.Notes...)
	if v.r.o.Elevated && !v.has("sudo") {
		all = append(
			all, fmt.Sprintf(
				"image %s has no sudo, so that no command can use it: use %s, or begin your own with it (docs/images.md)",
				v.p.image.Ref, RuntimeSudoImage))
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
	v.once.Do(func() {
		v.closed = errors.Join(v.Environment.Close(), v.remove())
		v.store.Close()
	})
	return v.closed
}

// Start begins a command. See wire.Environment.Start.
func (v *environment) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	p, err := v.Environment.Start(ctx, c)
	switch {
	case err != nil && strings.Contains(err.Error(), syscall.EAGAIN.Error()):
		err = fmt.Errorf("%w: as many processes run in the container as docker.pids allows: end some, or raise it",
			err)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf(
			"%w: commands run as user %d:%d in the container: give that user the right, or name another under "+
				"docker.user", err, v.p.user.UID, v.p.user.GID)
	}
	return p, err
}

// leave ends the supervisor, and waits until the engine knows.
func (v *environment) leave(ctx context.Context) {
	_ = v.Environment.Close()
	v.store.Close()
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
	if v.p.keeps { // its next start mounts the present files
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
func (r *Runner) prepared(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount,
	spec engine.EnvironmentSpec) (Image, error) {
	if len(r.o.Packages.steps()) == 0 {
		return from, nil
	}
	p := r.preparing(e, from, u, binds)
	select {
	case <-p.done:
	case <-ctx.Done():
		return Image{}, fmt.Errorf("wait until the packages are installed: %w (it goes on as long as "+
			"this sallyport runs; \"sallyport image prepare\" does it ahead of a session)", ctx.Err())
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
func (r *Runner) prepare(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount,
	p *preparation) error {
	p.image = from
	for _, s := range r.o.Packages.steps() {
		began := time.Now()
		next, found, err := r.installed(ctx, e, p.image, u, binds, s)
		took := time.Since(began).Seconds()
		event := map[string]any{"kind": s.kind, "packages": s.names, "from": p.image.ID, "seconds": took,
			"found": found}
		p.events = append(p.events, event)
		if err != nil {
			event["error"] = err.Error()
			r.report.step("%s packages could not be installed", s.kind)
			if !r.o.Packages.Continue || ctx.Err() != nil {
				return fmt.Errorf("install %s packages: %w: fix docker.packages.%s, or set "+
					"docker.packages.on_failure to continue without them", s.kind, err, s.kind)
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
func (r *Runner) installed(ctx context.Context, e *Engine, from Image, u wire.User, binds []mounts.Mount,
	s step) (_ Image, found bool, err error) {
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
	ctx, cancel := context.WithTimeoutCause(ctx, installTime,
		fmt.Errorf("it takes longer than %v", installTime))
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
	// masked sources do not exist
	there := slices.DeleteFunc(v.binds, func(b mounts.Mount) bool { return !exists(b.Source) })
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

// preparedLabels are those of an image with packages. The labels of the container that it was made in would
// be the image's too, and those of every container that anybody makes from it: they are emptied, so that
// none of these is taken for ours.
func preparedLabels(s step, key string) map[string]string {
	labels := map[string]string{images.Label: "prepared",
		labelPackages: s.kind + ": " + strings.Join(s.names, " ")}
	for _, name := range []string{
		labelState, labelRunner, labelAgent, labelSession, labelWorkspace, labelPID, labelStarted,
		labelMachine, labelKeep, labelMade,
	} {
		labels[name] = ""
	}
	labels[labelSpec] = key
	return labels
}
