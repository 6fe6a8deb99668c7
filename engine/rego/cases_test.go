package rego

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestCases(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"a.cases.yaml": `cases:
  - name: one
    command: ls
    work_dir: src
    time: 2026-01-05T23:00:00Z
    runner: {name: docker, isolation: container}
    files: {src/x: y}
    config: {profile: strict}
    effect: ask
    rules: [custom/x]
  - {name: two, command: ls, effect: allow}
`,
		"b/c.cases.yaml":       "",
		".git/x.cases.yaml":    "broken",
		"b/custom/data.yaml":   "x: 1\n",
		"b/.hidden.cases.yaml": "broken",
	})
	cases, err := Cases([]string{dir})
	if err != nil || len(cases) != 2 {
		t.Fatalf("got %+v, %v", cases, err)
	}
	file := filepath.Join(dir, "a.cases.yaml")
	equal(t, cases[0], Case{
		Name: "one", Command: "ls", WorkDir: "src", Time: time.Date(2026, 1, 5, 23, 0, 0, 0, time.UTC), Runner: Surroundings{Name: "docker", Isolation: "container"},
		Files: map[string]string{"src/x": "y"}, Config: map[string]any{"profile": "strict"}, Effect: engine.Ask, Rules: []string{"custom/x"}, File: file, Row: 2,
	})
	equal(t, cases[1], Case{Name: "two", Command: "ls", Effect: engine.Allow, File: file, Row: 11})
	if got := cases[0].Runner.Facts(); got.Name != "docker" || got.Network != "host" {
		t.Errorf("got %+v", got)
	}
}

// What is misspelt must not leave anything untested: it is an error, and all errors are told at once.
func TestCasesThatAreWrong(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"a.cases.yaml": `cases:
  - {name: one, comand: ls, effect: ask}
  - {name: two, command: ls, effect: no}
  - {name: three, command: ls, effect: deny, runner: {isolatoin: none}}
  - {name: four, command: ls, effect: deny, config: {mode: monitor}}
  - {name: five, command: ls, effect: deny, time: noon}
  - {command: ls, effect: deny}
  - {name: six, effect: deny}
  - {name: seven, command: ls, effect: deny}
  - {name: seven, command: id, effect: deny}
  - {name: eight, command: ls, tool: read_file, touches: [read a], effect: allow}
  - {name: nine, tool: read_file, touches: [a.txt], effect: allow}
  - ten
`,
		"b.cases.yaml": "case: []\n",
		"c.cases.yaml": "cases: {}\n",
		"d.cases.yaml": "cases: [\n",
		"e.cases.yaml": "- x\n",
	})
	_, err := Cases([]string{dir})
	var load *LoadError
	if !errors.As(err, &load) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, p := range load.Problems {
		got = append(got, strings.TrimPrefix(p.String(), dir+string(filepath.Separator)))
	}
	equal(t, got[:11], []string{
		"a.cases.yaml:2:17: read cases: a case has no key comand: did you mean command?",
		`a.cases.yaml:3:5: read cases: case "two" has the effect "no": want allow, ask or deny`,
		"a.cases.yaml:4:55: read cases: runner has no key isolatoin: did you mean isolation?",
		"a.cases.yaml:5:54: read cases: config has no key mode: there are " +
			"commands, exemptions, labels, paths, profile, rules",
		got[4],
		"a.cases.yaml:7:5: read cases: a case without a name: describe it in a few words",
		`a.cases.yaml:8:5: read cases: case "six" has no command`,
		`a.cases.yaml:10:5: read cases: there are two cases named "seven"`,
		`a.cases.yaml:11:5: read cases: case "eight" has a command and a tool: write two cases`,
		`a.cases.yaml:12:5: read cases: case "nine": touches is not a list of files and accesses: write touches: ["read a.txt", "write b.txt", "delete* build"]`,
		"a.cases.yaml:13:5: read cases: a case is not keys and values",
	})
	rest := strings.Join(got, "\n")
	for _, want := range []string{"noon", "b.cases.yaml:1:1: read cases: a file of cases has no key case: did you mean cases?", "c.cases.yaml:1:8: read cases: cases is not a list", "d.cases.yaml: read cases: ", "e.cases.yaml:1:1: read cases: a file of cases is not keys and values"} {
		if !strings.Contains(rest, want) {
			t.Errorf("%q is not among\n%s", want, rest)
		}
	}
	if _, err := Cases([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a directory that is not there has cases")
	}
}
