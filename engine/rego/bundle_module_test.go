package rego

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/elliptic"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/policies"
)

// A bundle with the compiled rules has their sources too, and is loaded like any other.
func TestBundleWithModule(t *testing.T) {
	t.Parallel()
	dir := customRule(t, "import data.sallyport.lib\n\nask contains {\"command\": i} if some i, _ in lib.commands({\"ls\"})")
	private, public := elliptical(t, elliptic.P256())
	text, err := BuildBundle(t.Context(), BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}, Key: private, WASM: true})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	for _, want := range []string{"/policy.wasm", "/x.rego", "/.signatures.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s in %v", want, names)
		}
	}
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEvaluator(t, Options{Tested: true, Custom: []string{file}, Keys: [][]byte{public}})
	if j, err := e.Evaluate(t.Context(), harmless()); err != nil || j.Effect != engine.Ask {
		t.Errorf("%+v, %v", j, err)
	}
}

// What a rule asks of the configuration is not there where others run it: silence would be the answer.
func TestBundleWithModuleOfConfiguredRules(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"deny contains {} if data.sallyport.config.profile == \"strict\"",
		"import data.sallyport.lib\n\ndeny contains {\"path\": i} if {\n\tsome i in lib.writes\n\tnot lib.within_workspace(input.paths[i], \"src\")\n}",
	} {
		dir := customRule(t, rule)
		if _, err := BuildBundle(t.Context(), BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}, WASM: true}); err == nil || !strings.Contains(err.Error(), "asks for data.sallyport.config") {
			t.Errorf("%s: got %v", rule, err)
		}
		if _, err := BuildBundle(t.Context(), BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}}); err != nil {
			t.Errorf("%s: without --wasm: %v", rule, err)
		}
	}
}
