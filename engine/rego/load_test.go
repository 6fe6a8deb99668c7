package rego

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/policies"
)

func TestLoadReportsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	sound := metadataText + "package custom.sound\n\ndeny contains {} if false\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  []string // the beginning of each problem
	}{
		"parse errors in two files": {
			map[string]string{"a.rego": "package custom.a\n\nwarn contains := 1\n", "b/b.rego": "package custom.b\n\ndeny contains := 1\n", "c.rego": sound},
			[]string{"a.rego:3:15: parse_error: ", "a.rego:3:15: parse_error: ", "b/b.rego:3:15: parse_error: ", "b/b.rego:3:15: parse_error: "},
		},
		"package outside custom": {
			map[string]string{"a.rego": "package sallyport.rules.git.force_push\n\ndeny contains {}\n", "b.rego": "package team\n\nx := 1\n", "c.rego": "package custom\n\ndeny contains {}\n"},
			[]string{
				"a.rego:1:1: package sallyport.rules.git.force_push must be below custom: write package custom.sallyport",
				"b.rego:1:1: package team must be below custom: write package custom.team",
				"c.rego:1:1: package custom must be below custom",
			},
		},
		"misspelt names": {
			map[string]string{"a.rego": "package custom.a\n\ndenny contains {}\n\nDeny contains {}\n", "b.rego": metadataText + "package custom.b\n\ndeny contains {}\n\nwarm contains {}\n\nhelper := 1\n"},
			[]string{
				"a.rego:1:1: package custom.a does nothing",
				"a.rego:3:1: denny is not evaluated: did you mean deny?",
				"a.rego:5:1: Deny is not evaluated: did you mean deny?",
				"b.rego:10:1: warm is not evaluated: did you mean warn?",
				"b.rego:12:1: helper is not evaluated: a rule package defines deny, ask and warn",
			},
		},
		"a field that the input does not have": {
			map[string]string{"a.rego": metadataText + "package custom.a\n\ndeny contains {\"command\": i} if {\n\tsome i\n\tinput.commands[i].comand == \"rm\"\n}\n"},
			[]string{"a.rego:10:2: type_error: undefined ref: input.commands[i].comand"},
		},
		"no sets": {
			map[string]string{"a.rego": metadataText + "package custom.a\n\ndeny if input.x\n\nask[x] := 1 if x := 2\n\nwarn(_) := true\n", "b.rego": sound, "c.rego": metadataText + "package custom.c\n\ndefault deny := false\n\ndeny.x contains 1\n"},
			[]string{
				"a.rego:6:1: package custom.a does nothing",
				"a.rego:8:1: deny must be a set of findings",
				"a.rego:10:1: ask must be a set of findings",
				"a.rego:12:1: warn must be a set of findings",
				"c.rego:6:1: package custom.c does nothing",
				"c.rego:8:1: deny must be a set of findings",
				"c.rego:10:1: deny must be a set of findings",
			},
		},
		"metadata": {
			map[string]string{
				"a.rego": "package custom.a\n\ndeny contains {} if false\n",
				"b.rego": "# METADATA\n# description: x\n# custom:\n#   severity: hgih\n#   examples: ls\n#   owner: team\n#   config: {runner: docker}\npackage custom.b\n\ndeny contains {} if false\n",
				"c.rego": "# METADATA\n# title: t\n# custom:\n#   severty: high\n#   remediation: [1]\n#   config: no\npackage custom.c\n\nask contains {} if false\n",
				"d.rego": sound, "e.rego": strings.Replace(sound, "A rule", "Another rule", 1),
			},
			[]string{
				"a.rego:1:1: package custom.a has no METADATA",
				"b.rego:1:1: METADATA has no title",
				"b.rego:1:1: METADATA has no custom.remediation",
				"b.rego:4:1: METADATA has no sound custom.severity: it is \"hgih\", not one of low, medium, high, critical: did you mean \"high\"?",
				"b.rego:5:1: METADATA has a custom.examples that is not a list of texts",
				"b.rego:7:1: METADATA has an unknown key custom.config.runner: it is not one of " +
					"commands, committed, files, paths, rules",
				"c.rego:1:1: METADATA has no custom.remediation",
				"c.rego:1:1: METADATA has no sound custom.severity: it is \"\"",
				"c.rego:4:1: METADATA has an unknown key custom.severty: did you mean severity?",
				"c.rego:5:1: METADATA has a custom.remediation that is not a text",
				"c.rego:6:1: METADATA has a custom.config that is not keys and values",
				"e.rego:1:1: package custom.sound has METADATA in two places",
			},
		},
		"keys of metadata that OPA passes over": {
			map[string]string{"a.rego": strings.Replace(metadataText, "# custom:", "# severity: low\n# relatd_resources: [{ref: \"https://example.com\"}]\n# organizations: [acme]\n# custom:", 1) + "package custom.a\n\ndeny contains {}\n"},
			[]string{
				"a.rego:3:1: METADATA has an unknown key severity: keys that are not OPA's stand below custom",
				"a.rego:4:1: METADATA has an unknown key relatd_resources: did you mean related_resources?",
			},
		},
		"what has no value": {
			map[string]string{"a.rego": metadataText + "package custom.a\n\ndeny contains {} if lib.x\n\nask contains {} if y\n"},
			[]string{
				"a.rego:8:21: unsafe_var_error: var lib is unsafe: write import data.sallyport.lib",
				"a.rego:10:20: unsafe_var_error: var y is unsafe: nothing gives it a value",
			},
		},
		"an empty file": {map[string]string{"a.rego": sound, "b.rego": "", "c.rego": "# nothing\n"}, []string{
			"b.rego: parse_error: empty module: write a package line", "c.rego: parse_error: empty module: write a package line",
		}},
		"compile errors": {
			map[string]string{
				"a.rego": metadataText + "package custom.a\n\ndeny contains {} if nowhere(1)\n",
				"b.rego": metadataText + "package custom.b\n\ndeny contains {} if nobody(2)\n",
			},
			[]string{"a.rego:8:21: type_error: undefined function nowhere", "b.rego:8:21: type_error: undefined function nobody"},
		},
		"strictness": {
			map[string]string{
				"a.rego": metadataText + "package custom.a\n\nimport data.custom.b\n\ndeny contains {} if { y := 1; input.request.id }\n",
				"b.rego": metadataText + "package custom.b\n\nimport data.custom.a\n\ndeny contains {} if false\n",
			},
			[]string{"a.rego:8:1: compile_error: import data.custom.b unused", "a.rego:10:23: compile_error: assigned var y unused", "b.rego:8:1: compile_error: import data.custom.a unused"},
		},
		"recursion": {
			map[string]string{"a.rego": metadataText + "package custom.a\n\ndeny contains {} if _x\n\n_x if _y\n\n_y if _x\n"},
			[]string{"a.rego:10:1: recursion_error: ", "a.rego:12:1: recursion_error: "},
		},
		"reading the decision": {
			map[string]string{"a.rego": metadataText + "package custom.a\n\ndeny contains {} if data.sallyport.main.decision.effect == \"allow\"\n"},
			[]string{"a.rego:8:1: recursion_error: "},
		},
		"data": {
			map[string]string{
				"a.rego": sound, "data.json": `{"sallyport": {"config": {}}}`, "x/y.yaml": "a: 1\n", "custom/list.json": `[1]`,
				"custom/data.yaml": "n: 1\n", "custom/data.json": `{"n": 2}`, "z.json": "{", "sallyport/config/data.json": `{"profile": "massgen"}`,
			},
			[]string{
				"custom/list.json: read data: not a JSON object",
				"data.json: read data: data.sallyport lies outside data.custom",
				"sallyport/config/data.json: read data: data.sallyport.config lies outside data.custom",
				"x/y.yaml: read data: data.x lies outside data.custom",
				"z.json: read data: not a JSON object",
			},
		},
		"data given twice": {
			map[string]string{"a.rego": sound, "custom/data.json": `{"n": 2}`, "custom/data.yaml": "n: 1\n"},
			[]string{"custom/data.yaml: read data: data.custom.n is given twice"},
		},
		"keys that stand there twice": {
			map[string]string{
				"a.rego": sound, "custom/a.json": "{\"hosts\": {\n \"x\": [{\"y\": 1}, {\"y\": 2}],\n \"x\": []}}", "custom/b.yaml": "one: [1]\none: [2]\n",
				"custom/c.json": `{"a": {"n": 1}, "b": [{"n": "a"}, "a", "a"], "n": {"a": "a"}}`,
			},
			[]string{
				`custom/a.json: read data: line 3: the key "x" stands there twice: merge the two`,
				`custom/b.yaml: read data: not a YAML object: line 2: mapping key "one" already defined at line 1`,
			},
		},
		"data that stock opa would not read, or that is none": {
			map[string]string{"a.rego": sound, "custom/a.json": `{"n": [1,]}`, "custom/b.yaml": "# nothing\n"},
			[]string{"custom/a.json: read data: not a JSON object", "custom/b.yaml: read data: it is empty"},
		},
		"data in the place of a rule": {
			map[string]string{"a.rego": sound, "custom/sound/data.json": `{"deny": []}`},
			[]string{"a.rego:8:1: compile_error: conflicting rule"},
		},
		"no policies": {
			map[string]string{"notes.txt": "nothing", "a_test.rego": "package custom.a_test\n"},
			[]string{": read policies: no .rego file there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t, test.files)
			got := problems(t, Options{Tested: true, Custom: []string{dir}}, dir) // custom rules are always looked through
			for i, text := range got {
				text = strings.TrimPrefix(text, dir)
				if i >= len(test.want) || !strings.HasPrefix(text, test.want[i]) {
					t.Fatalf("problem %d of %d is %q\nwant %q", i, len(got), text, test.want)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("got %d problems, want %d:\n%s", len(got), len(test.want), strings.Join(got, "\n"))
			}
		})
	}
}

