package main

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	version, answered := asked{version: true}, asked{resident: true}
	for line, want := range map[string]asked{
		"version":                           version,
		"--version":                         version,
		"version --format json":             {version: true, json: true},
		"version --format=json":             {version: true, json: true},
		"version --format yaml":             {},
		"version x":                         {},
		"--version --format json":           {},
		"check -- ls -l":                    answered,
		"check --explain --session s -c ls": answered,
		"check --batch":                     {},
		"check --batch=true":                {},
		"--config x check -- ls":            answered,
		"--config x hook codex":             {hook: true, resident: true},
		"hook codex":                        {hook: true, resident: true},
		"-v hook codex":                     {hook: true},
		"--config=x check -- ls":            {},
		"--config":                          {},
		"exec -- ls":                        {exec: true},
		"":                                  {},
	} {
		if got := read(strings.Fields(line)); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}
