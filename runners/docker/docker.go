// Package docker runs commands in containers of a Docker engine: the runners docker and docker-sudo.
//
// One container lasts as long as a session of an agent in a workspace. Its first process is
// sallyport-supervisor, which only idles and reaps; commands are started by a second supervisor, a
// process of the container's root that may only change its user and end its own commands. Its input and
// output carry the protocol of package wire:
//
//	engine.Gate ─▶ wire.Environment ══ hijacked exec of the engine's API ══ sallyport-supervisor ─▶ command
//	                                                                        root, 3 capabilities     the user, none
//
// The container is made from the same grants that policies judge by (package mounts turns them into
// mounts at the same paths), without capabilities, devices or network unless the operator says
// otherwise; Checks tells from the engine's own description whether that came true.
//
// It judges no command. It does not build images from files of an agent, and the agent has no
// parameter that reaches it. It touches no container, volume or image that does not carry its labels.
package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-units"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Options configure a Runner. The zero value of a field is its default.
type Options struct {
	Elevated bool // docker-sudo: commands that were judged to may use sudo inside

	// The engine.
	Host    string   // its address; "" for $DOCKER_HOST, else the context in use, else the engine's default
	Environ []string // NAME=value, where DOCKER_* is looked for
	Home    string   // holds .docker with its contexts

	// The container's image.
	Image      string // "" for the image of this release
	Pull       string // "missing": an absent image is pulled; else never
	Supervisor string // file of the supervisor's program for the engine's system
	Copy       bool   // it is copied into a volume: the engine does not see our files
	Mount      bool   // it is mounted, regardless of Copy and the engine's address
	Runtime    string // one of the engine's runtimes, such as runsc; "" for its default

	// The container's confinement.
	User      string // "uid" or "uid:gid"; "" for the owner of the workspace
	Network   string // none, bridge or host; "" for none
	Memory    int64  // bytes, swap included; 0 for no limit
	CPUs      float64
	PIDs      int64 // processes and threads; 0 for 512
	Files     int64 // open files of a process; 0 for 4096
	FileSize  int64 // bytes of a file that is written; 0 for no limit
	Temporary int64 // bytes of /tmp; 0 for 1 GiB; at most a sixth of Memory
	Writable  bool  // the root file system can be written to; with Elevated it always can
	Mounts    []Mount
	// UnixSockets lets commands use sockets of the file system, by which they reach every listener in granted
	// places.
	UnixSockets bool
	// Programs has engine.Command.MayStart asked. Elevated commands are not asked about.
	Programs bool
	Packages Packages
	Undo     undo.Options // where the files are kept that commands change
	Keep     bool         // the container stays when the session ends
	State    string       // state directory of sallyport; it identifies our containers

	// The environment of commands.
	Venv, Prefix string
	Given        []string // variables of every command, NAME=value
}

// Mount is a mount besides the granted places.
type Mount struct {
	Source, Target string
	Write          bool
	Given          bool // named by its kind, as a credential: the guard lets it pass
}

// Runner opens environments in containers.
type Runner struct {
	o Options

	report  Report          // told of installations
	life    context.Context // of installations; see Close
	end     func()
	working sync.WaitGroup

	tried atomic.Pointer[facts.Confinement] // of the last environment; nil before

	mu           sync.Mutex
	e            *Engine // nil until it is first used
	preparations map[string]*preparation
}

var _ engine.Looker = (*Runner)(nil)

// Images of this release.
const (
	RuntimeImage     = "sallyport/runtime:latest"
	RuntimeSudoImage = "sallyport/runtime-sudo:latest"
)

