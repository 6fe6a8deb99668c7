package rego

import "testing"

func TestUnclosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"package a\n\ndeny if {\n\tx := [1]\n":       "the { of line 3 is not closed: deny if {",
		"a := {\n\tf(\n":                             "the ( of line 2 is not closed: f(",
		"a := \"{\" # {\nb := `[`\nc := \"\\\"{\"\n": "",
		"a := {}\n":                     "",
		"# a \" in a comment\na := [\n": "the [ of line 2 is not closed: a := [",
	} {
		if got := unclosed(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
