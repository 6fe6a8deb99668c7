package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/setup"
	"github.com/sallyport-dev/sallyport/plugins"
)

// noAgent stands for leaving the settings of agents alone.
const noAgent = "none"

// setupRun is one call of setup.
type setupRun struct {
	app                      *app
	workspace, runner, agent string // answers; "" until one is given, and for a setting that stays
	yes, undo                bool
	given                    func(flag string) bool

	host   config.Host
	now    *config.Loaded // the configuration that holds before
	lines  *bufio.Reader  // of the terminal; nil without one
	screen io.Writer
}

func (a *app) setupCommand() *cobra.Command {
	r := &setupRun{app: a}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Connect an agent: three questions, then the changes to confirm",
		Long: `Connect an agent to sallyport. setup asks for the workspace, where commands run, and the agent. It shows
each change of the configuration and of the agent's own settings, and makes them after a yes. The agent gets the
server "sallyport mcp" and loses its own shell. Copies of the files are kept; setup --undo takes the changes
back.

Flags answer questions. Settings without a flag or an answer stay as they are. Without a terminal, --yes is
needed.`,
		Example: `  sallyport setup
  sallyport setup --agent claude-code --workspace ~/project --runner local --yes
  sallyport setup --undo`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.given = cmd.Flags().Changed
			return r.run(cmd.Context())
		},
	}
	agents := agentNames()
	flags := cmd.Flags()
	flags.StringVar(&r.workspace, "workspace", "",
		"`directory` that agents may change; without it, the one where the agent starts")
	flags.StringVar(&r.runner, "runner", "",
		"where commands run: local, docker, docker-sudo, or a `name` from runners:")
	flags.StringVar(&r.agent, "agent", "", "`agent` to connect: "+strings.Join(agents, ", "))
	flags.BoolVar(&r.yes, "yes", false, "make the changes without a question")
	flags.BoolVar(&r.undo, "undo", false, "take back the last changes that setup made")
	_ = cmd.RegisterFlagCompletionFunc("agent", fixed(agents...)) // fails for a flag that has one already
	return cmd
}

func agentNames() (names []string) {
	for _, a := range setup.Agents() {
		names = append(names, a.Name)
	}
	return append(names, noAgent)
}

func (r *setupRun) run(ctx context.Context) error {
	var err error
	if r.host, err = r.app.host(); err != nil {
		return err
	}
	if tty, err := openTerminal(); err == nil {
		defer tty.Close()
		r.lines, r.screen = bufio.NewReader(tty), tty
	}
	if r.undo { // of a configuration that is broken, too
		if r.now, err = config.Parse("", "", "defaults", r.host); err == nil {
			err = r.takeBack()
		}
		return err
	}
	if r.now, err = r.app.load(); err != nil {
		return err
	}
	if err := r.ask(); err != nil {
		return err
	}
	changes, next, err := r.plan()
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		r.app.say("nothing to change: all files are as wanted")
		return nil
	}
	r.show(changes)
	r.warn(ctx, next)
	if err := r.confirm(); err != nil {
		return err
	}
	dir, err := r.records()
	if err != nil {
		return err
	}
	at, err := setup.Apply(dir, changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r.app.say("wrote %s", printable(c.File))
	}
	r.app.say("the files as they were: %s; sallyport setup --undo takes the changes back", printable(at))
	r.app.say("restart the agent; sallyport doctor checks the rest")
	return nil
}

// question is one of the three.
type question struct {
	flag, text, now string
	answer          *string
	check           func(string) error
}

// ask gets the answers that no flag gave, at the terminal. Without a terminal the flags must do.
func (r *setupRun) ask() error {
	for _, q := range []question{
		{"workspace",
			"Workspace: the directory that agents may change. Without one, it is where the agent starts.\n",
			r.namedWorkspace(), &r.workspace, r.checkWorkspace},
		{"runner", "Where do commands run?\n" + r.runners(), r.now.Runner, &r.runner, r.checkRunner},
		{"agent", "Which agent?\n" + agentTable(), "", &r.agent, checkAgent},
	} {
		if r.given(q.flag) {
			if err := q.check(*q.answer); err != nil {
				return usageError{fmt.Errorf("--%s: %w", q.flag, err)}
			}
			continue
		}
		if r.lines == nil || r.yes {
			if q.flag == "agent" {
				return usageError{fmt.Errorf("there is nobody to ask: name the agent with --agent: %s",
					strings.Join(agentNames(), ", "))}
			}
			continue
		}
		if err := r.put(q); err != nil {
			return err
		}
	}
	return nil
}

