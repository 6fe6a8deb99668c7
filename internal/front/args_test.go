package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]*asked{
		"version":                          {version: true},
		"version --format json":            {version: true, json: true},
		"version --format=text":            {version: true},
		"--version":                        {version: true},
		"--version --format json":          nil,
		"version x":                        nil,
		"version --format yaml":            nil,
		"check -- ls -l":                   {words: []string{"ls", "-l"}},
		"check ls -- -l":                   {words: []string{"ls", "--", "-l"}},
		"check -c ls":                      {text: "ls", given: true},
		"check --command=ls --format json": {text: "ls", given: true, json: true},
		"check --work-dir /tmp -- ls":      {dir: "/tmp", words: []string{"ls"}},
		"check -cls":                       nil,
		"check -c=ls":                      nil,
		"check -c":                         nil,
		"check -h":                         nil,
		"check --explain -- ls":            nil,
		"check --why-not a/b -- ls":        nil,
		"check --batch":                    nil,
		"check --session s -- ls":          nil,
		"check -v -- ls":                   nil,
		"--config x check -- ls":           {config: "x", words: []string{"ls"}},
		"--config":                         nil,
		"--config=x check -- ls":           nil,
		"exec -- ls":                       nil,
		"":                                 nil,
		"-h":                               nil,
	} {
		got, ok := read(strings.Fields(line))
		if ok != (want != nil) {
			t.Errorf("%q: taken %v", line, ok)
			continue
		}
		if ok {
			if diff := cmp.Diff(*want, got, cmp.AllowUnexported(asked{})); diff != "" {
				t.Errorf("%q (-want +got):\n%s", line, diff)
			}
		}
	}
}
