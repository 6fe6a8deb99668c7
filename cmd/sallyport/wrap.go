package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/wrapped"
	"github.com/sallyport-dev/sallyport/internal/wrapped/outside"
	"github.com/sallyport-dev/sallyport/plugins"
)

// wrapping is an agent that runs in a sandbox, with the gate outside.
type wrapping struct {
	app     *app
	agent   *hooks.Host
	session string
	gates   *plugins.Keeper
	hooks   atomic.Int64 // events
}

func (a *app) wrapCommand() *cobra.Command {
	var f wrapFlags
	cmd := &cobra.Command{
		Use:   "wrap [flags] -- AGENT [WORDS…]",
		Short: "Run an agent that keeps its own tools in a sandbox",
		Long: `Run an agent in the sandbox of this machine (bubblewrap), so that calls without a hook are
confined, too. The gate judges the start as a request of the tool "wrap"; its record lists the files that
changed. The hooks and the MCP server of the agent reach the gate outside of the sandbox.

The agent sees the workspace and the granted places as commands do, and its own state. Its settings are
read-only. It has the network of this machine. When it ends, all processes that it has started end, too.

Agents: ` + strings.Join(hooks.Wrapped(), ", ") + `. An agent needs the hook: sallyport agents install AGENT.

Exits as exec does.`,
		Example: `  sallyport wrap -- claude
  sallyport wrap -- claude -p 'fix the failing test'
  sallyport wrap --host claude-code -- ./my-claude`,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return usageError{errors.New("want the command line of an agent: sallyport wrap -- claude")}
			}
			if cmd.Flags().Changed("timeout") && f.timeout <= 0 {
				return usageError{fmt.Errorf("--timeout %v: it must be greater than zero", f.timeout)}
			}
			agent, err := wrappedHost(f.host, words[0])
			if err != nil {
				return usageError{err}
			}
			return a.wrap(cmd.Context(), agent, words, f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // words behind the first one belong to the agent
	flags.StringVar(&f.host, "host", "", "`agent` whose places and hooks it has (default: by its program)")
	flags.DurationVar(&f.timeout, "timeout", 0, "timeout (default: 30 days)")
	f.format = formatFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("host", fixed(hooks.Wrapped()...)) // fails for a flag that has one
	return cmd
}

// wrapFlags are the flags of wrap.
type wrapFlags struct {
	host    string
	timeout time.Duration
	format  *format
}

// wrappedHost finds the agent by its name or, without one, by that of its program.
func wrappedHost(name, program string) (*hooks.Host, error) {
	for _, known := range hooks.Wrapped() {
		h, err := hooks.Named(known)
		if err == nil && (name == known || name == "" && filepath.Base(program) == h.Program) {
			return h, nil
		}
	}
	known := strings.Join(hooks.Wrapped(), ", ")
	if name != "" {
		return nil, fmt.Errorf("--host: no agent %q: use %s", printable(name), known)
	}
	return nil, fmt.Errorf("%s is the program of no agent that wrap knows: name the agent by --host (%s)",
		printable(program), known)
}

func (a *app) wrap(ctx context.Context, agent *hooks.Host, words []string, f wrapFlags) (err error) {
	l, err := a.loadFor("", "local")
	if err != nil {
		return err
	}
	if l.Local.Network == "none" {
		return errors.New("an agent must reach its model, and local.network is none: set it to host")
	}
	w := &wrapping{
		app: a, agent: agent, gates: plugins.NewKeeper(), session: "wrap-" + strings.ToLower(rand.Text()),
	}
	defer func() { err = errors.Join(err, w.gates.Close()) }()
	server, err := outside.Serve(outside.Options{Most: hooks.MaxEvent, Hook: w.hook, MCP: w.mcp})
	if err != nil {
		return err
	}
	defer server.Close()
	if l, err = w.inside(l, words[0], server.Link()); err != nil {
		return err
	}
	text, err := a.textOf("", false, words, "")
	if err != nil {
		return err
	}
	request := engine.Request{Tool: "wrap", Command: text, Timeout: f.timeout, Stdin: a.in}
	collectAsUsual()
	var screen *screen
	if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) && *f.format == formatText {
		if screen, err = screenOf(a.in); err != nil {
			return err
		}
		request.Stdin, request.Terminal = screen, screen.terminal()
	}
	if *f.format == formatText {
		request.Stdout, request.Stderr = screen.shown(a.out), a.err
	}
	s, err := plugins.Assemble(ctx, l, plugins.Options{
		Session: w.session, Approver: approver(l, terminal(nil)), Version: version().Sallyport, Once: true,
		Warn: a.warn,
	})
	if err != nil {
		return err
	}
	out, code, err := a.follow(ctx, s, request, screen)
	if err != nil {
		return err
	}
	if *f.format == formatJSON {
		if err := writeJSON(a.out, executed(out, code, s.Redact)); err != nil {
			return err
		}
		return status(code)
	}
	a.explainExec(out, s.Redact)
	a.explainWrap(out, w)
	return status(code)
}

// explainWrap reports the events and the changes of a run.
func (a *app) explainWrap(out engine.Outcome, w *wrapping) {
	if !out.Ran {
		return
	}
	a.say("wrap %s: the hooks of the agent sent %d events; the sandbox confined all else",
		out.Decision.ID, w.hooks.Load())
	if out.Changes == nil {
		return
	}
	for _, line := range out.Changes.Lines(maxShown) {
		fmt.Fprintf(a.err, "  %s\n", printable(line))
	}
}

