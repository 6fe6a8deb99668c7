package rego

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/policies"
)

// directory writes files into a new directory and returns its path.
func directory(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const metadataText = `# METADATA
# title: A rule of the team
# custom:
#   severity: high
#   remediation: Do something else.
`

// customRule is a directory with one sound rule package custom.team.x with the given rules.
func customRule(t testing.TB, rules string) string {
	t.Helper()
	return directory(t, map[string]string{"x.rego": metadataText + "package custom.team.x\n\n" + rules + "\n"})
}

// problems loads opts, which must fail, and returns what is wrong without the directory's name.
func problems(t *testing.T, opts Options, dir string) []string {
	t.Helper()
	if opts.Bundle == nil {
		opts.Bundle = policies.FS()
	}
	_, err := New(t.Context(), opts)
	var load *LoadError
	if !errors.As(err, &load) {
		t.Fatalf("New: got error %v, want a *LoadError", err)
	}
	var texts []string
	for _, p := range load.Problems {
		texts = append(texts, strings.TrimPrefix(p.String(), filepath.Clean(dir)+string(filepath.Separator)))
	}
	return texts
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Judgement{}, "Spent")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
