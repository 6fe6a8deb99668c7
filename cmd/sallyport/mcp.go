package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/background"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/mcpserver"
	"github.com/sallyport-dev/sallyport/plugins"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	runner, workDir, session, agent string
	sets                            []string
	calls                           int
	http                            httpFlags
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Serve tools to an agent over the Model Context Protocol",
		Long: `Serve tools to an agent over the Model Context Protocol, on stdin and stdout.

The gate judges every call, records the decision, and only then acts. The server ends, with every process
that it started, when stdin is closed or on SIGINT or SIGTERM; then it exits with 0.

With --http it serves HTTP instead, on this machine only, to clients that send the token.`,
		Example: `  sallyport setup --agent claude-code
  sallyport mcp --tools shell,files --session review
  sallyport mcp --http 127.0.0.1:8080`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(f.check(), a.fromInside(cmd, &f)); err != nil {
				return err
			}
			return a.mcp(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.runner, "runner", "", "where to run commands: local, docker, docker-sudo, or a `name` from runners: (default from the configuration)")
	flags.StringVar(&f.workDir, "work-dir", "", "`directory` for commands that name none: absolute, or relative to the workspace (default: the workspace)")
	flags.StringVar(&f.session, "session", "", "`name` of the session, under which files that it has "+
		"read and created are remembered (default: that of the hooks of the agent that starts this server)")
	flags.StringVar(&f.agent, "agent", "", "`name` of the agent, for policies and records (default from the configuration)")
	flags.StringSliceVar(&f.sets, "tools", mcpserver.Sets(), "tool `sets` to serve")
	flags.IntVar(&f.calls, "calls", 0, "`number` of calls of a client on stdio that run at once; more wait (default 32)")
	f.http.add(cmd)
	return cmd
}

func (f mcpFlags) check() error {
	if len(f.sets) == 0 {
		return usageError{fmt.Errorf("--tools: name at least one of %s", strings.Join(mcpserver.Sets(), ", "))}
	}
	for _, set := range f.sets {
		if !slices.Contains(mcpserver.Sets(), set) {
			return usageError{fmt.Errorf("--tools: no set %q: use %s", printable(set), strings.Join(mcpserver.Sets(), ", "))}
		}
	}
	if f.calls < 0 {
		return usageError{fmt.Errorf("--calls %d: it must be greater than zero", f.calls)}
	}
	return f.http.check()
}

func (a *app) mcp(ctx context.Context, f mcpFlags) error {
	// stdout belongs to the protocol alone: a word on it from anywhere else would break the stream.
	out := a.out
	if a.out = a.err; a.session == "" {
		os.Stdout = os.Stderr
	}
	l, err := a.loadFor(f.agent, f.runner)
	if err != nil {
		return err
	}
	if a.session != "" { // the agent itself is confined, under any local.sandbox
		l = l.Confined()
	}
	if err := hooks.CheckSession(f.session, a.asker, string(l.Workspace)); err != nil {
		return usageError{err}
	}
	process := ""
	if f.http.address == "" && f.session == "" { // which serves clients that others have started
		process = hooks.ProcessSession(a.asker, string(l.Workspace))
	}
	yieldContainers(l)
	client := mcpserver.NewApprover()
	s, err := plugins.Assemble(ctx, l, plugins.Options{
		Session: f.session, Process: process, Approver: approver(l, client), Version: version().Sallyport,
		Warn: a.warn, Faulted: a.complain, Follow: true, Progress: a.viewProgress().report,
	})
	if err != nil {
		return err
	}
	collectAsUsual()
	shells := background.New(background.Options{Gate: s, Limit: l.Limits.Background, Lines: l.Limits.RingLines})
	end := func() error { return errors.Join(shells.Close(), s.Gate.Close()) }
	server, err := mcpserver.New(mcpserver.Options{
		Gate: s, Approver: client, Background: shells, Subject: s.Subject, Sets: f.sets,
		WorkDir: f.workDir, Place: placeFor(l),
		Version: version().Sallyport, Redact: s.Redact, Calls: f.calls, Log: a.log(),
		Result: int(l.Limits.Result),
		Policy: func(ctx context.Context) (mcpserver.Policy, error) { return policyFor(ctx, l, s) },
	})
	if err != nil {
		return errors.Join(err, end(), s.Close())
	}
	switch {
	case a.session != "": // signals are the agent's that runs in wrap
	case f.http.address == "":
		ctx, _ = interruptible(ctx, syscall.SIGPIPE)
	default:
		ctx, _ = interruptible(ctx)
		surviveClients()
	}
	unfollow := a.followPolicies(ctx, s)
	// After a signal nothing waits for a client that may read no more.
	defer context.AfterFunc(ctx, func() { _ = shells.Close() })()
	if f.http.address != "" {
		err = a.serveHTTP(ctx, server, f.http, end)
	} else {
		if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			a.say("waiting for MCP messages on stdin: usually an agent's host starts this; Ctrl-D ends it")
		}
		err = server.ServeStdio(ctx, a.in, out)
	}
	unfollow()
	return errors.Join(err, end(), s.Close())
}

