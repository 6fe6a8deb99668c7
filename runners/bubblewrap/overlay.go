//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/changes"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/overlay"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Try opens a sandbox without a network, in which the places where commands write are views: their changes
// lie in the state directory until the sandbox is closed. HOME and the temporary places are its own.
func (r *Runner) Try(ctx context.Context, spec engine.EnvironmentSpec) (engine.Trial, error) {
	o := r.o
	o.Otherwise, o.Network, o.UnixSockets = nil, "none", false
	o.Undo = undo.Options{} // what is thrown away is not kept
	if o.State == "" {
		return nil, unavailable("set $XDG_STATE_HOME or $HOME", "a trial needs a state directory")
	}
	roots, err := overlaid(spec.Layout.Roots)
	if err != nil {
		return nil, err
	}
	if o.trial, err = overlay.New(filepath.Join(o.State, "trials"), roots); err != nil {
		return nil, err
	}
	env, err := confine(ctx, o, spec, r.tell)
	if err != nil {
		return nil, errors.Join(err, o.trial.Remove())
	}
	t := &Trial{Environment: env, view: o.trial, done: make(chan struct{})}
	t.began = t.scratch()
	return t, nil
}

// overlaid lists the outermost places where commands write, by real path.
func overlaid(all []facts.Root) (roots []string, err error) {
	resolved, err := mounts.Resolve(all)
	if err != nil {
		return nil, fmt.Errorf("open trial: %w", err)
	}
	for _, r := range all {
		if r.Write {
			roots = append(roots, resolved[r.Path].Path)
		}
	}
	roots = changes.Outermost(roots)
	here, err := mountsOf("self")
	if err != nil {
		return nil, fmt.Errorf("open trial: %w", err)
	}
	for _, m := range here {
		for _, r := range roots {
			if m.at != r && within(m.at, r) {
				const why = "%s is mounted in %s, and a trial would not show it"
				return nil, unavailable("unmount it", why, m.at, r)
			}
		}
	}
	return roots, nil
}

// maxMasked bounds the files that are hidden from a trial: each takes a mount.
const maxMasked = 1000

// mask hides files from the command of a trial.
func (e *Environment) mask(v *view) error {
	if e.o.trial == nil || e.spec.Hidden == nil {
		return nil
	}
	var places []string
	for _, r := range e.roots {
		places = append(places, r.Path)
	}
	masked := 0
	changes.Walk(changes.Outermost(places), func(dir string, entries []fs.DirEntry) {
		for _, one := range entries {
			if p := filepath.Join(dir, one.Name()); one.Type().IsRegular() && e.spec.Hidden(p) {
				masked++
				v.add(mount{kind: readOnly, at: p, source: e.o.trial.Masked()})
			}
		}
	})
	if masked > maxMasked {
		return unavailable("grant less", "%d files are to be hidden from it", masked)
	}
	return nil
}

// overlaid lets the supervisor mount the views before it becomes bwrap. The file receives their devices.
func (l *launch) overlaid(p *supervisor.ProgramOptions) (devices *os.File, err error) {
	spec := l.o.trial.Spec()
	if spec.Status, err = l.memory(nil); err != nil {
		return nil, err
	}
	spec.Then = p.Command
	p.Command, p.Attributes = []string{l.o.Supervisor, "--overlay", spec.String()}, overlay.Namespaces
	return l.files[len(l.files)-1], nil
}

// Trial is a sandbox for one command, whose changes stay apart.
type Trial struct {
	*Environment
	view  *overlay.View
	began map[string]bool // names in its own places at the beginning
	over  sync.Once
	done  chan struct{} // nothing runs any more
	ended error
}

// Start starts the command, and ends it when its files become more than a trial may have.
func (t *Trial) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	p, err := t.Environment.Start(ctx, c)
	if err == nil {
		go t.bound(p)
	}
	return p, err
}

// shortPause is the pause between two looks at the files of a running trial. A look takes a tenth of the time
// at most.
const shortPause = 100 * time.Millisecond

func (t *Trial) bound(p engine.Process) {
	for pause := shortPause; ; {
		select {
		case <-t.done:
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		if err := t.view.Bounded(); err != nil {
			p.Kill(err.Error())
			return
		}
		pause = max(shortPause, 10*time.Since(begin))
	}
}

// scratch lists the names in the places that only the sandbox has.
func (t *Trial) scratch() map[string]bool {
	all := map[string]bool{}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", t.spec.Layout.Home} {
		if _, _, granted := t.view.Root(dir); granted || dir == "" {
			continue
		}
		entries, err := t.Files().ReadDir(dir)
		if err != nil {
			continue // it is not there, or cannot be read: then commands do not write there either
		}
		for _, e := range entries {
			all[filepath.Join(dir, e.Name())] = true
		}
	}
	return all
}

// End ends everything in the sandbox and lists the changes. lost are names in places of the sandbox itself.
func (t *Trial) End() (c engine.Changes, lost []string, err error) {
	for name := range t.scratch() {
		if !t.began[name] {
			lost = append(lost, name)
		}
	}
	slices.Sort(lost)
	if err := t.end(); err != nil {
		return engine.Changes{}, nil, err
	}
	c, err = t.view.Diff()
	return c, lost, err
}

func (t *Trial) end() error {
	t.over.Do(func() {
		close(t.done)
		t.ended = t.Environment.Close()
	})
	return t.ended
}

// Conflicts lists the changed names that others have changed, too, since the trial began.
func (t *Trial) Conflicts(c engine.Changes) []string { return t.view.Conflicts(c) }

// Lstat describes a changed file as the trial left it.
func (t *Trial) Lstat(path string) (fs.FileInfo, error) { return t.view.Lstat(path) }

// Open reads a changed file as the trial left it.
func (t *Trial) Open(path string) (io.ReadCloser, error) { return t.view.Open(path) }

// Close ends the sandbox and removes the changes.
func (t *Trial) Close() error { return errors.Join(t.end(), t.view.Remove()) }
