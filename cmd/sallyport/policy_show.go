package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/rego"
)

// shownRule is the JSON form of policy show.
type shownRule struct {
	rego.RuleInfo
	Tests  []rego.TestOf     `json:"tests"`
	Cases  []string          `json:"cases"` // "file:row: name"
	Source []rego.SourceFile `json:"source"`
}

func (a *app) policyShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show RULE", Short: "Show a rule: its description, examples, tests and text", Args: exactly(1, "the id of one rule")}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		evaluator, infos, err := rulesOf(cmd.Context(), l)
		if err != nil {
			return err
		}
		found, err := pick(infos, args)
		if err != nil {
			return err
		}
		r := shownRule{RuleInfo: found[0], Tests: []rego.TestOf{}, Cases: []string{}, Source: []rego.SourceFile{}}
		if r.Origin != rego.Plugin { // a module has no text to show
			if r.Source, err = evaluator.Source(r.ID); err != nil {
				return err
			}
		}
		if r.Origin == rego.Custom {
			if err := r.tried(directories(l.Policies)); err != nil {
				return err
			}
		}
		if *f == formatJSON {
			return writeIndented(a.out, r)
		}
		return a.writeRule(r)
	}
	return cmd
}

// tried notes the unit tests and the cases that look at a rule. Those of built-in rules stand beside
// them in the repository and are no part of the program.
func (r *shownRule) tried(dirs []string) error {
	tests, err := rego.TestsOf(dirs, r.ID)
	if err != nil {
		return err
	}
	r.Tests = append(r.Tests, tests...)
	cases, err := rego.Cases(dirs)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if slices.Contains(c.Rules, r.ID) {
			r.Cases = append(r.Cases, fmt.Sprintf("%s:%d: %s", c.File, c.Row, c.Name))
		}
	}
	return nil
}

func (a *app) writeRule(r shownRule) error {
	fmt.Fprintf(a.out, "%s: %s\n\n", styleOf(a.out).Bold(r.ID), printable(r.Title))
	if text := strings.TrimSpace(r.Description); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintln(a.out, printable(line))
		}
		fmt.Fprintln(a.out)
	}
	place := r.File
	if r.Row > 0 {
		place = fmt.Sprintf("%s:%d", r.File, r.Row)
	}
	if err := writeTable(a.out, []string{"effect", orDash(effects(r.Effects))}, [][]string{
		{"level", r.Level + " (from " + r.LevelFrom + ")"}, {"severity", orDash(r.Severity)}, {"instead", orDash(r.Remediation)},
		{"origin", string(r.Origin)}, {"stands in", place},
	}); err != nil {
		return err
	}
	if len(r.Config) > 0 {
		config, err := json.Marshal(r.Config)
		if err != nil {
			return fmt.Errorf("show settings of %s: %w", r.ID, err)
		}
		a.writePart("where this holds", []string{string(config)})
	}
	a.writePart("catches", r.Examples)
	a.writePart("leaves alone", r.Lookalikes)
	tests := make([]string, len(r.Tests))
	for i, t := range r.Tests {
		tests[i] = fmt.Sprintf("%s:%d: %s", t.File, t.Row, t.Name)
	}
	a.writePart("unit tests", tests)
	a.writePart("cases", r.Cases)
	for _, s := range r.Source {
		a.writePart(s.Name, strings.Split(strings.TrimRight(s.Text, "\n"), "\n"))
	}
	return nil
}

// writePart writes lines below a heading, and nothing where there are none. Tabs, with which Rego is
// indented, stay.
func (a *app) writePart(name string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%s\n", printable(name))
	for _, line := range lines {
		text := strings.TrimLeft(line, "\t")
		indent := strings.Repeat("    ", len(line)-len(text))
		fmt.Fprintln(a.out, strings.TrimRight("  "+indent+printable(text), " "))
	}
}
