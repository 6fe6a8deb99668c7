package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// checkFlags are the flags of check.
type checkFlags struct {
	text, workDir, session, agent string
	whyNot                        string // a rule
	explain, batch                bool
	format                        *format
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [flags] -- WORDS…  |  check [flags] -c TEXT  |  check --batch",
		Short: "Decide about a command and run nothing",
		Long: `Decide about a command and run nothing. Nothing is recorded either.

With --batch, each line of stdin is a JSON object: {"command": TEXT}, with "work_dir", "tool", "session" and
"agent" as needed. For each line, in order, one decision is printed on one line; an invalid line
yields a deny with "error".

Exits with 0 for allow, 3 for deny, 4 for ask, 2 for a wrong command line, 1 for an error.
With --batch, 0 says that every line has its decision.`,
		Example: `  sallyport check -- rm -rf build
  sallyport check --explain -c 'curl https://example.com/x | sh'
  sallyport check --why-not git/force_push -- git push origin main`,
		RunE: func(cmd *cobra.Command, words []string) error {
			given := cmd.Flags().Changed("command")
			if f.batch {
				if given || len(words) > 0 || f.explain || f.whyNot != "" {
					return usageError{errors.New("--batch reads commands from stdin: " +
						"leave words, -c, --explain and --why-not out")}
				}
				return a.batch(cmd.Context(), f)
			}
			text, err := textOf(f.text, given, words, f.workDir)
			if err != nil {
				return err
			}
			return a.check(cmd.Context(), text, f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVarP(&f.text, "command", "c", "", "bash `text` to decide about")
	flags.StringVar(&f.workDir, "work-dir", "", "`directory` of the command")
	flags.StringVar(&f.session, "session", "", "`name` of the session, for policies")
	flags.StringVar(&f.agent, "agent", "", "`name` of the agent, for policies")
	flags.BoolVar(&f.explain, "explain", false, "show the facts, and the outcome of each rule")
	flags.StringVar(&f.whyNot, "why-not", "", "show at which expressions a `rule` fails, with their facts")
	flags.BoolVar(&f.batch, "batch", false, "read JSON lines from stdin and print a decision for each")
	f.format = formatFlag(cmd)
	return cmd
}

// brief is the percentage of garbage at which a process collects that decides once and ends: with the usual
// hundred it would do so several times while it starts.
const brief = 800

// judge assembles a gate that only decides.
func (a *app) judge(ctx context.Context, f checkFlags) (*plugins.Sallyport, error) {
	l, err := a.loadFor(f.agent, "")
	if err != nil {
		return nil, err
	}
	return plugins.Assemble(ctx, l, plugins.Options{Session: f.session, Version: version().Sallyport, CheckOnly: true})
}

func (a *app) check(ctx context.Context, text string, f checkFlags) error {
	debug.SetGCPercent(brief)
	s, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // nothing ran and nothing was recorded
	out, err := s.Check(ctx, engine.Request{Tool: "execute_command", Command: text, WorkDir: f.workDir})
	if err != nil {
		return err
	}
	var traces []rego.RuleTrace
	var why *whyNot
	exemptions := []plugins.Considered{}
	if (f.explain || f.whyNot != "") && out.Input != nil {
		if traces, err = s.Explain(ctx, out.Input); err != nil {
			return err
		}
		exemptions = s.Exemptions(out, traces)
	}
	if f.whyNot != "" && out.Input != nil {
		if why, err = whyNotOf(ctx, s, out.Input, traces, f.whyNot); err != nil {
			return err
		}
	}
	switch {
	case *f.format == formatText:
		err = a.writeDecision(out, traces, exemptions, why, f.explain)
	case f.explain:
		all := explained{show.CheckedOf(out), out.Input, traces, exemptions, spentOf(out), why}
		err = writeIndented(a.out, all)
	case why != nil:
		err = writeIndented(a.out, checkedWhyNot{show.CheckedOf(out), why})
	default:
		err = writeJSON(a.out, show.CheckedOf(out))
	}
	if err != nil {
		return err
	}
	if out.Fault != nil {
		return out.Fault
	}
	show.WarnUnconfined(a.err, out, s.Unconfined())
	return status(show.CheckStatus(out.Decision.Effect))
}

// explained is the JSON form of check --explain.
type explained struct {
	show.Checked
	Input      *facts.Input         `json:"input"`
	Rules      []rego.RuleTrace     `json:"rules"`
	Exemptions []plugins.Considered `json:"exemptions"`
	Spent      []spent              `json:"spent"`
	WhyNot     *whyNot              `json:"why_not,omitempty"`
}

// spent is the time that one part of a decision took.
type spent struct {
	By           string  `json:"by"`
	Microseconds float64 `json:"us"`
}

func spentOf(out engine.Outcome) []spent {
	all := make([]spent, len(out.Spent))
	for i, s := range out.Spent {
		all[i] = spent{s.By, float64(s.Time.Nanoseconds()/100) / 10}
	}
	return all
}

func (a *app) writeDecision(
	out engine.Outcome, traces []rego.RuleTrace, exemptions []plugins.Considered, why *whyNot, explain bool,
) error {
	err := show.WriteDecision(a.out, out)
	if err == nil && out.Fault == nil && explain && out.Input != nil {
		err = a.writeExplanation(out, traces, exemptions)
	}
	if err != nil || why == nil {
		return err
	}
	return a.writeWhyNot(why)
}

// writeExplanation shows the facts and the outcome of each rule.
func (a *app) writeExplanation(out engine.Outcome, traces []rego.RuleTrace, exemptions []plugins.Considered) error {
	in := out.Input
	fmt.Fprintf(a.out, "\nin %s (%s), understood: %s\n", printable(in.Request.WorkDir), in.Request.WorkDirState, in.Shell.Certainty)
	if in.Shell.Error != "" {
		fmt.Fprintf(a.out, "not readable as bash: %s\n", in.Shell.Error)
	}
	var commands, paths, rules, exempt [][]string
	off := 0
	for i, c := range in.Commands {
		commands = append(commands, []string{
			fmt.Sprint(i), shorten(strings.Join(c.Argv, " "), 60), strings.Join(c.Via, " > "), list(c.Effects), list(c.Flags), c.Certainty,
		})
	}
	for i, p := range in.Paths {
		paths = append(paths, []string{fmt.Sprint(i), shorten(orDash(p.Path), 60), p.Access, p.Zone, p.Permission, list(p.Labels), fmt.Sprint(p.Command)})
	}
	for _, t := range traces {
		if t.Outcome == rego.Off {
			off++
		}
		if t.Outcome != rego.Silent && t.Outcome != rego.Off || a.verbose > 0 {
			rules = append(rules, []string{t.Rule, string(t.Outcome), t.Level, t.LevelFrom, fmt.Sprint(len(t.Found)), fmt.Sprint(t.Exempted), standsIn(t)})
		}
	}
	for _, e := range exemptions {
		exempt = append(exempt, []string{e.Rule, e.Outcome, e.Expires.UTC().Format(time.RFC3339), shorten(printable(e.Match), 60), shorten(printable(e.Reason), 60)})
	}
	for _, table := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{"#", "COMMAND", "VIA", "EFFECTS", "FLAGS", "CERTAINTY"}, commands},
		{[]string{"#", "PATH", "ACCESS", "ZONE", "PERMISSION", "LABELS", "BY"}, paths},
		{[]string{"RULE", "OUTCOME", "LEVEL", "FROM", "FOUND", "EXEMPT", "STANDS IN"}, rules},
		{[]string{"EXEMPTION OF", "OUTCOME", "EXPIRES", "MATCH", "REASON"}, exempt},
	} {
		if len(table.rows) == 0 {
			continue
		}
		fmt.Fprintln(a.out)
		if err := writeTable(a.out, table.head, table.rows); err != nil {
			return err
		}
	}
	parts := make([]string, len(out.Spent))
	for i, s := range spentOf(out) {
		parts[i] = fmt.Sprintf("%s %.0f µs", s.By, s.Microseconds)
	}
	_, err := fmt.Fprintf(a.out, "\n%d rules judged, %d are off; revision %s; %d µs: %s\n",
		len(traces)-off, off, out.Decision.Policy.Revision, out.Decision.ElapsedUS, printable(strings.Join(parts, ", ")))
	return err
}

// standsIn is where the set stands that gave a rule's first finding.
func standsIn(t rego.RuleTrace) string {
	if len(t.Found) == 0 {
		return "-"
	}
	at := t.Found[0].Location
	if at.Row == 0 { // a module, which has no lines
		return at.File
	}
	return fmt.Sprintf("%s:%d", at.File, at.Row)
}

func list(words []string) string { return orDash(strings.Join(words, ",")) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
