package rego

import (
	"strings"
	"testing"
)

func TestCheckCustomID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"custom/git/no_push":  "",
		"custom/a/b/c":        "",
		"git/no_push":         `did you mean "custom/git/no_push"?`,
		"cutsom/git/x":        `did you mean "custom/git/x"?`,
		"Git/no-push":         `did you mean "custom/git/no_push"?`,
		"git/if":              `did you mean "custom/CATEGORY/NAME"?`,
		"custom":              "want custom/CATEGORY/NAME",
		"custom/x":            "want custom/CATEGORY/NAME",
		"":                    "below custom",
		"custom/git/no-push":  "use lower-case letters",
		"custom/git/":         "use lower-case letters",
		"custom/../../etc":    "use lower-case letters",
		"custom/git/package":  "is a keyword of Rego",
		"custom/git/x_test":   "would be taken for a test",
		"custom/git/no push":  "use lower-case letters",
		"custom/Git/push":     "use lower-case letters",
		"custom/git/pu\nsh":   "use lower-case letters",
		"custom/git/no\\push": "use lower-case letters",
	} {
		err := CheckCustomID(id)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", id, err, want)
		}
	}
}
