package rego

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// followed is a directory of policies with an evaluator that follows it.
type followed struct {
	*Reloading
	dir    string
	loads  int
	bodies []engine.PolicyBody
	refuse error
}

func follow(t *testing.T, rules string) *followed {
	t.Helper()
	f := &followed{dir: customRule(t, rules)}
	opts := unbounded(Options{Bundle: small(), Revision: "r", Custom: []string{f.dir}})
	f.Reloading = NewReloading(newEvaluator(t, opts), opts.Custom, func(ctx context.Context) (*Evaluator, error) {
		f.loads++
		return New(ctx, opts)
	})
	return f
}

// look looks twice, as long as nobody is writing, and returns what the harmless input comes to.
func (f *followed) look(t *testing.T) engine.Effect {
	t.Helper()
	for range 2 {
		if err := f.Reload(t.Context(), func(b engine.PolicyBody) error {
			f.bodies = append(f.bodies, b)
			return f.refuse
		}); err != nil && !errors.Is(err, f.refuse) {
			t.Fatal(err)
		}
	}
	j, err := f.Evaluate(t.Context(), harmless())
	if err != nil {
		t.Fatal(err)
	}
	return j.Effect
}

// write replaces a file. Its time differs for certain, however coarse the clock of the file system is.
func (f *followed) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(time.Duration(f.loads+1) * time.Hour)
	if err := os.Chtimes(file, when, when); err != nil {
		t.Fatal(err)
	}
}

const (
	denying  = metadataText + "package custom.team.x\n\ndeny contains {\"command\": 0}\n"
	asking   = metadataText + "package custom.team.x\n\nask contains {\"command\": 0}\n"
	allowing = "deny contains {\"command\": 0} if input.request.background"
)

func TestReload(t *testing.T) {
	t.Parallel()
	f := follow(t, allowing)
	if got := f.look(t); got != engine.Allow || f.loads != 0 {
		t.Fatalf("got %s after %d loads", got, f.loads)
	}
	old := f.Current()
	before := f.Policy()
	f.write(t, "x.rego", denying)
	if got := f.look(t); got != engine.Deny || f.loads != 1 {
		t.Fatalf("got %s after %d loads", got, f.loads)
	}
	if j, err := old.Evaluate(t.Context(), harmless()); err != nil || j.Effect != engine.Allow {
		t.Errorf("who holds the old policies is judged by %s, %v", j.Effect, err)
	}
	if b := f.bodies[0]; len(f.bodies) != 1 || b.Error != "" || b.Before.Bundles[f.dir] != before.Bundles[f.dir] || b.Policy.Bundles[f.dir] != f.Policy().Bundles[f.dir] {
		t.Errorf("got %+v", f.bodies)
	}
	f.write(t, "x.rego", denying) // the same again
	if got := f.look(t); got != engine.Deny || len(f.bodies) != 1 {
		t.Errorf("got %s, %+v", got, f.bodies)
	}
}

// What cannot be loaded changes nothing, is told once, and mends itself when the files are mended.
func TestReloadOfBrokenPolicies(t *testing.T) {
	t.Parallel()
	f := follow(t, allowing)
	for _, broken := range []string{"package", "package custom.team.x\n\ndeny := 1\n"} {
		f.bodies = nil
		f.write(t, "x.rego", broken)
		if got := f.look(t); got != engine.Allow {
			t.Errorf("got %s", got)
		}
		f.look(t)
		if len(f.bodies) != 1 || !strings.Contains(f.bodies[0].Error, "x.rego:") || f.bodies[0].Policy.Revision != f.bodies[0].Before.Revision {
			t.Errorf("got %+v", f.bodies)
		}
	}
	if err := os.Rename(f.dir, f.dir+".away"); err != nil {
		t.Fatal(err)
	}
	if got := f.look(t); got != engine.Allow || !strings.Contains(f.bodies[1].Error, "no such file or directory") {
		t.Errorf("without its directory: %s, %+v", got, f.bodies)
	}
	if err := os.Rename(f.dir+".away", f.dir); err != nil {
		t.Fatal(err)
	}
	f.write(t, "x.rego", asking)
	if got := f.look(t); got != engine.Ask {
		t.Errorf("mended: %s", got)
	}
}

// While files change from one look to the next somebody is writing them, and half of them are not loaded.
func TestReloadWaitsForQuiet(t *testing.T) {
	t.Parallel()
	f := follow(t, allowing)
	accept := func(engine.PolicyBody) error { return nil }
	for _, text := range []string{denying, asking, denying} {
		f.loads++ // so that each has another time
		f.write(t, "x.rego", text)
		if err := f.Reload(t.Context(), accept); err != nil {
			t.Fatal(err)
		}
	}
	f.loads = 0
	if j, _ := f.Evaluate(t.Context(), harmless()); j.Effect != engine.Allow {
		t.Errorf("got %s before it was quiet", j.Effect)
	}
	if got := f.look(t); got != engine.Deny || f.loads != 1 {
		t.Errorf("got %s after %d loads", got, f.loads)
	}
}

// What is not on record does not hold, and is tried again.
func TestReloadThatIsNotAccepted(t *testing.T) {
	t.Parallel()
	f := follow(t, allowing)
	f.refuse = errors.New("disk full")
	f.write(t, "x.rego", denying)
	if got := f.look(t); got != engine.Allow {
		t.Errorf("got %s", got)
	}
	f.refuse = nil
	if got := f.look(t); got != engine.Deny {
		t.Errorf("got %s", got)
	}
}
