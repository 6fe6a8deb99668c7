package rego

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
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

// small holds the bundle without its rules but for dangerous/fork_bomb, for tests of other rules: it loads in a
// fraction of the time. smallKit adds the helpers of policy tests.
var (
	small    = sync.OnceValue(func() fs.FS { return withoutRules(policies.FS()) })
	smallKit = sync.OnceValue(func() fs.FS { return withoutRules(policies.Kit()) })
)

func withoutRules(bundle fs.FS) fs.FS {
	files := fstest.MapFS{}
	err := fs.WalkDir(bundle, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(name, "sallyport/rules/") && !strings.HasPrefix(name, "sallyport/rules/dangerous/fork_bomb/") {
			return err
		}
		text, err := fs.ReadFile(bundle, name)
		files[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		panic(err) // an embedded file is always readable
	}
	files["sallyport/profiles/data.json"] = &fstest.MapFile{Data: []byte(`{"standard": {"default": "own"}}`)}
	return files
}

// builtin is an evaluator of the whole bundle under a profile, made once for all tests.
func builtin(t testing.TB, profile string) *Evaluator {
	t.Helper()
	e, err := builtins[profile]()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var builtins = map[string]func() (*Evaluator, error){
	"standard": builtinOf("standard", false), "strict": builtinOf("strict", true),
	"readonly": builtinOf("readonly", true), "massgen": builtinOf("massgen", true),
	"team": builtinOf("team", true),
}

func builtinOf(profile string, tested bool) func() (*Evaluator, error) {
	return sync.OnceValues(func() (*Evaluator, error) {
		return New(context.Background(), unbounded(Options{Bundle: policies.FS(), Tested: tested, Revision: "r1", Config: Config{Profile: profile}}))
	})
}

// unbounded lifts the bounds, so that other load on the machine ends no evaluation.
func unbounded(opts Options) Options {
	if opts.Timeout == 0 {
		opts.Timeout = await.Guard
	}
	if opts.bounds.heap == nil {
		opts.bounds.heap = func() uint64 { return 1 }
	}
	return opts
}

// newEvaluator judges by the small bundle, unless opts name another.
func newEvaluator(t testing.TB, opts Options) *Evaluator {
	t.Helper()
	if opts.Bundle == nil {
		opts.Bundle = small()
	}
	e, err := New(t.Context(), unbounded(opts))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// problems loads opts, which must fail, and returns what is wrong without the directory's name.
func problems(t *testing.T, opts Options, dir string) []string {
	t.Helper()
	if opts.Bundle == nil {
		opts.Bundle = small()
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
