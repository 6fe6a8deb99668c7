package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Approver asks the person behind an MCP client. The gate calls it in the middle of a tool call, and it
// finds that call in the context. Before 2026-07-28 it sends the client a question and waits; since then it
// cannot, so the call ends by asking for input and the client calls again with the answer. That second call
// is judged anew; the state that it must bring ties the answer to the very request that was shown. A question
// about a program of a command ends the call, too, while the command goes on (rounds.go).
//
// A client that never said it can ask is not asked, and every answer but a plain yes refuses.
type Approver struct {
	states states
}

// NewApprover makes an approver with a key of its own: no answer outlives the process.
func NewApprover() *Approver { return &Approver{states: newStates()} }

const (
	answerKey     = "approval" // of the question among a call's input requests
	approveField  = "approve"
	commentField  = "comment"
	commentLength = 500
	wordField     = "word"
	word          = "run" // that a person types for a command which a dialog may not show whole

	// Limits of a text that a dialog is likely to show in full.
	longText, longLines = 600, 12
)

var (
	errNoCall     = fmt.Errorf("%w: the request did not come through a tool call", engine.ErrNobody)
	errCannotAsk  = fmt.Errorf("%w: the client did not declare elicitation", engine.ErrNobody)
	errAskedFirst = errors.New("the person is being asked: the answer comes with another call")
)

// Approve asks the person, or judges the answer that the call has brought.
func (a *Approver) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Approval, error) {
	c := callFrom(ctx)
	if c == nil {
		return engine.Approval{}, errNoCall
	}
	if !canElicit(ctx) {
		return engine.Approval{}, errCannotAsk
	}
	question, typed := questionFor(c, r)
	if !server.IsModernRequest(ctx) {
		result, err := c.server.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{Params: question})
		if err != nil {
			return engine.Approval{}, c.unanswered(fmt.Errorf("ask through the client: %w", err))
		}
		return c.approval(result, typed), nil
	}
	if r.Request.Tool == engine.ToolProgram {
		if c.round == nil {
			return engine.Approval{}, errCannotAsk // a background shell has no call
		}
		return c.round.inquire(ctx, &inquiry{round: c.round, question: question, typed: typed, expires: r.Expires,
			answer: make(chan engine.Approval, 1)})
	}
	bound := boundTo(c, r, question.Message)
	if c.request.Params.RequestState == "" {
		// An answer without a state of ours answers no question of ours: its sender was not asked.
		state, err := a.states.issue(bound, r.Expires)
		if err != nil {
			return engine.Approval{}, err
		}
		c.ask.Store(server.NewInputRequestBuilder(state).Elicit(answerKey, question))
		return engine.Approval{}, errAskedFirst
	}
	if err := a.states.redeem(c.request.Params.RequestState, bound); err != nil {
		return engine.Approval{}, c.unanswered(err)
	}
	return c.approval(server.ElicitationResponse(c.request.Params.InputResponses, answerKey), typed), nil
}

// unanswered keeps for the agent why there is no answer that counts.
func (c *call) unanswered(err error) error {
	c.note = err.Error()
	return err
}

// approval reads an answer. Only accepting and saying yes grants, with the word if one must be typed.
func (c *call) approval(answer *mcp.ElicitationResult, typed bool) engine.Approval {
	a := engine.Approval{By: "mcp:" + orUnknown(c.subject.Client.Name)}
	if answer == nil {
		a.Comment = "no answer"
		return a
	}
	fields, _ := answer.Content.(map[string]any)
	if comment, ok := fields[commentField].(string); ok {
		a.Comment = shortened(visible(comment), commentLength)
	}
	switch answer.Action {
	case mcp.ElicitationResponseActionAccept:
		a.Granted, _ = fields[approveField].(bool)
		if said, _ := fields[wordField].(string); typed && a.Granted && strings.TrimSpace(said) != word {
			a.Granted, a.Comment = false, strings.TrimSpace("the word was not typed "+a.Comment)
		}
	case mcp.ElicitationResponseActionDecline, mcp.ElicitationResponseActionCancel:
		a.Comment = strings.TrimSpace(string(answer.Action) + " " + a.Comment)
	default:
		a.Comment = "unknown answer"
	}
	return a
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown client"
	}
	return name
}

