package rego

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func vet(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := directory(t, files)
	found, err := Vet(smallKit(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range found.Problems {
		texts = append(texts, p.Kind+" "+strings.TrimPrefix(p.String(), filepath.Clean(dir)+string(filepath.Separator)))
	}
	return texts
}

// Each of these loads, or is refused with less of an explanation, and does nothing or breaks decisions.
func TestVet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ rules, want string }{
		"nothing wrong": {"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\t\"recursive\" in c.flags\n\tc.certainty != \"exact\"\n}", ""},
		"a value that a field never has": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.certainty == \"exat\"\n}",
			`never x.rego:10:17: c.certainty is never "exat": did you mean "exact"?`,
		},
		"the other way round, negated": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tnot \"sudo\" == c.code.from\n}",
			`never x.rego:10:6: c.code.from is never "sudo": it is one of argument, stdin, heredoc, file, session`,
		},
		"in a list of values": {
			"deny contains {\"path\": i} if {\n\tsome i, p in input.paths\n\tp.zone in {\"system\", \"hom\"}\n}",
			`never x.rego:10:23: p.zone is never "hom": did you mean "home"?`,
		},
		"a list that never holds it": {
			"deny contains {\"command\": i} if {\n\tsome i\n\tflags := input.commands[i].flags\n\t\"zzzzzzzz\" in flags\n}",
			`never x.rego:11:2: flags is never "zzzzzzzz": docs/policy-input.md lists the values`,
		},
		"a key that is no name": {"import data.sallyport.lib as l\n\ndeny contains {} if {\n\tsome y\n\tl[1].x == l[y].read\n}", ""},
		"every": {
			"deny contains {} if {\n\tevery p in input.paths {\n\t\tp.access == \"wrote\"\n\t}\n}",
			`never x.rego:10:15: p.access is never "wrote": did you mean "write"?`,
		},
		"what two loops name alike is not guessed at": {
			"deny contains {} if {\n\tcount([1 | some x in input.commands; x.certainty == \"exact\"]) == count([1 | some x in input.paths; x.zone == \"home\"])\n}", "",
		},
		"two values at once": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name == \"rm\"\n\tc.name == \"mv\"\n}",
			`never x.rego:11:12: c.name cannot be "rm" and "mv" at once: write c.name in {"rm", "mv"}`,
		},
		"two commands may have two names": {"deny contains {} if {\n\tinput.commands[_].name == \"rm\"\n\tinput.commands[_].name == \"mv\"\n}", ""},
		"a number for a text":             {"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name == 5\n}", "never x.rego:10:12: c.name is never 5: its values are of type string"},
		"a text for a truth":              {"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.known == \"true\"\n}", "never x.rego:10:13: c.known is never \"true\": its values are of type boolean"},
		"a text for a number":             {"deny contains {} if input.request.timeout_seconds == \"60\"", "never x.rego:8:54: input.request.timeout_seconds is never \"60\": its values are of type number"},
		"a text that is there":            {"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name == \"rm\"\n\tc.known == true\n\tc.pipeline.index == 0\n}", ""},
		"letters that changed places":     {"deny contains {} if data.sallyport.lbi.elevated[_]", "unknown x.rego:8:21: nothing provides data.sallyport.lbi: rules that read it would be silent: did you mean lib?"},
		"constants that differ":           {"deny contains {} if 1 == 2", "never x.rego:8:21: 1 is never 2"},
		"false":                           {"deny contains {} if false", "never x.rego:8:21: this never holds: take the rule away, or say when it does"},
		"a shared set by a wrong key":     {"deny contains {} if data.sallyport.lib.with_flag.recursve", `never x.rego:8:50: the key of lib.with_flag is never "recursve": did you mean "recursive"?`},
		"an access that is none":          {"deny contains {} if data.sallyport.lib.targets[_].erase", `never x.rego:8:51: the key of lib.targets is never "erase": it is one of read, write, delete, execute`},
		"a negated lookup": {
			"deny contains {\"command\": i} if {\n\tsome i, _ in input.commands\n\tnot i in data.sallyport.lib.with_flag.force\n}",
			"silent x.rego:10:2: silent where nothing has this fact: data.sallyport.lib.with_flag.force is looked up before the negation: write not data.sallyport.lib.with_flag.force[i]",
		},
		"a subtraction": {
			"deny contains {\"path\": p} if {\n\tsome p in (data.sallyport.lib.changes - data.sallyport.lib.in_zone.workspace)\n}",
			"silent x.rego:9:42: silent where nothing has this fact: the subtracted value is then undefined: write {x | some x in …; not data.sallyport.lib.in_zone.workspace[x]}",
		},
		"a finding with a wrong key": {"deny contains {\"comand\": 0}", `shape x.rego:8:16: a finding has no comand: did you mean command?`},
		"a finding of another key":   {"deny contains {\"severity\": \"high\"}", `shape x.rego:8:16: a finding has no severity: it has command and path, which are indexes into the input, and msg`},
		"a finding that is a text":   {"deny contains \"no\"", `shape x.rego:8:15: a finding is an object, and this is string: write {"command": i}, {"path": p} or {"msg": "…"}`},
		"a finding made as a text": {
			"deny contains msg if {\n\tinput.request.background\n\tmsg := sprintf(\"%s\", [\"no\"])\n}",
			`shape x.rego:10:9: a finding is an object, and this is call: write {"command": i}, {"path": p} or {"msg": "…"}`,
		},
		"an index that is none": {"deny contains {\"path\": \"/etc\"}", `shape x.rego:8:24: path is an index into input.paths: write some i, c in input.paths and "path": i`},
		"a message that is none": {
			"deny contains {\"command\": 0, \"msg\": 1}", `shape x.rego:8:37: msg is a text: leave it out, and the title of the rule is told`,
		},
		"a pattern that does not compile": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tregex.match(`a(?=b)`, c.name)\n}",
			"pattern x.rego:10:14: not a regular expression: error parsing regexp: invalid or unsupported Perl syntax: `(?=`: RE2 has no look-around and no back-references",
		},
		"the network": {
			"deny contains {} if http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1\"}).status_code == 200",
			"capability x.rego:8:21: type_error: undefined function http.send: policies reach neither network, clock nor environment: the time is input.request.time, lists are data files",
		},
		"the clock": {"deny contains {} if time.now_ns() > 0", "capability x.rego:8:21: type_error: undefined function time.now_ns: policies reach neither network, clock nor environment: the time is input.request.time, lists are data files"},
		"a misspelt function": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tstartwith(c.name, \"x\")\n}",
			"type x.rego:10:2: type_error: undefined function startwith: did you mean startswith?",
		},
		"a misspelt field":   {"deny contains {\"command\": i} if {\n\tsome i\n\tinput.commands[i].comand == \"rm\"\n}", "type x.rego:10:2: type_error: undefined ref: input.commands[i].comand: there are argv, background"},
		"a misspelt library": {"deny contains {} if data.sallyport.lb.elevated[_]", "unknown x.rego:8:21: nothing provides data.sallyport.lb: rules that read it would be silent: did you mean lib?"},
		"a list that is not there": {
			"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name in data.custom.names\n}",
			"unknown x.rego:10:12: nothing provides data.custom.names: rules that read it would be silent: put it into a data file below custom, or define it in a package",
		},
		"what only tests have": {"deny contains {} if data.sallyport.testing.command({}).version == 1", "unknown x.rego:8:21: data.sallyport.testing is there in tests only: this is undefined: move it into a file that ends in _test.rego"},
		"the format":           {"deny contains {}  if input.request.background", "format x.rego:8:1: the format is not that of opa fmt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := vet(t, map[string]string{"x.rego": metadataText + "package custom.team.x\n\n" + test.rules + "\n"})
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

// All problems of all files come in one go, in the order of files, tests included.
func TestVetManyFiles(t *testing.T) {
	t.Parallel()
	sound := metadataText + "package custom.team.limits\n\ndeny contains {} if input.request.background\n"
	got := vet(t, map[string]string{
		"a.rego":      "package cutsom.team\n\nx := 1\n",
		"b.rego":      strings.Replace(sound, "high", "hihg", 1),
		"b_test.rego": "package custom.team.limits_test\n\nimport data.custom.team.limit\n\ntest_it if limit.deny with input as {}\n",
		"c.rego":      "package custom.team.z\n\ndenny contains {}\n",
	})
	want := []string{
		"package a.rego:1:1: package cutsom.team must be below custom: write package custom.team",
		`metadata b.rego:4:1: METADATA has no sound custom.severity: it is "hihg", not one of low, medium, high, critical: did you mean "high"?`,
		"unknown b_test.rego:3:8: nothing provides data.custom.team.limit: rules that read it would be silent: did you mean limits?",
		"never c.rego:1:1: package custom.team.z does nothing: it defines no deny, ask or warn, and nothing refers to it",
		"never c.rego:3:1: denny is not evaluated: did you mean deny? name a helper with a leading underscore",
	}
	equal(t, got, want)
	if got := vet(t, map[string]string{"a.rego": "package custom.a\n\ndeny contains := 1\n", "b.rego": sound}); len(got) == 0 || !strings.HasPrefix(got[0], "parse a.rego:3:15: parse_error: ") {
		t.Errorf("got %q", got)
	}
}

// Tests may build their inputs with the library for tests, and fill in lists that are not there.
func TestVetLeavesTestsTheirHelpers(t *testing.T) {
	t.Parallel()
	equal(t, vet(t, map[string]string{
		"x.rego":      metadataText + "package custom.team.x\n\ndeny contains {} if count(data.custom.names) > 3\n",
		"x.yaml":      "custom: {names: []}\n",
		"x_test.rego": "package custom.team.x_test\n\nimport data.custom.team.x\nimport data.sallyport.testing\n\ntest_it if count(x.deny) == 0 with input as testing.command({}) with data.custom.other as 1\n",
	}), []string(nil))
}

func TestFormat(t *testing.T) {
	t.Parallel()
	got, err := Format("x.rego", []byte("package x\na:=1\n"))
	if err != nil || string(got) != "package x\n\na := 1\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Format("x.rego", []byte("package")); err == nil {
		t.Error("what does not parse is formatted")
	}
}

