package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
)

// The settings of a rule's examples hold for them, whatever the operator's own lists say.
func TestExamplesUnderSettings(t *testing.T) {
	t.Parallel()
	rule := rego.RuleInfo{
		ID: "filters/denied", Profile: "standard", Examples: []string{"make", "sh {workspace}/x.sh", "sh link.sh"}, Lookalikes: []string{"git push"},
		Config: map[string]any{
			"commands": map[string]any{"deny": []any{"make"}},
			"files":    map[string]any{"x.sh": "make", "link.sh": "-> x.sh"},
		},
	}
	found, err := plugins.Examples(t.Context(), load(t, "commands: {deny: [git push]}\n"), []rego.RuleInfo{rule})
	if err != nil || len(found) != 4 {
		t.Fatalf("%v, %+v", err, found)
	}
	for _, e := range found {
		if e.Found != e.Want {
			t.Errorf("%s: found %v, want %v", e.Command, e.Found, e.Want)
		}
	}
}

// A rule may come from anywhere: trying its examples writes nothing beside the scratch directory.
func TestExamplesSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	for name, tt := range map[string]struct {
		config map[string]any
		want   string
	}{
		"file elsewhere":     {map[string]any{"files": map[string]any{mark: "x"}}, "escapes"},
		"file by dots":       {map[string]any{"files": map[string]any{"../../../../mark": "x"}}, "escapes"},
		"file without text":  {map[string]any{"files": map[string]any{"a": 1.0}}, "not a text"},
		"files as a list":    {map[string]any{"files": []any{"a"}}, "not names and texts"},
		"place not there":    {map[string]any{"paths": []any{map[string]any{"path": "{home}/none"}}}, "does not exist"},
		"unsound expression": {map[string]any{"commands": map[string]any{"deny": []any{"("}}}, "commands.deny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := rego.RuleInfo{ID: "filters/denied", Profile: "standard", Examples: []string{"ls"}, Config: tt.config}
			_, err := plugins.Examples(t.Context(), load(t, ""), []rego.RuleInfo{rule})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
			if _, err := os.Lstat(mark); err == nil {
				t.Error("a file was written outside the scratch directory")
			}
		})
	}
}
