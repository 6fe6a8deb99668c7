package rego

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Reloading is an evaluator that follows the directories of policies: changes are compiled aside and take
// effect all at once, or not at all. It starts nothing: its user calls Reload.
type Reloading struct {
	dirs    []string
	load    func(context.Context) (*Evaluator, error)
	current atomic.Pointer[Evaluator]
	changed atomic.Pointer[func()]

	mu     sync.Mutex // one change at a time
	loaded string     // state of the directories at the last load, good or bad
	seen   string     // their state at the last look
}

// NewReloading follows dirs, from which e was loaded; load does that anew.
func NewReloading(e *Evaluator, dirs []string, load func(context.Context) (*Evaluator, error)) *Reloading {
	r := &Reloading{dirs: dirs, load: load, loaded: Look(dirs)}
	r.seen = r.loaded
	r.current.Store(e)
	return r
}

// Current is the evaluator that judges now.
func (r *Reloading) Current() engine.Evaluator { return r.current.Load() }

// Policies is Current, for callers that need more than a decision.
func (r *Reloading) Policies() *Evaluator { return r.current.Load() }

// Policy names the policies in force.
func (r *Reloading) Policy() engine.PolicyInfo { return r.current.Load().Policy() }

// Evaluate judges by the policies in force.
func (r *Reloading) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	return r.current.Load().Evaluate(ctx, in)
}

// Reload looks at the directories. When they have changed, and are the same twice in a row, so that no write
// is under way, it loads them. accept hears of a change before it takes effect; an error of accept puts it
// off to the next call. accept also hears of errors that keep new policies from being loaded; then the old
// ones stay in force.
func (r *Reloading) Reload(ctx context.Context, accept func(engine.PolicyBody) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := Look(r.dirs)
	settled := now == r.seen
	r.seen = now
	if !settled || now == r.loaded {
		return nil
	}
	before := r.Policy()
	next, err := r.load(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.loaded = now
		return accept(engine.PolicyBody{Before: before, Policy: before, Error: err.Error()})
	}
	if err := r.swap(before, next, accept); err != nil {
		return err // not loaded: the next call tries again
	}
	r.loaded = now
	return nil
}

// Take puts the result of load in force, as Reload does with changes on this machine. An error of load or
// accept changes nothing and is the caller's to report.
func (r *Reloading) Take(ctx context.Context, load func(context.Context) (*Evaluator, error),
	accept func(engine.PolicyBody) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := load(ctx)
	if err != nil {
		return err
	}
	return r.swap(r.Policy(), next, accept)
}

func (r *Reloading) swap(before engine.PolicyInfo, next *Evaluator,
	accept func(engine.PolicyBody) error) error {
	after := next.Policy()
	if before.Revision == after.Revision && maps.Equal(before.Bundles, after.Bundles) {
		return next.Accept() // the same policies, perhaps under another serial
	}
	if err := next.Accept(); err != nil {
		return err
	}
	if err := accept(engine.PolicyBody{Before: before, Policy: after}); err != nil {
		return err
	}
	r.current.Store(next)
	if f := r.changed.Load(); f != nil {
		(*f)()
	}
	return nil
}

// OnChange has f called after each change of Current.
func (r *Reloading) OnChange(f func()) { r.changed.Store(&f) }

// Look is a summary of directories, without the content of the files: their names, sizes and times. Errors
// are part of it.
func Look(dirs []string) string {
	sum := sha256.New()
	for _, dir := range dirs {
		if IsRemote(dir) {
			continue // Take handles its result
		}
		if IsBundle(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				fmt.Fprintf(sum, "%q %v\n", dir, err)
				continue
			}
			fmt.Fprintf(sum, "%q %s\n", dir, state(info))
			continue
		}
		files := os.DirFS(dir)
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				fmt.Fprintf(sum, "%q %v\n", name, err)
				return nil
			case name != "." && strings.HasPrefix(entry.Name(), "."):
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			case entry.IsDir():
				fmt.Fprintf(sum, "%q\n", name)
				return nil
			}
			// The target of a link counts: a mounted configuration changes by its links.
			info, err := fs.Stat(files, name)
			if err != nil {
				fmt.Fprintf(sum, "%q %v\n", name, err)
				return nil
			}
			fmt.Fprintf(sum, "%q %s\n", name, state(info))
			return nil
		})
		fmt.Fprintf(sum, "%q %v\n", dir, err)
	}
	return string(sum.Sum(nil))
}

func state(info fs.FileInfo) string {
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), Changed(info))
}
