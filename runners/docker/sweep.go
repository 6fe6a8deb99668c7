package docker

import (
	"context"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

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
			p.spec.Tell("sweep", map[string]any{"container": name, "agent": c.Labels[labelAgent], "session": c.Labels[labelSession]})
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
