package plugins

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// Keeper keeps gates open between requests, for a process that answers many. A gate serves the requests of
// one session under one configuration, as long as the configuration's files are the same.
//
// It keeps no gate that follows servers of policies: such a one is made for each request.
type Keeper struct {
	assemble func(context.Context, *config.Loaded, Options) (*Sallyport, error) // Assemble, but for tests

	mu    sync.Mutex
	gates []*keptGate // the most recently used last
}

// mostKept is the number of gates beyond which those without a request are closed. Each takes some
// megabytes.
const mostKept = 16

type keptGate struct {
	key   string
	ready chan struct{} // closed when gate and err are there
	gate  *Sallyport
	err   error
	users int
}

// NewKeeper makes a keeper that keeps nothing yet.
func NewKeeper() *Keeper { return &Keeper{assemble: Assemble} }

// Open returns a gate, as Assemble does, until release. Of the options, only Session, Version, CheckOnly and
// Look may be set.
func (k *Keeper) Open(ctx context.Context, l *config.Loaded, o Options) (*Sallyport, func() error, error) {
	if len(l.Servers()) > 0 {
		s, err := k.assemble(ctx, l, o)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	key, err := keyOf(l, o)
	if err != nil {
		return nil, nil, err
	}
	g, first := k.take(key)
	if first {
		// The next request may need it, even if this one is given up.
		k.make(context.WithoutCancel(ctx), g, l, o)
	}
	select {
	case <-g.ready:
	case <-ctx.Done():
		return nil, nil, errors.Join(ctx.Err(), k.release(g))
	}
	if g.err != nil {
		return nil, nil, errors.Join(g.err, k.release(g))
	}
	return g.gate, sync.OnceValue(func() error { return k.release(g) }), nil
}

// make assembles a gate. A panic ends only the request that made it: others get an error, and the next one
// tries again.
func (k *Keeper) make(ctx context.Context, g *keptGate, l *config.Loaded, o Options) {
	made := false
	defer func() {
		if close(g.ready); !made {
			_ = k.release(g) // it has no gate to close
		}
	}()
	g.err = errors.New("assemble the gate: it did not end")
	g.gate, g.err = k.assemble(ctx, l, o)
	made = true
}

// take returns the gate of a key, and whether the caller must make it.
func (k *Keeper) take(key string) (g *keptGate, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.gates, func(g *keptGate) bool { return g.key == key })
	if i < 0 {
		g, first = &keptGate{key: key, ready: make(chan struct{})}, true
	} else {
		g = k.gates[i]
		k.gates = slices.Delete(k.gates, i, i+1)
	}
	k.gates = append(k.gates, g)
	g.users++
	return g, first
}

// release gives a gate back, and closes those that are too many or were never made.
func (k *Keeper) release(g *keptGate) error {
	k.mu.Lock()
	g.users--
	var old []*keptGate
	for i := 0; i < len(k.gates); {
		other := k.gates[i]
		if other.users == 0 && (other.err != nil || len(k.gates) > mostKept) {
			old = append(old, other)
			k.gates = slices.Delete(k.gates, i, i+1)
			continue
		}
		i++
	}
	k.mu.Unlock()
	var err error
	for _, one := range old {
		err = errors.Join(err, one.close())
	}
	return err
}

func (g *keptGate) close() error {
	<-g.ready
	if g.gate == nil {
		return nil
	}
	return g.gate.Close()
}

// Len is the number of gates that are open.
func (k *Keeper) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.gates)
}

// Close closes all gates. No request may be under way.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	for _, g := range k.gates {
		err = errors.Join(err, g.close())
	}
	k.gates = nil
	return err
}

// keyOf is a digest of everything from which Assemble makes a gate: the configuration, the variables of the
// environment, and the state of the files that it reads.
func keyOf(l *config.Loaded, o Options) (string, error) {
	text, err := l.YAML()
	if err != nil {
		return "", fmt.Errorf("hash configuration: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %v %v %q %q\n", o.Session, o.Version, o.CheckOnly, o.Look, l.File, text)
	fmt.Fprintf(sum, "%q\n", slices.Sorted(slices.Values(l.Environ())))
	search := ""
	for _, v := range l.Environ() {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			search = value
		}
	}
	shell, err := supervisor.FindShell(search)
	fmt.Fprintf(sum, "%+v %v\n", shell, err)
	at := l.Layout()
	fmt.Fprintf(sum, "%q %q %+v %+v %+v\n", at.Workspace, at.Home, at.Roots, at.Temporary, at.Self)
	fmt.Fprintf(sum, "%x\n", rego.Look(l.Policies))
	workspace := string(l.Workspace)
	files := []string{
		l.File, string(l.Environment.EnvFile), workspace, filepath.Join(workspace, ".venv"),
		string(l.Supervisor), filepath.Join(beside(), "sallyport-supervisor"),
	}
	for _, list := range [][]config.Path{l.Plugins, l.PolicyKeys, l.Commands.Table} {
		for _, p := range list {
			files = append(files, string(p))
		}
	}
	if l.Runner == "local" && l.Local.Sandbox != "none" {
		for _, dir := range filepath.SplitList(search) { // one may be installed meanwhile
			files = append(files, filepath.Join(dir, "bwrap"))
		}
	}
	for _, p := range l.Plugins {
		files = append(files, config.PluginManifest(string(p)))
	}
	for _, file := range files {
		real, err := filepath.EvalSymlinks(file)
		fmt.Fprintf(sum, "%q %q %v", file, real, err != nil)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			fmt.Fprintf(sum, " %v %d %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano(),
				rego.Changed(info))
		}
		fmt.Fprintln(sum)
	}
	return string(sum.Sum(nil)), nil
}
