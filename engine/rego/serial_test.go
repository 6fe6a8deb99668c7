package rego

import (
	"crypto/elliptic"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"
)

// A signed bundle that is older than one that judged stays out; without keys the order proves nothing.
func TestSerials(t *testing.T) {
	t.Parallel()
	private, public := elliptical(t, elliptic.P256())
	dir := customRule(t, "deny contains {\"command\": 0} if input.version == 2")
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	known := Serials{filepath.Join(t.TempDir(), "serials")}
	load := func(serial int64, key, check []byte) (*Evaluator, error) {
		text, err := BuildBundle(t.Context(), BundleOptions{Builtin: small(), Dirs: []string{dir}, Serial: serial, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{Bundle: small(), Custom: []string{file}, Serials: known}
		if check != nil {
			o.Keys = [][]byte{check}
		}
		return New(t.Context(), o)
	}
	for _, step := range []struct {
		serial int64
		accept bool
		want   string
	}{
		{0, true, ""},
		{5, false, ""},
		{4, true, ""}, // 5 was looked at and did not judge
		{5, true, ""},
		{5, true, ""},
		{4, true, "its serial 4 is older than 5, which judged before"},
		{0, true, "it has no serial, and one with serial 5 judged before"},
		{6, true, ""},
	} {
		e, err := load(step.serial, private, public)
		switch {
		case step.want == "" && err != nil, step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)):
			t.Errorf("%d: got %v, want %q", step.serial, err, step.want)
		case err == nil && step.accept:
			if err := e.Accept(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := load(1, nil, nil); err != nil {
		t.Errorf("without keys: %v", err)
	}
	if entries, err := os.ReadDir(known.of(file)); err != nil || len(entries) != 1 || entries[0].Name() != "6" {
		t.Errorf("%v, %v", entries, err)
	}
}

// Several processes at once cannot lower what is remembered.
func TestSerialsTogether(t *testing.T) {
	t.Parallel()
	known := Serials{t.TempDir()}
	var all sync.WaitGroup
	for n := range int64(50) {
		all.Go(func() {
			if err := known.Accept(map[string]int64{"place": 1 + (n*7)%50}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if last, err := known.Last("place"); err != nil || last != 50 {
		t.Errorf("%d, %v", last, err)
	}
	if err := (Serials{}).Check("place", 0); err != nil {
		t.Error(err)
	}
}

// A serial that is none keeps the bundle out: its place in the order is not known.
func TestOddSerials(t *testing.T) {
	t.Parallel()
	for _, odd := range []any{"7", -1.0, 0.0, 1.5, true, nil, []any{}, 1e300} {
		if n, err := serialOf(bundle.Manifest{Metadata: map[string]any{serialKey: odd}}); err == nil {
			t.Errorf("%v is %d", odd, n)
		}
	}
	if n, err := serialOf(bundle.Manifest{}); n != 0 || err != nil {
		t.Errorf("none is %d, %v", n, err)
	}
}
