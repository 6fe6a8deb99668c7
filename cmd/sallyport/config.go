package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/mcpserver"
	"github.com/sallyport-dev/sallyport/plugins"
)

// sample is the file of config init: a configuration that states the defaults.
//
//go:embed sample.yaml
var sample []byte

func (a *app) configCommand() *cobra.Command {
	return group("config", "Make, show and check the configuration", `  sallyport config init
  sallyport config check sallyport.yaml
`,
		a.configInit(), a.configShow(), a.configCheck(), a.configSchema())
}

func (a *app) configInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented configuration to start from",
		Long: `Write a commented configuration to start from. Without FILE it goes to the user's place,
$XDG_CONFIG_HOME/sallyport/config.yaml. An existing file is left alone.`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			host, err := a.host()
			if err != nil {
				return err
			}
			file := config.UserFile(host)
			if len(args) == 1 {
				file = args[0]
			}
			if file == "" {
				return usageError{errors.New("write configuration: there is no home directory: name a FILE")}
			}
			if err := create(file, sample, force); err != nil {
				return err
			}
			fmt.Fprintf(a.err, "sallyport: wrote %s\n", printable(file))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

func create(file string, content []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(file, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write configuration: %s is there already: use --force to replace it", file)
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func (a *app) configShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the configuration in force, defaults included",
		Args:  noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		if *f == formatJSON {
			v, err := l.Generic()
			if err != nil {
				return fmt.Errorf("show configuration: %w", err)
			}
			return writeIndented(a.out, map[string]any{"file": l.File, "source": l.Source,
				"ignored": nonNil(l.Ignored), "config": v})
		}
		from := "no file: the defaults"
		if l.File != "" {
			from = fmt.Sprintf("%s (%s)", l.File, l.Source)
		}
		fmt.Fprintf(a.out, "# from %s\n", printable(from))
		for _, p := range l.Ignored {
			fmt.Fprintf(a.out, "# not read, because it lies in the workspace: %s\n", printable(p))
		}
		text, err := l.YAML()
		if err != nil {
			return fmt.Errorf("show configuration: %w", err)
		}
		_, err = a.out.Write(text)
		return err
	}
	return cmd
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// checked is the JSON form of config check.
type checked struct {
	File     string           `json:"file"`
	OK       bool             `json:"ok"`
	Problems []config.Problem `json:"problems"`
	Warnings []string         `json:"warnings"`
}

func (a *app) configCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration: all its problems at once",
		Args:  atMostOne,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			a.config = args[0]
		}
		l, err := a.load()
		if err == nil {
			err = plugins.Check(cmd.Context(), l)
		}
		if err != nil && *f == formatText {
			return err
		}
		c := checked{Problems: []config.Problem{}, Warnings: []string{}}
		var bad *config.Error
		switch {
		case errors.As(err, &bad):
			c.File, c.Problems = bad.File, bad.Problems
		case err != nil: // about the policies, each line of which is a problem
			for line := range strings.SplitSeq(err.Error(), "\n") {
				c.Problems = append(c.Problems, config.Problem{Text: line})
			}
		default:
			c.File, c.OK, c.Warnings = l.File, true, append(nonNil(l.Warnings()), l.Notes...)
		}
		if *f == formatJSON {
			if err := writeIndented(a.out, c); err != nil || c.OK {
				return err
			}
			return exitStatus(exitBroken)
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(a.err, "sallyport: warning: %s\n", printable(w))
		}
		if c.File == "" {
			c.File = "no file, the defaults"
		}
		fmt.Fprintf(a.out, "ok: %s\n", printable(c.File))
		return nil
	}
	return cmd
}

func (a *app) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(config.Schema())
			return err
		},
	}
}

// completer gives the values of a flag or an argument to a shell.
type completer = cobra.CompletionFunc

// completeValues lets the shell complete the values of flags, wherever they are, and ids and names as
// arguments.
func (a *app) completeValues(cmd *cobra.Command) {
	runners := a.configured(func(l *config.Loaded) []string { return runnersOf(l) })
	values := map[string]completer{
		"format": fixed("text", "json"), "effect": fixed("allow", "ask", "deny"), "runner": runners,
		"rule": a.ruleIDs, "decision": a.decisionIDs,
		"kind": fixed("decision", "outcome", "approval", "start"), "tools": fixed(mcpserver.Sets()...),
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := values[f.Name]; ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, v) // fails for a flag that has one already
		}
	})
	arguments := map[string]completer{
		"sallyport policy show": a.ruleIDs, "sallyport audit show": a.decisionIDs,
		"sallyport hook": fixed(hooks.Names()...), "sallyport agents install": fixed(hooks.Names()...),
		"sallyport agents remove": fixed(hooks.Names()...), "sallyport agents check": fixed(hooks.Names()...),
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
func (a *app) environmentNames(
	cmd *cobra.Command, given []string, _ string,
) (names []string, _ cobra.ShellCompDirective) {
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
	begins := func(n string) bool { return strings.HasPrefix(n, name) }
	if i := slices.IndexFunc(names, begins); i >= 0 && name != "" {
		near = names[i]
	}
	if near != "" {
		err = fmt.Errorf("%w: did you mean --%s?", err, near)
	}
	return usageError{err}
}
