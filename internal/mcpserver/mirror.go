package mcpserver

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
)

// page builds the text mirror of a result: a headline and the facts about it, then texts of commands and
// files, each up to a line with a random mark.
type page struct {
	strings.Builder
	mark string // of this page; "" until a block needs it
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// block writes a text of a command or a file under a title, if there is any, and marks its end.
func (p *page) block(title, text string) {
	if text == "" {
		return
	}
	if p.mark == "" {
		p.mark = rand.Text()[:8]
	}
	p.line("--- %s, %d bytes, up to the line with %s ---", title, len(text), p.mark)
	p.WriteString(text)
	end := ""
	if !strings.HasSuffix(text, "\n") {
		p.WriteByte('\n')
		end = ", no line end before it"
	}
	p.line("--- %s%s ---", p.mark, end)
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
		isolation := v.Isolation
		if isolation == "" || isolation == "none" {
			isolation = "none: commands are not confined"
		}
		p.line("decision %s: %s; runner %s (isolation %s)", v.DecisionID, effect, orNone(v.Runner), isolation)
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

// visible makes every character of a text one that a person sees: control characters, and those that turn
// the direction of writing around or take no room, are written out. Line breaks become visible, too.
func visible(s string) string {
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// unseen reports a character that does not show itself as itself: letters and marks that are blank by
// design (fillers, selectors of variants) count as printable elsewhere.
func unseen(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2800' || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// visibleLines is visible for a text of several lines, which stay lines.
func visibleLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = visible(l)
	}
	return lines
}
