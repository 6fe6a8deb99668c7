package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
)

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