// New makes a runner. It looks at nothing and asks the engine nothing.
func New(o Options) (*Runner, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := &Runner{o: o, preparations: map[string]*preparation{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// complete fills in defaults.
func (o Options) complete() (Options, error) {
	set := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	number := func(n *int64, v int64) {
		if *n == 0 {
			*n = v
		}
	}
	set(&o.Network, "none")
	set(&o.Pull, "never")
	if o.Elevated {
		set(&o.Image, RuntimeSudoImage)
		o.Writable = true // sudo is there to install packages
	}
	set(&o.Image, RuntimeImage)
	number(&o.PIDs, 512)
	number(&o.Files, 4096)
	number(&o.Temporary, 1<<30)
	switch o.Network {
	case "none", "bridge", "host":
	default:
		return o, fmt.Errorf("open runner %s: network %q: use none, bridge or host", o.name(), o.Network)
	}
	if o.Pull != "never" && o.Pull != "missing" {
		return o, fmt.Errorf("open runner %s: pull %q: use never or missing", o.name(), o.Pull)
	}
	if strings.TrimSpace(o.Prefix) != "" {
		o.Venv = "none" // a prefix sets up its own
	}
	set(&o.Venv, "auto")
	return o, nil
}

// name is that of the runner.
func (o Options) name() string {
	if o.Elevated {
		return "docker-sudo"
	}
	return "docker"
}

// Describe tells policies about the container that Open makes, with the results of the last trial in it.
func (r *Runner) Describe() facts.Runner {
	d := facts.Runner{Name: r.o.name(), Isolation: "container", Network: r.o.Network, Elevated: r.o.Elevated}
	if tried := r.tried.Load(); tried != nil {
		d.Confinement = *tried
	}
	return d
}

// connected returns the engine, connecting when there is no connection that works.
func (r *Runner) connected(ctx context.Context) (*Engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.e != nil {
		if r.e.ping(ctx) == nil {
			return r.e, nil
		}
		_ = r.e.Close()
		r.e = nil
	}
	e, err := Connect(ctx, r.o)
	if err != nil {
		return nil, err
	}
	r.e = e
	return e, nil
}

// attempts is how often a container is looked for anew that went away while it was reached.
const attempts = 3

// Open finds or makes the container of a session and starts a supervisor in it.
func (r *Runner) Open(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open environment: %w", err)
	}
	e, err := r.connected(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, r.o.State, r.NameOf(spec))
	if err != nil {
		return nil, err
	}
	defer unlock()
	env, err := r.open(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	tried, err := env.try(ctx)
	if err != nil {
		return nil, errors.Join(err, env.Environment.Close())
	}
	r.tried.Store(&tried)
	return env, nil
}

// open tries until a container stays for long enough to be entered.
func (r *Runner) open(ctx context.Context, e *Engine, spec engine.EnvironmentSpec) (*environment, error) {
	p, err := r.plan(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	e.sweep(ctx, p)
	for n := 1; ; n++ {
		env, err := r.enter(ctx, e, p)
		if err == nil {
			return env, nil
		}
		if n == attempts || !errors.Is(err, errGone) {
			return nil, err
		}
	}
}

// enter is one attempt: start the container, then the supervisor in it, then compare its view with the plan.
func (r *Runner) enter(ctx context.Context, e *Engine, p *plan) (*environment, error) {
	id, made, err := e.container(ctx, p)
	if err != nil {
		return nil, err
	}
	env, err := r.attach(ctx, e, p, id)
	if err == nil {
		err = env.verify()
	}
	if err != nil && env != nil && !made { // a mount's source was replaced since: starting mounts anew
		env.leave(ctx)
		if env, err = r.restart(ctx, e, p, id, err); err == nil {
			err = env.verify()
		}
	}
	if err == nil {
		return env, nil
	}
	if env != nil {
		env.leave(ctx)
	}
	if made {
		_ = e.discard(context.WithoutCancel(ctx), id) // an unusable container serves no session
	}
	return nil, err
}

// restart stops and starts a container that nobody else is in, and enters it again.
func (r *Runner) restart(ctx context.Context, e *Engine, p *plan, id string, why error) (*environment,
	error) {
	found, err := e.cli.ContainerInspect(ctx, id)
	if err != nil {
		return nil, e.explain("look at container "+p.name, err)
	}
	switch used, err := e.inUse(ctx, found); {
	case err != nil:
		return nil, err
	case used:
		return nil, fmt.Errorf("%w: another sallyport is in the container: end that one, or use another session",
			why)
	}
	p.spec.Tell("restart", map[string]any{"container": p.name, "why": why.Error()})
	if err := e.stop(ctx, id); err != nil {
		return nil, err
	}
	if err := e.start(ctx, id); err != nil {
		return nil, err
	}
	return r.attach(ctx, e, p, id)
}

// config describes the process of the container: a supervisor that only idles. Nothing of the image's own
// starts.
func (o Options) config(p *plan) *container.Config {
	return &container.Config{
		Image:      p.image.ID, // and not its name, which may mean another one by now
		Hostname:   "sallyport",
		User:       "0:0", // of the supervisors; see capabilities
		Entrypoint: strslice.StrSlice{program, "--init"},
		Cmd:        strslice.StrSlice{},
		WorkingDir: "/",
		Env:        []string{"HOME=" + home},
		StopSignal: "SIGTERM",
		Healthcheck: &container.HealthConfig{
			Test: []string{"NONE"}, // the image's own would run beside judged commands
		},
	}
}

// capabilities are those of the supervisor: to become the user of a command, and to end that user's
// processes. Commands have none of them, since they run as another user. With sudo they cover the needs of
// package managers inside the container, and nothing that reaches out of it.
func (o Options) capabilities() []string {
	caps := []string{"KILL", "SETGID", "SETUID"}
	if o.Elevated {
		caps = append(caps, "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SYS_CHROOT")
	}
	slices.Sort(caps)
	return caps
}

// userProcesses limits the processes of a user in all containers of Podman; PIDs limits those of one.
const userProcesses = 16384

// hostConfig confines the container.
func (o Options) hostConfig(p *plan) *container.HostConfig {
	limit := func(name string, n int64) *container.Ulimit {
		return &units.Ulimit{Name: name, Soft: n,
			Hard: n}
	}
	h := &container.HostConfig{
		NetworkMode:    container.NetworkMode(o.Network),
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:      container.LogConfig{Type: "none"}, // output is kept and recorded by sallyport
		CapDrop:        strslice.StrSlice{"ALL"},
		CapAdd:         o.capabilities(),
		IpcMode:        container.IPCModePrivate,
		ReadonlyRootfs: !o.Writable,
		Runtime:        o.Runtime,
		Tmpfs:          map[string]string{},
		ShmSize:        o.inMemory(64<<20, 8),
		Resources: container.Resources{
			Memory:     o.Memory,
			MemorySwap: o.Memory, // none beyond it
			NanoCPUs:   int64(o.CPUs * 1e9),
			PidsLimit:  &o.PIDs,
			Ulimits:    []*container.Ulimit{limit("nofile", o.Files), limit("core", 0)},
		},
	}
	if p.podman { // by itself it demands more than a host with fewer rights may grant
		h.Ulimits = append(h.Ulimits, limit("nproc", max(userProcesses, o.PIDs)))
	}
	if !o.Elevated {
		h.SecurityOpt = append(h.SecurityOpt, "no-new-privileges")
	}
	if p.profile != "" {
		h.SecurityOpt = append(h.SecurityOpt, "seccomp="+p.profile)
	}
	if o.FileSize > 0 {
		h.Ulimits = append(h.Ulimits, limit("fsize", o.FileSize))
	}
	o.writable(p, h)
	for _, b := range p.binds {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeBind, Source: b.Source, Target: b.Target, ReadOnly: !b.Write,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		})
	}
	h.Mounts = append(append(h.Mounts, p.accounts.mounts()...), p.delivery.mount())
	return h
}

// writable adds the places that commands can write to in any environment: /tmp in memory, and the home and
// the image's other volumes, which the engine fills from the image and which go with the container.
func (o Options) writable(p *plan, h *container.HostConfig) {
	size := fmt.Sprintf("size=%d", o.inMemory(o.Temporary, 6)) // of up to three
	h.Tmpfs["/tmp"] = "rw,nosuid,nodev,exec,mode=1777," + size
	if !o.Writable {
		h.Tmpfs["/var/tmp"] = "rw,nosuid,nodev,exec,mode=1777," + size
		h.Tmpfs["/run"] = "rw,nosuid,nodev,noexec,mode=0755,size=" + fmt.Sprint(16<<20)
	}
	volumes := p.image.Writable
	if !slices.Contains(volumes, home) {
		owner := fmt.Sprintf("mode=0700,uid=%d,gid=%d", p.user.UID, p.user.GID)
		if p.podman { // it knows no owner
			owner = "mode=1777"
		}
		h.Tmpfs[home] = "rw,nosuid,nodev,exec," + owner + "," + size
	}
	for _, dir := range volumes {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeVolume, Target: dir,
			// prune knows it by that when somebody else removed its container
			VolumeOptions: &mount.VolumeOptions{Labels: map[string]string{labelState: p.stateID}},
		})
	}
}

// inMemory bounds a place in memory at a part of the limit: a full place must leave memory to commands.
func (o Options) inMemory(size, part int64) int64 {
	if o.Memory > 0 {
		return min(size, o.Memory/part)
	}
	return size
}
