package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	cmd.Flags().StringArrayVar(&f.rules, "rule", nil,
		"only the examples of the rule with this `id`; may be repeated")
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
		return found, fmt.Errorf(
			"test policies: there is nothing to test in %s: sallyport policy new rule writes a rule with tests "+
				"and cases", strings.Join(dirs, ", "))
	}
	return found, nil
}

func (t *tried) customTests(ctx context.Context, l *config.Loaded, f tryFlags) error {
	report, err := rego.Test(ctx, rego.TestOptions{Bundle: policies.Kit(), Dirs: directories(l.Policies),
		Filter: f.run, Coverage: f.coverage})
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
			count(len(found.Tests), "test"), count(len(found.Cases), "case"), count(len(found.Examples), "example"),
			wrong)
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
		what := map[bool]string{true: "finds", false: "does not find"}[e.Found] +
			map[bool]string{true: " its example", false: " its look-alike"}[e.Want]
		text := fmt.Sprintf("%s %s: %s", e.Rule, what, e.Command)
		if e.Differ != "" {
			text += ": " + e.Differ
		}
		tell(e.Holds(), "%s", text)
	}
	return wrong
}

// policyDirs returns the directories that were named, or those of the configuration.
func (a *app) policyDirs(args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	dirs := directories(l.Policies)
	if len(dirs) == 0 {
		return nil, usageError{errors.New("no policies to look at: name a directory, or set policies in " +
			"the configuration")}
	}
	return dirs, nil
}

// directories leaves bundles out: they hold neither tests nor anything that could be mended in them.
func directories(places []string) []string {
	var dirs []string
	for _, p := range places {
		if !rego.IsBundle(p) {
			dirs = append(dirs, p)
		}
	}
	return dirs
}

func (a *app) policyCheck() *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "check [DIR…]",
		Short: "Look for mistakes in policies",
		Long: `Look for mistakes in the policies of directories, by default those that the configuration names:
errors that keep them from being loaded, fields and values that the input does not have, findings that
cannot be read, rules that can never fire, metadata, and the format of opa fmt.

Exits with 0 without findings, 1 with any.`,
		Example: `  sallyport policy check policies
  sallyport policy check --fix policies      # put the format right`,
	}
	f := formatFlag(cmd)
	cmd.Flags().BoolVar(&fix, "fix", false, "format files as opa fmt does")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dirs, err := a.policyDirs(args)
		if err != nil {
			return err
		}
		found, err := rego.Vet(policies.Kit(), dirs)
		if err != nil {
			return err
		}
		if fix {
			fixed, err := a.reformat(found.Problems)
			if err != nil {
				return err
			}
			if fixed {
				if found, err = rego.Vet(policies.Kit(), dirs); err != nil {
					return err
				}
			}
		}
		return a.writeVetted(found, *f)
	}
	return cmd
}

// reformat formats files, and reports whether it changed any.
func (a *app) reformat(problems []rego.Problem) (bool, error) {
	fixed := false
	for _, p := range problems {
		if p.Kind != "format" {
			continue
		}
		text, err := os.ReadFile(p.File)
		if err != nil {
			return fixed, fmt.Errorf("format policies: %w", err)
		}
		formatted, err := rego.Format(p.File, text)
		if err != nil {
			return fixed, fmt.Errorf("format %s: %w", p.File, err)
		}
		if bytes.Equal(text, formatted) {
			continue
		}
		if err := os.WriteFile(p.File, formatted, 0o644); err != nil {
			return fixed, fmt.Errorf("format policies: %w", err)
		}
		a.say("formatted %s", printable(p.File))
		fixed = true
	}
	return fixed, nil
}

