package rego

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/facts"
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
			equal(t, waits(t, c.rules), c.want)
		})
	}
}

// A field of a command or path is a fact, too, where it is compared with constants.
func TestWaitsForFields(t *testing.T) {
	t.Parallel()
	const command, path = "some c in input.commands; ", "some p in input.paths; "
	for body, want := range map[string]string{
		command + `c.name == "rm"`:                               "named.rm",
		command + `"rm" == c.name`:                               "named.rm",
		command + `c.name in {"rm", "mv"}`:                       "named.mv named.rm",
		command + `c.name in data.custom.names`:                  "named.a named.b",
		command + `"force" in c.flags`:                           "with_flag.force",
		command + `c.flags[_] == "force"`:                        "with_flag.force",
		command + `c.code.from == "stdin"`:                       "code_from.stdin",
		command + `c.elevated; not c.known; c.name == "rm"`:      "named.rm",
		`input.commands[_].name == "rm"`:                         "named.rm",
		`c := input.commands[_]; c.name == "rm"`:                 "named.rm",
		path + `p.zone == "home"`:                                "in_zone.home",
		path + `"root" in p.labels`:                              "with_label.root",
		`some _, c in lib.commands({"git"}); c.known`:            "named.git",
		`some _ in lib.paths({"write", "read"})`:                 "with_access.read with_access.write",
		`some _ in lib.commands(data.custom.names)`:              "named.a named.b",
		`some _, c in _gits; c.known`:                            "named.git",
		path + `p.name == "rm"`:                                  "",
		command + `c.subcommand == "rm"`:                         "",
		command + `c.name != "rm"`:                               "",
		command + `not c.name == "rm"`:                           "",
		command + `x := c.name == "rm"; not x`:                   "",
		command + `c.name in {"rm", c.dir}`:                      "",
		command + `c.name in {"rm": "mv"}`:                       "",
		command + `c.flags in {"force"}`:                         "",
		`some _ in lib.commands(data.custom.none)`:               "",
		`some _ in lib.commands(data.custom.numbers)`:            "",
		`x := [c | some c in input.commands]; x[0].name == "rm"`: "",
		`some _ in _twice`:                                       "",
	} {
		text := "deny contains {} if { " + body + " }\n" + `_gits := {i: c | some i, c in lib.commands({"git"})}
_twice := {i | some i in lib.reads} if input.version == 1
_twice := {i | some i in lib.reads} if input.version == 2`
		equal(t, waits(t, text), want)
	}
}

// waits are the facts for which the rule with these definitions waits.
func waits(t *testing.T, definitions string) string {
	t.Helper()
	const head = "package sallyport.rules.x.y\nimport data.sallyport.lib\nimport data.sallyport.lib.hooks\n"
	text := head + definitions
	module, err := ast.ParseModuleWithOpts("x", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]any{"names": []any{"a", "b"}, "numbers": []any{1, 2}, "none": []any{}}
	r := &rule{
		id: "x/y", pkg: module.Package.Path, sources: []*source{{name: "x", module: module}},
		data: map[string]any{"custom": lists},
	}
	var got []string
	for _, f := range r.waitsFor("deny") {
		got = append(got, f.kind+"."+f.name)
	}
	return strings.Join(got, " ")
}

