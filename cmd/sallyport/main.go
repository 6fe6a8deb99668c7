// Command sallyport is the gate on the command line: it judges commands, runs those that are
// allowed, and shows policies, records and configuration.
//
// This package alone knows flags, terminals and exit codes. What it decides, it decides through
// engine.Gate, which package plugins assembles. Data goes to stdout; words for people go to
// stderr, each line beginning with "sallyport: ".
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/internal/wrapped"
	"github.com/sallyport-dev/sallyport/plugins"
)

func main() {
	collectLate()
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, leave: leaveTime, host: config.ThisHost,
		front: os.Getenv(release.FrontVariable), asker: os.Getpid(),
	}
	_ = os.Unsetenv(release.FrontVariable) // nothing that starts from here needs it
	os.Exit(a.run(os.Args[1:]))
}

// collectLate disables the garbage collector until the heap reaches 128 MiB. A short process need not
// collect the garbage of compiling policies: that was two fifths of the time of a check. GOGC and
// GOMEMLIMIT, if set, take precedence.
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

	host   func() (config.Host, error) // on which the configuration depends
	asker  int                         // id of the process that asks: this one, but in the resident process
	gates  *plugins.Keeper             // of the resident process; nil in all others
	loaded *config.Loaded              // by the last load; nil before
	// session is that of all calls from inside of wrap; "" elsewhere.
	session string
	live    *running // the call that the resident process answers by running a command; nil for none
}

func (a *app) run(args []string) int {
	if code, mine := wrapped.Do(args, a.in, a.out, a.err); !mine {
		return code
	}
	root := a.root()
	strict(root)
	return a.execute(context.Background(), root, args)
}

func (a *app) execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
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
	root := a.bareRoot()
	for _, g := range []struct {
		title string
		subs  []func() *cobra.Command
	}{
		{"Run and judge commands:", []func() *cobra.Command{
			a.execCommand, a.checkCommand, a.mcpCommand, a.hookCommand, a.wrapCommand,
		}},
		{"Set up and look up:", []func() *cobra.Command{
			a.setupCommand, a.agentsCommand, a.approvalsCommand, a.auditCommand,
			a.configCommand, a.doctorCommand, a.policyCommand, a.serveCommand,
		}},
		{"Sandboxes, containers and plugins:", []func() *cobra.Command{
			a.envCommand, a.imageCommand, a.pluginCommand,
		}},
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

// bareRoot is the program without its subcommands.
func (a *app) bareRoot() *cobra.Command {
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
	root.PersistentFlags().StringVar(&a.config, "config", "",
		"configuration `file` (default: $SALLYPORT_CONFIG, else ~/.config/sallyport/config.yaml, else "+
			"/etc/sallyport/config.yaml)")
	root.PersistentFlags().CountVarP(&a.verbose, "verbose", "v", "log to stderr (-vv: everything)")
	root.SetFlagErrorFunc(wrongFlag)
	root.Flags().Bool("version", false, "print version and build information")
	return root
}

// group makes a command that only holds others.
func group(use, short, example string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Example: strings.TrimSuffix(example, "\n"),
		Args: cobra.ArbitraryArgs, RunE: helpOrUnknown}
	c.AddCommand(subs...)
	return c
}

// helpOrUnknown runs a command that only groups others: it prints help, and a misspelt subcommand is an
// error.
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
	host, err := a.host()
	if err != nil {
		return nil, err
	}
	a.loaded, err = config.Load(a.config, host)
	return a.loaded, err
}

