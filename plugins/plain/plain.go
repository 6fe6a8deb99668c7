// Package plain makes the gate of a plain configuration: the built-in rules in compiled form, and commands on this
// machine. It links neither OPA nor a client of Docker, so that a program which decides one command starts at once.
// Package plugins makes the gate of every configuration, of the same parts.
//
// It never decides otherwise than that gate: a configuration that it does not know is an error, and for package plugins.
package plain

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/ledger"
	"github.com/sallyport-dev/sallyport/policies"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
)

// ErrNotPlain is the error for a configuration that needs more than this package has.
var ErrNotPlain = errors.New("the configuration is not plain")

// named reports whether the system names the user to this build as it does to all others: one without cgo knows no users
// but those of /etc/passwd.
func named() bool {
	if runtime.GOOS == "windows" {
		return true
	}
	_, err := user.LookupId(strconv.Itoa(os.Getuid()))
	return err == nil
}

// plain reports whether this package can serve a configuration: it needs no other part, and has no mistake that package
// plugins reports.
func plain(l *config.Loaded) bool {
	ids := slices.Collect(maps.Keys(l.Rules))
	for _, e := range l.Exemptions {
		ids = append(ids, e.Rule)
	}
	switch {
	case l.TooWide() != "", l.Runner != "local", l.Evaluator != "auto" && l.Evaluator != "wasm":
		return false
	case len(l.Policies)+len(l.PolicyServers)+len(l.PolicyKeys)+len(l.Servers())+len(l.Plugins) > 0:
		return false
	case len(l.Audit.Checkpoint.Publish) > 0, slices.ContainsFunc(ids, OfPlugin):
		return false
	}
	return named() && (bubblewrap.Supported || l.Local.Sandbox != "bubblewrap" && l.Local.Network != "none")
}

// Gate decides and runs nothing.
type Gate struct {
	*engine.Gate
	rules  *compiled.Evaluator
	ledger *ledger.Ledger
	runner engine.Runner
}

// Assemble makes a gate that only decides. Nothing is recorded. Any error says that package plugins must try.
func Assemble(ctx context.Context, l *config.Loaded, version string) (*Gate, error) {
	if !plain(l) {
		return nil, ErrNotPlain
	}
	g := &Gate{}
	if err := g.assemble(ctx, l, version); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Gate) assemble(ctx context.Context, l *config.Loaded, version string) error {
	options := GateOptions(l, "", version)
	var err error
	g.rules, err = compiled.New(ctx, compiled.Options{
		Bundle: Bundle(l, compiled.DefaultTimeout), Sources: policies.FS(), Revision: policies.Revision(), Config: PolicyConfig(l),
	})
	if err != nil {
		return err
	}
	options.Evaluators = []engine.Evaluator{g.rules}
	if g.runner, options.Layout.POSIX, err = OpenLocal(l); err != nil {
		return err
	}
	options.Runner = g.runner
	if g.ledger, err = OpenLedger(l, ""); err != nil {
		return err
	}
	options.Ledger = Session{g.ledger}
	g.Gate, err = engine.New(options)
	return err
}

// Unconfined reports that commands run without the sandbox of the configuration, and the reason; nil if they do not.
// A decision determines it.
func (g *Gate) Unconfined() error { return Unconfined(g.runner) }

// Close closes the gate and its parts.
func (g *Gate) Close() error {
	var err error
	if g.Gate != nil {
		err = g.Gate.Close()
	}
	if c, ok := g.runner.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if g.ledger != nil {
		err = errors.Join(err, g.ledger.Close())
	}
	if g.rules != nil {
		err = errors.Join(err, g.rules.Close())
	}
	return err
}
