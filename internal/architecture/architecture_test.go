package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sallyport-dev/sallyport"

// ours lists, for each package, the packages of this module that its code (tests aside) may import.
// A new package gets a row here: imports run from the top of this table to its bottom.
var ours = map[string][]string{
	"cmd/sallyport": {
		"images", "internal/approvals", "internal/background", "internal/hooks", "internal/live",
		"internal/mcpserver", "internal/release", "internal/release/archive", "internal/resident", "internal/setup",
		"plugins", "policies",
		"runners/boundary", "runners/docker", "runners/journal", "runners/undo", "engine", "engine/audit",
		"engine/audit/publish", "engine/config", "engine/facts", "engine/rego", "engine/redact",
		"engine/shell", "engine/wasm", "internal/show", "internal/wrapped",
		"internal/wrapped/outside",
	},
	"internal/hooks": {"engine", "engine/facts", "internal/setup", "internal/show"},
	"internal/mcpserver": {
		"internal/background", "internal/docstring", "internal/filetools", "engine", "engine/facts",
	},
	"internal/background": {"engine"},
	"internal/filetools":  {"internal/docstring", "engine", "engine/facts", "engine/facts/repo"},
	"internal/docstring":  {},
	"plugins": {
		"policies", "runners/boundary", "runners/undo", "runners/bubblewrap", "runners/command", "runners/docker",
		"runners/wire", "runners/local", "runners/supervisor", "engine", "engine/audit",
		"engine/audit/publish", "engine/config", "engine/facts", "engine/facts/repo", "engine/ledger",
		"engine/redact",
		"engine/rego", "engine/rego/fleet", "engine/wasm", "runners/journal",
		"engine/compiled",
	},
	"cmd/sallyport-supervisor": {
		"internal/release", "runners/canary", "runners/wire", "runners/identity", "runners/local",
		"runners/overlay", "runners/slack", "runners/starter", "runners/supervisor", "runners/undo", "engine",
		"engine/facts",
	},
	"cmd/sallyport-kubernetes": {"runners/kubernetes"},
	"cmd/sallyport-verify":     {}, // a second reading of the format, which shares nothing with the first
	"runners/command": {
		"runners/wire", "runners/local", "runners/supervisor", "engine", "engine/facts",
	},
	"runners/kubernetes": {"internal/release",
		"runners/canary"}, // it carries the protocol and does not speak it
	"runners/docker": {
		"images", "runners/canary", "runners/envfile", "runners/looks", "runners/identity",
		"runners/mounts", "runners/wire", "runners/local", "runners/supervisor", "runners/undo", "engine",
		"engine/facts",
	},
	"runners/bubblewrap": {
		"runners/canary", "runners/identity", "runners/looks", "runners/mounts", "runners/wire",
		"runners/changes", "runners/local", "runners/overlay", "runners/supervisor", "runners/undo",
		"engine", "engine/facts", "engine/facts/disk",
	},
	"runners/overlay": {"runners/changes", "runners/files", "engine"},
	"runners/looks":   {"runners/wire", "engine", "engine/facts", "engine/facts/disk"},
	"runners/canary":  {"engine/facts"},
	"runners/changes": {},
	"runners/boundary": {
		"runners/changes", "runners/files", "engine", "engine/facts", "engine/facts/places", "engine/obeyed",
	},
	"runners/mounts":  {"runners/files", "engine", "engine/facts", "engine/facts/places"},
	"runners/journal": {"runners/wire", "engine", "engine/facts"},
	"runners/wire":    {"engine", "engine/facts", "engine/facts/disk"},
	"runners/local": {
		"runners/envfile", "runners/files", "runners/identity", "runners/supervisor", "runners/undo", "engine",
		"engine/facts", "engine/facts/disk", "engine/facts/places",
	},
	"runners/envfile": {},
	"runners/files":   {"runners/identity", "engine"},
	"runners/runnertest": {
		"runners/supervisor", "engine", "engine/facts", "engine/facts/build", "internal/await", "internal/leftout",
	},
	"runners/supervisor": {
		"runners/identity", "runners/notify", "runners/slack", "runners/seccomp", "runners/starter",
		"runners/undo", "engine",
	},
	"runners/starter":      {"runners/notify", "runners/slack"},
	"runners/slack":        {},
	"runners/notify":       {"runners/identity", "runners/seccomp", "runners/undo"},
	"runners/undo":         {"runners/changes"},
	"runners/identity":     {},
	"runners/seccomp":      {},
	"engine/config":        {"engine", "engine/commands", "engine/facts", "engine/facts/call"},
	"engine/rego":          {"engine", "engine/facts", "engine/compiled"},
	"engine/rego/fleet":    {"engine/rego"},
	"engine/wasm":          {"engine", "engine/facts"},
	"engine/audit/publish": {"engine/audit"},
	"engine/audit":         {"engine", "engine/facts", "engine/redact"},
	"engine/redact":        {},
	"engine/obeyed":        {},
	"engine/ledger":        {"engine/facts"},
	"engine":               {"engine/facts", "engine/facts/build", "engine/facts/disk", "engine/facts/places"},
	"engine/facts/build": {
		"engine/commands", "engine/facts", "engine/facts/call", "engine/facts/disk", "engine/facts/places",
		"engine/facts/repo", "engine/facts/term", "engine/shell", "engine/shell/value", "engine/shell/walk",
	},
	"engine/facts/call": {
		"engine/commands", "engine/facts", "engine/facts/disk", "engine/facts/places", "engine/facts/term",
		"engine/shell", "engine/shell/value",
	},
	"engine/facts/places": {
		"engine/obeyed", "engine/facts", "engine/facts/disk", "engine/facts/repo", "engine/facts/term",
	},
	"engine/facts/repo":      {"engine/facts", "engine/facts/disk", "engine/shell/value"},
	"engine/facts/disk":      {"engine/facts", "engine/shell", "engine/shell/value"},
	"engine/facts":           {"engine/commands", "engine/facts/term"},
	"engine/facts/term":      {},
	"engine/facts/schemagen": {"engine/facts"},
	"engine/shell/walk": {
		"engine/shell", "engine/shell/command", "engine/shell/inline", "engine/shell/source",
		"engine/shell/value",
	},
	"engine/shell/source":      {"engine/shell", "engine/shell/value"},
	"engine/shell":             {"engine/commands", "engine/shell/value"},
	"engine/shell/command":     {"engine/commands", "engine/shell/value"},
	"engine/shell/value":       {},
	"engine/commands":          {},
	"engine/shell/inline":      {},
	"images":                   {},
	"policies":                 {"policies/revision"},
	"policies/revision":        {},
	"policies/precompiled":     {"policies", "engine/wasm", "internal/await"},
	"policies/compilegen":      {"policies", "engine/rego", "engine/wasm"},
	"engine/compiled":          {"engine", "engine/facts"},
	"engine/lazyregexp":        {},
	"internal/front":           {"internal/release", "internal/resident", "internal/wrapped"},
	"internal/wrapped":         {},
	"internal/wrapped/outside": {"internal/wrapped"},
	"internal/resident":        {"internal/usersocket"},
	"internal/usersocket":      {},
	"internal/show": {
		"internal/release", "policies", "engine", "engine/facts", "engine/shell", "engine/shell/walk",
	},
	"internal/await":           {},
	"internal/leftout":         {},
	"internal/leftout/report":  {},
	"internal/testprogram":     {},
	"internal/release":         {"policies/revision"},
	"internal/release/archive": {},
	"internal/release/pack":    {"internal/release/archive"},
	"internal/setup":           {},
	"internal/live":            {"internal/hooks"},
	"internal/approvals":       {"internal/usersocket", "engine"},
	"internal/endtoend":        {},
	"internal/baddays":         {},
	"internal/confirm":         {"engine/shell", "engine/shell/value", "engine/shell/walk"},
	"internal/confirm/frame":   {},
	"internal/confirm/stub":    {"internal/confirm/frame"},
	"internal/escapes":         {},
	"internal/escapes/probe":   {},
	"internal/programs":        {"engine"},
	"internal/programs/driver": {},
	"internal/mcpclients":      {},
	"internal/bench":           {},
	"internal/architecture":    {},
}

