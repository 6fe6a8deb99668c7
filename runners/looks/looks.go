// Package looks previews an environment without making it, for callers that judge and run nothing.
//
// Most places in such an environment are places of this machine: they are looked at here. The rest, such as
// its empty home or its accounts, is the same in every environment of the same specification. The first one
// is opened to see it, and the answer is cached, so that the next preview opens nothing:
//
//	path ─▶ shown from this machine? ─▶ this machine
//	        cached?                  ─▶ the cache
//	        else                     ─▶ the environment itself, which is opened now, and its answer cached
//
// The cache affects only the answers of check. A run opens the environment, and tests it.
package looks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Options describe an environment, and the sources of the rest.
type Options struct {
	Dir string // where answers are kept; "" to keep none
	// Key hashes the specification of the environment. Only facts cached under the same key are used.
	Key string
	// Wire are its supervisor's options. The values of variables in it are not cached.
	Wire wire.Options
	// Live returns the place of this machine that the environment shows at a path, if there is one.
	Live func(path string) (Shown, bool)
	// Host is this machine's files for the commands' user. If it answers ErrAsk, the environment itself is
	// asked.
	Host facts.FS
	// Open makes the environment: when nothing is known of it yet, and when something is asked that is not
	// known.
	Open func(context.Context) (Opened, error)
	Free func() // frees Host; may be nil
}

// ErrAsk is wrapped by the error of a Host that cannot give the view of commands.
var ErrAsk = errors.New("cannot answer without opening the environment")

// Opened is an environment as its runner opens it.
type Opened interface {
	engine.Remote
	Place() wire.Place
}

// Environment is the preview of an environment.
type Environment struct {
	o Options

	mu     sync.Mutex
	known  memory
	new    bool   // there is something to keep
	opened Opened // nil as long as nobody had to be asked

	closing sync.Once
	placing sync.Mutex
	places  map[string]*os.File // shown ones that were looked at
}

var _ engine.Remote = (*Environment)(nil)

// At looks at an environment, and opens it where nothing is known of one like it.
func At(ctx context.Context, o Options) (*Environment, error) {
	if o.Free == nil {
		o.Free = func() {}
	}
	e := &Environment{o: o, places: map[string]*os.File{}}
	var known bool
	if e.known, known = recall(o.Dir, o.Key); known {
		return e, nil
	}
	var err error
	if e.opened, err = o.Open(ctx); err != nil {
		o.Free()
		return nil, err
	}
	e.known, e.new = newMemory(o.Key), true
	e.known.Place = e.opened.Place()
	return e, nil
}

// real returns the environment itself. The caller holds e.mu.
func (e *Environment) real() (Opened, error) {
	if e.opened != nil {
		return e.opened, nil
	}
	opened, err := e.o.Open(context.Background())
	if err != nil {
		return nil, err
	}
	e.opened = opened
	return opened, nil
}

var errLook = errors.New("the environment was opened to look at it")

// Start is an error.
func (e *Environment) Start(context.Context, engine.Command) (engine.Process, error) {
	return nil, fmt.Errorf("start command: %w", errLook)
}

// Prepare returns the command and the variables that would be used.
func (e *Environment) Prepare(text, workDir string) (engine.Command, error) {
	venv := e.venv(workDir)
	e.mu.Lock()
	defer e.mu.Unlock()
	env, ok := e.known.environ(venv, e.o.Wire.Env)
	if !ok {
		real, err := e.real()
		if err != nil {
			return engine.Command{}, fmt.Errorf("prepare command: %w", err)
		}
		c, err := real.Prepare("", workDir)
		if err != nil {
			return engine.Command{}, err
		}
		env = slices.DeleteFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, pwd) })
		e.known.keepEnviron(venv, env, e.o.Wire.Env)
		e.new = true
	}
	env = append(env, pwd+workDir)
	slices.Sort(env)
	if e.o.Wire.Prefixed != nil {
		text = e.o.Wire.Prefixed(text, e.known.Place.POSIX)
	}
	return engine.Command{Text: text, WorkDir: workDir, Env: env}, nil
}

// pwd is the variable that is another in each directory.
const pwd = "PWD="

// venv is the virtual environment that commands in a directory get because it is there; see local.Options.
func (e *Environment) venv(workDir string) string {
	if e.o.Wire.Venv != "auto" && e.o.Wire.Venv != "" {
		return "" // it is the same everywhere
	}
	for _, dir := range []string{workDir, e.o.Wire.Workspace} {
		venv := path.Join(dir, ".venv")
		at, err := files{e: e}.resolve(path.Join(venv, "bin"))
		if err != nil || dir == "" {
			continue
		}
		if info, err := (files{e: e}).at(at); err == nil && info.IsDir() {
			return venv
		}
	}
	return ""
}

// FS shows the files.
func (e *Environment) FS() facts.FS { return files{e: e} }

// Files is nil: nothing is done with files where nothing runs.
func (e *Environment) Files() engine.Files { return nil }

// Layout adds the differences between the environment and this machine.
func (e *Environment) Layout(l facts.Layout) facts.Layout { return e.known.Place.Layout(l, e.FS()) }

// Err says why the opened environment broke; nil as long as it did not.
func (e *Environment) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened == nil {
		return nil
	}
	return e.opened.Err()
}

// Close caches the new facts, and closes the environment that was opened for them.
func (e *Environment) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.new && (e.opened == nil || e.opened.Err() == nil) {
		e.known.keep(e.o.Dir) // where that fails, the next look asks again
	}
	e.new = false
	e.closing.Do(e.leave)
	if e.opened == nil {
		return nil
	}
	return e.opened.Close()
}
