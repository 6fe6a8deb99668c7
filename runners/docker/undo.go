package docker

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sallyport-dev/sallyport/runners/undo"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// keptAt is where a container has the stores of changed files. Only root may enter the directory around it,
// and commands run as another user.
const keptAt = "/run/sallyport/kept"

// keepable reports whether changed files can be kept: on a mount that the supervisor writes and commands do
// not.
func (o Options) keepable(e *Engine) bool {
	return o.Undo.Dir != "" && !o.Elevated && runtime.GOOS == "linux" && e.at.local()
}

// keep mounts the place for the stores of changed files.
func (p *plan) keep(o Options, h *container.HostConfig) error {
	p.kept = filepath.Join(o.Undo.Dir+"-shared", p.name)
	if err := os.MkdirAll(p.kept, 0o700); err != nil {
		return fmt.Errorf("make the store of changed files: %w", err)
	}
	// Root in the container is nobody here: the directories around it keep others out.
	if err := os.Chmod(p.kept, 0o711); err != nil {
		return fmt.Errorf("make the store of changed files: %w", err)
	}
	h.Tmpfs[path.Dir(keptAt)] = "rw,nosuid,nodev,noexec,mode=0700,size=65536"
	h.Mounts = append(h.Mounts, mount.Mount{
		Type: mount.TypeBind, Source: p.kept, Target: keptAt,
		BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
	})
	return nil
}

// store begins the store of changed files, and has the supervisor use it; nil for none.
func (r *Runner) store(p *plan, o *wire.Options) (*undo.Store, error) {
	if p.kept == "" || len(o.Watched) == 0 {
		return nil, nil
	}
	s := undo.Session{
		Runner: r.o.name(), Workspace: p.spec.Layout.Workspace, Roots: o.Watched, Shared: p.kept,
	}
	for _, b := range p.binds {
		if !b.Write {
			s.ReadOnly = append(s.ReadOnly, b.Target)
		}
	}
	store, err := undo.Begin(r.o.Undo, s)
	if err != nil {
		return nil, err
	}
	o.Kept, o.KeptMost = path.Join(keptAt, filepath.Base(store.Kept())), store.Most()
	o.Ended = func(id string) { _ = store.Ended(id) } // without it env undo leaves the files
	return store, nil
}
