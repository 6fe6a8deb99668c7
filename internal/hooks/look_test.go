package hooks

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/setup"
)

// TestLook holds that errors in the settings of hosts are found, and that sound settings have none.
func TestLook(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command lines are those of a POSIX shell")
	}
	const trusted = "[hooks.state.\"HOME/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n"
	server := func(names ...string) string {
		var all []string
		for _, n := range names {
			all = append(all, `"`+n+`": {"command": "PROGRAM", "args": ["mcp"]}`)
		}
		return `{"mcpServers": {` + strings.Join(all, ", ") + `}}`
	}
	for name, test := range map[string]struct {
		host   string
		scopes []string          // where the hook is installed
		files  map[string]string // written afterwards, below the home directory
		edit   [2]string         // in the installed file of the user
		remove bool              // the program is gone
		want   []string          // a part of each problem
	}{
		"nothing":      {host: "claude-code"},
		"sound":        {host: "claude-code", scopes: []string{"user"}},
		"sound server": {host: "gemini", files: map[string]string{".gemini/settings.json": server("sallyport")}},
		"trusted": {host: "codex", scopes: []string{"user"},
			files: map[string]string{".codex/config.toml": trusted}},
		"program is gone": {host: "gemini", scopes: []string{"user"}, remove: true,
			want: []string{"is not there"}},
		"another program": {host: "gemini", scopes: []string{"user"},
			edit: [2]string{"$(PROGRAM ", "$(OTHER "}, want: []string{"another program"}},
		"relative program": {host: "gemini", scopes: []string{"user"},
			edit: [2]string{"$(PROGRAM ", "$(sallyport-x "}, want: []string{"is not there"}},
		"short limit": {host: "gemini", scopes: []string{"user"}, edit: [2]string{"60000", "15000"},
			want: []string{"15s, is not above"}},
		"equal limit": {host: "claude-code", scopes: []string{"user"},
			edit: [2]string{`"timeout": 60`, `"timeout": 20`}, want: []string{"20s, is not above"}},
		"both scopes": {host: "gemini", scopes: []string{"user", "project"},
			want: []string{"for the user and for this project"}},
		"no after event": {host: "gemini", scopes: []string{"user"},
			edit: [2]string{"AfterTool", "AfterTurn"}, want: []string{"missing for some events"}},
		"cut": {host: "claude-code", files: map[string]string{".claude/settings.json": `{"hooks":`}, want: []string{"not valid json"}},
		"no server file": {host: "claude-code", scopes: []string{"user"},
			files: map[string]string{".claude.json": `{`}, want: []string{"not valid json"}},
		"hooks off": {host: "claude-code", scopes: []string{"user"},
			files: map[string]string{"project/.claude/settings.local.json": `{"disableAllHooks": true}`},
			want:  []string{"disableAllHooks: true switches"}},
		"gemini off": {host: "gemini", scopes: []string{"user"},
			files: map[string]string{"project/.gemini/settings.json": `{"hooksConfig": {"disabled": ["sallyport"]}}`}, want: []string{"hooksConfig.disabled"}},
		"codex off": {host: "codex", scopes: []string{"user"},
			files: map[string]string{".codex/config.toml": "[features]\nhooks = false\n" + trusted},
			want:  []string{"features.hooks: false"}},
		"untrusted": {host: "codex", scopes: []string{"user"}, want: []string{"does not trust"}},
		"disabled": {host: "codex", scopes: []string{"user"},
			files: map[string]string{".codex/config.toml": trusted + "enabled = false\n"},
			want:  []string{"disabled"}},
		"two servers": {host: "claude-code", files: map[string]string{".claude.json": server("a", "b")},
			want: []string{"more than once: a in "}},
		"server is gone": {host: "claude-code", files: map[string]string{".claude.json": server("a")},
			remove: true, want: []string{"is not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			program, other := filepath.Join(home, "bin", "sallyport"), filepath.Join(home, "bin", "other")
			write := func(file, text string) {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				text = strings.NewReplacer("HOME", home, "PROGRAM", program, "OTHER", other).Replace(text)
				if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(program, "")
			write(other, "")
			here := Here{
				Getenv: func(string) string { return "" }, Home: home, Project: filepath.Join(home, "project"),
				Command: program,
			}
			h, err := Named(test.host)
			if err != nil {
				t.Fatal(err)
			}
			for _, scope := range test.scopes {
				entries, err := h.Entries(here, scope)
				if err != nil {
					t.Fatal(err)
				}
				c, err := entries.Install()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := setup.Apply(filepath.Join(home, "state"), []setup.Change{*c}); err != nil {
					t.Fatal(err)
				}
				if from := strings.ReplaceAll(test.edit[0], "PROGRAM", program); from != "" && scope == "user" {
					if !strings.Contains(string(c.After), from) {
						t.Fatalf("no %s in %s", from, c.After)
					}
					write(c.File, strings.ReplaceAll(string(c.After), from, test.edit[1]))
				}
			}
			for name, text := range test.files {
				write(filepath.Join(home, name), text)
			}
			if test.remove {
				if err := os.Remove(program); err != nil {
					t.Fatal(err)
				}
			}
			problems, connected := h.Look(here)
			if connected != (name != "nothing") {
				t.Errorf("connected: %v", connected)
			}
			if len(problems) != len(test.want) {
				t.Fatalf("%+v, want %q", problems, test.want)
			}
			for i, p := range problems {
				if !strings.Contains(p.Text, test.want[i]) {
					t.Errorf("%+v, want %q", p, test.want[i])
				}
			}
		})
	}
}
