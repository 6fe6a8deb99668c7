package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
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
	"time"

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
	flags.StringVar(
		&f.runner, "runner", "", "where to run commands: local, docker, docker-sudo, or a `name` from runners: "+
			"(default from the configuration)")
	flags.StringVar(
		&f.workDir, "work-dir", "", "`directory` for commands that name none: absolute, or relative to the "+
			"workspace (default: the workspace)")
	flags.StringVar(&f.session, "session", "", "`name` of the session, under which files that it has "+
		"read and created are remembered (default: that of the hooks of the agent that starts this server)")
	flags.StringVar(
		&f.agent, "agent", "", "`name` of the agent, for policies and records (default from the configuration)")
	flags.StringSliceVar(&f.sets, "tools", mcpserver.Sets(), "tool `sets` to serve")
	flags.IntVar(
		&f.calls, "calls", 0, "`number` of calls of a client on stdio that run at once; more wait (default 32)")
	f.http.add(cmd)
	return cmd
}

func (f mcpFlags) check() error {
	if len(f.sets) == 0 {
		return usageError{fmt.Errorf("--tools: name at least one of %s", strings.Join(mcpserver.Sets(), ", "))}
	}
	for _, set := range f.sets {
		if !slices.Contains(mcpserver.Sets(), set) {
			return usageError{fmt.Errorf("--tools: no set %q: use %s", printable(set),
				strings.Join(mcpserver.Sets(), ", "))}
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
	yieldContainers(l)
	if f.http.address != "" && f.session == "" {
		return a.serveSessions(ctx, l, f)
	}
	process := ""
	if f.http.address == "" && f.session == "" { // which serves clients that others have started
		process = hooks.ProcessSession(a.asker, string(l.Workspace))
	}
	m, err := a.openSession(ctx, l, f, f.session, process)
	if err != nil {
		return err
	}
	collectAsUsual()
	switch {
	case a.session != "": // signals are the agent's that runs in wrap
	case f.http.address == "":
		ctx, _ = interruptible(ctx, syscall.SIGPIPE)
	default:
		ctx, _ = interruptible(ctx)
		surviveClients()
	}
	unfollow := a.followPolicies(ctx, m.parts)
	// After a signal nothing waits for a client that may read no more.
	defer context.AfterFunc(ctx, func() { _ = m.shells.Close() })()
	if f.http.address != "" {
		err = a.serveHTTP(f.http, func(o mcpserver.HTTPOptions) error {
			o.End = m.end
			return m.server.ListenHTTP(ctx, o)
		})
	} else {
		if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			a.say("waiting for MCP messages on stdin: usually an agent's host starts this; Ctrl-D ends it")
		}
		err = m.server.ServeStdio(ctx, a.in, out)
	}
	unfollow()
	return errors.Join(err, m.end(), m.parts.Close())
}

// mcpSession is a server of tools with the gate below it.
type mcpSession struct {
	server *mcpserver.Server
	parts  *plugins.Sallyport
	shells *background.Manager
}

// end ends all calls that are under way.
func (m *mcpSession) end() error { return errors.Join(m.shells.Close(), m.parts.Gate.Close()) }

// openSession makes the server of one session.
func (a *app) openSession(
	ctx context.Context, l *config.Loaded, f mcpFlags, session, process string,
) (*mcpSession, error) {
	client := mcpserver.NewApprover()
	s, err := plugins.Assemble(ctx, l, plugins.Options{
		Session: session, Process: process, Approver: approver(l, client), Version: version().Sallyport,
		Warn: a.warn, Faulted: a.complain, Follow: true, Progress: a.viewProgress().report,
	})
	if err != nil {
		return nil, err
	}
	m := &mcpSession{parts: s}
	m.shells = background.New(background.Options{Gate: s, Limit: l.Limits.Background, Lines: l.Limits.RingLines})
	m.server, err = mcpserver.New(mcpserver.Options{
		Gate: s, Approver: client, Background: m.shells, Subject: s.Subject, Sets: f.sets,
		WorkDir: f.workDir, Place: placeFor(l),
		Version: version().Sallyport, Redact: s.Redact, Calls: f.calls, Log: a.log(),
		Result: int(l.Limits.Result),
		Policy: func(ctx context.Context) (mcpserver.Policy, error) { return policyFor(ctx, l, s) },
	})
	if err != nil {
		return nil, errors.Join(err, m.end(), s.Close())
	}
	return m, nil
}

// serveSessions serves each client of HTTP with a gate of its own.
func (a *app) serveSessions(ctx context.Context, l *config.Loaded, f mcpFlags) error {
	// A problem that every session would have is told now.
	try := plugins.Options{Version: version().Sallyport, CheckOnly: true, Warn: a.warn}
	tried, err := plugins.Assemble(ctx, l, try)
	if err != nil {
		return err
	}
	if err := tried.Close(); err != nil {
		return err
	}
	ctx, _ = interruptible(ctx)
	surviveClients()
	collectAsUsual()
	var opening sync.Mutex // one after the other: each needs the processor for a moment
	return a.serveHTTP(f.http, func(o mcpserver.HTTPOptions) error {
		return mcpserver.ListenSessions(ctx, a.log(), o, mcpserver.SessionOptions{
			Idle: f.http.idle, Most: f.http.most,
			Open: func(ctx context.Context, name string) (*mcpserver.Server, func() error, error) {
				opening.Lock()
				defer opening.Unlock()
				m, err := a.openSession(ctx, l, f, name, "")
				if err != nil {
					return nil, nil, err
				}
				unfollow := a.followPolicies(ctx, m.parts)
				return m.server, func() error {
					unfollow()
					return errors.Join(m.end(), m.parts.Close())
				}, nil
			},
		})
	})
}

// followPolicies loads policies again when their directories change, until the returned function is called.
func (a *app) followPolicies(ctx context.Context, s *plugins.Sallyport) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		s.Watch(ctx, func(b engine.PolicyBody, err error) {
			switch {
			case err != nil:
				a.say(
					"the policies have changed, and those before them judge on, because no record could be made of it: %s",
					printable(err.Error()))
			case b.Error != "":
				a.say("the policies have changed and cannot be loaded: those before them judge on: %s",
					printable(b.Error))
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

// collectAsUsual undoes collectLate: a server lives long, and the data of its start is garbage by now. Twice
// the usual garbage costs 7 MiB and spares half of the collections, which are a twelfth of a check.
func collectAsUsual() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(200)
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
		rule := mcpserver.Rule{ID: r.ID, Level: r.Level, Severity: r.Severity, Title: r.Title,
			Remediation: r.Remediation}
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
	address, tokenFile, cert, key string
	public                        bool
	idle, drain                   time.Duration
	most                          int
}

// tokenVariable holds the token that clients must send, where no file does.
const tokenVariable = "SALLYPORT_HTTP_TOKEN"

func (f *httpFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "", "serve over HTTP at `host:port` and not on stdin and stdout; "+
		"port 0 takes a free one")
	flags.StringVar(&f.tokenFile, "http-token-file", "",
		"`file` with the tokens of clients, one a line, read again when it changes (default $"+tokenVariable+
			", otherwise one is generated and printed)")
	flags.BoolVar(&f.public, "http-public", false, "let --http be an address that other machines can reach")
	flags.StringVar(&f.cert, "http-cert", "", "`file` with the certificate of TLS and those that sign it, read "+
		"again when it changes")
	flags.StringVar(&f.key, "http-key", "", "`file` with the key of that certificate")
	flags.DurationVar(&f.idle, "http-idle", 30*time.Minute,
		"`time` without a message after which a session ends")
	flags.IntVar(&f.most, "http-sessions", 64, "`number` of sessions at once")
	flags.DurationVar(&f.drain, "http-drain", 0,
		"`time` that calls under way get when the server is told to end")
}

// check refuses flags that mean nothing without --http.
func (f httpFlags) check() error {
	switch {
	case f.address == "" && (f.tokenFile != "" || f.public || f.cert != "" || f.key != "" || f.drain != 0):
		return usageError{errors.New("--http-token-file, --http-public, --http-cert, --http-key and --http-drain " +
			"are about --http: say where to serve")}
	case (f.cert == "") != (f.key == ""):
		return usageError{errors.New("--http-cert and --http-key belong together: give both")}
	case f.idle <= 0 || f.most <= 0 || f.drain < 0:
		return usageError{errors.New("--http-idle and --http-sessions must be greater than zero, " +
			"and --http-drain not less")}
	}
	return nil
}

// surviveClients makes a client that hangs up a failed write and nothing more. To ignore the signal would
// do so too, but the commands that we start would inherit that.
func surviveClients() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// serveHTTP serves over HTTP, as serve does with its options.
func (a *app) serveHTTP(f httpFlags, serve func(mcpserver.HTTPOptions) error) error {
	o := mcpserver.HTTPOptions{Address: f.address, Public: f.public, Drain: f.drain}
	made := false
	if f.tokenFile != "" {
		read := func() ([]string, error) { return readTokens(f.tokenFile) }
		file := renewed[[]string]{files: []string{f.tokenFile}, read: read}
		if _, err := file.get(); err != nil {
			return err
		}
		o.Tokens = func() []string {
			tokens, err := file.get()
			if err != nil {
				a.complain(err) // those before stay
			}
			return tokens
		}
	} else if o.Token = os.Getenv(tokenVariable); o.Token == "" {
		o.Token, made = rand.Text(), true
	}
	if f.cert != "" {
		pair := renewed[*tls.Certificate]{files: []string{f.cert, f.key}, read: func() (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(f.cert, f.key)
			if err != nil {
				return nil, fmt.Errorf("read the certificate of --http-cert and --http-key: %w", err)
			}
			return &c, nil
		}}
		if _, err := pair.get(); err != nil {
			return err
		}
		o.Certificate = func() (*tls.Certificate, error) {
			c, err := pair.get()
			if err != nil {
				a.complain(err) // the one before stays
			}
			return c, nil
		}
	}
	o.Ready = func(url string) {
		fmt.Fprintf(a.err, "sallyport: MCP at %s\n", url)
		if made {
			fmt.Fprintf(a.err, "sallyport: clients send the header  Authorization: Bearer %s\n", o.Token)
		}
	}
	return serve(o)
}

// renewed is the content of files, read again when one of them changes. It stays when that fails.
type renewed[T any] struct {
	files []string
	read  func() (T, error)

	mu   sync.Mutex
	seen string // the files when they were read, or failed to be
	last T
}

// get returns the last content that could be read, and once an error for a change that could not.
func (f *renewed[T]) get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := ""
	for _, name := range f.files {
		info, err := os.Stat(name)
		if err == nil {
			now += fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode(), " ")
		}
	}
	if now == f.seen && now != "" {
		return f.last, nil
	}
	content, err := f.read()
	if f.seen = now; err == nil {
		f.last = content
	}
	return f.last, err
}

// readTokens reads the tokens of a file that nobody else may read: one a line.
func readTokens(file string) ([]string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 && !givenByRoot(info) {
		return nil, fmt.Errorf("read token from %s: others may read it too (mode %v): chmod 600 it", file,
			info.Mode().Perm())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			tokens = append(tokens, line)
		}
	}
	if len(tokens) == 0 {
		tokens = []string{""} // its fault is reported
	}
	for _, t := range tokens {
		if err := mcpserver.CheckToken(t); err != nil {
			return nil, err
		}
	}
	return tokens, nil
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