// leaves may be imported by every package.
var leaves = []string{"engine/lazyregexp"}

// sole says which packages alone may import a path or anything below it; tests of others may not either.
var sole = map[string][]string{
	"mvdan.cc/sh":                      {"engine/shell/source", "engine/shell/value", "engine/shell/walk"},
	"github.com/open-policy-agent/opa": {"engine/rego", "engine/rego/fleet"},
	"github.com/tetratelabs/wazero":    {"engine/wasm"},
	"github.com/mark3labs/mcp-go":      {"internal/mcpserver"},
	"github.com/docker/docker":         {"runners/docker"},
	"github.com/hashicorp/yamux":       {"runners/wire"},
	"k8s.io":                           {"runners/kubernetes"},
	"github.com/go-git/go-git":         {"engine/facts/repo"},
	"github.com/spf13/cobra":           {"cmd/sallyport"},
	"github.com/creack/pty":            {"runners/supervisor", "internal/mcpclients", "internal/endtoend"},
	"golang.org/x/term":                {"cmd/sallyport", "internal/front", "internal/show"},
	"github.com/joho/godotenv":         {"runners/envfile"},
	"github.com/tailscale/hujson":      {"internal/setup"},
	"github.com/pelletier/go-toml":     {"internal/setup"},
	"go.yaml.in/yaml/v3": {"engine/commands", "engine/config", "engine/facts/build",
		"engine/rego", "internal/hooks", "internal/live", "internal/mcpclients", "internal/setup", "policies",
		"runners/command", "runners/kubernetes"},
}

