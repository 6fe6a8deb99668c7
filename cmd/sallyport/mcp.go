package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

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

Every call passes the gate: it is judged, the decision is recorded, and only then something happens. The server
ends, and everything that it started with it, when stdin is closed or on SIGINT or SIGTERM; then it exits with 0.`,
		Example: `  claude mcp add sallyport -- sallyport mcp
  sallyport mcp --tools shell,files --session review`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.runner, "runner", "", "where to run commands: a `name` (default from the configuration)")
	flags.StringVar(&f.workDir, "work-dir", "", "`directory` for calls that name none: absolute, or relative to the workspace (default: the workspace)")
	flags.StringVar(&f.session, "session", "", "`name` of the session: what it has read and created is remembered under it")
	flags.StringVar(&f.agent, "agent", "", "`name` of the agent, for policies and records (default from the configuration)")
	flags.StringSliceVar(&f.sets, "tools", mcpserver.Sets(), "tool `sets` to serve")
	flags.IntVar(&f.calls, "calls", 0, "`number` of calls that run at once; more wait (default 32)")
	f.http.add(cmd)
	return cmd
}

func (a *app) mcp(ctx context.Context, f mcpFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	// stdout belongs to the protocol alone: a word on it from anywhere else would break the stream.
	out := a.out
	a.out, os.Stdout = a.err, os.Stderr
	l, err := a.loadFor(f.agent, f.runner)
	if err != nil {
		return err
	}
	approver := mcpserver.NewApprover()
	s, err := plugins.Assemble(ctx, l, plugins.Options{Session: f.session, Approver: approver, Version: version().Sallyport})
	if err != nil {
		return err
	}
	ctx, _ = interruptible(ctx)
	server, err := mcpserver.New(mcpserver.Options{
		Gate: s, Approver: approver, Subject: s.Subject, Sets: f.sets, Version: version().Sallyport, Calls: f.calls, WorkDir: f.workDir, Log: a.log(),
	})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if f.http.address != "" {
		err = a.serveHTTP(ctx, server, f.http, s.Gate.Close)
	} else {
		err = server.ServeStdio(ctx, a.in, out)
	}
	return errors.Join(err, s.Close())
}

func (f mcpFlags) check() error {
	for _, set := range f.sets {
		known := false
		for _, k := range mcpserver.Sets() {
			known = known || k == set
		}
		if !known {
			return usageError{fmt.Errorf("--tools: no set %q: use %s", printable(set), strings.Join(mcpserver.Sets(), ", "))}
		}
	}
	if f.calls < 0 {
		return usageError{fmt.Errorf("--calls %d: it must be greater than zero", f.calls)}
	}
	return f.http.check()
}
