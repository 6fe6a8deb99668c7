package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
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
			if err := f.check(); err != nil {
				return err
			}
			return a.mcp(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.runner, "runner", "", "where to run commands: local, docker, docker-sudo, or a `name` from runners: (default from the configuration)")
	flags.StringVar(&f.workDir, "work-dir", "", "`directory` for commands that name none: absolute, or relative to the workspace (default: the workspace)")
	flags.StringVar(&f.session, "session", "", "`name` of the session, under which files that it has read and created are remembered")
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
	a.out, os.Stdout = a.err, os.Stderr
	l, err := a.loadFor(f.agent, f.runner)
	if err != nil {
		return err
	}
	approver := mcpserver.NewApprover()
	s, err := plugins.Assemble(ctx, l, plugins.Options{Session: f.session, Approver: approver, Version: version().Sallyport, Warn: a.warn, Faulted: a.complain, Follow: true, Progress: a.viewProgress().report})
	if err != nil {
		return err
	}
	collectAsUsual()
	shells := background.New(background.Options{Gate: s, Limit: l.Limits.Background, Lines: l.Limits.RingLines})
	end := func() error { return errors.Join(shells.Close(), s.Gate.Close()) }
	server, err := mcpserver.New(mcpserver.Options{
		Gate: s, Approver: approver, Background: shells, Subject: s.Subject, Sets: f.sets, WorkDir: f.workDir, Place: placeFor(l),
		Version: version().Sallyport, Redact: s.Redact, Calls: f.calls, Log: a.log(),
		Policy: func(ctx context.Context) (mcpserver.Policy, error) { return policyFor(ctx, l, s) },
	})
	if err != nil {
		return errors.Join(err, end(), s.Close())
	}
	if f.http.address == "" {
		ctx, _ = interruptible(ctx, syscall.SIGPIPE)
	} else {
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

// judging names policies for the log: the built-in ones by their revision, and each directory and bundle by its own.
func judging(p engine.PolicyInfo) string {
	all := []string{p.Revision}
	for _, place := range slices.Sorted(maps.Keys(p.Bundles)) {
		all = append(all, place+"@"+p.Bundles[place])
	}
	return strings.Join(all, " ")
}
