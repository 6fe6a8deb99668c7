package plugins_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/plugins"
)

// checkout copies what authors of plugins build in: the SDK and the examples.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"sdk", "examples"} {
		if err := os.CopyFS(filepath.Join(root, "plugins", dir), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// tool runs a program of a toolchain.
func tool(t *testing.T, dir string, env []string, argv ...string) {
	t.Helper()
	cmd := exec.Command(leftout.Command(t, argv[0]), argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

func buildGo(t *testing.T, dir, name string) string {
	t.Helper()
	tool(t, dir, []string{"GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off"},
		"go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", name+".wasm", ".")
	module := filepath.Join(dir, name+".wasm")
	if _, err := wasm.Seal(module); err != nil {
		t.Fatal(err)
	}
	return module
}

func TestPluginJudgesBesideThePolicies(t *testing.T) {
	t.Parallel()
	module := buildGo(t, filepath.Join(checkout(t), "plugins/examples/entropy"), "entropy")
	compiled := t.TempDir() // once for all: compiling is what takes time
	if p, err := wasm.Open(t.Context(), wasm.Options{Module: module, Cache: compiled, Clock: stepClock()}); err != nil {
		t.Fatal(err)
	} else if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	const secret, rule = "echo --token=ghp_x7Kq2LmZ9vR4tB8nW3sY6dF1", "plugin/entropy/secret_argument"
	t.Run("two of one name", func(t *testing.T) {
		t.Parallel()
		l := load(t, fmt.Sprintf("plugins: [%q, %q]\n", module, module))
		if err := os.CopyFS(l.CompiledDir(), os.DirFS(compiled)); err != nil {
			t.Fatal(err)
		}
		_, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}.Within(await.Guard, stepClock()))
		if err == nil || !strings.Contains(err.Error(), "there are two plugins named entropy") {
			t.Errorf("got %v", err)
		}
	})
	for name, tt := range map[string]struct {
		config, command string
		want            engine.Effect
		rules           []string
	}{
		"nothing found":       {"", "echo hello", engine.Allow, nil},
		"found by the plugin": {"", secret, engine.Ask, []string{rule}},
		"found by both":       {"commands: {deny: [touch]}\n", secret + "; touch x", engine.Deny, []string{"filters/denied", rule}},
		"level":               {"rules: {" + rule + ": deny}\n", secret, engine.Deny, []string{rule}},
		"off":                 {"rules: {" + rule + ": 'off'}\n", secret, engine.Allow, nil},
		// The plugin's exemption comes first in the file: the policies' must keep its meaning.
		"exempt from the plugin's rule": {exemptions(rule, "echo .*", "git/force_push", "git push --force"), secret, engine.Allow, nil},
		"exempt from a policy's rule":   {exemptions(rule, "echo .*", "git/force_push", "git push --force"), "git push --force", engine.Allow, nil},
		"exempt from another rule":      {exemptions(rule, "git push --force", "git/force_push", "echo .*"), secret, engine.Ask, []string{rule}},
		"not exempt from a policy's":    {exemptions(rule, "git push --force"), "git push --force", engine.Deny, []string{"git/force_push"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := load(t, fmt.Sprintf("plugins: [%q]\n", module)+tt.config)
			if err := os.CopyFS(l.CompiledDir(), os.DirFS(compiled)); err != nil {
				t.Fatal(err)
			}
			s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}.Within(await.Guard, stepClock()))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: tt.command})
			if err != nil || out.Fault != nil {
				t.Fatal(err, out.Fault)
			}
			var rules []string
			for _, r := range out.Decision.Reasons {
				rules = append(rules, r.Rule)
			}
			if diff := cmp.Diff(tt.rules, rules); out.Decision.Effect != tt.want || diff != "" {
				t.Errorf("effect %s, want %s; rules %s", out.Decision.Effect, tt.want, diff)
			}
			if got := out.Decision.Policy.Bundles["plugin/entropy"]; !strings.HasPrefix(got, "sha256:") {
				t.Errorf("the decision does not name the plugin: %v", out.Decision.Policy)
			}
		})
	}
}

func exemptions(rulesAndMatches ...string) string {
	text := "exemptions:\n"
	for i := 0; i < len(rulesAndMatches); i += 2 {
		text += fmt.Sprintf("  - {rule: %s, match: %q, reason: test, expires: 2999-01-01}\n", rulesAndMatches[i], rulesAndMatches[i+1])
	}
	return text
}

