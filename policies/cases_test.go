package policies_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// aCase is one entry of testdata/cases/*.cases.yaml; the README there says what the fields mean.
type aCase struct {
	Name      string            `yaml:"name"`
	Command   string            `yaml:"command"`
	Tool      string            `yaml:"tool"`
	Touches   []string          `yaml:"touches"`
	WorkDir   string            `yaml:"work_dir"`
	Files     map[string]string `yaml:"files"`
	Committed map[string]string `yaml:"committed"`
	Seen      map[string]string `yaml:"seen"`
	Approved  []string          `yaml:"approved"`
	Runner    rego.Surroundings `yaml:"runner"`
	Config    settings          `yaml:"config"`
	Effect    engine.Effect     `yaml:"effect"`
	Rules     []string          `yaml:"rules"`
}

func readCases(t *testing.T) map[string][]aCase {
	t.Helper()
	files, err := filepath.Glob("../testdata/cases/*.cases.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("find cases: %v, %d files", err, len(files))
	}
	all := map[string][]aCase{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Cases []aCase `yaml:"cases"`
		}
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".cases.yaml")] = document.Cases
	}
	return all
}

// TestCases holds each case against the whole engine, and then the rules against the cases: one
// that no case makes fire is not tested.
func TestCases(t *testing.T) {
	t.Parallel()
	e := shared()
	var mu sync.Mutex
	fired := map[string]bool{}
	cases := readCases(t)
	t.Run("cases", func(t *testing.T) {
		for group, list := range cases {
			names := map[string]bool{}
			for _, c := range list {
				if names[c.Name] || c.Name == "" {
					t.Errorf("%s: the name %q stands there twice or is empty", group, c.Name)
				}
				names[c.Name] = true
				t.Run(group+"/"+c.Name, func(t *testing.T) {
					t.Parallel()
					for _, id := range c.check(t, e) {
						mu.Lock()
						fired[id] = true
						mu.Unlock()
					}
				})
			}
		}
	})
	infos, err := e.of(t, rego.Config{}).Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range infos {
		if !fired[rule.ID] {
			t.Errorf("rule %s fires in no case: write one in testdata/cases", rule.ID)
		}
	}
}

// question is what a case asks, and its text.
func (c aCase) question(t *testing.T) (question, string) {
	t.Helper()
	command := place(c.Command)
	q := question{
		command: command, workDir: place(c.WorkDir), files: c.Files, committed: c.Committed, seen: c.Seen,
		approved: c.Approved, runner: c.Runner, settings: c.Config,
	}
	if c.Tool == engine.ToolProgram {
		q.tool = c.Tool
	} else if c.Tool != "" {
		command = c.Tool + ": " + strings.Join(c.Touches, ", ")
		if q = q.ask(command); q.tool != c.Tool || c.Command != "" {
			t.Fatalf("not the request of a file tool: %s", command)
		}
	}
	return q, command
}

// check judges a case and returns the rules that fired.
func (c aCase) check(t *testing.T, e *evaluators) []string {
	t.Helper()
	q, command := c.question(t)
	got := e.answer(t, q)
	if got.Effect != c.Effect {
		t.Errorf("%s\n\tgot %s, want %s; reasons:%s", command, got.Effect, c.Effect, reasons(got))
	}
	ids := rules(got)
	for _, id := range c.Rules {
		if !slices.Contains(ids, id) {
			t.Errorf("%s\n\trule %s is not among the reasons:%s", command, id, reasons(got))
		}
	}
	return ids
}

// TestExamples judges the commands and requests of file tools that each rule's metadata names: it must catch
// its examples, and leave their look-alikes to others.
func TestExamples(t *testing.T) {
	t.Parallel()
	e := shared()
	infos, err := e.of(t, rego.Config{}).Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range infos {
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			// A working directory and a broken sandbox are in no command: their cases show them.
			bare := rule.ID == "paths/work_dir" || rule.ID == "system/confinement"
			if len(rule.Lookalikes) < 2 || len(rule.Examples) < 1 && !bare {
				t.Errorf("%d examples and %d look-alikes, want one or more and two or more", len(rule.Examples), len(rule.Lookalikes))
			}
			q := meant(t, rule)
			for _, command := range rule.Examples {
				if j := e.answer(t, q.ask(command)); !caught(rule, j, true) {
					t.Errorf("example is not caught: %s\n\tgot %s; reasons:%s", command, j.Effect, reasons(j))
				}
			}
			for _, command := range rule.Lookalikes {
				if j := e.answer(t, q.ask(command)); caught(rule, j, false) {
					t.Errorf("look-alike is caught: %s\n\tgot %s; reasons:%s", command, j.Effect, reasons(j))
				}
			}
		})
	}
}

// asked are the questions of all cases, and of the examples of all rules, each with the condition that its
// decision must meet.
func asked(t *testing.T) (asked []question, holds []func(engine.Judgement) bool) {
	t.Helper()
	for _, list := range readCases(t) {
		for _, c := range list {
			q, _ := c.question(t)
			asked = append(asked, q)
			holds = append(holds, func(j engine.Judgement) bool {
				fired := rules(j)
				return j.Effect == c.Effect && !slices.ContainsFunc(c.Rules, func(id string) bool {
					return !slices.Contains(fired, id)
				})
			})
		}
	}
	infos, err := shared().of(t, rego.Config{}).Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range infos {
		q := meant(t, rule)
		for _, example := range rule.Examples {
			asked = append(asked, q.ask(example))
			holds = append(holds, func(j engine.Judgement) bool { return caught(rule, j, true) })
		}
		for _, lookalike := range rule.Lookalikes {
			asked = append(asked, q.ask(lookalike))
			holds = append(holds, func(j engine.Judgement) bool { return !caught(rule, j, false) })
		}
	}
	return asked, holds
}

// caught reports whether a rule is among the reasons. A rule that also warns of the milder case may do so of
// a look-alike.
func caught(rule rego.RuleInfo, j engine.Judgement, mild bool) bool {
	mild = mild || len(rule.Effects) == 1 && rule.Effects[0] == engine.Warn
	return slices.ContainsFunc(j.Reasons, func(r engine.Reason) bool {
		return r.Rule == rule.ID && (mild || r.Effect != engine.Warn)
	})
}

// meant is a question under the settings that a rule's examples are meant for.
func meant(t *testing.T, rule rego.RuleInfo) question {
	t.Helper()
	text, err := yaml.Marshal(rule.Config)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		settings  `yaml:",inline"`
		Files     map[string]string `yaml:"files"`
		Committed map[string]string `yaml:"committed"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	config.Profile = rule.Profile
	return question{files: config.Files, committed: config.Committed, settings: config.settings}
}

// A rule of OPA that is easy to forget: in "not x in data.y.z" the set is looked up before the
// negation, so where it is undefined the whole rule is silent. "not data.y.z[x]" does what is meant.
func TestNoNegatedLookups(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("sallyport/rules/*/*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			_, rest, found := strings.Cut(line, "not ")
			_, set, isIn := strings.Cut(rest, " in ")
			if found && isIn && (strings.HasPrefix(set, "lib.with_") || strings.HasPrefix(set, "lib.in_zone.") || strings.Contains(rest, ".command]")) {
				t.Errorf("%s:%d: %s: write not set[x], or name the value first", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}
