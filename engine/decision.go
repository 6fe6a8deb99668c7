package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Effect is the effect of a decision. The zero value denies, and so does every value not named here.
type Effect string

const (
	Deny  Effect = "deny"
	Ask   Effect = "ask"
	Allow Effect = "allow"
	Warn  Effect = "warn" // of a reason only: said and recorded, refuses nothing
)

// Mode says whether decisions are enforced. The zero value enforces.
type Mode string

const (
	Enforce Mode = "enforce"
	Monitor Mode = "monitor" // decide and record everything, refuse nothing
)

// Decision is the answer of the policies to one request. Its JSON form is a contract (docs/decision.md).
type Decision struct {
	ID        string     `json:"decision_id"`
	Effect    Effect     `json:"effect"`
	Mode      Mode       `json:"mode"`
	Reasons   []Reason   `json:"reasons"`
	Fault     string     `json:"fault"` // id of the fault that made it a denial, or ""
	Policy    PolicyInfo `json:"policy"`
	ElapsedUS int64      `json:"elapsed_us"` // reading, facts and judgement, in microseconds
}

// Reason is one finding of one rule, joined with the rule's metadata.
type Reason struct {
	Rule        string      `json:"rule"` // "dangerous/recursive_delete"
	Effect      Effect      `json:"effect"`
	Level       string      `json:"level,omitempty"` // that the operator gave the rule: warn, ask or deny; "" where it decides by itself
	Severity    string      `json:"severity"`        // low, medium, high, critical
	Title       string      `json:"title"`
	Message     string      `json:"message"`
	Remediation string      `json:"remediation"`
	Command     int         `json:"command"` // index into the input's commands, -1 for none
	Path        int         `json:"path"`    // index into the input's paths, -1 for none
	Span        *facts.Span `json:"span,omitempty"`
	Location    Location    `json:"location"`
	Trial       bool        `json:"trial,omitempty"` // it is about missing knowledge, which a trial can give
}

// Distinct leaves out reasons that a reader could not tell from an earlier one.
func Distinct(all []Reason) []Reason {
	var out []Reason
	for _, r := range all {
		if !slices.ContainsFunc(out, func(e Reason) bool { return looksLike(e, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// looksLike reports whether a reader could not tell two reasons apart.
func looksLike(a, b Reason) bool {
	same := a.Span == nil && b.Span == nil || a.Span != nil && b.Span != nil && *a.Span == *b.Span
	return same && a.Rule == b.Rule && a.Effect == b.Effect && a.Severity == b.Severity &&
		cmp.Or(a.Message, a.Title) == cmp.Or(b.Message, b.Title) && a.Remediation == b.Remediation
}

// Location is where a rule stands.
type Location struct {
	File string `json:"file"`
	Row  int    `json:"row"`
}

// PolicyInfo names the policies that judged.
type PolicyInfo struct {
	Revision string            `json:"revision"`
	Bundles  map[string]string `json:"bundles"` // name to revision
}

// Judgement is the result of one Evaluator for an input. The zero value denies.
type Judgement struct {
	Effect   Effect
	Reasons  []Reason
	Exempted []Reason // findings that an exemption removed, with the effects of the rules themselves
	Spent    []Spent  // where the time went, where the evaluator is made of several parts
}

// Spent is the time that one part of a decision took.
type Spent struct {
	By   string // environment (to open it), facts, topdown, wasm, or the name of a plugin
	Time time.Duration
}

// ApprovalRequest is a question to an Approver.
type ApprovalRequest struct {
	Decision Decision
	Request  Request // its command is as it was asked for
	Command  string  // the text that was judged and would run; spans refer to it
	WorkDir  string
	Paths    []facts.Path // that it touches, as they were judged
	Way      []string     // of a program: the words of the processes that start it, outermost first
	Changes  *Changes     // of a trial, to be applied; nil for other requests
	Expires  time.Time
}

// Approval is a person's answer. The zero value refuses.
type Approval struct {
	Granted bool
	By      string // origin of the answer: "terminal:alice", "elicitation"; "" if nobody could be asked
	Comment string
	// Until is the end of an answer that counts for equal requests, too; zero for one that counts once.
	Until time.Time
}