// TestWritingPluginsPage runs the commands of docs/writing-plugins.md as they stand there.
func TestWritingPluginsPage(t *testing.T) {
	t.Parallel()
	leftout.Full(t, leftout.Slow)
	page, err := os.ReadFile("../docs/writing-plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	root := checkout(t)
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := testprogram.Build(bin, "cmd/sallyport"); err != nil {
		t.Fatal(err)
	}
	script := func(kind string) string {
		var b strings.Builder
		for _, block := range regexp.MustCompile("(?s)\n```"+kind+"\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1) {
			b.WriteString(block[1] + "\n")
		}
		return b.String()
	}
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(root, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(root, "config"), "GOFLAGS=", "GOWORK=off", "GOPROXY=off",
	}
	text := script("sh")
	if strings.Count(text, "plugin seal") < 2 {
		t.Fatalf("the commands of the page are not found:\n%s", text)
	}
	tool(t, root, env, "bash", "-euxo", "pipefail", "-c", text)
	t.Run("OPA", func(t *testing.T) {
		found, err := filepath.Glob("../bin/tools/opa-v*")
		if err != nil || len(found) == 0 {
			leftout.Skip(t, leftout.Programs, "no stock opa in bin/tools: make rego-test builds it")
		}
		opa, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(opa, filepath.Join(bin, "opa")); err != nil {
			t.Fatal(err)
		}
		tool(t, filepath.Join(root, "plugins/examples/no_weekend"), env, "bash", "-euxo", "pipefail", "-c", script("sh-opa"))
	})
	t.Run("C", func(t *testing.T) {
		leftout.Command(t, "clang")
		leftout.Command(t, "wasm-ld")
		tool(t, filepath.Join(root, "plugins/examples/no_weekend"), env, "bash", "-euxo", "pipefail", "-c", script("sh-clang"))
	})
}

// TestExampleInC compiles the judging part for this machine.
func TestExampleInC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, err := filepath.Abs("examples/no_verify/no_verify.c")
	if err != nil {
		t.Fatal(err)
	}
	harness := fmt.Sprintf("#include %q\n#include <stdio.h>\nint main(void) { uint32_t n = fread(input, 1, INPUT_SIZE, stdin); "+
		"evaluate(input, n); fwrite(output, 1, used, stdout); return speaks() != 1; }\n", source)
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(harness), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, dir, nil, "cc", "-Wall", "-Wextra", "-Werror", "-o", "judge", "main.c")
	in := facts.Input{Version: 1, Request: facts.Request{Command: `--no-verify "--no-verify"`}, Commands: []facts.Command{
		{Argv: []string{"echo", `\"--no-verify`, "--no-verify-x"}, Via: []string{"--no-verify"}, Env: []string{"argv"}},
		{Argv: []string{"git", "commit", "--no-verify"}},
		{Name: "argv", Pipeline: facts.Pipeline{ID: 1}, Argv: []string{"git", "push", "--no-verify"}},
	}, Paths: []facts.Path{{Labels: []string{"--no-verify"}}}}
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "judge"))
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	var got struct {
		Findings []struct {
			Rule    string `json:"rule"`
			Command int    `json:"command"`
		} `json:"findings"`
	}
	if err != nil || json.Unmarshal(out, &got) != nil || len(got.Findings) != 2 || got.Findings[0].Command != 1 || got.Findings[1].Command != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSDKKnowsTheInput holds the types of the SDK, which stands alone, against those of the engine.
func TestSDKKnowsTheInput(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "sdk/input.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			got[spec.Name.Name+"."+f.Names[0].Name] = written(f.Type) + " " + strings.Trim(f.Tag.Value, "`")
		}
		return false
	})
	want := map[string]string{}
	describe(reflect.TypeFor[facts.Input](), want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func written(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ArrayType:
		return "[]" + written(e.Elt)
	case *ast.SelectorExpr:
		return written(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func describe(t reflect.Type, into map[string]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		into[t.Name()+"."+f.Name] = strings.ReplaceAll(f.Type.String(), "facts.", "") + " " + string(f.Tag)
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of.PkgPath() == t.PkgPath() {
			describe(of, into)
		}
	}
}
