package mcpserver

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// verdict is the part of a result that describes the decision. All tools have it.
type verdict struct {
	DecisionID string    `json:"decision_id,omitempty" jsonschema:"Names the decision in the audit log; absent when nothing had to be decided."`
	Effect     string    `json:"effect" choices:"allow|ask|deny|none" jsonschema:"The decision of the policies; none when nothing had to be decided."`
	Mode       string    `json:"mode,omitempty" choices:"monitor" jsonschema:"Decisions are recorded and refuse nothing."`
	Reasons    []reason  `json:"reasons,omitempty" jsonschema:"The reasons; also warnings about allowed parts."`
	Runner     string    `json:"runner,omitempty" jsonschema:"Where it runs: local, docker, …"`
	Isolation  string    `json:"isolation,omitempty" jsonschema:"The confinement there: none, namespace, container or remote."`
	Approval   *approved `json:"approval,omitempty" jsonschema:"The answer of the person who was asked."`
	HowToAllow string    `json:"how_to_allow,omitempty" jsonschema:"Ways for a person to allow it."`
	Held       []held    `json:"held,omitempty" jsonschema:"Files held or refused: programs would obey them."`
	Refused    []refused `json:"refused_programs,omitempty" jsonschema:"Programs that the command could not start."`
	Fault      string    `json:"fault,omitempty" jsonschema:"The id of a fault of sallyport, as in the audit log."`
}

// reason is one finding of one rule, without the operator's files and patterns.
type reason struct {
	Rule        string `json:"rule"`
	Effect      string `json:"effect" choices:"warn|ask|deny"`
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Message     string `json:"message"`
	Remediation string `json:"remediation" jsonschema:"The alternative."`
}

// held is a file that a command left and that was moved aside.
type held struct {
	Path    string `json:"path"`
	Message string `json:"message" jsonschema:"Why."`
	Left    string `json:"left" jsonschema:"The text in its place."`
}

// refused is a program that a command could not start.
type refused struct {
	Words       string   `json:"words"`
	By          []string `json:"by,omitempty" jsonschema:"The processes above it."`
	Rule        string   `json:"rule"`
	Message     string   `json:"message"`
	Remediation string   `json:"remediation,omitempty" jsonschema:"The alternative."`
	DecisionID  string   `json:"decision_id"`
}

// approved is a person's answer.
type approved struct {
	Granted bool   `json:"granted"`
	By      string `json:"by"`
	Comment string `json:"comment,omitempty"`
}

// undecided is the verdict of a call that never came to a decision.
func undecided() verdict { return verdict{Effect: "none"} }

// verdictOf reads a verdict out of an outcome.
func (c *call) verdictOf(out engine.Outcome) verdict {
	d := out.Decision
	v := verdict{DecisionID: d.ID, Effect: string(d.Effect), Reasons: reasonsOf(d.Reasons)}
	if d.Mode == engine.Monitor {
		v.Mode = string(d.Mode)
	}
	if out.Input != nil {
		v.Runner, v.Isolation = out.Input.Runner.Name, out.Input.Runner.Isolation
	}
	if out.Fault != nil {
		v.Fault = out.Fault.ID
	}
	for _, h := range out.Held {
		v.Held = append(v.Held, held{h.Path, h.Message, h.Left})
	}
	if out.Programs != nil {
		for _, r := range out.Programs.Refused {
			v.Refused = append(v.Refused, refused{r.Words, r.Way, r.Rule, r.Message, r.Remediation, r.Decision})
		}
	}
	if a := out.Approval; a != nil && a.By != "" {
		v.Approval = &approved{Granted: a.Granted, By: a.By, Comment: a.Comment}
	}
	if d.Effect == engine.Ask && !out.Ran && out.Fault == nil && v.Approval == nil {
		v.HowToAllow = c.howToAllow(d)
	}
	return v
}

func reasonsOf(all []engine.Reason) []reason {
	all = engine.Distinct(all)
	out := make([]reason, len(all))
	for i, r := range all {
		out[i] = reason{
			Rule: r.Rule, Effect: string(r.Effect), Severity: r.Severity, Title: r.Title,
			Message: reasonText(r), Remediation: r.Remediation,
		}
	}
	return out
}

// howToAllow describes a person's options after a question that nobody could answer.
func (c *call) howToAllow(d engine.Decision) string {
	text := "A person has to allow this"
	if c.note == "" {
		text += ", and nobody could be asked through this client"
	} else {
		text = upperFirst(c.note) + ". " + text
	}
	if c.tool.set == setFiles {
		text += ". They can do it themselves"
	} else {
		text += ". They can run it at a terminal, where sallyport exec asks, or set " +
			"approvals: {wait: true} and answer with sallyport approvals"
	}
	text += ", or allow it in sallyport's configuration file"
	var rules []string
	for _, r := range d.Reasons {
		if r.Effect == engine.Ask {
			rules = append(rules, r.Rule)
		}
	}
	if len(rules) > 0 {
		text += fmt.Sprintf(": set the level of %s to warn under rules, or add a dated entry under exemptions",
			strings.Join(unique(rules), ", "))
	}
	return text + "."
}

func unique(all []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// refusalText explains to an agent that nothing was done. Its beginnings are those that agents know from the
// predecessor; it never holds a pattern of the operator.
func (c *call) refusalText(out engine.Outcome) string {
	d := out.Decision
	switch {
	case out.Fault != nil:
		return "Nothing was done. " + faultText(out.Fault)
	case d.Effect == engine.Ask && out.Approval != nil && out.Approval.By != "":
		// Agents without a person answer no by themselves.
		return "Not approved: the answer to the question was no. If nobody was asked: " + c.howToAllow(d)
	case d.Effect == engine.Ask:
		return "Not approved: " + firstMessage(d, engine.Ask) + ". " + c.howToAllow(d)
	}
	for _, r := range d.Reasons {
		if r.Effect != engine.Deny {
			continue
		}
		message := reasonText(r)
		switch {
		case c.tool.set == setFiles:
			return "Not allowed: " + message
		case r.Rule == "filters/not_allowed":
			return "Command not in allowed list: " + message
		case r.Rule == "filters/denied":
			return "Command matches blocked pattern: " + message
		case r.Rule == "paths/work_dir":
			return "Path validation error: " + message
		}
		return "Potentially dangerous command detected: " + message
	}
	return "Refused by policy."
}

// reasonText is the text of a reason.
func reasonText(r engine.Reason) string { return cmp.Or(r.Message, r.Title) }

// requestText explains to an agent that its request is invalid, regardless of the policies.
func requestText(err error) string {
	return upperFirst(strings.TrimPrefix(err.Error(), engine.ErrRequest.Error()+": ")) + "."
}

// firstMessage is the text of the first reason of an effect.
func firstMessage(d engine.Decision, e engine.Effect) string {
	for _, r := range d.Reasons {
		if r.Effect == e {
			return reasonText(r)
		}
	}
	return "a policy asks for a person's approval"
}