func TestLoadReportsUnreadableDirectories(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"file": "x"})
	got := problems(t, Options{Custom: []string{filepath.Join(dir, "missing"), filepath.Join(dir, "file")}}, dir)
	equal(t, got, []string{
		"file: read policies: not a directory: name the directory that holds the policy files",
		"missing: read policies: no such file or directory: make the directory or take it out of the configuration",
	})
}

func TestLoadHoldsTheConfigurationAgainstTheRules(t *testing.T) {
	t.Parallel()
	got := problems(t, Options{Bundle: policies.FS(), Config: Config{
		Profile:    "standart",
		Levels:     map[string]string{"git/force_psuh": "ask", "git/force_push": "dney", "made/up": "off"},
		Exemptions: []Exemption{{Rule: "git/force_push"}, {Rule: "git/froce_push"}},
	}}, "")
	equal(t, got, []string{
		`profile "standart" does not exist: did you mean "standard"?`,
		`rules: git/force_psuh: no rule "git/force_psuh": did you mean "git/force_push"?`,
		`rules: git/force_push: level "dney" is not one of off, warn, ask, deny, own: did you mean "deny"?`,
		`rules: made/up: no rule "made/up"`,
		`exemptions[1]: no rule "git/froce_push": did you mean "git/force_push"?`,
	})
}