// starters may start processes. Everything else reaches the machine through them. The front becomes
// sallyport-full, and resident starts it, and nothing else; overlay becomes bwrap, and starter the shell of a
// command; slack runs the program that calls it anew. leftout, testprogram, probe, driver and stub serve only
// tests.
var starters = []string{
	"runners/supervisor", "internal/front", "internal/resident", "internal/leftout", "internal/escapes/probe",
	"internal/programs/driver", "internal/confirm/stub", "runners/overlay", "runners/slack",
	"runners/starter", "internal/testprogram",
}

// source is one Go file of the module.
type source struct {
	pkg  string // directory relative to the module root
	name string
	test bool
	file *ast.File
}

func sources(t *testing.T) (*token.FileSet, []source) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var out []source
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" ||
				name == "bin" || name == "dist") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		out = append(out, source{pkg: filepath.ToSlash(filepath.Dir(rel)), name: filepath.ToSlash(rel),
			test: strings.HasSuffix(path, "_test.go"), file: f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no Go files found: the test looks in the wrong place")
	}
	return fset, out
}

func imports(f *ast.File) []string {
	var out []string
	for _, i := range f.Imports {
		out = append(out, strings.Trim(i.Path.Value, `"`))
	}
	return out
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestImportsRunDownward(t *testing.T) {
	_, files := sources(t)
	seen := map[string]bool{}
	for _, s := range files {
		allowed, ok := ours[s.pkg]
		if !ok {
			t.Errorf("%s: package %s has no row in the table of packages", s.name, s.pkg)
			continue
		}
		seen[s.pkg] = true
		if s.test {
			continue
		}
		for _, imp := range imports(s.file) {
			rel, mine := strings.CutPrefix(imp, module+"/")
			if mine && !slices.Contains(allowed, rel) && !slices.Contains(leaves, rel) {
				t.Errorf("%s imports %s, which %s may not", s.name, rel, s.pkg)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(ours)) {
		if !seen[pkg] {
			t.Errorf("the table names package %s, which does not exist", pkg)
		}
	}
}

func TestSoleImporters(t *testing.T) {
	_, files := sources(t)
	for _, s := range files {
		for _, imp := range imports(s.file) {
			for path, allowed := range sole {
				if below(imp, path) && !slices.Contains(allowed, s.pkg) {
					t.Errorf("%s imports %s; only %v may", s.name, imp, allowed)
				}
			}
			if !s.test && imp == "os/exec" && !slices.Contains(starters, s.pkg) {
				t.Errorf("%s imports os/exec; only %v start processes", s.name, starters)
			}
		}
	}
}

// The verifier of others shares no code with the engine, and an auditor can read it whole.
func TestVerifierStandsAlone(t *testing.T) {
	fset, files := sources(t)
	lines := 0
	for _, s := range files {
		if s.pkg != "cmd/sallyport-verify" || s.test {
			continue
		}
		lines += fset.File(s.file.Pos()).LineCount()
		for _, imp := range imports(s.file) {
			if strings.Contains(imp, ".") && !below(imp, "golang.org/x/mod/sumdb") {
				t.Errorf("%s imports %s; want the standard library and golang.org/x/mod/sumdb alone", s.name, imp)
			}
		}
	}
	if lines == 0 || lines > 1000 {
		t.Errorf("the verifier has %d lines, want at most 1000", lines)
	}
}

func TestNoStartBesideTheSupervisor(t *testing.T) {
	fset, files := sources(t)
	banned := map[string]bool{"os.StartProcess": true, "syscall.ForkExec": true, "syscall.Exec": true,
		"syscall.StartProcess": true, "unix.Exec": true}
	for _, s := range files {
		if s.test || slices.Contains(starters, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && banned[id.Name+"."+sel.Sel.Name] {
				t.Errorf("%s: %s.%s starts a process", fset.Position(n.Pos()), id.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

func TestPackageCommentsAndNoInit(t *testing.T) {
	fset, files := sources(t)
	documented := map[string]bool{}
	for _, s := range files {
		if !s.test {
			documented[s.pkg] = documented[s.pkg] || (s.file.Doc != nil && len(s.file.Doc.Text()) > 80)
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init() hides what is wired to what", fset.Position(f.Pos()))
			}
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment that says what it is for", pkg)
		}
	}
}

func TestNoGrabBags(t *testing.T) {
	_, files := sources(t)
	for _, s := range files {
		for _, bad := range []string{"util", "utils", "common", "helpers", "misc"} {
			if filepath.Base(s.pkg) == bad {
				t.Errorf("%s: name the package for what it provides, not %q", s.name, bad)
			}
		}
	}
}

func TestPackagesAreSmall(t *testing.T) {
	fset, files := sources(t)
	count := map[string]int{}
	for _, s := range files {
		if n := fset.File(s.file.Pos()).LineCount(); n > 600 {
			t.Errorf("%s: %d lines, at most 600", s.name, n)
		}
		if !s.test {
			count[s.pkg]++
		}
	}
	for pkg, n := range count {
		if n > 25 {
			t.Errorf("package %s: %d files beside its tests, at most 25", pkg, n)
		}
	}
}
