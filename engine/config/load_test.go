package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDiscoveryOrder(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	variables := map[string]string{}
	h.Getenv = func(name string) string { return variables[name] }
	load := func(flag, source, agent string) {
		t.Helper()
		l, err := Load(flag, h)
		if err != nil {
			t.Fatal(err)
		}
		if l.Source != source || l.Agent != agent {
			t.Errorf("source %q, agent %q; want %q, %q", l.Source, l.Agent, source, agent)
		}
	}
	// In the workspace it is never read, whatever it says.
	inWork := write(t, filepath.Join(h.Dir, "sallyport.yaml"), "version: 1\nagent: intruder\nmode: monitor\n")
	if _, err := os.Stat(systemFile); errors.Is(err, os.ErrNotExist) {
		load("", "defaults", "agent")
	}
	l, err := Load("", h)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Ignored, []string{inWork}) || string(l.Workspace) != h.Dir {
		t.Errorf("ignored %q, workspace %q", l.Ignored, l.Workspace)
	}
	write(t, filepath.Join(h.Home, ".config/sallyport/config.yaml"), "version: 1\nagent: of-home\n")
	load("", "user", "of-home")
	variables["XDG_CONFIG_HOME"] = filepath.Join(h.Dir, "xdg")
	write(t, filepath.Join(h.Dir, "xdg/sallyport/config.yaml"), "version: 1\nagent: of-xdg\n")
	load("", "user", "of-xdg")
	variables["SALLYPORT_CONFIG"] = write(t, filepath.Join(h.Dir, "env.yaml"), "version: 1\nagent: of-env\n")
	load("", "$SALLYPORT_CONFIG", "of-env")
	write(t, filepath.Join(h.Dir, "flag.yaml"), "version: 1\nagent: of-flag\n")
	load("flag.yaml", "--config", "of-flag")
	if places := Places(h); len(places) != 3 {
		t.Errorf("places = %q", places)
	}
}

// TestUnreadableFileIsAnError: falling back to the defaults would fall back to weaker settings.
func TestUnreadableFileIsAnError(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	for name, test := range map[string]struct{ file, want string }{
		"missing":      {filepath.Join(h.Dir, "none.yaml"), "no such configuration file"},
		"directory":    {h.Dir, "it is a directory"},
		"below a file": {filepath.Join(h.Dir, "notes.txt", "c.yaml"), "not a directory"},
		"not UTF-8":    {write(t, filepath.Join(h.Dir, "bad.yaml"), "version: 1\nagent: \xff\n"), "not valid UTF-8"},
		"too large":    {write(t, filepath.Join(h.Dir, "big.yaml"), strings.Repeat("#", maxFile+1)), "larger than"},
		"variable":     {"$HOME/c.yaml", "variables are not expanded"},
	} {
		if _, err := Load(test.file, h); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	h.Getenv = func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return filepath.Join(h.Dir, "xdg")
		}
		return ""
	}
	write(t, filepath.Join(h.Dir, "xdg/sallyport"), "a file where a directory should be")
	if _, err := Load("", h); err == nil || !strings.Contains(err.Error(), "find configuration") {
		t.Errorf("a user's file that cannot be looked at: %v", err)
	}
}

func TestRelativePathsStartAtTheFile(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	file := write(t, filepath.Join(h.Dir, "shared/c.yaml"), "version: 1\nworkspace: ../work\npaths: [{path: ~/}]\n")
	l, err := Load(file, h)
	if err != nil {
		t.Fatal(err)
	}
	if string(l.Workspace) != filepath.Join(h.Dir, "work") || string(l.Paths[0].Path) != h.Home {
		t.Errorf("workspace %q, path %q", l.Workspace, l.Paths[0].Path)
	}
	h.Home = ""
	if _, err := Load(file, h); err == nil || !strings.Contains(err.Error(), "there is no home directory") {
		t.Errorf("~ without a home: %v", err)
	}
}

func TestNoHomeNeedsAnAuditDirectory(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	h.Home = ""
	_, err := Parse("", "", "defaults", h)
	if err == nil || !strings.Contains(err.Error(), "configuration: audit.dir: ") {
		t.Errorf("got %v", err)
	}
	h.Getenv = func(name string) string {
		return map[string]string{"XDG_STATE_HOME": "/s", "TMPDIR": "/scratch/"}[name]
	}
	l, err := Parse("", "", "defaults", h)
	if err != nil {
		t.Fatal(err)
	}
	if l.Audit.Dir != "/s/sallyport/audit" || !slices.Contains(l.Layout().Temporary, "/scratch") {
		t.Errorf("audit.dir %q, temporary %q", l.Audit.Dir, l.Layout().Temporary)
	}
}

