package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/mcpserver"
	"github.com/sallyport-dev/sallyport/plugins"
)

// completer gives the values of a flag or an argument to a shell.
type completer = cobra.CompletionFunc

// completeValues lets the shell complete the values of flags, wherever they are, and ids and names as arguments.
func (a *app) completeValues(cmd *cobra.Command) {
	runners := a.configured(func(l *config.Loaded) []string { return runnersOf(l) })
	values := map[string]completer{
		"format": fixed("text", "json"), "effect": fixed("allow", "ask", "deny"), "runner": runners, "rule": a.ruleIDs, "decision": a.decisionIDs,
		"kind": fixed("decision", "outcome", "approval", "start"), "tools": fixed(mcpserver.Sets()...),
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := values[f.Name]; ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, v) // fails for a flag that has one already
		}
	})
	arguments := map[string]completer{
		"sallyport policy show": a.ruleIDs, "sallyport audit show": a.decisionIDs,
		"sallyport env logs": a.environmentNames, "sallyport env rm": a.environmentNames,
	}
	switch names, known := arguments[cmd.CommandPath()]; {
	case known:
		cmd.ValidArgsFunction = names
	case cmd.Args != nil && !cmd.HasSubCommands() && !strings.ContainsAny(cmd.Use, " "):
		cmd.ValidArgsFunction = cobra.NoFileCompletions // it takes no arguments
	}
	for _, sub := range cmd.Commands() {
		a.completeValues(sub)
	}
}

func fixed(values ...string) completer {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// configured completes from the configuration; from none if it cannot be read.
func (a *app) configured(values func(*config.Loaded) []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		l, err := a.load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(l), cobra.ShellCompDirectiveNoFileComp
	}
}

func runnersOf(l *config.Loaded) []string {
	all := config.BuiltinRunners()
	for name := range l.Runners {
		all = append(all, name)
	}
	return all
}

func (a *app) ruleIDs(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	_, infos, err := a.rules(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids := make([]string, len(infos))
	for i, r := range infos {
		ids[i] = r.ID + "\t" + r.Title
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// shownDecisions is how many of the newest decisions are offered.
const shownDecisions = 50

// decisionIDs completes the ids of decisions, the newest first, with the command of each.
func (a *app) decisionIDs(_ *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := a.logDir()
	if err != nil {
		return nil, directive
	}
	for e, err := range audit.Read(dir, audit.Filter{Kind: engine.KindDecision, Last: shownDecisions}) {
		if err != nil {
			continue
		}
		about := ""
		if body, err := e.Decision(); err == nil && body.Input != nil {
			about = string(body.Decision.Effect) + " " + printable(shorten(body.Input.Request.Command, 60))
		}
		ids = append(ids, e.DecisionID+"\t"+about)
	}
	slices.Reverse(ids)
	return ids, directive
}

// environmentNames completes the names of environments.
func (a *app) environmentNames(cmd *cobra.Command, given []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	l, err := a.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := plugins.Environments(cmd.Context(), l) // on an error, the known ones are offered
	for _, e := range all {
		if !slices.Contains(given, e.Name) {
			names = append(names, e.Name+"\t"+e.Runner+", "+e.State)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// wrongFlag is the error of a flag, with the flag that was probably meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		text := err.Error()
		if i := strings.Index(text, `time: missing unit in duration "`); i >= 0 {
			number, _ := strconv.Unquote(text[strings.LastIndex(text, ` "`)+1:])
			return usageError{fmt.Errorf("%sthere is no unit: write %ss for seconds", text[:i], number)}
		}
		return usageError{err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := config.Suggest(name, names)
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name) }); i >= 0 && name != "" {
		near = names[i]
	}
	if near != "" {
		err = fmt.Errorf("%w: did you mean --%s?", err, near)
	}
	return usageError{err}
}
