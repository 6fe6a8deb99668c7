package endtoend

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

const guide = "../../docs/writing-policies.md"

// stockOPA returns a directory in which opa is the stock program of the version that the Makefile names.
func stockOPA(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("../../bin/tools/opa-v*")
	if err != nil || len(found) == 0 {
		leftout.Skip(t, leftout.Programs, "no stock opa in bin/tools: make rego-test builds it")
	}
	program, err := filepath.Abs(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "opa")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGuideSteps does what docs/writing-policies.md says, from its first step to its last: it writes the
// files and runs the commands that stand there, and holds the output against what is shown.
func TestGuideSteps(t *testing.T) {
	t.Parallel()
	opa := stockOPA(t)
	steps := stepsOf(t, guide)
	workspace, env := home(t)
	env = append(env, "NO_COLOR=1", "PATH="+filepath.Dir(program)+":"+opa+":"+os.Getenv("PATH"))
	commands := 0
	for _, block := range blocks(steps) {
		if block.mark != "" {
			file := filepath.Join(workspace, strings.TrimPrefix(block.mark, "write "))
			if err := os.WriteFile(file, []byte(block.text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for _, c := range shownIn(block.text) {
			commands++
			cmd := exec.Command("bash", "-o", "pipefail", "-c", c.text)
			cmd.Dir, cmd.Env = workspace, env
			out, _ := cmd.CombinedOutput() // what is wrong with something exits with 1, and is shown
			got := strings.ReplaceAll(string(out), filepath.Dir(workspace), "…")
			if want, open := strings.CutSuffix(c.output, "…\n"); open && strings.HasPrefix(steady(got), steady(want)) {
				continue
			}
			if diff := cmp.Diff(steady(c.output), steady(got)); diff != "" {
				t.Errorf("$ %s\n(-guide +now):\n%s", c.text, diff)
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands found in the steps", commands)
	}
}

// TestGuideShowsTheExamples holds the rules that the guide shows against the files they are from.
func TestGuideShowsTheExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, block := range blocks(string(text)) {
		name, ok := strings.CutPrefix(block.mark, "from ")
		if !ok {
			continue
		}
		source, err := os.ReadFile(filepath.Join("../../docs/examples/policies", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(source), "\n"+block.text) {
			t.Errorf("the guide shows another %s than there is", name)
		}
		shown[filepath.Dir(name)] = true
	}
	for _, dir := range examples(t) {
		if !shown[filepath.Base(dir)] {
			t.Errorf("the guide does not show %s", dir)
		}
	}
}

// TestExamplePolicies tries every worked policy as its reader would, with this program and with the stock
// opa, and in one configuration together.
func TestExamplePolicies(t *testing.T) {
	t.Parallel()
	opa := filepath.Join(stockOPA(t), "opa")
	workspace, env := home(t)
	kit := filepath.Join(workspace, "kit")
	if r := run(t, workspace, env, program, "policy", "schema", "--kit", kit); r.code != 0 {
		t.Fatal(r.stderr)
	}
	all := examples(t)
	for _, dir := range all {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			for _, argv := range [][]string{
				{program, "policy", "check", dir},
				{program, "policy", "test", dir},
				{opa, "check", "--strict", "--schema", kit + "/input.json", "--capabilities", kit + "/capabilities.json", kit + "/lib", dir},
				{opa, "fmt", "--list", "--fail", dir},
				{opa, "test", "--fail-on-empty", kit + "/lib", dir},
			} {
				if r := run(t, workspace, env, argv...); r.code != 0 {
					t.Errorf("%s: exit %d\n%s%s", strings.Join(argv, " "), r.code, r.stdout, r.stderr)
				}
			}
		})
	}
	t.Run("together", func(t *testing.T) {
		t.Parallel()
		if r := run(t, workspace, env, append([]string{program, "policy", "check"}, all...)...); r.code != 0 {
			t.Errorf("%s%s", r.stdout, r.stderr)
		}
	})
}

func examples(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../docs/examples/policies/*")
	if err != nil || len(found) < 10 {
		t.Fatalf("%d example policies, %v", len(found), err)
	}
	for i, dir := range found {
		if found[i], err = filepath.Abs(dir); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestBundlesAndStockOPA passes bundles both ways: what is built here is read and verified by the stock opa, and what
// that builds and signs judges here.
func TestBundlesAndStockOPA(t *testing.T) {
	t.Parallel()
	opa := filepath.Join(stockOPA(t), "opa")
	workspace, env := home(t)
	for _, name := range []string{"team", "other"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		for file, block := range map[string]*pem.Block{name + ".pem": {Type: "PRIVATE KEY", Bytes: private}, name + ".pub": {Type: "PUBLIC KEY", Bytes: public}} {
			if err := os.WriteFile(filepath.Join(workspace, file), pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	config := "version: 1\npolicies: [stock.tar.gz]\npolicy_keys: [team.pub]\n"
	if err := os.WriteFile(filepath.Join(workspace, "c.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const withLib = "# METADATA\n# title: T\n# custom: {severity: low, remediation: R}\npackage custom.with_lib\n\n" +
		"import data.sallyport.lib\n\ndeny contains {\"command\": i} if some i, _ in lib.commands({\"git\"})\n"
	if err := os.Mkdir(filepath.Join(workspace, "with_lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "with_lib", "rule.rego"), []byte(withLib), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		code int
		dir  string
		argv string
	}{
		{0, "", program + " policy schema --kit kit"},
		{0, "", program + " policy build with_lib -o with_lib.tar.gz"},
		{1, "", opa + " build -b with_lib.tar.gz -o both.tar.gz"},
		{0, "", opa + " build -b with_lib.tar.gz kit/lib -o both.tar.gz"},
		{0, "", program + " policy new rule custom/git/no_push --dir rules"},
		{0, "", program + " policy build rules -o ours.tar.gz --sign team.pem"},
		{0, "", opa + " build -b ours.tar.gz --signing-alg ES256 --verification-key team.pub --verification-key-id sallyport -o again.tar.gz"},
		{1, "", opa + " build -b ours.tar.gz --signing-alg ES256 --verification-key other.pub --verification-key-id sallyport -o again.tar.gz"},
		{0, "rules", opa + " build -b . -o ../stock.tar.gz --signing-key ../team.pem --signing-alg ES256 --ignore *_test.rego"},
		{0, "", program + " policy verify stock.tar.gz --key team.pub"},
		{1, "", program + " policy verify stock.tar.gz --key other.pub"},
		{3, "", program + " --config c.yaml check -- forbidden-tool --all"},
		{0, "", program + " --config c.yaml check -- other-tool --all"},
		{0, "rules", opa + " build -b . -o ../stock.tar.gz --signing-key ../other.pem --signing-alg ES256 --ignore *_test.rego"},
		{1, "", program + " --config c.yaml check -- other-tool --all"},
	} {
		r := run(t, filepath.Join(workspace, step.dir), env, strings.Fields(step.argv)...)
		if r.code != step.code {
			t.Fatalf("%s: exit %d, want %d\n%s%s", step.argv, r.code, step.code, r.stdout, r.stderr)
		}
	}
}

// TestStockOPAOnOurPolicies: the stock opa checks, formats, tests and builds the built-in policies as they stand in the
// repository, and what it has built decides. Without a registry of rules, which sallyport adds, that is a refusal.
func TestStockOPAOnOurPolicies(t *testing.T) {
	t.Parallel()
	opa := filepath.Join(stockOPA(t), "opa")
	policies, err := filepath.Abs("../../policies")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	input := filepath.Join(dir, "input.json")
	if err := os.WriteFile(input, []byte(`{"version": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const aside = "testdata,compiled" // JSON that is no data of the policies
	for _, argv := range [][]string{
		{"check", "--strict", "--ignore", aside, "--schema", policies + "/schemas/input.json", policies},
		{"fmt", "--list", "--fail", policies},
		{"test", "--fail-on-empty", "--ignore", aside, policies},
		{"build", "--bundle", policies, "--ignore", aside + ",*_test.rego", "--output", filepath.Join(dir, "ours.tar.gz")},
	} {
		if r := run(t, dir, os.Environ(), append([]string{opa}, argv...)...); r.code != 0 {
			t.Errorf("opa %s: exit %d\n%s%s", strings.Join(argv, " "), r.code, r.stdout, r.stderr)
		}
	}
	r := run(t, dir, os.Environ(), opa, "eval", "--bundle", "ours.tar.gz", "--input", input, "--format", "raw", "data.sallyport.main.decision.effect")
	if r.code != 0 || strings.TrimSpace(r.stdout) != "deny" {
		t.Errorf("exit %d, %q\n%s", r.code, r.stdout, r.stderr)
	}
}
