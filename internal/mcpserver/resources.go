package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/sallyport-dev/sallyport/engine"
)

// Policy is the part of the policies in force that clients may know: the rules and their levels. It has no
// place for the operator's patterns, nor for paths.
type Policy struct {
	Profile  string `json:"profile"`
	Mode     string `json:"mode"`
	Revision string `json:"revision"`
	Rules    []Rule `json:"rules"`
}

// Rule is one rule of a Policy.
type Rule struct {
	ID          string   `json:"id"`
	Level       string   `json:"level"`   // off, warn, ask or deny; own: the rule's own
	Effects     []string `json:"effects"` // that the rule itself has
	Severity    string   `json:"severity"`
	Title       string   `json:"title"`
	Remediation string   `json:"remediation"`
}

const (
	policyURI    = "sallyport://policy"
	decisionsURI = "sallyport://decisions"
	jsonType     = "application/json"

	recentMost    = 100
	recentCommand = 500 // characters of a command that are shown
)

// addResources registers the resources that clients may read besides the tools.
func (s *Server) addResources() {
	if s.o.Policy != nil {
		s.addResource(policyURI, "policy", "Policy in force",
			"The profile, and each rule with its level and description. The operator's own patterns are not "+
				"part of it.",
			func(ctx context.Context) (any, error) { return s.o.Policy(ctx) })
	}
	s.addResource(decisionsURI, "decisions", "Recent decisions",
		fmt.Sprintf(
			"The last %d decisions of this server, newest last, with secrets taken out. The whole record is the "+
				"operator's audit log.", recentMost),
		func(context.Context) (any, error) { return map[string]any{"decisions": s.recent.list()}, nil })
}

func (s *Server) addResource(uri, name, title, about string, content func(context.Context) (any, error)) {
	s.mcp.AddResource(
		mcp.Resource{URI: uri, Name: name, Title: title, Description: about, MIMEType: jsonType},
		func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			value, err := content(ctx)
			var text []byte
			if err == nil {
				text, err = json.MarshalIndent(value, "", "  ")
			}
			if err != nil {
				// The error of a policy may name its path: that is for the operator.
				s.o.Log.Error("read resource", "uri", uri, "error", err)
				return nil, fmt.Errorf("%s cannot be read now", uri)
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: jsonType, Text: string(text)}},
				nil
		})
}

// decided is one of the recent decisions.
type decided struct {
	ID      string    `json:"decision_id"`
	Time    time.Time `json:"time"`
	Tool    string    `json:"tool"`
	What    string    `json:"what"` // the command or, of a file tool, its arguments; redacted
	WorkDir string    `json:"work_dir"`
	Effect  string    `json:"effect"`
	Ran     bool      `json:"ran"`
	Rules   []string  `json:"rules"`
	Fault   string    `json:"fault,omitempty"`
}

// recent keeps the last decisions.
type recent struct {
	mu  sync.Mutex
	all []decided
}

func (r *recent) add(d decided) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == recentMost {
		copy(r.all, r.all[1:])
		r.all = r.all[:recentMost-1]
	}
	r.all = append(r.all, d)
}

func (r *recent) list() []decided {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]decided{}, r.all...)
}

// remember notes a decision that is on record. Secrets go first, and only then the text is cut: half a
// secret is not recognized as one.
func (c *call) remember(out engine.Outcome) {
	c.answered = out.Approval != nil && out.Approval.By != ""
	d := decided{
		ID: out.Decision.ID, Time: time.Now().UTC(), Tool: c.tool.name, WorkDir: c.server.o.Redact(out.WorkDir),
		Effect: string(out.Decision.Effect), Ran: out.Ran, Rules: []string{},
	}
	what := judgedText(out, c.args.text("command"))
	if what == "" {
		for _, l := range c.argumentLines() {
			what += l + "\n"
		}
	}
	d.What = shortened(c.server.o.Redact(what), recentCommand)
	for _, r := range out.Decision.Reasons {
		d.Rules = append(d.Rules, r.Rule)
	}
	d.Rules = append([]string{}, unique(d.Rules)...)
	if out.Fault != nil {
		d.Fault = out.Fault.ID
	}
	c.server.recent.add(d)
	c.server.o.Log.Info("decided", "tool", d.Tool, "decision", d.ID, "effect", d.Effect, "ran", d.Ran, "rules",
		d.Rules, "client", c.subject.Client.Name)
}
