package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/policies"
)

// tryFlags are the flags of policy test.
type tryFlags struct {
	run      string
	rules    []string
	coverage bool
	mutate   mutateFlags
	format   *format
}

// tried is the JSON form of policy test.
type tried struct {
	Tests    []rego.TestResult    `json:"tests"`
	Cases    []plugins.CaseResult `json:"cases"`
	Examples []plugins.Example    `json:"examples"`
	Both     int                  `json:"both"` // inputs of cases and examples that both evaluators judged
	Coverage []rego.FileCoverage  `json:"coverage,omitempty"`
}

func (a *app) policyTest() *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use:   "test [DIR…]",
		Short: "Run the tests of policies, their cases, and the examples in their metadata",
		Long: `Run the tests of policies in directories or, where none is named, of all policies that the
configuration loads, the built-in rules included:

  unit tests   test_… in files that end in _test.rego, as "opa test" runs them
  cases        *.cases.yaml: commands, and the decision of all rules together on each
  examples     in the metadata of each rule, and look-alikes in which it must find nothing

Commands are judged by the whole engine in a workspace of their own; nothing runs. Each is judged by the compiled
form of the built-in rules and by OPA's interpreter, which must agree. -v also shows the tests that pass.

--mutate changes one place of a policy of your own after the other in a copy: it negates a condition, leaves
one out, empties a collection, or takes another constant. It lists the changes that no test, case or example
notices.

Exits with 0 when all tests pass, 1 when one fails or a change survives.`,
		Example: `  sallyport policy test -v policies
  sallyport policy test --coverage policies
  sallyport policy test --rule git/force_push
  sallyport policy test --mutate --mutants 200 policies`,
	}
	f.format = formatFlag(cmd)
	cmd.Flags().StringVar(&f.run, "run", "", "only unit tests whose name matches this regular `expression`")
	cmd.Flags().StringArrayVar(&f.rules, "rule", nil, "only the examples of the rule with this `id`; may be repeated")
	cmd.Flags().BoolVar(&f.coverage, "coverage", false, "show the lines that no unit test reaches")
	cmd.Flags().BoolVar(&f.mutate.on, "mutate", false, "list changes of policies that no test notices")
	cmd.Flags().IntVar(&f.mutate.most, "mutants", 50, "with --mutate, the largest `number` of changes")
	cmd.Flags().Uint64Var(&f.mutate.seed, "seed", 1, "with --mutate, the `number` that chooses them")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if err := f.check(cmd.Flags().Changed); err != nil {
			return err
		}
		l, err := a.load()
		if err != nil {
			return err
		}
		if f.mutate.on {
			return a.policyMutate(cmd.Context(), l, dirs, f)
		}
		found, err := try(cmd.Context(), l, dirs, f)
		if err != nil {
			return err
		}
		found.countBoth()
		return a.writeTried(found, *f.format)
	}
	return cmd
}

// try runs all that f asks for. Directories that are named take the place of the configured ones.
func try(ctx context.Context, l *config.Loaded, dirs []string, f tryFlags) (tried, error) {
	found := tried{Tests: []rego.TestResult{}, Cases: []plugins.CaseResult{}, Examples: []plugins.Example{}}
	if len(dirs) > 0 {
		only := *l
		only.Policies = dirs
		l = &only
	}
	_, infos, err := rulesOf(ctx, l)
	if err != nil {
		return found, err
	}
	if len(directories(l.Policies)) > 0 && len(f.rules) == 0 {
		if err := found.customTests(ctx, l, f); err != nil {
			return found, err
		}
	}
	if len(f.rules) > 0 {
		if infos, err = pick(infos, f.rules); err != nil {
			return found, err
		}
	} else if len(dirs) > 0 {
		infos = custom(infos)
	}
	if f.run == "" {
		if found.Examples, err = plugins.Examples(ctx, l, infos); err != nil {
			return found, err
		}
	}
	if len(found.Tests)+len(found.Cases)+len(found.Examples) == 0 {
		return found, fmt.Errorf("test policies: there is nothing to test in %s: sallyport policy new rule writes a rule with tests and cases", strings.Join(dirs, ", "))
	}
	return found, nil
}

