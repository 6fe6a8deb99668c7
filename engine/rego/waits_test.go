package rego

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

func TestWaitsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, want string }{
		"some in":                  {`deny contains {"command": i} if some i in lib.with_flag.force`, "with_flag.force"},
		"some key and value in":    {`deny contains {"command": i} if some i, _ in lib.with_flag.force`, "with_flag.force"},
		"in":                       {`deny contains {} if 1 in lib.with_label.root`, "with_label.root"},
		"a key in brackets":        {`deny contains {"command": i} if some i in lib.named["ssh-copy-id"]`, "named.ssh-copy-id"},
		"the fact itself":          {`deny contains {} if lib.with_flag.force`, "with_flag.force"},
		"an element":               {`deny contains {} if lib.with_flag.force[0]`, "with_flag.force"},
		"a set by access":          {`deny contains {"path": i} if some i in lib.changes`, "with_access.delete with_access.write"},
		"an element by access":     {`deny contains {} if lib.reads[0]`, "with_access.read"},
		"a later expression":       {`deny contains {"command": i} if { some i, c in input.commands; c.elevated; i in lib.with_flag.force }`, "with_flag.force"},
		"several bodies":           {`deny contains {} if lib.with_flag.force` + "\n" + `deny contains {} if lib.in_zone.home`, "in_zone.home with_flag.force"},
		"the whole path":           {`deny contains {} if data.sallyport.lib.with_flag.force`, "with_flag.force"},
		"a set of the package":     {`deny contains {"command": i} if some i in _x` + "\n" + `_x contains i if some i in lib.with_flag.force`, "with_flag.force"},
		"an element of such a set": {`deny contains {} if _x[1]` + "\n" + `_x contains i if some i in lib.with_flag.force`, "with_flag.force"},

		"one body needs nothing":     {`deny contains {} if lib.with_flag.force` + "\n" + `deny contains {} if input.version == 1`, ""},
		"no body":                    {`deny contains {}`, ""},
		"the opposite":               {`deny contains {} if not lib.with_flag.force`, ""},
		"not in":                     {`deny contains {} if not 1 in lib.with_flag.force`, ""},
		"another input":              {`deny contains {} if lib.with_flag.force with input as {}`, ""},
		"any fact":                   {`deny contains {} if lib.with_flag[_]`, ""},
		"a fact by variable":         {`deny contains {} if { f := input.request.tool; lib.with_flag[f] }`, ""},
		"an empty set is a value":    {`deny contains {} if lib.deletes`, ""},
		"a count":                    {`deny contains {} if count(lib.deletes) == 0`, ""},
		"a result":                   {`deny contains {} if { x := 1 in lib.deletes; x == false }`, ""},
		"one of many":                {`deny contains {} if [1 | some i in lib.with_flag.force] == []`, ""},
		"every":                      {`deny contains {} if every i in lib.deletes { i == 1 }`, ""},
		"a set without facts":        {`deny contains {} if some i in lib.in_text`, ""},
		"a variable like the import": {`deny contains {} if { lib := input; lib.with_flag.force }`, ""},
		"some variable like it":      {`deny contains {} if { some lib in input.paths; lib.with_flag.force }`, ""},
		"a declared one":             {`deny contains {} if { some lib; lib = input; lib.with_flag.force }`, ""},
		"a variable like the set":    {`deny contains {} if { _x := [1]; some i in _x }` + "\n" + `_x contains i if some i in lib.with_flag.force`, ""},
		"a set of the package whole": {`deny contains {} if _x` + "\n" + `_x contains i if some i in lib.with_flag.force`, ""},
		"a complete rule":            {`deny contains {} if _x` + "\n" + `_x := false if lib.with_flag.force else := true`, ""},
		"a function":                 {`deny contains {} if _x(1)` + "\n" + `_x(_) if lib.with_flag.force`, ""},
		"sets of each other":         {`deny contains {} if 1 in _x` + "\n" + `_x contains 1 if 1 in _y` + "\n" + `_y contains 1 if 1 in _x`, ""},
		"another package":            {`deny contains {} if data.sallyport.rules.a.b.deny[_]`, ""},
		"another import":             {`deny contains {} if some i in hooks.force`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "package sallyport.rules.x.y\nimport data.sallyport.lib\nimport data.sallyport.lib.hooks\n" + c.rules
			module, err := ast.ParseModuleWithOpts("x", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
			if err != nil {
				t.Fatal(err)
			}
			r := &rule{id: "x/y", pkg: module.Package.Path, sources: []*source{{name: "x", module: module}}}
			var got []string
			for _, f := range r.waitsFor("deny") {
				got = append(got, f.kind+"."+f.name)
			}
			equal(t, strings.Join(got, " "), c.want)
			r.sources[0].custom = true
			if r.waitsFor("deny") != nil {
				t.Error("a custom rule waits")
			}
		})
	}
}