// assemble makes a gate, or takes one that the resident process keeps. release gives it back.
func (a *app) assemble(
	ctx context.Context, l *config.Loaded, o plugins.Options,
) (s *plugins.Sallyport, release func() error, err error) {
	if a.gates != nil {
		return a.gates.Open(ctx, l, o)
	}
	if s, err = plugins.Assemble(ctx, l, o); err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
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
	return hclog.New(&hclog.LoggerOptions{Name: "sallyport", Output: a.err, Level: level,
		TimeFormat: "15:04:05.000"})
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

// loadFor reads the configuration for one command; its flags override the file.
func (a *app) loadFor(agent, runner string) (*config.Loaded, error) {
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	if agent != "" {
		if !config.ValidAgent(agent) {
			return nil, usageError{errors.New("--agent " + printable(agent) +
				`: want letters, digits, ".", "_" and "-", at most 64`)}
		}
		l.Agent = agent
	}
	if runner != "" {
		if _, err := plugins.RunnerNamed(l, runner); err != nil {
			return nil, usageError{fmt.Errorf("--runner: %w", err)}
		}
		l.Runner = runner
	}
	a.log().Info("configuration", "file", l.File, "from", l.Source, "workspace", l.Workspace)
	for _, note := range l.Notes {
		a.say("note: %s", printable(note))
	}
	return l, nil
}

// Exit codes. Those of exec leave the codes of the command itself alone, as timeout(1) and env(1) do.
const (
	exitBroken = 1 // part of sallyport, or the subject of the question, is broken
	exitUsage  = 2

	execTimedOut = 124
	execBroken   = 125 // sallyport itself failed; the command did not run
	execDenied   = 126
	execNotFound = 127 // from the shell
	execSignal   = 128 // plus the signal by which it was ended
)

// exitStatus ends the program with a status and without another word.
type exitStatus int

func (exitStatus) Error() string { return "exit" }

// status returns nil for 0, so that it can end a RunE.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return exitStatus(code)
}

// usageError is a command line that is wrong.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// failure is the exit code for an error.
func failure(cmd *cobra.Command, err error) int {
	var usage usageError
	switch {
	case cmd != nil && (cmd.Name() == "exec" || cmd.Name() == "wrap"):
		return execBroken
	case errors.As(err, &usage), cmd != nil && cmd.Name() == "hook": // by which hosts refuse a call
		return exitUsage
	}
	return exitBroken
}

// noArgs refuses arguments of a command that takes none.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: this command takes none", args[0])}
	}
	return nil
}

// atMostOne refuses a second argument.
func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("unexpected argument %q: want at most one", args[1])}
	}
	return nil
}

// exactly checks the number of arguments and names them in its error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New("want " + what)}
		}
		return nil
	}
}

// textOf is show.TextOf for a command line, which is wrong where there is no such text.
func (a *app) textOf(text string, given bool, words []string, dir string) (string, error) {
	host, err := a.host()
	if err != nil {
		return "", err
	}
	at := show.Place{Path: host.Getenv("PATH"), Dir: host.Dir, WorkDir: dir}
	text, err = show.TextOf(text, given, words, at)
	if err != nil {
		return "", usageError{err}
	}
	return text, nil
}

// widthOf is how many columns w shows: $COLUMNS, or those of its terminal. It is 0 without a terminal.
func widthOf(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// wrap breaks the lines of a text that are longer than width at blanks. Later lines are indented as the line
// is, and by more. A width of 0 breaks nothing.
func wrap(text string, width, more int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " ")) + more
		if indent > width/2 {
			indent = 2
		}
		for utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width {
			r := []rune(line)
			at := strings.LastIndexByte(string(r[:width+1]), ' ')
			if at <= len(line)-len(strings.TrimLeft(line, " ")) {
				break // one long word
			}
			out.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// fitHelp breaks the help of all commands for the terminal on which it is shown.
func (a *app) fitHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(a.out)
		_, _ = io.WriteString(a.out, wrap(text.String(), widthOf(a.out), 0))
	})
}

// version describes this build.
func version() release.Versions { return release.ThisBuild() }

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print version and build information", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error { return a.writeVersion(*f) }
	return cmd
}

func (a *app) writeVersion(f format) error {
	return version().Write(a.out, f == formatJSON)
}
