package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/mcpserver"
)

// completer gives the values of a flag or an argument to a shell.
type completer = cobra.CompletionFunc

// completeValues lets the shell complete the values of flags, wherever they are, and the ids of rules.
func (a *app) completeValues(cmd *cobra.Command) {
	runners := a.configured(func(l *config.Loaded) []string { return runnersOf(l) })
	values := map[string]completer{
		"format": fixed("text", "json"), "effect": fixed("allow", "ask", "deny"), "runner": runners, "rule": a.ruleIDs,
		"kind": fixed("decision", "outcome", "approval", "start"), "tools": fixed(mcpserver.Sets()...),
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := values[f.Name]; ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, v) // fails for a flag that has one already
		}
	})
	switch {
	case cmd.CommandPath() == "sallyport policy show":
		cmd.ValidArgsFunction = a.ruleIDs
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
