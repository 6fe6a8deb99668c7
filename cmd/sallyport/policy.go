package main

import (
	"context"
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
	return group("policy", "Show, write and try the rules", `  sallyport policy list
  sallyport policy show git/force_push
  sallyport policy new rule custom/git/no_push --dir policies
  sallyport policy test policies
`, a.policyList(), a.policyShow(), a.policyNew(), a.policyCheck(), a.policyTest(), a.policyReplay(), a.policySchema(),
		a.policyBuild(), a.policySign(), a.policyVerify())
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
	return plugins.Rules(ctx, l)
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
			rows[i] = []string{r.ID, orDash(effects(r.Effects)), r.Level, r.LevelFrom, orDash(r.Severity), string(r.Origin), r.Title}
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
