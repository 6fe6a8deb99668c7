package wasm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/policies"
)

// built makes a bundle of Rego sources as their authors do: with the stock opa. entrypoints are
// without "custom/".
func built(t *testing.T, files map[string]string, entrypoints ...string) string {
	t.Helper()
	found, err := filepath.Glob("../../bin/tools/opa-v*")
	if err != nil || len(found) == 0 {
		leftout.Skip(t, leftout.Programs, "no stock opa in bin/tools: make rego-test builds it")
	}
	opa, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"build", "-t", "wasm", "-o", filepath.Join(dir, "test.tar.gz")}
	for _, e := range entrypoints {
		args = append(args, "-e", "custom/"+e)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, "src"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "src", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(opa, append(args, "src")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("opa build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "test.tar.gz")
}

// described writes a manifest for a compiled policy.
func described(t *testing.T, module string, rules ...string) Options {
	t.Helper()
	binary, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{
		Name: "test", Version: "1", Interface: Interface, SHA256: fmt.Sprintf("%x", sha256.Sum256(binary)), Rules: rules, Policy: map[string]About{},
		Limits: Limits{MemoryMiB: 32, TimeMS: 3000, OutputKiB: 64},
	}
	for _, r := range rules {
		m.Policy[r] = About{Title: "Title of " + r, Severity: "high", Remediation: "Leave it."}
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ManifestFile(module), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Clock: steps(), Module: module, Functions: rego.Function}
}

func openedPolicy(t *testing.T, o Options) *Plugin {
	t.Helper()
	p, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

const toolsPolicy = `package custom.tools

import data.custom.settings

deny contains {"command": i, "msg": msg} if {
	some i, c in input.commands
	c.name in settings.names
	regex.match("^https?://", c.argv[1])
	msg := sprintf("no %s to %s", [c.name, c.argv[1]])
}

warn contains {"path": i} if {
	some i, p in input.paths
	glob.match("**.t?t", ["/"], p.path)
}
`

const settings = `{"custom": {"settings": {"names": ["curl", "wget"]}}}`

func TestPolicyBuiltByStockOPA(t *testing.T) {
	t.Parallel()
	bundle := built(t, map[string]string{"tools.rego": toolsPolicy, "data.json": settings}, "tools/deny", "tools/warn")
	p := openedPolicy(t, described(t, bundle, "tools"))
	in := sampleInput()
	in.Commands = append(in.Commands, facts.Command{Name: "curl", Argv: []string{"curl", "https://example.com/ü\x07\""}, Span: facts.Span{Start: 3, End: 7}})
	for range 3 {
		got, err := p.Evaluate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		at := engine.Location{File: "test.tar.gz"}
		want := engine.Judgement{Effect: engine.Deny, Reasons: []engine.Reason{
			{
				Rule: "plugin/test/tools", Effect: engine.Deny, Severity: "high", Title: "Title of tools", Message: "no curl to https://example.com/ü\x07\"",
				Remediation: "Leave it.", Command: 1, Path: -1, Span: &facts.Span{Start: 3, End: 7}, Location: at,
			},
			{
				Rule: "plugin/test/tools", Effect: engine.Warn, Severity: "high", Title: "Title of tools", Message: "Title of tools",
				Remediation: "Leave it.", Span: &facts.Span{End: 13}, Location: at,
			},
		}}
		got.Spent = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	info, err := p.Info(t.Context(), 1)
	if err != nil || info.Reset.How != "snapshot" {
		t.Errorf("%+v, %v", info, err)
	}
}

// What sallyport builds itself is loaded like what stock OPA builds.
func TestPolicyBuiltHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const metadata = "# METADATA\n# title: Tools\n# custom:\n#   severity: low\n#   remediation: Leave it.\n"
	for name, text := range map[string]string{"tools.rego": metadata + toolsPolicy, "data.json": settings} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := rego.BuildBundle(t.Context(), rego.BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}, WASM: true})
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(t.TempDir(), "test.tar.gz")
	if err := os.WriteFile(bundle, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := openedPolicy(t, described(t, bundle, "tools"))
	in := sampleInput()
	in.Commands = append(in.Commands, facts.Command{Name: "curl", Argv: []string{"curl", "https://example.com/"}})
	if j, err := p.Evaluate(t.Context(), in); err != nil || j.Effect != engine.Deny || len(j.Reasons) != 2 {
		t.Errorf("%+v, %v", j, err)
	}
}

// The runtime's own regular expressions and globs are not used: these cases are right only with the host's.
func TestPolicyPatternsAreTheHosts(t *testing.T) {
	t.Parallel()
	many := &strings.Builder{}
	many.WriteString("package custom.many\n\ndeny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tsome n in numbers.range(1, 120)\n")
	many.WriteString("\tsome _ in numbers.range(1, 2)\n\tregex.match(sprintf(\"^x{%d}$\", [n]), c.name)\n}\n")
	bundle := built(t, map[string]string{
		"line.rego":  "package custom.line\n\ndeny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tglob.match(\"a**b\", [\"/\"], c.name)\n}\n",
		"wrong.rego": "package custom.wrong\n\ndeny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tnot regex.match(c.name, \"x\")\n}\n",
		"found.rego": "package custom.found\n\ndeny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tregex.find_all_string_submatch_n(\"q(.)\", c.name, -1)[1][1] == \"z\"\n\tregex.is_valid(c.name)\n}\n",
		"many.rego":  many.String(),
	}, "line/deny", "wrong/deny", "found/deny", "many/deny")
	p := openedPolicy(t, described(t, bundle, "line", "wrong", "found", "many"))
	judge := func(name string) (string, error) {
		in := sampleInput()
		in.Commands[0].Name = name
		j, err := p.Evaluate(t.Context(), in)
		var rules []string
		for _, r := range j.Reasons {
			rules = append(rules, strings.TrimPrefix(r.Rule, "plugin/test/"))
		}
		return strings.Join(rules, " "), err
	}
	for name, want := range map[string]string{
		"a\nb": "line wrong", "x": "many", "qyqz": "found wrong", strings.Repeat("x", 119): "many wrong",
	} {
		if got, err := judge(name); err != nil || got != want {
			t.Errorf("%.20q: found %q, want %q, %v", name, got, want, err)
		}
	}
	if got, err := judge("("); err == nil || !strings.Contains(err.Error(), "missing closing") {
		t.Errorf("a pattern that does not parse: found %q, %v", got, err)
	}
}