func TestLoadChecksProfiles(t *testing.T) {
	t.Parallel()
	bundle := fstest.MapFS{
		"sallyport/rules/x/a/a.rego":   &fstest.MapFile{Data: []byte("package sallyport.rules.x.a\n\ndeny contains {} if false\n")},
		"sallyport/rules/x/b/b.rego":   &fstest.MapFile{Data: []byte("package sallyport.rules.x.b\n\n_x := 1\n")},
		"sallyport/profiles/data.json": &fstest.MapFile{Data: []byte(`{"standard": {"default": "none", "categories": {"y": "off"}, "rules": {"x/c": "off"}, "level": 1}}`)},
	}
	got := problems(t, Options{Bundle: bundle}, "")
	equal(t, got, []string{"sallyport/rules/x/b/b.rego:1:1: package sallyport.rules.x.b is no rule: it defines no deny, ask or warn"})
	delete(bundle, "sallyport/rules/x/b/b.rego")
	got = problems(t, Options{Bundle: bundle}, "")
	if text := strings.Join(got, "\n"); len(got) != 4 || !strings.Contains(text, `category "y" has no rules`) ||
		!strings.Contains(text, `no rule "x/c"`) || !strings.Contains(text, `level "none"`) || !strings.Contains(text, `unknown key "level"`) {
		t.Errorf("got %q", got)
	}
	bundle["sallyport/rules/x/a/a.rego"].Data = []byte("package sallyport.rules.x.aa\n\ndeny contains {} if false\n")
	bundle["sallyport/lib/lib.rego"] = &fstest.MapFile{Data: []byte("package sallyport.lib\n\ndeny contains {} if false\n")}
	equal(t, problems(t, Options{Bundle: bundle}, ""), []string{
		"sallyport/lib/lib.rego:1:1: package sallyport.lib defines deny outside of sallyport.rules",
		"sallyport/rules/x/a/a.rego:1:1: package sallyport.rules.x.aa does not match its directory: write package sallyport.rules.x.a",
	})
	if _, err := New(t.Context(), Options{}); err == nil {
		t.Error("no bundle at all was loaded")
	}
	if _, err := New(t.Context(), Options{Bundle: fstest.MapFS{}}); err == nil {
		t.Error("an empty bundle was loaded")
	}
}

