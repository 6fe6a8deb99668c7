package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/live"
	"github.com/sallyport-dev/sallyport/internal/setup"
	"github.com/sallyport-dev/sallyport/plugins"
)

// agentsRun is one call of a subcommand of agents.
type agentsRun struct {
	setupRun
	scope string
	mode  string
	live  bool
	here  hooks.Here
}

func (a *app) agentsCommand() *cobra.Command {
	return group("agents", "Guard agents that keep their own tools, by their hooks",
		"  sallyport agents install claude-code\n  sallyport agents list\n",
		a.agentsListCommand(), a.agentsChangeCommand(true), a.agentsChangeCommand(false),
		a.agentsCheckCommand())
}

func (r *agentsRun) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.scope, "scope", "user",
		"`settings` of the user, for all projects, or of the project in this directory: user or project")
	// It fails for a flag that has one already.
	_ = cmd.RegisterFlagCompletionFunc("scope", fixed(hooks.Scopes()...))
}

// prepare finds the places.
func (r *agentsRun) prepare() (err error) {
	if !slices.Contains(hooks.Scopes(), r.scope) {
		known := strings.Join(hooks.Scopes(), ", ")
		return usageError{fmt.Errorf("--scope: no scope %q: use %s", printable(r.scope), known)}
	}
	if r.mode != "" && !slices.Contains(hookModes(), r.mode) {
		known := strings.Join(hookModes(), ", ")
		return usageError{fmt.Errorf("--mode: no mode %q: use %s", printable(r.mode), known)}
	}
	if r.host, err = r.app.host(); err != nil {
		return err
	}
	if r.now, err = config.Parse("", "", "defaults", r.host); err != nil {
		return err
	}
	r.here = hooks.Here{
		Getenv: r.host.Getenv, Home: r.host.Home, Project: r.host.Dir, Command: r.command(), Mode: r.mode,
	}
	return nil
}