// Before the fact for which it waits, a custom rule can do nothing but be undefined: else its fault would be
// silence.
func TestCustomRulesWaitQuietly(t *testing.T) {
	t.Parallel()
	const guard = `c.name == "rm"`
	for before, waits := range map[string]bool{
		`c.elevated`: true, `not c.known`: true, `c.dir != "/"`: true, `c.subcommand in {"a"}`: true,
		`x := c.argv[0]; x < "b"`: true, `some w in c.argv; w == "x"`: true, `lib.with_flag[c.dir]`: true,
		`c.dir in data.custom.names`: true, `input.request.background`: true,

		`count(c.argv) > 1`: false, `not startswith(c.dir, "/")`: false, `_helper`: false, `_function(c)`: false,
		`data.custom.other.set[_]`: false, `c.span.end / c.span.start > 1`: false,
		`every w in c.argv { w != "" }`: false,
		`[w | some w in c.argv] == []`:  false, `c.dir == "/" with input as {}`: false,
		`lib.size(c.argv) > 1`: false, `data.custom[_]`: false, `not {1 | some _ in c.argv}[1]`: false,
	} {
		text := "package custom.x\nimport data.sallyport.lib\n_helper := 1\n_function(_) := 1\n" +
			"deny contains {} if {\nsome c in input.commands\n" + before + "\n" + guard + "\n}\n"
		module, err := ast.ParseModuleWithOpts("x", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(before, err)
		}
		data := map[string]any{"custom": map[string]any{"names": []any{"a"}}}
		r := &rule{pkg: module.Package.Path, sources: []*source{{custom: true, module: module}}, data: data}
		if got := r.waitsFor("deny") != nil; got != waits {
			t.Errorf("after %s: waits %v, want %v", before, got, waits)
		}
		r.shared = true
		if r.waitsFor("deny") != nil {
			t.Error("a rule to which another package adds waits")
		}
	}
}