// inside is the configuration of the agent itself. link leads to the gate.
func (w *wrapping) inside(l *config.Loaded, program, link string) (*config.Loaded, error) {
	host, err := w.app.host()
	if err != nil {
		return nil, err
	}
	found, err := w.agent.Wrapping(hooks.Here{
		Getenv: host.Getenv, Home: host.Home, Project: string(l.Workspace),
		Command: (&setupRun{app: w.app, host: host}).command(),
	}, host.Environ)
	if err != nil {
		return nil, err
	}
	if at := writableBy(l, found.Own); at != "" {
		return nil, fmt.Errorf("the hook starts %s, and the agent may write to %s: "+
			"install sallyport elsewhere", found.Own, at)
	}
	granted := []config.Path{l.Workspace}
	for _, g := range l.Paths {
		granted = append(granted, g.Path)
	}
	for _, file := range w.programs(host, program, found.Own) {
		if slices.ContainsFunc(granted, func(p config.Path) bool { return isBelow(file, string(p)) }) {
			continue
		}
		found.Places = append(found.Places, hooks.Place{Path: file, Access: "read"})
	}
	var grants []config.Grant
	for _, p := range found.Places {
		grants = append(grants, config.Grant{Path: config.Path(p.Path), Access: p.Access, Zone: "context"})
	}
	return l.Wrapped(grants, found.Copies, found.Variables,
		map[string]string{wrapped.File: link}), nil
}

// writableBy is the granted place in which an agent can replace a file; "" for none.
func writableBy(l *config.Loaded, file string) string {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return file
	}
	places := []string{string(l.Workspace)}
	for _, g := range l.Paths {
		if g.Access == "write" {
			places = append(places, string(g.Path))
		}
	}
	for _, place := range places {
		at, err := filepath.EvalSymlinks(place)
		if err == nil && (isBelow(real, at) || isBelow(file, at) || isBelow(file, place)) {
			return place
		}
	}
	return ""
}

// programs are the files of the agent and of sallyport that lie below the home directory, which is empty
// inside.
func (w *wrapping) programs(host config.Host, program, own string) (files []string) {
	if !strings.Contains(program, "/") {
		for _, dir := range filepath.SplitList(host.Getenv("PATH")) {
			if file := filepath.Join(dir, program); isProgram(file) && filepath.IsAbs(dir) {
				program = file
				break
			}
		}
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(host.Dir, program)
	}
	files = []string{program, own}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		files = append(files, filepath.Join(filepath.Dir(real), release.Whole))
	}
	return slices.DeleteFunc(files, func(file string) bool { return !isProgram(file) })
}

func isBelow(file, dir string) bool {
	rest, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rest)
}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// call makes a program that does the work of one inside: with the configuration and the session of this one.
func (w *wrapping) call(in io.Reader, out, errs io.Writer) (a *app, root *cobra.Command, args []string) {
	a = &app{
		in: in, out: out, err: errs, leave: leaveTime, host: w.app.host, asker: w.app.asker,
		session: w.session,
	}
	if w.app.config != "" {
		args = []string{"--config", w.app.config}
	}
	return a, a.bareRoot(), args
}

// hook judges an event. Of its words only the agent counts, which must be the one that runs.
func (w *wrapping) hook(args []string, input []byte) wrapped.Answer {
	w.hooks.Add(1)
	var out, errs bytes.Buffer
	if args[len(args)-1] != w.agent.Name {
		code := w.agent.Break(&out, &errs, fmt.Errorf("it is not a hook of %s, which runs here", w.agent.Name))
		return wrapped.Answer{Status: code, Out: out.Bytes(), Err: errs.Bytes()}
	}
	a, root, words := w.call(bytes.NewReader(input), &out, &errs)
	a.gates = w.gates
	root.AddCommand(a.hookCommand())
	code := a.execute(context.Background(), root, append(words, "hook", "--mode", "judge", w.agent.Name))
	return wrapped.Answer{Status: code, Out: out.Bytes(), Err: errs.Bytes()}
}

// insideFlags are the flags of mcp that a server inside may have. All others would choose the configuration,
// the session or the runner of the gate.
var insideFlags = []string{"tools", "work-dir", "calls"}

// mcp serves a client inside. Words before the subcommand do not count.
func (w *wrapping) mcp(args []string, in io.Reader, out io.Writer, stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	args = wrapped.Words(args)
	if slices.ContainsFunc(args, func(word string) bool { return strings.HasPrefix(word, "--config") }) {
		return
	}
	a, root, words := w.call(in, out, io.Discard) // the terminal is the agent's
	root.AddCommand(a.mcpCommand())
	a.execute(ctx, root, append(words, args...))
}

// fromInside refuses flags of a server inside, and gives it its session.
func (a *app) fromInside(cmd *cobra.Command, f *mcpFlags) (err error) {
	if a.session == "" {
		return nil
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "config" && !slices.Contains(insideFlags, flag.Name) { // mcp sets that one itself
			err = usageError{fmt.Errorf("--%s: inside of wrap the gate outside determines it", flag.Name)}
		}
	})
	f.session = a.session
	return err
}
