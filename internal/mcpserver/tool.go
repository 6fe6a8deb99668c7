package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// tool is one tool: its description for clients, and its handler.
type tool struct {
	name, title, set string
	about            string
	hints            hints
	params           []param
	output           any // a zero result, from which the output schema is made
	run              func(ctx context.Context, c *call) result
	// refuse makes a result that says why the tool was not even asked: arguments that make no sense, or
	// something of ours that broke.
	refuse func(c *call, why string) result
}

// hints are the properties of a tool that a client may assume. They bind nobody: the gate judges each call.
type hints struct {
	readOnly, destructive, idempotent, openWorld bool
}

// result is the result of a tool. It is the structured content; mirror has the same facts for hosts and
// models that see text only.
type result interface {
	mirror() string
	// failed reports whether the tool could not do its work. A command that ran and exited with another
	// status than 0 has not failed in this sense.
	failed() bool
}

// call is one call of a tool.
type call struct {
	server  *Server
	tool    tool
	request mcp.CallToolRequest
	subject facts.Subject
	args    arguments

	// Set by the approver while the gate works on this call.
	ask  atomic.Pointer[server.InputRequestBuilder] // questions for the client to ask before it calls again
	note string                                     // why an answer does not count

	answered bool // somebody answered elsewhere: the question to the client is void; read after the outcome

	round *round // the command that goes on where a question about a program ends this call
}

type callKey struct{}

// callFrom returns the call in which a request is judged, or nil.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// add registers a tool.
func (s *Server) add(t tool) error {
	input, err := inputSchema(t.params)
	if err != nil {
		return fmt.Errorf("describe arguments of %s: %w", t.name, err)
	}
	output, err := outputSchema(t.output)
	if err != nil {
		return fmt.Errorf("describe results of %s: %w", t.name, err)
	}
	s.mcp.AddTool(mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, RawInputSchema: input, RawOutputSchema: output,
		Annotations: mcp.ToolAnnotation{
			Title: t.title, ReadOnlyHint: &t.hints.readOnly, DestructiveHint: &t.hints.destructive,
			IdempotentHint: &t.hints.idempotent, OpenWorldHint: &t.hints.openWorld,
		},
	}, func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.handle(ctx, t, r), nil
	})
	return nil
}

// handle serves one call. Every failure in it becomes a result: a model can read that and go on, while an
// error of the protocol may end its turn.
func (s *Server) handle(ctx context.Context, t tool, r mcp.CallToolRequest) (answer *mcp.CallToolResult) {
	c := &call{server: s, tool: t, request: r, subject: s.subject(ctx)}
	defer func() {
		if p := recover(); p != nil {
			answer = answered(c.broken(p))
		}
	}()
	args, err := readArguments(r.Params.Arguments, t.params)
	if err != nil {
		return answered(t.refuse(c, fmt.Sprintf("Invalid arguments for %s: %v.", t.name, err)))
	}
	c.args = args
	res := t.run(context.WithValue(ctx, callKey{}, c), c)
	if ask := c.ask.Load(); ask != nil && (res == nil || !c.answered) {
		return ask.ToolResult() // nothing was done yet, or a program of the command waits
	}
	return answered(res)
}

// broken is the result of a call in which something of ours has broken.
func (c *call) broken(p any) result {
	id := "F-" + uuid.Must(uuid.NewV7()).String()
	c.server.o.Log.Error("panic in tool", "tool", c.tool.name, "fault", id, "panic", p, "stack",
		string(debug.Stack()))
	return c.tool.refuse(c, brokenText(id))
}

// answered puts a result into the form of the protocol.
func answered(r result) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(r.mirror())},
		StructuredContent: r,
		IsError:           r.failed(),
	}
}

// faultText is all that an agent learns of a fault.
func faultText(f *engine.Fault) string {
	return strings.TrimSpace(brokenText(f.ID) + " " + f.Advice())
}

// brokenText is faultText for a fault of which only the id is known.
func brokenText(id string) string {
	return fmt.Sprintf(
		"Sallyport itself failed (fault %s). Tell your user: the operator finds more under that id.", id)
}

// outputSchema is the JSON Schema of a result.
func outputSchema(zero any) (json.RawMessage, error) {
	return json.Marshal(schemaOf(zero))
}
