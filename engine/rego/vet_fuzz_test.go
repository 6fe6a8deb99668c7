package rego

import (
	"testing"
)

// Whatever a file holds, looking through it ends, and what it finds has a place and a kind.
func FuzzVet(f *testing.F) {
	for _, rules := range []string{
		"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tnot c.name in {\"a\"}\n}",
		"deny contains x if x := [1 | every p in input.paths { p.zone == \"x\" }]",
		"ask[x] if x = data.sallyport.lib.with_flag[_][y]",
		"warn contains $\"{x}\" if regex.match(`(`, input.x) with input as {}",
		"deny contains {} if not lib.a - lib.b == input[x].y else := 1",
		"import data.sallyport.lib as l\ndeny contains {} if some l.x in l.targets[1].read",
		"deny := x if x := y; y := x",
	} {
		f.Add(metadataText+"package custom.team.x\n\n"+rules+"\n", "cases:\n  - {name: a, command: b, effect: deny}\n")
	}
	f.Add("package", "cases: [{")
	f.Fuzz(func(t *testing.T, module, cases string) {
		dir := directory(t, map[string]string{"x.rego": module, "x.cases.yaml": cases})
		found, err := Vet(smallKit(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found.Problems {
			if p.Kind == "" || p.Message == "" || p.File == "" {
				t.Errorf("got %#v", p)
			}
		}
		read, err := Cases([]string{dir})
		for _, c := range read {
			if err == nil && (c.Name == "" || c.Text() == "" || c.Row == 0) {
				t.Errorf("got %+v", c)
			}
		}
	})
}
