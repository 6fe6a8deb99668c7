package value

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pattern is a pattern of the shell: * ? […] and plain bytes.
type Pattern []glyph

// glyph is one element of a pattern.
type glyph struct {
	star bool   // any bytes
	any  bool   // one character
	not  bool   // a character that is not in set
	set  string // one of these bytes
}

// PatternOf reads v as a pattern: what was quoted in it matches itself. It is false where shells, options or locales
// read the pattern differently.
func PatternOf(v Value) (Pattern, bool) {
	var g Pattern
	for _, p := range v {
		if !p.Known {
			return nil, false
		}
		for i := 0; i < len(p.Text); i++ {
			c := p.Text[i]
			switch {
			case p.Quoted:
				g = append(g, glyph{set: p.Text[i : i+1]})
			case c == '*':
				g = append(g, glyph{star: true})
			case c == '?':
				g = append(g, glyph{any: true})
			case c == '[':
				one, n := bracket(p.Text[i:])
				if n == 0 {
					return nil, false
				}
				g = append(g, one)
				i += n - 1
			case c == '\\' || c == '(': // an escape out of a variable, and what extglob changes
				return nil, false
			default:
				g = append(g, glyph{set: p.Text[i : i+1]})
			}
		}
	}
	return g, true
}

// bracketClasses are the classes of characters that a bracket may name, as ranges.
var bracketClasses = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:alpha:]", "A-Za-z",
	"[:digit:]", "0-9", "[:alnum:]", "A-Za-z0-9", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t")

// bracket reads […] at the start of text and returns how long it is, 0 when it is not read.
func bracket(text string) (one glyph, n int) {
	inner := text[1:]
	if inner != "" && (inner[0] == '!' || inner[0] == '^') {
		one.not, inner = true, inner[1:]
	}
	skip := 0
	for strings.HasPrefix(inner[skip:], "[:") {
		end := strings.Index(inner[skip:], ":]")
		if end < 0 {
			return glyph{}, 0
		}
		skip += end + 2
	}
	end := strings.IndexByte(inner[skip:], ']') + skip
	if end < skip || end == 0 {
		return glyph{}, 0
	}
	body := bracketClasses.Replace(inner[:end])
	if strings.ContainsAny(body, `[\/`) || !ASCII(body) {
		return glyph{}, 0
	}
	var set strings.Builder
	for i := 0; i < len(body); i++ {
		if i+2 >= len(body) || body[i+1] != '-' {
			set.WriteByte(body[i])
			continue
		}
		if kind(body[i]) == 0 || kind(body[i]) != kind(body[i+2]) {
			return glyph{}, 0
		}
		for c := body[i]; c <= body[i+2]; c++ {
			set.WriteByte(c)
		}
		i += 2
	}
	one.set = set.String()
	return one, len(text) - len(inner) + end + 1
}

// kind tells the characters apart between which a range is the same in every locale.
func kind(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return 1
	case c >= 'a' && c <= 'z':
		return 2
	case c >= 'A' && c <= 'Z':
		return 3
	default:
		return 0
	}
}

// workPerStep is how many elements of a pattern are compared for one step.
const workPerStep = 64

// Meter takes steps from a limit and reports whether any are left.
type Meter func(steps int) bool

// Lengths returns how long the shortest and the longest beginning of s is that g matches, or with back set the
// end of s; -1 for none. It is false when the limit of steps is reached or characters are not single bytes.
func (g Pattern) Lengths(s string, back bool, step Meter) (shortest, longest int, ok bool) {
	if !ASCII(s) && !g.bytewise() {
		return -1, -1, false
	}
	return g.simulate(s, back, step)
}

// simulate is lengths for a text whose characters are known to be single bytes where that matters.
func (g Pattern) simulate(s string, back bool, step Meter) (shortest, longest int, ok bool) {
	shortest, longest = -1, -1
	if !step(1 + len(g)/workPerStep) {
		return shortest, longest, false
	}
	live, next := make([]bool, len(g)+1), make([]bool, len(g)+1)
	live[0] = true
	at := func(i int) glyph {
		if back {
			return g[len(g)-1-i]
		}
		return g[i]
	}
	for n, work := 0, 0; ; n++ {
		any := false
		for i := range g {
			any = any || live[i]
			live[i+1] = live[i+1] || live[i] && at(i).star
		}
		if live[len(g)] {
			longest = n
			if shortest < 0 {
				shortest = n
			}
		}
		if n == len(s) || !any {
			return shortest, longest, step(work / workPerStep)
		}
		if work += len(g) + 1; work >= workPerStep {
			if !step(work / workPerStep) {
				return -1, -1, false
			}
			work %= workPerStep
		}
		c := s[n]
		if back {
			c = s[len(s)-1-n]
		}
		clear(next)
		for i := range g {
			if e := at(i); live[i] && e.star {
				next[i] = true
			} else if live[i] && (e.any || e.not != (strings.IndexByte(e.set, c) >= 0)) {
				next[i+1] = true
			}
		}
		live, next = next, live
	}
}

// bytewise reports a pattern that matches the same whatever a character is.
func (g Pattern) bytewise() bool {
	for _, e := range g {
		if e.any || e.not || len(e.set) > 1 {
			return false
		}
	}
	return true
}

// literal returns the text that g stands for where it is not a pattern.
func (g Pattern) literal() (string, bool) {
	var b strings.Builder
	for _, e := range g {
		if e.star || e.any || e.not || len(e.set) != 1 {
			return "", false
		}
		b.WriteString(e.set)
	}
	return b.String(), true
}

// Replace puts with in place of the first match of g in s, of the longest one there, or of all matches. An anchor
// # or % ties the match to the start or the end.
func (g Pattern) Replace(s, with string, anchor byte, all bool, step Meter) (string, bool) {
	if anchor != 0 {
		_, n, ok := g.Lengths(s, anchor == '%', step)
		switch {
		case n < 0 || !ok:
			return s, ok
		case anchor == '%':
			return s[:len(s)-n] + with, true
		default:
			return with + s[n:], true
		}
	}
	if text, ok := g.literal(); ok {
		count := 1
		if all {
			count = -1
		}
		return strings.Replace(s, text, with, count), step(1 + len(s)/workPerStep)
	}
	var b strings.Builder
	if !ASCII(s) && !g.bytewise() {
		return "", false
	}
	if s == "" { // what matches no characters is replaced there, and nowhere else
		_, n, ok := g.simulate(s, false, step)
		return s, ok && n < 0
	}
	for i := 0; i < len(s); {
		_, n, ok := g.simulate(s[i:], false, step)
		switch {
		case !ok:
			return "", false
		case n <= 0:
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(with)
		if i += n; !all {
			b.WriteString(s[i:])
			break
		}
	}
	return b.String(), true
}

// Trim removes from s what ${s#g}, ${s##g}, ${s%g} or ${s%%g} removes.
func (g Pattern) Trim(op syntax.ParExpOperator, s string, step Meter) (string, bool) {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	shortest, longest, ok := g.Lengths(s, suffix, step)
	if op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix {
		longest = shortest
	}
	switch {
	case !ok || longest < 0:
		return s, ok
	case suffix:
		return s[:len(s)-longest], true
	default:
		return s[longest:], true
	}
}
