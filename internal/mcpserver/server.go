// Package mcpserver serves the tools of sallyport to an agent over the Model Context Protocol.
//
// Every tool is a thin layer over engine.Gate: it reads its arguments, hands the gate a request and puts the
// outcome into a result. Nothing here judges, starts a process or touches a file. The gate is asked
// inside each tool's handler, so no path through the protocol (tasks, batches, middleware that is skipped)
// leads around it, and the arguments are read strictly here, independent of the schema that the client has.
//
//	server.go      the server and its tools: shell.go, shells.go, files.go
//	tool.go        from a tools/call to a tool and back; arguments.go reads, results.go and mirror.go answer
//	stdio.go       one client on a pair of streams: lines, queue, cancellation, end of input
//	http.go        many clients over HTTP; http_sessions.go a session for each, http_guard.go tokens
//	approve.go     questions of policies to a person, through the client; states.go ties answers to questions
//	rounds.go      commands that go on while the client asks about their programs between calls
//	resources.go   other data that clients may read
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/background"
)

// Gate is the one way through, as far as tools need it; *engine.Gate is one.
type Gate interface {
	Check(ctx context.Context, r engine.Request) (engine.Outcome, error)
	Do(ctx context.Context, r engine.Request) (engine.Outcome, error)
}

// Options configure a Server. Gate, Approver and Redact are required.
type Options struct {
	Gate       Gate
	Approver   *Approver           // the one that the gate asks
	Background *background.Manager // required for the set background
	Subject    facts.Subject       // of every request; the client is filled in for each
	Sets       []string            // tool sets to serve; none: all of them
	Version    string
	WorkDir    string // of calls that name none; "" for the workspace
	Place      string // description of the commands' environment for agents; "" for none

	Calls int           // calls of one stdio client that run at once; default 32
	Line  int           // bytes of the longest message on stdio; default 32 MiB
	Quiet time.Duration // after the end of input, how long to wait for the next reply; default 2 s
	Log   hclog.Logger  // never stdout; default nowhere

	// Result bounds the output that a result carries, in bytes over both streams; default 24 KiB.
	// read_file pages through the rest.
	Result int

	Progress time.Duration // between signs of life of a long call; default 1 s

	// Policy describes the policies in force for clients; nil: no description.
	Policy func(context.Context) (Policy, error)
	// Redact removes secrets from the earlier requests that clients read.
	Redact func(string) string
}

// Server has the tools. It is made once and serves stdio or HTTP.
type Server struct {
	o      Options
	mcp    *server.MCPServer
	recent recent

	outputs outputs
	rounds  rounds
	crew    *crew
}

const (
	defaultCalls = 32
	defaultLine  = 32 << 20
	defaultQuiet = 2 * time.Second
)

// Sets names the tool sets in the order in which they are listed.
func Sets() []string { return []string{setShell, setBackground, setFiles} }

const (
	setShell      = "shell"
	setBackground = "background"
	setFiles      = "files"
)

// New makes a server.
func New(o Options) (*Server, error) {
	if o.Gate == nil || o.Approver == nil || o.Redact == nil {
		return nil, errors.New("make MCP server: a gate, its approver and a redactor are required")
	}
	if len(o.Sets) == 0 {
		o.Sets = Sets()
	}
	if o.Background == nil && slices.Contains(o.Sets, setBackground) {
		return nil, errors.New("make MCP server: the set background needs a manager of background shells")
	}
	for _, name := range o.Sets {
		if !slices.Contains(Sets(), name) {
			return nil, fmt.Errorf("make MCP server: no tool set %q: use %s", name, strings.Join(Sets(), ", "))
		}
	}
	if o.Calls <= 0 {
		o.Calls = defaultCalls
	}
	if o.Line <= 0 {
		o.Line = defaultLine
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Result <= 0 {
		o.Result = usualResult
	}
	if o.Progress <= 0 {
		o.Progress = progressEvery
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	s := &Server{o: o, crew: newCrew()}
	s.mcp = server.NewMCPServer("sallyport", o.Version,
		server.WithTitle("Sallyport"),
		server.WithDescription(
			"Commands and files behind a policy gate: every request is judged and recorded before anything happens."),
		server.WithInstructions(instructions(o.Sets, o.Place)),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithRecovery(),
	)
	for _, t := range allTools() {
		if slices.Contains(o.Sets, t.set) {
			if err := s.add(t); err != nil {
				return nil, err
			}
		}
	}
	s.addResources()
	return s, nil
}

// allTools lists the tools of all sets. Their names are a contract.
func allTools() []tool {
	return slices.Concat(shellTools(), backgroundTools(), fileTools())
}