// closedFS is a directory that is there and cannot be listed, not even by root.
type closedFS struct{ fstest.MapFS }

func (closedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestUnreadableDirectoryIsOneProblem(t *testing.T) {
	t.Parallel()
	set := &fileSet{}
	set.readDir(closedFS{}, "policies", isModule)
	if len(set.problems) != 1 || !strings.Contains(set.problems[0].String(), "permission") {
		t.Errorf("got %v", set.problems)
	}
}

// A list that is a single value in its data file is one that holds nothing.
func TestVetListsOfDataFiles(t *testing.T) {
	t.Parallel()
	const said = "nothing is ever in data.custom.lists.names: the data file has a single value there: write a list"
	rule := metadataText + "package custom.x\n\nimport data.custom.lists\n\n" +
		"deny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name in lists.names\n}\n\nask contains {\"msg\": m} if some _, m in lists.names\n"
	for data, want := range map[string][]string{
		"names: [rm]": nil, "names: {rm: true}": nil,
		"names: rm": {"never x.rego:12:12: " + said, "never x.rego:15:41: " + said},
		"names:":    {"never x.rego:12:12: " + said, "never x.rego:15:41: " + said},
	} {
		equal(t, vet(t, map[string]string{"x.rego": rule, "custom/lists/data.yaml": data + "\n"}), want)
	}
}