func (a *app) writeVetted(found rego.Vetted, f format) error {
	var err error
	if f == formatJSON {
		if found.Problems == nil {
			found.Problems = []rego.Problem{}
		}
		err = writeIndented(a.out, found)
	} else {
		for _, p := range found.Problems {
			fmt.Fprintln(a.out, printable(p.String()))
		}
		_, err = fmt.Fprintf(a.out, "%s, %s\n", count(found.Files, "file"),
			count(len(found.Problems), "problem"))
	}
	if err != nil || len(found.Problems) == 0 {
		return err
	}
	return exitStatus(exitBroken)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// mutateFlags are the flags of policy test about mutants.
type mutateFlags struct {
	on   bool
	most int
	seed uint64
}

// mutated is the JSON form of policy test --mutate.
type mutated struct {
	Seed    uint64   `json:"seed"`
	Of      int      `json:"of"` // how many there were to choose from
	Mutants []mutant `json:"mutants"`
}

// mutant is a change of a policy with its outcome: "killed" by a test, "survived", or "invalid" where it does
// not compile.
type mutant struct {
	rego.Mutant
	Outcome string `json:"outcome"`
}

// policyMutate changes one place of a policy after the other in a copy of the directories and runs all their
// tests, cases and examples.
func (a *app) policyMutate(ctx context.Context, l *config.Loaded, dirs []string, f tryFlags) (err error) {
	if len(dirs) == 0 {
		dirs = directories(l.Policies)
	}
	if len(dirs) == 0 {
		return errors.New("mutate policies: there are none of your own: name a directory")
	}
	before, err := try(ctx, l, dirs, f)
	if err != nil {
		return err
	}
	if wrong := a.wrong(before, false); wrong > 0 {
		return fmt.Errorf("mutate policies: %d of their tests fail without a change: "+
			"run sallyport policy test first", wrong)
	}
	chosen, all, err := rego.Mutants(dirs, f.mutate.most, f.mutate.seed)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "sallyport-mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	copies := make([]string, len(dirs))
	for i, dir := range dirs {
		copies[i] = filepath.Join(root, strconv.Itoa(i))
		if err := os.CopyFS(copies[i], os.DirFS(dir)); err != nil {
			return fmt.Errorf("mutate policies: copy %s: %w", dir, err)
		}
	}
	done := mutated{Seed: f.mutate.seed, Of: all, Mutants: make([]mutant, len(chosen))}
	for i, m := range chosen {
		outcome, err := a.tryMutant(ctx, l, m, dirs, copies, f)
		if err != nil {
			return err
		}
		done.Mutants[i] = mutant{m, outcome}
	}
	return a.writeMutated(done, *f.format)
}

func (a *app) tryMutant(
	ctx context.Context, l *config.Loaded, m rego.Mutant, dirs, copies []string, f tryFlags,
) (outcome string, err error) {
	for i, dir := range dirs {
		rest, err := filepath.Rel(dir, m.File)
		if err != nil || !filepath.IsLocal(rest) {
			continue
		}
		file := filepath.Join(copies[i], rest)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if err := m.Write(file); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, os.WriteFile(file, text, 0o600)) }()
		break
	}
	after, err := try(ctx, l, copies, f)
	var load *rego.LoadError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &load):
		return "invalid", nil
	case err != nil || a.wrong(after, false) > 0: // an error of a rule while it judges is noticed, too
		return "killed", nil
	}
	return "survived", nil
}

func (a *app) writeMutated(done mutated, f format) error {
	outcomes := map[string]int{}
	for _, m := range done.Mutants {
		outcomes[m.Outcome]++
		if f == formatText && (m.Outcome == "survived" || a.verbose > 0) {
			word := m.Outcome
			if word == "survived" {
				word = styleOf(a.out).Red(word)
			}
			fmt.Fprintf(a.out, "%s %s\n", word, printable(m.String()))
		}
	}
	var err error
	if f == formatJSON {
		err = writeIndented(a.out, done)
	} else {
		_, err = fmt.Fprintf(a.out, "%d of %s: %d killed, %d survived, %d invalid\n",
			len(done.Mutants), count(done.Of, "mutant"), outcomes["killed"], outcomes["survived"], outcomes["invalid"])
	}
	if err != nil || outcomes["survived"] == 0 {
		return err
	}
	return exitStatus(exitBroken)
}

// check refuses options that contradict --mutate.
func (f tryFlags) check(changed func(string) bool) error {
	if !f.mutate.on {
		for _, name := range []string{"mutants", "seed"} {
			if changed(name) {
				return usageError{fmt.Errorf("--%s is for --mutate: add that", name)}
			}
		}
		return nil
	}
	if f.run != "" || len(f.rules) > 0 || f.coverage {
		return usageError{errors.New("--mutate runs all tests: leave out --run, --rule and --coverage")}
	}
	if f.mutate.most < 1 {
		return usageError{fmt.Errorf("--mutants %d: want at least 1", f.mutate.most)}
	}
	return nil
}
