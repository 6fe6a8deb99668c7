package hooks

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/setup"
)

// vscodeSettings are settings with comments, and those after the hook was installed.
const (
	vscodeSettings = `{
    // tabs
    "editor.tabSize": 4, // four
    "chat.hookFilesLocations": {
        ".github/hooks": true, // of the team
    },
}
`
	vscodeInstalled = `{
    // tabs
    "editor.tabSize": 4, // four
    "chat.hookFilesLocations": {
        ".github/hooks": true, // of the team
        "~/.vscode/hooks": true,
        "~/.claude/settings.json": false,
        ".claude/settings.json": false,
        ".claude/settings.local.json": false,
    },
}
`
)

// TestPlan holds that the hooks of VS Code and opencode are installed with their other settings, that comments
// stay, that a second time changes nothing, and that they are taken out again.
func TestPlan(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	home := t.TempDir()
	here := Here{
		Getenv: func(string) string { return "" }, Home: home, Project: filepath.Join(home, "project"),
		Command: "/opt/it's/sallyport",
	}
	code := filepath.Join(home, ".config/Code/User/settings.json")
	foreign := filepath.Join(here.Project, ".opencode/plugins/sallyport.js")
	for file, text := range map[string]string{code: vscodeSettings, foreign: "export const Mine = 1\n"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(host, scope string, install bool) []setup.Change {
		t.Helper()
		h, err := Named(host)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := h.Plan(here, scope, install)
		if err != nil {
			t.Fatal(err)
		}
		if err := setup.Make(changes); err != nil {
			t.Fatal(err)
		}
		return changes
	}
	read := func(file string) string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	plugin := filepath.Join(home, ".config/opencode/plugins/sallyport.js")
	for _, host := range []string{"vscode", "opencode"} {
		for _, scope := range Scopes() {
			if host == "opencode" && scope == "project" {
				continue
			}
			if len(plan(host, scope, true)) == 0 {
				t.Errorf("%s %s: nothing to install", host, scope)
			}
			if again := plan(host, scope, true); len(again) > 0 {
				t.Errorf("%s %s: again %s", host, scope, again[0].Diff())
			}
			h, _ := Named(host)
			line, err := h.Installed(here, scope)
			if want := h.guarded(h.line(here)); err != nil || line != want {
				t.Errorf("%s %s: %q, %v; want %q", host, scope, line, err, want)
			}
			if got := programIn(line); got != here.Command {
				t.Errorf("%s %s: program %q", host, scope, got)
			}
		}
	}
	if diff := cmp.Diff(vscodeInstalled, read(code)); diff != "" {
		t.Errorf("settings of VS Code (-want +got):\n%s", diff)
	}
	if got := read(plugin); strings.Contains(got, "$line") || !strings.Contains(got, ` opencode || { echo`) {
		t.Errorf("plugin of opencode: %s", got)
	}
	opencode, _ := Named("opencode")
	if _, err := opencode.Plan(here, "project", true); err == nil {
		t.Error("another plugin is overwritten")
	}
	for _, host := range []string{"vscode", "opencode"} {
		for _, scope := range Scopes() {
			plan(host, scope, false)
			if left := plan(host, scope, false); len(left) > 0 {
				t.Errorf("%s %s: left %s", host, scope, left[0].Diff())
			}
		}
	}
	if diff := cmp.Diff(vscodeSettings, read(code)); diff != "" {
		t.Errorf("settings of VS Code, hook removed (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(plugin); err == nil || read(foreign) != "export const Mine = 1\n" {
		t.Error("the wrong plugin is gone")
	}
}