// Libraries, data, and packages of any depth.
func TestLoadCustomDirectory(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"names.rego":                 "package custom.lib.names\n\nforbidden contains name if some name in data.custom.lists.names\n\ntask contains 1\n",
		"deep/er/rule.rego":          metadataText + "package custom.a.b.c.d.e\n\nimport data.custom.lib.names\n\nask contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name in names.forbidden\n}\n",
		"deep/er/rule_test.rego":     "package custom.a.b.c.d.e_test\n\ntest_x if data.sallyport.main.decision\n",
		"custom/lists/data.yaml":     "names: [ls]\n",
		".github/workflows/ci.yaml":  "on: push\n",
		"custom/.hidden/broken.rego": "package",
	})
	e := newEvaluator(t, Options{Custom: []string{dir}})
	j, err := e.Evaluate(t.Context(), harmless())
	if err != nil || j.Effect != engine.Ask || len(j.Reasons) != 1 || j.Reasons[0].Rule != "custom/a/b/c/d/e" {
		t.Errorf("got %+v, %v", j, err)
	}
}

func TestRevisionsFollowContent(t *testing.T) {
	t.Parallel()
	revision := func(files map[string]string) string {
		dir := directory(t, files)
		return newEvaluator(t, Options{Custom: []string{dir}}).Policy().Bundles[dir]
	}
	rule := metadataText + "package custom.a\n\ndeny contains {} if data.custom.n == 1\n"
	a := revision(map[string]string{"a.rego": rule, "custom/data.json": `{"n": 1}`})
	if b := revision(map[string]string{"a.rego": rule, "custom/data.json": `{"n": 1}`}); a != b {
		t.Error("equal directories have different revisions")
	}
	if b := revision(map[string]string{"a.rego": rule, "custom/data.json": `{"n": 2}`}); a == b {
		t.Error("other data has the same revision")
	}
	if b := revision(map[string]string{"b.rego": rule, "custom/data.json": `{"n": 1}`}); a == b {
		t.Error("another name has the same revision")
	}
}

func TestCapabilitiesAreDeterministic(t *testing.T) {
	t.Parallel()
	text, err := Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"http.send", "opa.runtime", "time.now_ns", "net.lookup_ip_addr", "rand.intn"} {
		if strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("%s is allowed", name)
		}
	}
	if !strings.Contains(string(text), `"regex.match"`) || !strings.Contains(string(text), `"allow_net": []`) {
		t.Error("the capabilities are not those expected")
	}
}

// The promise of the built-in rules: no string parsing, and no set operation that is undefined
// when a key is missing.
func TestBuiltinRulesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	set := &fileSet{}
	set.read(policies.FS(), "", false, isModule)
	set.parse()
	if err := set.err(); err != nil {
		t.Fatal(err)
	}
	for _, src := range set.sources {
		forbiddenCalls(t, src)
	}
}