// questionFor is the text of the dialog: the reason and the action in its first line, which some hosts show
// alone, then the whole action and all reasons. The fields, which hosts show in full, repeat the reasons and,
// of a command of several lines, the text. typed tells that the person must type a word for it.
func questionFor(c *call, r engine.ApprovalRequest) (q mcp.ElicitationParams, typed bool) {
	var p page
	what := proposal(c, r)
	agent := orUnknown(visible(r.Request.Subject.Agent))
	p.line("%s: %s asks for approval of %s in %s:", headline(r, what), agent, c.tool.name, visible(r.WorkDir))
	// A dialog may show the beginning only, and the beginning may be harmless.
	n := utf8.RuneCountInString(strings.Join(what, "\n"))
	if n > longText || len(what) > longLines {
		p.line("It is long: %d lines, %d characters. Read it to its end.", len(what), n)
	}
	p.line("")
	for _, l := range what {
		p.line("    %s", l)
	}
	if len(r.Way) > 0 {
		p.line("    (started by %s)", visible(strings.Join(r.Way, " -> ")))
	}
	p.line("")
	var reasons []string
	for _, why := range engine.Distinct(r.Decision.Reasons) {
		p.line("- %s (%s): %s", why.Rule, why.Severity, visible(reasonText(why)))
		reasons = append(reasons, strings.TrimSuffix(shortened(visible(reasonText(why)), longText), ".")+".")
		if why.Remediation != "" {
			p.line("  instead: %s", visible(why.Remediation))
		}
	}
	properties := map[string]any{
		approveField: map[string]any{
			"type": "boolean", "title": "Do it, this once",
			"description": strings.Join(append(reasons, "Anything else refuses it."), " "),
		},
		commentField: map[string]any{
			"type": "string", "title": "Comment", "description": "Goes on record, and to the agent.",
			"maxLength": commentLength,
		},
	}
	required := []string{approveField}
	if typed = r.Command != "" && r.Changes == nil && (len(what) > 1 || n > longText); typed {
		// Some hosts show the beginning of it alone, on one line.
		text := fmt.Sprintf("%sIt has %d lines, %d characters", askedLines(r), len(what), n)
		if n > longText {
			text += ", too long for this field: read it in the question, or in sallyport approvals list."
		} else {
			text += ": " + strings.Join(what, " ⏎ ")
		}
		properties[wordField] = map[string]any{
			"type": "string", "title": "To run all of it, type the word " + word, "description": text,
		}
		required = append(required, wordField)
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": required}
	return mcp.ElicitationParams{Message: p.text(), RequestedSchema: schema}, typed
}

// headlineLength bounds the excerpt of an action in the first line of a question, in characters.
const headlineLength = 80

// headline names the first reason, and the part of the action that it is about.
func headline(r engine.ApprovalRequest, what []string) string {
	at := ""
	if len(what) > 0 {
		at = strings.TrimSpace(what[0])
	}
	where := ""
	if r.Decision.Reasons == nil {
		return shortened(at, headlineLength)
	}
	first := r.Decision.Reasons[0]
	if text, line := part(r, first); line > 0 {
		at = text
		if len(what) > 1 {
			where = fmt.Sprintf(" (line %d of %d)", line, len(what))
		}
	}
	more := ""
	if n := len(r.Decision.Reasons) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return first.Rule + ": " + shortened(at, headlineLength) + where + more
}

// part is the part of a command that a reason is about, and its line; 0 if it is about no part.
func part(r engine.ApprovalRequest, why engine.Reason) (text string, line int) {
	s := why.Span
	if s == nil || s.Start < 0 || s.Start >= s.End || s.End > len(r.Command) {
		return "", 0
	}
	return visible(r.Command[s.Start:s.End]), 1 + strings.Count(r.Command[:s.Start], "\n")
}

// askedLines lists the lines of a command that reasons are about.
func askedLines(r engine.ApprovalRequest) string {
	var out strings.Builder
	for _, why := range r.Decision.Reasons {
		if text, line := part(r, why); line > 0 {
			fmt.Fprintf(&out, "Line %d: %s. ", line, shortened(text, headlineLength))
		}
	}
	return out.String()
}

// proposal shows the text that was judged or, for a file tool, its arguments.
func proposal(c *call, r engine.ApprovalRequest) []string {
	if r.Changes != nil {
		return visibleLines(strings.Join(r.Changes.Lines(linkedMost), "\n"))
	}
	if r.Request.Operation == nil {
		return visibleLines(r.Command)
	}
	return append(c.argumentLines(), linked(r.Paths)...)
}

// linkedMost is how many paths are shown that lead elsewhere.
const linkedMost = 100

// linked shows the real paths behind links: a name does not show its target.
func linked(paths []facts.Path) (out []string) {
	for _, p := range paths {
		if p.Real != p.Path && p.Real != "" && len(out) < linkedMost {
			out = append(out, fmt.Sprintf("%s leads to %s", visible(p.Path), visible(p.Real)))
		}
	}
	return unique(out)
}

// argumentLines shows the arguments of a call, one on each line.
func (c *call) argumentLines() []string {
	var out []string
	for _, p := range c.tool.params {
		if v, ok := c.args[p.name]; ok {
			out = append(out, p.name+": "+shownValue(v))
		}
	}
	return out
}

// shownLength is how much of a long argument, such as the content of a file, is shown.
const shownLength = 2000

func shownValue(v any) string {
	s := visible(fmt.Sprint(v))
	if all := len([]rune(s)); all > shownLength {
		return fmt.Sprintf("%s (%d characters in all)", shortened(s, shownLength), all)
	}
	return s
}