// followPolicies loads policies again when their directories change, until the returned function is called.
func (a *app) followPolicies(ctx context.Context, s *plugins.Sallyport) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		s.Watch(ctx, func(b engine.PolicyBody, err error) {
			switch {
			case err != nil:
				a.say("the policies have changed, and those before them judge on, because no record could be made of it: %s", printable(err.Error()))
			case b.Error != "":
				a.say("the policies have changed and cannot be loaded: those before them judge on: %s", printable(b.Error))
			default:
				a.log().Info("policies have changed", "policies", judging(b.Policy), "before", judging(b.Before))
			}
		})
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// collectAsUsual undoes collectLate: a server lives long, and the data of its start is garbage by now.
func collectAsUsual() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(100)
	}
}

// policyFor describes the policies, as far as clients may know them.
func policyFor(ctx context.Context, l *config.Loaded, s *plugins.Sallyport) (mcpserver.Policy, error) {
	infos, err := s.Rules(ctx)
	if err != nil {
		return mcpserver.Policy{}, err
	}
	p := mcpserver.Policy{Profile: l.Profile, Mode: l.Mode, Revision: s.InForce().Policy().Revision}
	for _, r := range infos {
		rule := mcpserver.Rule{ID: r.ID, Level: r.Level, Severity: r.Severity, Title: r.Title, Remediation: r.Remediation}
		for _, e := range r.Effects {
			rule.Effects = append(rule.Effects, string(e))
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// judging names policies for the log: the built-in ones by their revision, and each directory and bundle by
// its own.
func judging(p engine.PolicyInfo) string {
	all := []string{p.Revision}
	for _, place := range slices.Sorted(maps.Keys(p.Bundles)) {
		all = append(all, place+"@"+p.Bundles[place])
	}
	return strings.Join(all, " ")
}

// httpFlags are the flags of mcp that are about HTTP.
type httpFlags struct {
	address, tokenFile string
	public             bool
}

// tokenVariable holds the token that clients must send, where no file does.
const tokenVariable = "SALLYPORT_HTTP_TOKEN"

func (f *httpFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "", "serve over HTTP at `host:port` and not on stdin and stdout; "+
		"port 0 takes a free one")
	flags.StringVar(&f.tokenFile, "http-token-file", "",
		"`file` that holds the token which clients must send (default $"+tokenVariable+", otherwise one "+
			"is generated and printed)")
	flags.BoolVar(&f.public, "http-public", false, "let --http be an address that other machines can reach")
}

// check refuses flags that mean nothing without --http.
func (f httpFlags) check() error {
	if f.address == "" && (f.tokenFile != "" || f.public) {
		return usageError{errors.New("--http-token-file and --http-public are about --http: say where to serve")}
	}
	return nil
}

// surviveClients makes a client that hangs up a failed write and nothing more. To ignore the signal would
// do so too, but the commands that we start would inherit that.
func surviveClients() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// serveHTTP serves over HTTP until ctx ends; end must end all calls under way.
func (a *app) serveHTTP(ctx context.Context, server *mcpserver.Server, f httpFlags, end func() error) error {
	token, made, err := f.token(os.Getenv)
	if err != nil {
		return err
	}
	return server.ListenHTTP(ctx, mcpserver.HTTPOptions{
		Address: f.address, Public: f.public, Token: token, End: end,
		Ready: func(url string) {
			fmt.Fprintf(a.err, "sallyport: MCP at %s\n", url)
			if made {
				fmt.Fprintf(a.err, "sallyport: clients send the header  Authorization: Bearer %s\n", token)
			}
		},
	})
}

// token finds the token, or makes one. One that somebody gave is never shown.
func (f httpFlags) token(getenv func(string) string) (token string, made bool, err error) {
	switch {
	case f.tokenFile != "":
		token, err = readToken(f.tokenFile)
		return token, false, err
	case getenv(tokenVariable) != "":
		return getenv(tokenVariable), false, nil
	}
	return rand.Text(), true, nil
}

// readToken reads a token from a file that nobody else may read.
func readToken(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read token from %s: others may read it too (mode %v): chmod 600 it", file,
			info.Mode().Perm())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// placeFor describes the place of commands for an agent, which need not learn its limits from failures.
func placeFor(l *config.Loaded) string {
	sudo := l.Runner == "docker-sudo"
	if l.Runner != "docker" && !sudo {
		return ""
	}
	var b strings.Builder
	b.WriteString("Commands run in a container of your session. The workspace and the other granted " +
		"places are there under the paths that they have outside; other files of this machine are not " +
		"there. Installed packages stay until the session ends.")
	if l.Docker.Network == "none" {
		b.WriteString(" There is no network: nothing can be fetched, so name the missing package " +
			"and do not retry.")
	} else {
		fmt.Fprintf(&b, " The network is %q.", l.Docker.Network)
	}
	if sudo {
		b.WriteString(" sudo works there, for commands that the policies allow: sudo apt-get install.")
	} else {
		b.WriteString(" There is no sudo: pip install and npm install -g work as you are; for system " +
			"packages ask the person to add them (docker.packages.system, runner docker-sudo) or to " +
			"choose another image.")
	}
	var given []string
	for _, kind := range []struct {
		name  string
		words []string
	}{
		{"Debian", l.Docker.Packages.System}, {"Python", l.Docker.Packages.Python},
		{"npm", l.Docker.Packages.NPM},
	} {
		if len(kind.words) > 0 {
			given = append(given, kind.name+": "+strings.Join(kind.words, ", "))
		}
	}
	if len(given) > 0 {
		b.WriteString(" Installed beforehand: " + strings.Join(given, "; ") + ".")
	}
	return b.String()
}