func (a *app) agentsListCommand() *cobra.Command {
	r := &agentsRun{setupRun: setupRun{app: a}, scope: "user"}
	return &cobra.Command{
		Use:   "list",
		Short: "List agents, their guards, and their gaps",
		Long: `List the agents that sallyport knows. GUARD names the judge of their calls: "hook" for the hook
of sallyport, "server" where the agent's own tools are disabled and it has the server "sallyport mcp", "none"
for nothing. CHECKED names the release of the agent that "agents check --live" has tried.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			return r.list(cmd.Context())
		},
	}
}

func (r *agentsRun) list(ctx context.Context) error {
	checked, err := r.checked()
	if err != nil {
		r.app.warn(err)
	}
	var rows [][]string
	for _, name := range hooks.Names() {
		h, err := hooks.Named(name)
		if err != nil {
			return err
		}
		here, guards := "no", []string{}
		if r.inPath(h.Program) {
			here = "yes"
		}
		open := "own shell, own edits, fetch"
		for _, scope := range hooks.Scopes() {
			line, err := h.Installed(r.here, scope)
			if err != nil {
				r.app.warn(err)
			}
			if line != "" {
				guards, open = append(guards, "hook ("+scope+")"), strings.Join(h.Open, ", ")
			}
		}
		if agent, ok := setup.Named(name); ok {
			server := setup.Server{Command: r.command(), Args: []string{"mcp"}}
			changes, err := agent.Connect(r.host.Getenv, r.host.Home, server)
			if err == nil && len(changes) == 0 {
				guards, open = append(guards, "server"), "docs/mcp.md"
			}
		}
		if len(guards) == 0 {
			guards = []string{"none"}
		}
		last := r.lastCheck(ctx, h, checked[name])
		rows = append(rows, []string{name, here, strings.Join(guards, ", "), last, open})
	}
	return writeTable(r.app.out, []string{"AGENT", "IN PATH", "GUARD", "CHECKED", "OPEN"}, rows)
}

func (r *agentsRun) inPath(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(r.host.Getenv("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, program))
		return err == nil && !info.IsDir()
	})
}

func (a *app) agentsChangeCommand(install bool) *cobra.Command {
	r := &agentsRun{setupRun: setupRun{app: a}}
	cmd := &cobra.Command{
		Use:   "install HOST…",
		Short: "Have agents ask sallyport before each call of their own tools",
		Long: `Have agents ask sallyport before each call of their own tools: put "sallyport hook HOST" into
their settings. The command shows the change and makes it after a yes. Other settings and comments stay, and a
copy of the file is kept. It can be repeated; agents remove takes the hooks out again.

Hosts: ` + strings.Join(hooks.Names(), ", ") + `. Without a terminal, --yes is needed.`,
		Example: `  sallyport agents install claude-code
  sallyport agents install codex gemini --scope project --yes`,
		Args: hostNames,
	}
	if !install {
		cmd.Use, cmd.Short = "remove HOST…", "Take the hooks of sallyport out of the settings of agents"
		cmd.Long = cmd.Short + ". Other settings and comments stay."
		cmd.Example = `  sallyport agents remove claude-code`
	}
	cmd.RunE = func(_ *cobra.Command, names []string) error {
		if err := r.prepare(); err != nil {
			return err
		}
		return r.change(names, install)
	}
	r.flags(cmd)
	if install {
		modeFlag(cmd, &r.mode)
	}
	cmd.Flags().BoolVar(&r.yes, "yes", false, "make the changes without a question")
	return cmd
}

func hostNames(_ *cobra.Command, names []string) error {
	if len(names) == 0 {
		return usageError{errors.New("name at least one of " + strings.Join(hooks.Names(), ", "))}
	}
	for _, name := range names {
		if _, err := hooks.Named(name); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (r *agentsRun) change(names []string, install bool) error {
	var changes []setup.Change
	for _, name := range names {
		h, err := hooks.Named(name)
		if err != nil {
			return err
		}
		planned, err := h.Plan(r.here, r.scope, install)
		if err != nil {
			return err
		}
		changes = append(changes, planned...)
	}
	if len(changes) == 0 {
		r.app.say("nothing to change: all files are as wanted")
		return nil
	}
	if tty, err := openTerminal(); err == nil {
		defer tty.Close()
		r.lines, r.screen = bufio.NewReader(tty), tty
	}
	r.show(changes)
	if err := r.confirm(); err != nil {
		return err
	}
	if r.now.StateDir() == "" {
		return errors.New("there is no place for copies of the files: set HOME or XDG_STATE_HOME")
	}
	at, err := setup.Apply(filepath.Join(r.now.StateDir(), "agents"), changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r.app.say("wrote %s", printable(c.File))
	}
	r.app.say("the files as they were: %s", printable(at))
	if install {
		r.app.say("restart the agent; sallyport agents check tries the hooks")
	}
	return nil
}

func (a *app) agentsCheckCommand() *cobra.Command {
	r := &agentsRun{setupRun: setupRun{app: a}}
	cmd := &cobra.Command{
		Use:   "check [HOST…]",
		Short: "Try the installed hooks with a command that must be refused",
		Long: `Try the installed hooks: run each as its agent does, with the event of a command that must be
refused. The command itself does not run. This shows that the hook works, and not that the agent calls it.
Without a HOST, all agents with a hook are tried.

With --live, the agent itself is started, too, with a model on loopback that makes such a call in the main
loop, in a subagent, in a background shell, and with a file tool. It needs neither a network nor an account. A
call that is not refused runs "sudo -n true" and makes a file in the state directory, which is removed.
Claude Code, Codex and Gemini CLI can be tried so. Repeat it after each update of the agent.

Exits with 1 if a hook does not refuse, if a call of --live runs or none is refused, or if there is no hook.`,
		Example: `  sallyport agents check
  sallyport agents check claude-code --live`,
		Args: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				return nil
			}
			return hostNames(cmd, names)
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			return r.check(cmd.Context(), names)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&r.live, "live", false, "start the agent and have it make the calls")
	return cmd
}

func (r *agentsRun) check(ctx context.Context, names []string) error {
	all, bad, tried := len(names) == 0, 0, 0
	if all {
		names = hooks.Names()
	}
	for _, name := range names {
		h, err := hooks.Named(name)
		if err != nil {
			return err
		}
		line, err := h.Installed(r.here, r.scope)
		switch {
		case all && err == nil && line == "":
			continue
		case err == nil && line == "":
			err = errors.New("no hook is installed: sallyport agents install " + name)
		case err == nil:
			tried++
			err = tryHook(ctx, h, line, r.host.Dir)
		}
		if err != nil {
			bad++
			r.app.say("%s: %s", name, printable(err.Error()))
			continue
		}
		fmt.Fprintf(r.app.out, "%s: the hook refuses, as it must\n", name)
		if r.live {
			if err := r.tryLive(ctx, h); err != nil {
				bad++
				r.app.say("%s: %s", name, printable(err.Error()))
			}
		}
	}
	if all && tried+bad == 0 {
		r.app.say("no hook is installed: sallyport agents install HOST")
		bad++
	}
	if bad > 0 {
		return exitStatus(exitBroken)
	}
	return nil
}

// tryHook runs an installed hook with the canary.
func tryHook(ctx context.Context, h *hooks.Host, line, dir string) error {
	event, err := h.Canary(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hooks.Longest)
	defer cancel()
	if h.Project != "" {
		line = "unset " + h.Project + "; " + line
	}
	out, code, failed := plugins.RunHook(ctx, line, event)
	text := ""
	if failed != nil {
		text = failed.Error()
	}
	return h.Refuses(out, code, text)
}

// liveLimit is the time limit of an agent for one call.
const liveLimit = time.Minute

// runLive runs a program of an agent to its end.
func runLive(ctx context.Context, argv, env []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	out, _, err := plugins.RunProgram(ctx, argv, env, nil)
	return out, err
}

// tryLive starts an agent that makes calls which its hook must refuse, and keeps the result.
func (r *agentsRun) tryLive(ctx context.Context, h *hooks.Host) error {
	agent, err := live.Named(h.Name)
	if err == nil && !r.inPath(h.Program) {
		err = fmt.Errorf("%s is not in PATH", h.Program)
	}
	if err != nil { // the test of the hook alone has passed
		r.app.say("%s: not started: %s", h.Name, printable(err.Error()))
		return nil
	}
	file, err := r.checkedFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), "check-")
	if err != nil {
		return fmt.Errorf("make directory of markers: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o := live.Options{
		Canary: hooks.CanaryCommand, Denied: []string{hooks.Denied, hooks.Unasked},
		Dir: dir, Work: r.host.Dir, Trust: r.scope == "user", Env: os.Environ(), Run: runLive,
	}
	last := live.Checked{Version: o.Version(ctx, h.Program)}
	if last.Results, err = agent.Try(ctx, o); err != nil {
		return err
	}
	var open []string
	refused := 0
	for _, x := range last.Results {
		line := fmt.Sprintf("%s %s: %s: %s", h.Name, last.Version, x.Door, x.State)
		if x.Why != "" {
			line += ": " + x.Why
		}
		fmt.Fprintln(r.app.out, printable(line))
		switch x.State {
		case live.Open:
			open = append(open, x.Door)
		case live.Refused:
			refused++
		}
	}
	if err := live.Save(file, h.Name, last); err != nil {
		return err
	}
	switch {
	case len(open) > 0:
		err := fmt.Errorf("its hook does not hold calls of: %s", strings.Join(open, ", "))
		if agent.Hint != "" {
			err = fmt.Errorf("%w: %s", err, agent.Hint)
		}
		return err
	case refused == 0:
		return errors.New("no call could be tried")
	}
	return nil
}

func (r *agentsRun) checkedFile() (string, error) {
	dir := r.now.StateDir()
	if dir == "" {
		return "", errors.New("there is no place for the result: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(dir, "agents-checked.json"), nil
}

// checked reads the results of agents check --live.
func (r *agentsRun) checked() (map[string]live.Checked, error) {
	file, err := r.checkedFile()
	if err != nil {
		return nil, nil //nolint:nilerr // without a place there is no result
	}
	return live.Saved(file)
}

// lastCheck tells the release of an agent that was tried, and whether it is still the one in PATH.
func (r *agentsRun) lastCheck(ctx context.Context, h *hooks.Host, c live.Checked) string {
	if len(c.Results) == 0 {
		return "never"
	}
	var open []string
	for _, x := range c.Results {
		if x.State == live.Open {
			open = append(open, x.Door)
		}
	}
	text := "with " + c.Version
	if len(open) > 0 {
		text += ", open: " + strings.Join(open, ", ")
	}
	now := ""
	if r.inPath(h.Program) {
		now = live.Options{Env: os.Environ(), Run: runLive}.Version(ctx, h.Program)
	}
	if now != c.Version {
		text += "; now " + now + ": check again"
	}
	return text
}
