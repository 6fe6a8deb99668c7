package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
)

func TestCases(t *testing.T) {
	t.Parallel()
	l := load(t, "commands: {deny: [git]}\n") // which is the operator's, not that of the cases
	results, err := plugins.Cases(t.Context(), l, []rego.Case{
		{Name: "holds", Command: "git status", Effect: engine.Allow},
		{Name: "under settings", Command: "git status", Config: map[string]any{"commands": map[string]any{"deny": []any{"git"}}}, Effect: engine.Deny, Rules: []string{"filters/denied"}},
		{Name: "another effect", Command: "git push --force", Effect: engine.Allow, Rules: []string{"git/force_push", "git/hooks"}},
		{Name: "with a script", Command: "sh x.sh", Files: map[string]string{"x.sh": "git push --force"}, Effect: engine.Deny, Rules: []string{"git/force_push"}},
		{Name: "elsewhere", Command: "sudo id", Runner: rego.Surroundings{Name: "docker-sudo", Isolation: "container", Elevated: true}, Effect: engine.Allow},
		{Name: "a file tool", Tool: "delete_file", Touches: []string{"delete* {workspace}"}, Effect: engine.Deny},
		{Name: "a harmless file tool", Tool: "read_file", Touches: []string{"read a.txt"}, Files: map[string]string{"a.txt": "x"}, Effect: engine.Allow},
		{Name: "a file that nobody looked at", Command: "rm notes.md", Files: map[string]string{"notes.md": "x"}, Effect: engine.Deny, Rules: []string{"deletion/read_before_delete"}},
		{Name: "a file that was read", Command: "rm notes.md", Files: map[string]string{"notes.md": "x"}, Seen: map[string]string{"notes.md": "read"}, Effect: engine.Allow},
		{Name: "under a profile", Command: "touch x", Config: map[string]any{"profile": "readonly"}, Effect: engine.Deny},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		switch {
		case r.Name != "another effect" && r.Wrong != "":
			t.Errorf("%s: %s", r.Name, r.Wrong)
		case r.Name == "another effect" && (!strings.Contains(r.Wrong, "git/hooks found nothing; reasons are of git/force_push") || !strings.HasPrefix(r.Wrong, "the effect is ")):
			t.Errorf("%s: %q", r.Name, r.Wrong)
		}
	}
}

// A case may come from anywhere: nothing is written beside its scratch directory.
func TestCasesThatAreRefused(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	for want, c := range map[string]rego.Case{
		"escapes":      {Files: map[string]string{mark: "x"}},
		"commands":     {Config: map[string]any{"commands": map[string]any{"deny": []any{"("}}}},
		"no rule \"a/": {Config: map[string]any{"rules": map[string]any{"a/b": "off"}}},
	} {
		c.Name, c.Command, c.Effect = "case", "ls", engine.Allow
		if _, err := plugins.Cases(t.Context(), load(t, ""), []rego.Case{c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if _, err := os.Lstat(mark); err == nil {
			t.Error("a file was written outside the scratch directory")
		}
	}
}
