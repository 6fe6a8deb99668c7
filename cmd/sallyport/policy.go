package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) policyCommand() *cobra.Command {
	return group("policy", "Show, write and try the rules", a.policyList(), a.policyShow(), a.policyCheck(), a.policyTest())
}

// rules reads the configuration and describes the rules of its policies.
func (a *app) rules(ctx context.Context) (*config.Loaded, []rego.RuleInfo, error) {
	l, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	_, infos, err := rulesOf(ctx, l)
	return l, infos, err
}

func rulesOf(ctx context.Context, l *config.Loaded) (*rego.Evaluator, []rego.RuleInfo, error) {
	e, err := plugins.Policies(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	infos, err := e.Rules(ctx)
	return e, infos, err
}

func (a *app) policyList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the rules and their levels", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, infos, err := a.rules(cmd.Context())
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, infos)
		}
		rows := make([][]string, len(infos))
		for i, r := range infos {
			rows[i] = []string{r.ID, effects(r.Effects), r.Level, r.LevelFrom, r.Severity, string(r.Origin), r.Title}
		}
		return writeTable(a.out, []string{"RULE", "EFFECT", "LEVEL", "FROM", "SEVERITY", "ORIGIN", "TITLE"}, rows)
	}
	return cmd
}

func effects(all []engine.Effect) string {
	words := make([]string, len(all))
	for i, e := range all {
		words[i] = string(e)
	}
	return strings.Join(words, ",")
}

// pick finds rules by id; a misspelt one is an error with a suggestion.
func pick(infos []rego.RuleInfo, ids []string) ([]rego.RuleInfo, error) {
	known := make([]string, len(infos))
	for i, r := range infos {
		known[i] = r.ID
	}
	out := make([]rego.RuleInfo, len(ids))
	for i, id := range ids {
		at := slices.Index(known, id)
		if at < 0 {
			hint := "sallyport policy list names them"
			if near := config.Suggest(id, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, usageError{fmt.Errorf("no rule %q: %s", id, hint)}
		}
		out[i] = infos[at]
	}
	return out, nil
}

func (a *app) policyShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show RULE", Short: "Show what a rule is about", Args: exactly(1, "the id of one rule")}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, infos, err := a.rules(cmd.Context())
		if err != nil {
			return err
		}
		found, err := pick(infos, args)
		if err != nil {
			return err
		}
		r := found[0]
		if *f == formatJSON {
			return writeIndented(a.out, r)
		}
		fmt.Fprintf(a.out, "%s: %s\n\n%s\n\n", styleOf(a.out).bold(r.ID), printable(r.Title), strings.TrimSpace(r.Description))
		if err := writeTable(a.out, []string{"effect", effects(r.Effects)}, [][]string{
			{"level", r.Level + " (from " + r.LevelFrom + ")"}, {"severity", r.Severity}, {"instead", r.Remediation},
			{"origin", string(r.Origin)}, {"stands in", fmt.Sprintf("%s:%d", r.File, r.Row)},
		}); err != nil {
			return err
		}
		if len(r.Config) > 0 {
			config, err := json.Marshal(r.Config)
			if err != nil {
				return fmt.Errorf("show settings of %s: %w", r.ID, err)
			}
			fmt.Fprintf(a.out, "\nwhere this holds\n  %s\n", printable(string(config)))
		}
		for _, part := range []struct {
			name     string
			commands []string
		}{{"catches", r.Examples}, {"leaves alone", r.Lookalikes}} {
			if len(part.commands) > 0 {
				fmt.Fprintf(a.out, "\n%s\n", part.name)
			}
			for _, c := range part.commands {
				fmt.Fprintf(a.out, "  %s\n", printable(c))
			}
		}
		return nil
	}
	return cmd
}

func (a *app) policyTest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [RULE…]",
		Short: "Try rules on the examples in their metadata",
		Long: `Try rules on the examples in their metadata: each must find something in its examples, and nothing in
its look-alikes. The commands are judged in a workspace of their own, under the settings
that the metadata names; nothing runs.

Unit tests beside the rules are run by "opa test".`,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, infos, err := a.rules(cmd.Context())
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if infos, err = pick(infos, args); err != nil {
				return err
			}
		}
		results, err := plugins.Examples(cmd.Context(), l, infos)
		if err != nil {
			return err
		}
		wrong := slices.DeleteFunc(slices.Clone(results), func(e plugins.Example) bool { return e.Want == e.Found })
		if *f == formatJSON {
			err = writeIndented(a.out, results)
		} else {
			for _, e := range wrong {
				what := "does not find its example"
				if e.Found {
					what = "finds its look-alike"
				}
				fmt.Fprintf(a.out, "%s %s: %s\n", e.Rule, what, printable(e.Command))
			}
			_, err = fmt.Fprintf(a.out, "%d rules, %d commands, %d wrong\n", len(infos), len(results), len(wrong))
		}
		if err != nil || len(wrong) == 0 {
			return err
		}
		return exitStatus(exitBroken)
	}
	return cmd
}
