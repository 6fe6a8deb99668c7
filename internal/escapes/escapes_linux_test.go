package escapes

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/boundary"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// built are the programs that TestMain builds. $SALLYPORT_TEST_SUPERVISOR and $SALLYPORT_TEST_PROBE name
// them, for where there is no compiler (as for an ordinary user in CI).
var built = struct{ probe, supervisor string }{os.Getenv("SALLYPORT_TEST_PROBE"), os.Getenv("SALLYPORT_TEST_SUPERVISOR")}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() || built.probe != "" && built.supervisor != "" { // a short run makes no tries
			return m.Run()
		}
		return testprogram.Main(m, func(dir string) {
			built.probe, built.supervisor = filepath.Join(dir, "probe"), filepath.Join(dir, "sallyport-supervisor")
		}, "internal/escapes/probe", "cmd/sallyport-supervisor")
	}())
}

// opener opens an environment in a world.
type opener func(t *testing.T, w *world) engine.Environment

// settle makes a world and opens an environment there.
func settle(t *testing.T, open opener, elevated bool) *site {
	t.Helper()
	w := newWorld(t)
	s := &site{world: w, open: open, elevated: elevated}
	s.boundary = boundary.New(boundary.Options{Layout: w.layout(), Store: t.TempDir()})
	if open == nil {
		return s
	}
	s.env = open(t, w)
	t.Cleanup(func() {
		if err := s.env.Close(); err != nil {
			t.Errorf("close environment: %v", err)
		}
		if s.confines && !t.Failed() {
			for _, way := range w.changes(t) {
				if strings.HasPrefix(way, "made ") { // the rest may be the host's doing
					t.Errorf("left behind: %s", way)
				}
			}
		}
	})
	return s
}

// unconfined reaches a supervisor that is a plain process of this machine.
func unconfined(t *testing.T, w *world) engine.Environment {
	t.Helper()
	return through(t, w, command.Options{Name: "unconfined", Command: []string{built.supervisor}, Host: os.Environ()})
}

func through(t *testing.T, w *world, o command.Options) engine.Environment {
	t.Helper()
	r, err := command.New(o)
	must(t, err)
	return opened(t, w, r)
}

func opened(t *testing.T, w *world, r engine.Runner) engine.Environment {
	t.Helper()
	env, err := r.Open(context.Background(), w.spec())
	must(t, err)
	return env
}

// TestUnconfined shows that each try succeeds where nothing stops it.
func TestUnconfined(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	for _, f := range corpus() {
		t.Run(f.name, func(t *testing.T) {
			for _, c := range f.tries {
				t.Run(c.name, func(t *testing.T) {
					if c.root || c.alone != "" {
						leftout.NeedRoot(t)
					}
					var out []string
					switch {
					case c.alone != "":
						out = settle(t, nil, false).inNamespaces(t, c)
					case c.bare || c.terminal:
						out = settle(t, nil, false).bare(t, c)
					default:
						out = settle(t, unconfined, false).attempt(t, c)
					}
					if len(out) == 0 && os.Getuid() != 0 {
						leftout.Skip(t, leftout.Root, "the kernel lets only root do this unconfined")
					}
					if len(out) == 0 {
						t.Error("it does not get out where nothing confines it, so it shows nothing")
					}
					t.Logf("gets out: %.600s", strings.Join(out, "; "))
				})
			}
		})
	}
}

// confine makes all tries in one environment. One that gets out is an error, and the rest go on in another.
func confine(t *testing.T, in string, open opener) {
	leftout.Full(t, leftout.Slow)
	elevated := in == asSudo
	s := settle(t, open, elevated)
	s.confines = true
	for _, f := range corpus() {
		for _, c := range f.tries {
			if elevated && c.silent {
				continue
			}
			ok := t.Run(f.name+": "+c.name, func(t *testing.T) {
				for _, way := range s.attempt(t, c) {
					if s.accepts(in, c) {
						t.Logf("out, as is known: %s", way)
						continue
					}
					t.Errorf("out: %s", way)
				}
				s.tidy(t)
			})
			if !ok || s.accepts(in, c) {
				s = settle(t, open, elevated)
				s.confines = true
			}
		}
	}
}
