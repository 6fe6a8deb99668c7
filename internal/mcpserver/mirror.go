package mcpserver

import (
	"fmt"
	"strings"
)

// page builds the text mirror of a result: a headline, then the parts that matter to the reader.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// block writes text under a title, if there is any.
func (p *page) block(title, text string) {
	if text == "" {
		return
	}
	p.line("--- %s ---", title)
	p.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		p.WriteByte('\n')
	}
}

// verdict writes the reasons and the id of the decision.
func (p *page) verdict(v verdict) {
	for _, r := range v.Reasons {
		p.line("- %s %s (%s): %s", r.Effect, r.Rule, r.Severity, r.Message)
		if r.Remediation != "" {
			p.line("  instead: %s", r.Remediation)
		}
	}
	if v.Mode == "monitor" && v.Effect != "allow" && v.Effect != "none" {
		p.line("Monitor mode: the policies say %s, and nothing is refused.", v.Effect)
	}
	if a := v.Approval; a != nil {
		word := "refused"
		if a.Granted {
			word = "approved"
		}
		p.line("%s by %s", word, a.By)
		if a.Comment != "" {
			p.line("  they say: %s", a.Comment)
		}
	}
	if v.DecisionID != "" {
		effect := v.Effect
		if v.Fault != "" {
			effect = "error" // no rule denied it
		}
		p.line("decision %s: %s; runner %s (isolation %s)", v.DecisionID, effect, orNone(v.Runner), orNone(v.Isolation))
	}
}

func (p *page) text() string { return strings.TrimSuffix(p.String(), "\n") }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// shortened cuts a text to n characters.
func shortened(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// echoed is a text of the client's as its result repeats it. A text that runs is shorter than the cut, for no
// longer text can be judged; a refusal need not give megabytes back to a model.
func echoed(s string) string {
	const most = 64 << 10
	if len(s) <= most {
		return s
	}
	return shortened(strings.ToValidUTF8(s[:most], ""), most/4) + fmt.Sprintf(" [%d bytes in all]", len(s))
}
