//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/canary"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// open makes a sandbox for an environment and tries it.
func open(ctx context.Context, o Options, spec engine.EnvironmentSpec,
	notice func(string)) (engine.Environment, error) {
	env, err := confine(ctx, o, spec, notice)
	if err == nil {
		return env, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	if short := passes(err); short != nil {
		return nil, short
	}
	if errors.Is(err, errUnavailable) {
		return nil, err
	}
	// The availability of sandboxes must not depend on files in the workspace, where commands write: else
	// they could disable it. So the trial shows nothing of the workspace.
	spec.Layout.Roots, spec.Layout.Self, spec.Layout.Workspace = nil, nil, ""
	empty, failed := confine(ctx, o, spec, notice)
	if failed != nil {
		if short := passes(failed); short != nil {
			return nil, short
		}
		return nil, fmt.Errorf("%w: %w", errUnavailable, failed)
	}
	return nil, errors.Join(err, empty.Close())
}

// Environment is a sandbox.
type Environment struct {
	*box
	o       Options
	notice  func(string)
	roots   []facts.Root // their real paths
	spec    engine.EnvironmentSpec
	guarded mounts.Protection
	group   *group
	loose   []string // unbounded resources, for people
	store   *undo.Store
	tried   facts.Confinement

	tidy sync.Once
}

var _ engine.Remote = (*Environment)(nil)

// plan determines the view of a sandbox.
func plan(o Options, spec engine.EnvironmentSpec, notice func(string)) (*Environment, *view, error) {
	resolved, err := mounts.Resolve(spec.Layout.Roots)
	if err != nil {
		return nil, nil, fmt.Errorf("start sandbox: %w", err)
	}
	roots := moved(spec.Layout.Roots, resolved)
	if err := o.locate(roots); err != nil {
		return nil, nil, err
	}
	if o.onlyLook { // from here on: where commands write elsewhere, programs of ours are not looked for all the same
		spec.Layout.Roots = slices.Clone(spec.Layout.Roots)
		for i := range spec.Layout.Roots {
			spec.Layout.Roots[i].Write, roots[i].Write = false, false
		}
	}
	e := &Environment{o: o, notice: notice, spec: spec, roots: roots}
	v := &view{}
	v.base(o.host(spec))
	v.copies(o.Copies)
	for at, text := range o.Files {
		v.add(mount{kind: content, at: at, data: []byte(text)})
	}
	v.venv(o.Venv, e.roots)
	return e, v, v.grant(spec.Layout.Roots, resolved)
}

// confine makes a sandbox.
func confine(ctx context.Context, o Options, spec engine.EnvironmentSpec, notice func(string)) (*Environment,
	error) {
	e, v, err := plan(o, spec, notice)
	if err != nil {
		return nil, err
	}
	o, spec = e.o, e.spec
	e.bound(v)
	e.foreign()
	err = e.protect(v)
	if err == nil {
		err = e.mask(v)
	}
	var t *canary.Ground
	if err == nil {
		if t, err = prepare(v, o); err == nil {
			defer t.Remove()
		}
	}
	if err == nil {
		e.keep(v)
		e.box, err = start(ctx, o, v, spec.Layout.Workspace, e.store)
	}
	if err != nil {
		e.group.remove()
		e.store.Close()
		return nil, err
	}
	go func() { // also when it ends unasked: no caller closes a broken one
		<-e.program.Done()
		e.cleanUp()
	}()
	err = e.verify(v)
	if err == nil {
		err = e.limit()
	}
	if err == nil {
		err = e.try(ctx, t)
	}
	if err == nil {
		err = e.watch(v)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// moved returns roots at their real paths, with the protected places in them.
func moved(roots []facts.Root, resolved map[string]mounts.Place) []facts.Root {
	out := slices.Clone(roots)
	for i, r := range roots {
		real := resolved[r.Path].Path
		out[i].Path, out[i].Protected = real, nil
		for _, p := range r.Protected {
			if within(p, r.Path) {
				p = real + p[len(r.Path):]
			}
			out[i].Protected = append(out[i].Protected, p)
		}
	}
	return out
}

// protect puts the protected places on top of the granted places.
func (e *Environment) protect(v *view) error {
	self := e.spec.Layout.Self
	if e.o.State != "" {
		self = append(slices.Clone(self), facts.Place{Path: e.o.State})
	}
	self = append(slices.Clone(self), facts.Place{Path: e.o.Supervisor})
	var err error
	if e.guarded, err = mounts.Protect(e.roots, e.spec.Layout.Home, self); err != nil {
		return fmt.Errorf("start sandbox: %w", err)
	}
	for _, g := range e.guarded.Guarded {
		v.bind(g.Path, g.Write)
	}
	return nil
}

// keep makes the store of the files that commands change.
func (e *Environment) keep(v *view) {
	if e.o.Undo.Dir == "" || e.o.onlyLook || len(v.watched()) == 0 {
		return
	}
	s := undo.Session{Runner: "local", Workspace: e.spec.Layout.Workspace, Roots: v.watched()}
	for _, g := range e.guarded.Guarded {
		if !g.Write {
			s.ReadOnly = append(s.ReadOnly, g.Path)
		}
	}
	var err error
	if e.store, err = undo.Begin(e.o.Undo, s); err != nil {
		const text = "changes of files cannot be taken back by sallyport env undo (%v)"
		e.loose = append(e.loose, fmt.Sprintf(text, err))
	}
}

// bound makes a control group, where that can be done. Elsewhere only the limits of processes hold.
func (e *Environment) bound(v *view) {
	if e.group = (&group{}); e.o.onlyLook {
		return // nothing runs that would need bounds
	}
	memory := e.o.Memory
	if memory == 0 {
		memory = mostMemory()
	}
	var err error
	e.group, err = newGroup(e.o.PIDs, memory)
	e.unbounded(err)
	for _, m := range e.group.shown {
		v.add(m)
	}
}

// joinGroup puts the supervisor into the control group. No command has been started yet.
func (e *Environment) joinGroup() {
	if err := e.group.join(e.init); err != nil {
		e.group.pids, e.group.memory = false, false
		e.unbounded(err)
	}
}

// foreign notes places that root's commands cannot write to: in the sandbox root has no rights over files of
// others.
func (e *Environment) foreign() {
	for _, r := range e.roots {
		var st unix.Stat_t
		if os.Getuid() != 0 || !r.Write || unix.Stat(r.Path, &st) != nil {
			continue
		}
		if st.Uid != 0 && st.Mode&0o002 == 0 {
			const text = "commands cannot write to %s: it belongs to user %d, and root has no rights " +
				"over it in the sandbox: run sallyport as that user"
			e.loose = append(e.loose, fmt.Sprintf(text, r.Path, st.Uid))
			if !e.o.onlyLook {
				e.notice(e.loose[len(e.loose)-1]) // their own error would be a riddle
			}
		}
	}
}

// unbounded notes the resources that are unbounded for want of a control group.
func (e *Environment) unbounded(why error) {
	if why == nil {
		return
	}
	said := strings.ReplaceAll(why.Error(), "\n", "; ")
	const mend = "run sallyport where one is delegated, as in a unit of systemd with Delegate=yes"
	if !e.group.memory {
		e.loose = append(
			e.loose, fmt.Sprintf("the memory of commands is not bounded, since no control group can be made (%s): %s",
				said, mend))
	}
	if !e.group.pids && os.Getuid() == 0 {
		e.loose = append(
			e.loose, fmt.Sprintf(
				"the number of processes is not bounded, since the limit of a user does not hold for root and no "+
					"control group can be made (%s): %s", said, mend))
	}
}

// Shortcomings lists, for people, the promises that the sandbox does not keep.
func (e *Environment) Shortcomings() []string {
	all := slices.Concat(e.box.Shortcomings(), e.guarded.Notes, e.loose)
	if e.o.UnixSockets {
		all = append(all,
			"commands may make sockets of AF_UNIX: with the network of the host they reach what listens on "+
				"abstract ones")
	}
	return all
}

// confinement has the results of the trial.
func (e *Environment) confinement() facts.Confinement { return e.tried }

// Made describes the sandbox.
func (e *Environment) Made() map[string]any {
	writable := []string{}
	for _, r := range e.roots {
		if r.Write {
			writable = append(writable, r.Path)
		}
	}
	return map[string]any{
		"sandbox": "bubblewrap", "network": e.o.Network, "supervisor": e.o.Supervisor, "pid": e.init,
		"limits":   map[string]any{"pids": e.o.PIDs, "group_pids": e.group.pids, "group_memory": e.group.memory},
		"writable": writable, "repositories": len(e.guarded.Repositories), "unix_sockets": e.o.UnixSockets,
	}
}

// Close ends everything in the sandbox and removes its files on the host.
func (e *Environment) Close() error {
	err := e.box.Close()
	<-e.program.Done()
	e.cleanUp()
	return err
}

// cleanUp removes the control group, and closes the root and the store of changed files.
func (e *Environment) cleanUp() {
	e.tidy.Do(func() {
		e.near.close()
		e.group.remove()
		e.store.Close()
	})
}

// host is the part of the host that the base of the view is made from.
func (o Options) host(spec engine.EnvironmentSpec) host {
	name := valueOf(o.Environ, "USER")
	if u, err := user.Current(); err == nil {
		name = u.Username // by the system, not by a variable
	}
	return host{
		home: spec.Layout.Home, temp: valueOf(o.Environ, "TMPDIR"), user: name,
		uid: os.Getuid(), gid: os.Getgid(), network: o.Network == "host", scratch: o.Scratch,
	}
}