func (t *tried) customTests(ctx context.Context, l *config.Loaded, f tryFlags) error {
	report, err := rego.Test(ctx, rego.TestOptions{Bundle: policies.Kit(), Dirs: directories(l.Policies), Filter: f.run, Coverage: f.coverage})
	switch {
	case errors.Is(err, rego.ErrNoTests) && f.run == "":
	case err != nil:
		return err
	default:
		t.Tests, t.Coverage = report.Results, report.Coverage
	}
	if f.run != "" {
		return nil
	}
	cases, err := rego.Cases(directories(l.Policies))
	if err != nil {
		return err
	}
	t.Cases, err = plugins.Cases(ctx, l, cases)
	return err
}

func (t *tried) countBoth() {
	for _, c := range t.Cases {
		if c.Both {
			t.Both++
		}
	}
	for _, e := range t.Examples {
		if e.Both {
			t.Both++
		}
	}
}

func custom(infos []rego.RuleInfo) []rego.RuleInfo {
	var own []rego.RuleInfo
	for _, r := range infos {
		if r.Origin == rego.Custom {
			own = append(own, r)
		}
	}
	return own
}

func (a *app) writeTried(found tried, f format) error {
	wrong := a.wrong(found, f == formatText)
	var err error
	if f == formatJSON {
		err = writeIndented(a.out, found)
	} else {
		for _, c := range found.Coverage {
			text := fmt.Sprintf("%s: %.1f %% covered", c.File, c.Percent)
			if len(c.NotCovered) > 0 {
				text += ", not lines " + strings.Join(c.NotCovered, ", ")
			}
			fmt.Fprintln(a.out, printable(text))
		}
		_, err = fmt.Fprintf(a.out, "%s, %s, %s, %d wrong\n",
			count(len(found.Tests), "test"), count(len(found.Cases), "case"), count(len(found.Examples), "example"), wrong)
		if found.Both > 0 {
			fmt.Fprintf(a.out, "%s judged by both evaluators\n", count(found.Both, "input"))
		}
	}
	if err != nil || wrong == 0 {
		return err
	}
	return exitStatus(exitBroken)
}

// wrong counts the results that differ and, if show is set, prints them; with -v all results.
func (a *app) wrong(found tried, show bool) int {
	wrong := 0
	tell := func(holds bool, format string, args ...any) {
		if !holds {
			wrong++
		}
		if show && (!holds || a.verbose > 0) {
			word := map[bool]string{true: styleOf(a.out).Green("ok"), false: styleOf(a.out).Red("wrong")}[holds]
			fmt.Fprintf(a.out, "%s %s\n", word, printable(fmt.Sprintf(format, args...)))
		}
	}
	for _, t := range found.Tests {
		holds := t.Outcome == rego.TestPass || t.Outcome == rego.TestSkip
		text := fmt.Sprintf("%s:%d: %s: %s", t.File, t.Row, t.Name, t.Outcome)
		if t.Detail != "" {
			text += ": " + t.Detail
		}
		tell(holds, "%s", text)
		if show && (!holds || a.verbose > 0) {
			for line := range strings.SplitSeq(strings.TrimSpace(t.Output), "\n") {
				if line != "" {
					fmt.Fprintf(a.out, "    %s\n", printable(line))
				}
			}
		}
	}
	for _, c := range found.Cases {
		if c.Wrong == "" {
			tell(true, "%s:%d: %s: %s", c.File, c.Row, c.Name, c.Effect)
		} else {
			tell(false, "%s:%d: %s: %s", c.File, c.Row, c.Name, c.Wrong)
		}
	}
	for _, e := range found.Examples {
		what := map[bool]string{true: "finds", false: "does not find"}[e.Found] + map[bool]string{true: " its example", false: " its look-alike"}[e.Want]
		text := fmt.Sprintf("%s %s: %s", e.Rule, what, e.Command)
		if e.Differ != "" {
			text += ": " + e.Differ
		}
		tell(e.Holds(), "%s", text)
	}
	return wrong
}