// put asks one question until the answer can be used.
func (r *setupRun) put(q question) error {
	fmt.Fprintf(r.screen, "\n%s", q.text)
	for {
		if q.now != "" {
			fmt.Fprintf(r.screen, "%s [%s]: ", q.flag, printable(q.now))
		} else {
			fmt.Fprintf(r.screen, "%s: ", q.flag)
		}
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return errors.New("no answer: nothing was changed")
		}
		*q.answer = strings.TrimSpace(line)
		if err = q.check(cmp.Or(*q.answer, q.now)); err == nil {
			return nil
		}
		fmt.Fprintf(r.screen, "%s\n", printable(err.Error()))
	}
}

// namedWorkspace is the workspace that the configuration names; "" if it names none.
func (r *setupRun) namedWorkspace() string {
	if r.now.Named() {
		return string(r.now.Workspace)
	}
	return ""
}

func (r *setupRun) runners() string {
	var b strings.Builder
	for _, p := range plugins.Runners() {
		fmt.Fprintf(&b, "  %-12s %s\n", p.Name, p.Summary)
	}
	for _, name := range slices.Sorted(maps.Keys(r.now.Runners)) {
		fmt.Fprintf(&b, "  %-12s your own\n", printable(name))
	}
	return b.String()
}

func agentTable() string {
	var b strings.Builder
	for _, a := range setup.Agents() {
		fmt.Fprintf(&b, "  %-12s %s: loses %s\n", a.Name, a.Title, a.Loses)
	}
	fmt.Fprintf(&b, "  %-12s no settings of an agent are changed\n", noAgent)
	return b.String()
}

func (r *setupRun) checkWorkspace(answer string) error {
	if answer == "" {
		return nil
	}
	dir := r.absolute(answer)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: create it or correct the path", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

// absolute is a directory as it was typed: "~" is the home directory, and a relative one starts here.
func (r *setupRun) absolute(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == filepath.Separator) {
		return filepath.Join(r.host.Home, rest)
	}
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(r.host.Dir, dir)
}

func (r *setupRun) checkRunner(answer string) error {
	_, err := plugins.RunnerNamed(r.now, answer)
	return err
}

func checkAgent(answer string) error {
	if _, ok := setup.Named(answer); ok || answer == noAgent {
		return nil
	}
	if near := config.Suggest(answer, agentNames()); near != "" {
		return fmt.Errorf("%q is no agent that setup knows: did you mean %q?", answer, near)
	}
	return fmt.Errorf("%q is no agent that setup knows: one of %s (others: docs/mcp.md)", answer,
		strings.Join(agentNames(), ", "))
}

// plan lists the changes, and the configuration that would hold then.
func (r *setupRun) plan() (changes []setup.Change, next *config.Loaded, err error) {
	next = r.now
	file, ours := r.now.File, r.now.Source != "system"
	if file == "" {
		file = config.UserFile(r.host)
	}
	keys := map[string]string{}
	if r.workspace != "" {
		keys["workspace"] = r.absolute(r.workspace)
	}
	if r.runner != "" && (r.runner != r.now.Runner || r.now.File == "") {
		keys["runner"] = r.runner
	}
	switch {
	case !ours && len(keys) > 0:
		return nil, nil, fmt.Errorf("%s is the configuration of this machine, and setup changes only yours: "+
			"leave --workspace and --runner out, or name a file with --config", file)
	case ours:
		c, err := setup.Configure(file, sample, keys)
		if err != nil {
			return nil, nil, err
		}
		if c != nil {
			if next, err = config.Parse(string(c.After), c.File, cmp.Or(r.now.Source, "user"), r.host); err != nil {
				return nil, nil, err
			}
			changes = append(changes, *c)
		}
	}
	if agent, ok := setup.Named(r.agent); ok {
		server := setup.Server{Command: r.command(), Args: []string{"mcp"}}
		if s := r.now.Source; s == "--config" || s == "$SALLYPORT_CONFIG" {
			server.Args = []string{"--config", file, "mcp"}
		}
		more, err := agent.Connect(r.host.Getenv, r.host.Home, server)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, more...)
	}
	return changes, next, nil
}