// A package above can add to the sets of a rule.
func TestSharedRulesDoNotWait(t *testing.T) {
	t.Parallel()
	const body = "deny contains {} if lib.with_flag.force\n"
	for name, c := range map[string]struct {
		above string
		want  bool
	}{
		"alone":            {"package custom.other\n_x.deny contains {} if true\ndeny contains {} if true", false},
		"from above":       {"package custom.a\nb.deny contains {} if true", true},
		"from further up":  {"package custom\na.b.deny contains {} if true", true},
		"by a variable":    {"package custom.a\nb[x] contains {} if some x in [\"deny\"]", true},
		"a part beside it": {"package custom.a\nc.deny contains {} if true", false},
		"of its own":       {"package custom.a.b\n_x[y] := 1 if some y in [1]", false},
	} {
		set := &fileSet{}
		for _, text := range []string{"package custom.a.b\nimport data.sallyport.lib\n" + body, c.above} {
			module, err := ast.ParseModuleWithOpts("x", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
			if err != nil {
				t.Fatal(name, err)
			}
			set.sources = append(set.sources, &source{custom: true, module: module})
		}
		r := &rule{pkg: set.sources[0].module.Package.Path, sources: set.sources[:1]}
		set.place([]*rule{r}, nil)
		if r.shared != c.want {
			t.Errorf("%s: shared %v, want %v", name, r.shared, c.want)
		}
	}
}

// TestWaitingFindsNothing evaluates rules of chance alone, on inputs of chance: where every fact is missing
// for which a rule waits, its set is empty and has no error. Some rules have errors, before the fact and
// after it.
func TestWaitingFindsNothing(t *testing.T) {
	t.Parallel()
	const rules, asked = 250, 60
	dice := rand.New(rand.NewPCG(3, 4))
	pick := func(texts ...string) string { return texts[dice.IntN(len(texts))] }
	files := map[string]string{"data.json": `{"custom": {"names": ["git", "docker"]}}`}
	for n := range rules {
		text := ""
		for range 1 + dice.IntN(2) {
			lines := []string{pick(
				`some _, c in input.commands`, `some c in input.commands`, `c := input.commands[_]`,
				`some _, c in _some`, `some _, c in lib.commands({"mv", "x"})`)}
			for range 1 + dice.IntN(4) {
				lines = append(lines, pick(
					`c.name == "git"`, `c.name in {"mv", "docker"}`, `c.name in data.custom.names`, `"x" in c.flags`,
					`c.flags[_] == "git"`, `c.certainty == "unknown"`, `c.code.from == "stdin"`, `not c.known`, `c.elevated`,
					`"network" in c.effects`, `some _ in input.paths`, `some _ in lib.with_flag.git`,
					`input.paths[_].zone == "home"`, `lib.writes[_]`, `count(c.argv) > 1`, `to_number(c.dir) > 1`,
					`c.span.end / c.span.start > 1`, `not c.name == "x"`, `some _ in _some`, `c.pipeline.id != 1`))
			}
			text += "deny contains {} if {\n\t" + strings.Join(slices.Compact(lines), "\n\t") + "\n\tc.name\n}\n\n"
		}
		which := pick(`c.name == "git"`, `"x" in c.flags`, `c.elevated`)
		text += "_some := {i: c | some i, c in input.commands; " + which + "}\n"
		imports := ""
		if strings.Contains(text, "lib.") {
			imports = "import data.sallyport.lib\n\n"
		}
		head := fmt.Sprintf("%spackage custom.chance.r%d\n\n%s", metadataText, n, imports)
		files[fmt.Sprintf("r%d.rego", n)] = head + text
	}
	e := newEvaluator(t, Options{Custom: []string{directory(t, files)}})
	generate := inputs(t)
	var ins []*facts.Input
	var have []map[fact]bool
	for range asked {
		in := generate()
		has := map[fact]bool{}
		present(in, func(f fact) bool { has[f] = true; return true })
		ins, have = append(ins, in), append(have, has)
	}
	waiting, skipped, fired, failed := 0, 0, 0, 0
	for _, r := range e.policies.rules {
		if !r.custom() {
			continue
		}
		query, err := e.topdown.prepare(t.Context(), ast.NewTerm(r.pkg.Append(ast.StringTerm("deny"))))
		if err != nil {
			t.Fatal(err)
		}
		waits := r.waitsFor("deny")
		if waits != nil {
			waiting++
		}
		for i, in := range ins {
			found, err := e.topdown.eval(t.Context(), &query, e.topdown.encode.value(in))
			if waits == nil || slices.ContainsFunc(waits, func(f fact) bool { return have[i][f] }) {
				if err != nil {
					failed++
				} else if found.Value.(ast.Set).Len() > 0 {
					fired++
				}
				continue
			}
			skipped++
			if err != nil || found.Value.(ast.Set).Len() > 0 {
				t.Fatalf("waiting for %v\n%s\nfinds %v, %v", waits, r.sources[0].text, found, err)
			}
		}
	}
	t.Logf("%d of %d rules wait; %d times one is left out; else %d find something, %d fail",
		waiting, rules, skipped, fired, failed)
	if waiting < rules/4 || skipped < rules || fired < rules || failed < rules {
		t.Error("that shows little")
	}
}

// The facts that tell whether custom rules are asked are those of lib.
func TestPresentIsThatOfLib(t *testing.T) {
	t.Parallel()
	e := newEvaluator(t, Options{})
	all := ast.NewObject()
	for _, kind := range keyed {
		all.Insert(ast.StringTerm(kind), ast.NewTerm(libRoot.Append(ast.StringTerm(kind))))
	}
	query, err := e.topdown.prepare(t.Context(), ast.NewTerm(all))
	if err != nil {
		t.Fatal(err)
	}
	generate := inputs(t)
	for range 50 {
		in := generate()
		term, err := e.topdown.eval(t.Context(), &query, e.topdown.encode.value(in))
		if err != nil {
			t.Fatal(err)
		}
		var got, want []fact
		present(in, func(f fact) bool { got = append(got, f); return true })
		term.Value.(ast.Object).Foreach(func(kind, names *ast.Term) {
			names.Value.(ast.Object).Foreach(func(name, _ *ast.Term) {
				want = append(want, fact{string(kind.Value.(ast.String)), string(name.Value.(ast.String))})
			})
		})
		for _, facts := range [][]fact{got, want} {
			slices.SortFunc(facts, fact.compare)
		}
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
