// Command sallyport is the gate on the command line: it judges commands, runs those that are
// allowed, and shows policies, records and configuration.
//
// This package alone knows flags, terminals and exit codes. What it decides, it decides through
// engine.Gate, which package plugins assembles. Data goes to stdout; words for people go to
// stderr, each line beginning with "sallyport: ".
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/show"
)

func main() {
	collectLate()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, leave: leaveTime, front: os.Getenv(show.FrontVariable)}
	_ = os.Unsetenv(show.FrontVariable) // nothing that starts from here needs it
	os.Exit(a.run(os.Args[1:]))
}

// collectLate disables the garbage collector until the heap reaches 128 MiB. A short process need not collect the
// garbage of compiling policies: that was two fifths of the time of a check. GOGC and GOMEMLIMIT, if set, take
// precedence.
func collectLate() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(128 << 20)
	}
}

// app is the state that all subcommands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	config   string // --config
	verbose  int    // -v, counted

	leave time.Duration // leaveTime, but for tests
	front string        // build of the program that became this one; "" for none
}

func (a *app) run(args []string) int {
	root := a.root()
	strict(root)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		return 0
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	a.complain(err)
	var usage usageError
	if errors.As(err, &usage) {
		a.say("see %s --help", cmd.CommandPath())
	}
	return failure(cmd, err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sallyport",
		Short: "A policy gate between an AI agent and a computer",
		Long: `sallyport judges shell commands by policies, records every decision, and runs what is allowed.

  sallyport setup                     connect an agent
  sallyport exec -- pytest -q         run a command through the gate
  sallyport check -c 'rm -rf build'   only decide; run nothing
  sallyport audit tail                watch what is decided
  sallyport policy list               the rules and their levels
  sallyport doctor                    check this machine and suggest fixes`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wanted, _ := cmd.Flags().GetBool("version"); wanted && len(args) == 0 {
				return a.writeVersion(formatText)
			}
			return helpOrUnknown(cmd, args)
		},
	}
	root.PersistentFlags().StringVar(&a.config, "config", "", "configuration `file` (default: $SALLYPORT_CONFIG, else ~/.config/sallyport/config.yaml, else /etc/sallyport/config.yaml)")
	root.PersistentFlags().CountVarP(&a.verbose, "verbose", "v", "log to stderr (-vv: everything)")
	root.SetFlagErrorFunc(wrongFlag)
	root.Flags().Bool("version", false, "print version and build information")
	for _, g := range []struct {
		title string
		subs  []func() *cobra.Command
	}{
		{"Run and judge commands:", []func() *cobra.Command{a.execCommand, a.checkCommand, a.mcpCommand}},
		{"Set up and look up:", []func() *cobra.Command{a.setupCommand, a.auditCommand, a.configCommand, a.doctorCommand, a.policyCommand}},
		{"Sandboxes, containers and plugins:", []func() *cobra.Command{a.envCommand, a.imageCommand, a.pluginCommand}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, sub := range g.subs {
			c := sub()
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(a.versionCommand())
	a.completeValues(root)
	a.fitHelp(root)
	return root
}

// group makes a command that only holds others.
func group(use, short, example string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Example: strings.TrimSuffix(example, "\n"), Args: cobra.ArbitraryArgs, RunE: helpOrUnknown}
	c.AddCommand(subs...)
	return c
}

// helpOrUnknown runs a command that only groups others: it prints help, and a misspelt subcommand is an error.
func helpOrUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, s := range cmd.Commands() {
		if s.IsAvailableCommand() {
			names = append(names, s.Name())
		}
	}
	hint := "one of " + strings.Join(names, ", ")
	if near := config.Suggest(args[0], names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return usageError{fmt.Errorf("unknown command %q: %s", args[0], hint)}
}

// strict makes errors of unknown topics and shells for cobra's own commands.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
			c.Run, c.RunE = nil, helpOn
		case "completion":
			c.Args, c.RunE = cobra.ArbitraryArgs, helpOrUnknown
		}
	}
}

// helpOn is the command help: a topic that does not exist is an error.
func helpOn(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || topic == nil || len(rest) > 0 {
		return helpOrUnknown(cmp.Or(topic, cmd.Root()), rest)
	}
	return topic.Help()
}

// load reads the configuration.
func (a *app) load() (*config.Loaded, error) {
	host, err := config.ThisHost()
	if err != nil {
		return nil, err
	}
	return config.Load(a.config, host)
}

// log is for operational messages; commands print their results.
func (a *app) log() hclog.Logger {
	level := hclog.Warn
	switch {
	case a.verbose == 1:
		level = hclog.Info
	case a.verbose > 1:
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: "sallyport", Output: a.err, Level: level, TimeFormat: "15:04:05.000"})
}

// say tells a person one thing, on one line.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.err, "sallyport: "+format+"\n", args...)
}

// warn prints a warning: it stops nothing.
func (a *app) warn(err error) { a.say("warning: %s", printable(err.Error())) }

// complain prints an error, a line for each of its lines.
func (a *app) complain(err error) {
	var bad *config.Error
	if errors.As(err, &bad) && len(bad.Problems) > 1 {
		a.say("the configuration has %d problems:", len(bad.Problems))
	}
	for line := range strings.SplitSeq(a.brief(err), "\n") {
		a.say("%s", printable(line))
	}
}

// brief is the text of an error; of a fault, which may carry a stack, only its first line, unless -v
// asks for more.
func (a *app) brief(err error) string {
	var fault *engine.Fault
	text := err.Error()
	if first, _, more := strings.Cut(text, "\n"); more && errors.As(err, &fault) && a.verbose == 0 {
		return first + " (-v tells more)"
	}
	return text
}