// command is the path by which an agent starts this program: the one on PATH, which an upgrade keeps, or its
// own. The program sallyport of an installation stands for the sallyport-full beside it.
func (r *setupRun) command() string {
	program := r.host.Executable
	if name, ok := strings.CutPrefix(filepath.Base(program), release.Whole); ok && r.app.front != "" {
		program = filepath.Join(filepath.Dir(program), "sallyport"+name)
	}
	own, err := os.Stat(program)
	if err != nil {
		return "sallyport"
	}
	for _, dir := range filepath.SplitList(r.host.Getenv("PATH")) {
		file := filepath.Join(dir, filepath.Base(program))
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && os.SameFile(info, own) {
			return file
		}
	}
	return program
}

func (r *setupRun) show(changes []setup.Change) {
	s := styleOf(r.app.out)
	for _, c := range changes {
		for line := range strings.Lines(c.Diff()) {
			line = printable(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
			switch {
			case strings.HasPrefix(line, "+"):
				line = s.Green(line)
			case strings.HasPrefix(line, "-"):
				line = s.Red(line)
			}
			fmt.Fprintln(r.app.out, line)
		}
	}
}

// warn reports settings that would not work, and commands that are not confined.
func (r *setupRun) warn(ctx context.Context, next *config.Loaded) {
	for _, w := range next.Warnings() {
		r.app.warn(errors.New(w))
	}
	tried, err := plugins.Trial(ctx, next)
	if err != nil {
		r.app.warn(fmt.Errorf("runner %s does not work here yet: %w", next.Runner, err))
		return
	}
	for _, w := range tried.Wanting {
		r.app.warn(errors.New(w))
	}
	if tried.Isolation == "none" {
		r.app.warn(errors.New("commands that are allowed run as you and are not confined: docs/environments.md"))
	}
}

// records is where the copies of files are kept.
func (r *setupRun) records() (string, error) {
	if r.now.StateDir() == "" {
		return "", errors.New("there is no place for copies of the files: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(r.now.StateDir(), "setup"), nil
}

// confirm returns nil for a yes.
func (r *setupRun) confirm() error {
	if r.yes {
		return nil
	}
	if r.lines == nil {
		return usageError{errors.New("nothing was changed, because there is no terminal to ask at: add --yes")}
	}
	fmt.Fprint(r.screen, "\nMake these changes? Type yes to make them: ")
	line, err := r.lines.ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(line), "yes") {
		return errors.New("no yes: nothing was changed")
	}
	return nil
}

func (r *setupRun) takeBack() error {
	for _, flag := range []string{"workspace", "runner", "agent"} {
		if r.given(flag) {
			return usageError{fmt.Errorf("--undo takes no --%s: it takes back the whole of the last run", flag)}
		}
	}
	dir, err := r.records()
	if err != nil {
		return err
	}
	changes, at, kept, err := setup.Last(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is nothing to take back: setup has changed nothing")
	}
	if err != nil {
		return err
	}
	for _, k := range kept {
		r.app.say("warning: left as it is: %s; its copy is in %s", printable(k), printable(at))
	}
	if len(changes) > 0 {
		r.show(changes)
		if err := r.confirm(); err != nil {
			return err
		}
	}
	if err := setup.Make(changes); err != nil {
		return err
	}
	for _, c := range changes {
		r.app.say("restored %s", printable(c.File))
	}
	if len(kept) > 0 {
		return exitStatus(exitBroken)
	}
	return setup.Forget(at)
}
