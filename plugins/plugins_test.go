package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// load makes a configuration in a directory of its own.
func load(t testing.TB, text string) *config.Loaded {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"home/project", "custom"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"rule.wasm": "", "bundle.tar.gz": "", "file": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	host := config.Host{
		Dir: root, Home: filepath.Join(root, "home"), Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	}
	if !strings.Contains(text, "local:") { // no supervisor lies beside a program of tests
		text += "\nlocal: {sandbox: none}\n"
	}
	l, err := config.Parse("version: 1\nworkspace: home/project\n"+text, filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	return plugins.Precompiled(t, l)
}

func TestAssembledGateRunsAndRecords(t *testing.T) {
	t.Parallel()
	l := load(t, "commands: {deny: [touch]}\n")
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{Session: "s", Version: "test"}.Unhurried())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "echo hello"})
	if err != nil || !out.Ran || out.Exit.Stdout.Text != "hello\n" {
		t.Errorf("echo: %v, %+v", err, out)
	}
	out, err = s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "touch mark"})
	if err != nil || out.Ran || out.Decision.Effect != engine.Deny {
		t.Errorf("touch: %v, %+v", err, out)
	}
	if _, err := os.Stat(filepath.Join(string(l.Workspace), "mark")); err == nil {
		t.Error("what was denied ran")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(string(l.Audit.Dir), audit.VerifyOptions{})
	if err != nil || !report.OK || report.Decisions != 2 || report.Outcomes != 1 {
		t.Errorf("log: %v\n%s", err, report)
	}
}

func TestCheckOnlyOpensNoLogAndRunsNothing(t *testing.T) {
	t.Parallel()
	l := load(t, "")
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}.Unhurried())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "echo hello"}); err != nil || out.Decision.Effect != engine.Allow {
		t.Errorf("check: %v, %+v", err, out.Decision)
	}
	if out, _ := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "touch mark"}); out.Ran {
		t.Error("it ran without a log")
	}
	if _, err := os.Stat(string(l.Audit.Dir)); err == nil {
		t.Error("a log was made")
	}
}

// TestWhatCannotBeHonouredIsRefused: each of these settings is valid, and this build has nothing for it.
func TestWhatCannotBeHonouredIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"runner: docker\nenvironment: {pass_all: true}\n":                          "4:25: environment.pass_all: the variables of this machine make no sense in a container",
		"runner: b\nrunners: {b: {command: [x]}}\nenvironment: {pass_all: true}\n": "environment.pass_all: the variables of this machine make no sense elsewhere",
		"plugins: [rule.wasm]\n":     "rule.manifest.json: no such file or directory: every module needs one",
		"rules: {plugin/x/y: off}\n": `3:21: rules.plugin/x/y: no rule "plugin/x/y": no plugin named x is loaded`,
		"exemptions: [{rule: plugin/x/y, match: a, reason: r, expires: 2999-01-01}]\n": "3:21: exemptions[0].rule: no rule",
		"policies: [bundle.tar.gz]\n":                                "bundle.tar.gz: read bundle: ",
		"policy_keys: [file]\n":                                      "file: read key: the key is no PEM",
		"audit: {checkpoint: {publish: [\"ftp://x\"]}}\n":            `3:32: audit.checkpoint.publish[0]: publish checkpoints to "ftp://x": want an absolute path`,
		"audit: {dir: audit, checkpoint: {publish: [audit/copy]}}\n": "it lies beside the log",
		"rules: {a/b: off}\n":                                        `no rule "a/b"`,
		"audit: {dir: file/audit}\n":                                 "nothing runs without a record",
		"environment: {venv: custom}\n":                              "virtual environment",
	} {
		s, err := plugins.Assemble(t.Context(), load(t, text), plugins.Options{})
		if err == nil {
			s.Close()
			t.Errorf("%q is passed over", text)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestTrial(t *testing.T) {
	t.Parallel()
	info, err := plugins.Trial(t.Context(), load(t, ""))
	if err != nil || info.Name != "local" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := plugins.Trial(t.Context(), load(t, "runner: docker\ndocker: {image: sallyport-test/is-not-there}\n")); err == nil {
		t.Error("docker opens")
	}
}