// TestWarningOfTheUsersOwnFile holds that nobody is told to move the configuration to where it lies.
func TestWarningOfTheUsersOwnFile(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	file := write(t, UserFile(h), "version: 1\nworkspace: \"~\"\n")
	l, err := Load(file, h)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(l.Warnings(), "\n")
	if !strings.Contains(all, "move it out, or grant a smaller place") || strings.Contains(all, "for example to") {
		t.Error(all)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	file := write(t, filepath.Join(h.Dir, "c.yaml"), "version: 1\nmode: monitor\nenvironment: {env_file: .env, pass_all: true}\npolicies: [rules]\naudit: {dir: log}\nplugins: [p.wasm]\n")
	write(t, filepath.Join(h.Dir, "rules/a.rego"), "")
	write(t, filepath.Join(h.Dir, "p.wasm"), "")
	for _, p := range []struct {
		path string
		mode os.FileMode
	}{{file, 0o666}, {h.Dir, 0o775}} {
		if err := os.Chmod(p.path, p.mode); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(h.Dir, "sallyport.yml"), "")
	l, err := Load(file, h)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(l.Warnings(), "\n")
	for _, want := range []string{
		"c.yaml is writable by everybody", "is writable by its group", "c.yaml lies in", ".env lies in", "pass_all", "rules lies in", "p.wasm lies in", "log lies in", "contains your home directory",
		"mode is monitor", "sallyport.yml is not read",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in:\n%s", want, all)
		}
	}
	safe := write(t, filepath.Join(h.Dir, "etc/c.yaml"), "version: 1\nworkspace: ../work\n")
	if l, err = Load(safe, h); err != nil {
		t.Fatal(err)
	}
	if w := l.Warnings(); len(w) != 0 {
		t.Errorf("warnings about a safe configuration: %q", w)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{"0": 0, "1": 1, "512k": 512 << 10, "1MiB": 1 << 20, "2g": 2 << 30, "1.5 GiB": 3 << 29, "1MB": 1e6, "1tib": 1 << 40} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("size %q = %d, %v; want %d", text, s, err, want)
		}
	}
	for text, want := range map[string]string{"60s": "1m", "90s": "1m30s", "1h": "1h", "90m": "1h30m", "100ms": "100ms", "3600s": "1h"} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("duration %q: %v", text, err)
		}
		if got, _ := d.MarshalText(); string(got) != want {
			t.Errorf("duration %q is written %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"2026-12-31": "2027-01-01T00:00:00Z", "2026-12-31T18:00:00+02:00": "2026-12-31T16:00:00Z"} {
		var d Date
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Format(time.RFC3339) != want {
			t.Errorf("date %q = %v, %v; want %s", text, d, err, want)
		}
	}
	for text, want := range map[Size]string{0: "0", 1: "1", 1024: "1KiB", 3 << 20: "3MiB", 1500: "1500"} {
		if got, _ := text.MarshalText(); string(got) != want {
			t.Errorf("size %d is written %q, want %q", text, got, want)
		}
	}
}

// TestShownConfigurationReadsBack: what "config show" prints is a configuration of the same meaning.
func TestShownConfigurationReadsBack(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	file := filepath.Join(h.Dir, "c.yaml")
	l, err := Parse(full, file, "--config", h)
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(string(text), file, "--config", h)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text2, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(text2) {
		t.Errorf("first\n%s\nthen\n%s", text, text2)
	}
	if v, err := l.Generic(); err != nil || v["timeout"] != "1m30s" {
		t.Errorf("generic: %v, %v", v, err)
	}
}

// FuzzParse: whatever the text, Parse ends without a panic, and each problem is told with a text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{full, "version: 1\n", "a: &a [*a]", "version: 1\npaths: [{}]\n", "- 1", "version: !!x 1", "version: 1\nrunners: {a: }", "? [a]: b"} {
		f.Add(seed)
	}
	root := f.TempDir()
	h := Host{Dir: root, Home: root, Getenv: func(string) string { return "" }, Now: time.Unix(0, 0)}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse(text, filepath.Join(root, "c.yaml"), "--config", h)
		var problems *Error
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("%v is not an *Error", err)
		}
		if problems != nil {
			for _, p := range problems.Problems {
				if p.Text == "" || p.Line < 0 {
					t.Fatalf("problem without a text or place: %+v", p)
				}
			}
		}
	})
}
