package hooks

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/setup"
)

// TestWrapping holds that an agent runs in wrap only with a hook that judges all its calls, and that it writes
// the state of its own project and of no other one.
func TestWrapping(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command lines are those of a POSIX shell")
	}
	const own, again = ".claude/settings.json", "run sallyport agents install claude-code"
	for name, tc := range map[string]struct {
		scopes []string
		mode   string
		from   string // a text in the settings of the user, and what comes in its place
		to     string
		files  map[string]string // below the home directory
		link   string
		want   string // in the error
	}{
		"user":           {scopes: []string{"user"}},
		"run":            {scopes: []string{"user"}, mode: "run"},
		"project":        {scopes: []string{"project"}},
		"none":           {want: again},
		"other hooks":    {files: map[string]string{own: `{"hooks": {"PreToolUse": []}}`}, want: again},
		"not before":     {scopes: []string{"user"}, from: `"PreToolUse"`, to: `"Stop"`, want: "not judge all its calls: " + again},
		"not all tools":  {scopes: []string{"user"}, from: `"*"`, to: `"Read"`, want: "not judge all its calls"},
		"goes on":        {scopes: []string{"user"}, from: `"block"`, to: `"continue"`, want: "not judge all its calls"},
		"disarmed":       {scopes: []string{"user"}, from: "a=$(", to: "exit 0; a=$(", want: "not judge all its calls"},
		"another's":      {scopes: []string{"user"}, from: "HOME/sallyport", to: "/bin/true", want: "starts /bin/true, and not"},
		"gone":           {scopes: []string{"user"}, from: "HOME/sallyport", to: "/missing", want: "is not there"},
		"off":            {scopes: []string{"user"}, files: map[string]string{"project/.claude/settings.local.json": `{"disableAllHooks": true}`}, want: "disableAllHooks: true switches"},
		"off in project": {scopes: []string{"user"}, files: map[string]string{"project/.claude/settings.json": `{"disableAllHooks": true}`}, want: "disableAllHooks: true switches"},
		"broken":         {scopes: []string{"user"}, files: map[string]string{"project/.claude/settings.local.json": `{`}, want: "not valid json"},
		"project sound":  {scopes: []string{"user", "project"}, from: `"PreToolUse"`, to: `"Stop"`},
		"link":           {scopes: []string{"user"}, link: "PROJECT", want: "is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			here := Here{
				Getenv: func(string) string { return "" }, Home: home, Project: filepath.Join(home, "project"),
				Command: filepath.Join(home, "sallyport"), Mode: tc.mode,
			}
			write(here.Command, "#!/bin/sh\n")
			write(filepath.Join(here.Project, "file"), "")
			h, err := Named("claude-code")
			if err != nil {
				t.Fatal(err)
			}
			for _, scope := range tc.scopes {
				changes, err := h.Plan(here, scope, true)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := setup.Apply(filepath.Join(home, "state"), changes); err != nil {
					t.Fatal(err)
				}
			}
			state := filepath.Join(home, ".claude", "projects", strings.Map(func(r rune) rune {
				if r == '/' || r == '_' || r == '.' {
					return '-'
				}
				return r
			}, here.Project))
			if tc.link != "" {
				if err := os.MkdirAll(filepath.Dir(state), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(home, state); err != nil {
					t.Fatal(err)
				}
			}
			if tc.from != "" {
				if _, err := h.Wrapping(here, nil); err != nil {
					t.Fatalf("before: %v", err)
				}
				from := strings.ReplaceAll(tc.from, "HOME", home)
				text, err := os.ReadFile(filepath.Join(home, own))
				if err != nil || !strings.Contains(string(text), from) {
					t.Fatalf("%v: no %s in %s", err, from, text)
				}
				write(filepath.Join(home, own), strings.ReplaceAll(string(text), from, tc.to))
			}
			for name, text := range tc.files {
				write(filepath.Join(home, name), text)
			}
			w, err := h.Wrapping(here, nil)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if w.Own != here.Command || !slices.Contains(w.Places, Place{Path: state, Access: "write"}) {
				t.Errorf("%+v, want the state in %s", w, state)
			}
			for _, p := range w.Places {
				if p.Access == "write" && (p.Path == filepath.Dir(state) || strings.Contains(p.Path, "file-history")) {
					t.Errorf("it writes %s", p.Path)
				}
			}
		})
	}
}

// TestProjects holds that the names of projects are those of Claude Code.
func TestProjects(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/home/ann/a_b.c d": "-home-ann-a-b-c-d", "/x/é9Z": "-x--9Z", "/😀": "---",
		"/" + strings.Repeat("a", 199): "-" + strings.Repeat("a", 199), "/" + strings.Repeat("a", 200): "",
	} {
		got := strings.Join(projects("~/p/$project/", dir), " ")
		if got != strings.TrimSuffix("~/p/"+want+"/", "~/p//") {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	h, err := Named("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	other := Here{Getenv: func(string) string { return "/etc/claude" }}
	if got := h.Settings.place(other, "~/.claude/projects/x"); filepath.ToSlash(got) != "/etc/claude/projects/x" {
		t.Error(got)
	}
}
