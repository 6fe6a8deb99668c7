package docstring

import (
	"math"
	"strings"
	"unicode/utf8"
)

// decode writes the value of a string literal of the source.
func decode(b *strings.Builder, text string) {
	start := strings.IndexAny(text, `"'`)
	raw := strings.ContainsAny(text[:start], "rR")
	quotes := 1
	if len(text)-start >= 6 && text[start+1] == text[start] && text[start+2] == text[start] {
		quotes = 3
	}
	text = text[start+quotes : len(text)-quotes]
	if raw {
		b.WriteString(text)
		return
	}
	for {
		before, after, ok := strings.Cut(text, `\`)
		b.WriteString(before)
		if !ok {
			return
		}
		text = escape(b, after)
	}
}

// escape writes the character of a backslash escape, and returns the rest.
func escape(b *strings.Builder, text string) (rest string) {
	const simple = "\\'\"abfnrtv"
	const meaning = "\\'\"\a\b\f\n\r\t\v"
	c := text[0] // a backslash is never the last character of a string
	if i := strings.IndexByte(simple, c); i >= 0 {
		b.WriteByte(meaning[i])
		return text[1:]
	}
	digits, base := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], rune(16)
	from := 1
	switch {
	case c == '\n':
		return text[1:]
	case '0' <= c && c <= '7':
		from, base = 0, 8
		for digits < 3 && digits < len(text) && '0' <= text[digits] && text[digits] <= '7' {
			digits++
		}
	case digits == 0: // no escape: Python keeps it, and so it stays
		b.WriteByte('\\')
		return text
	}
	if n, ok := number(text[from:], digits, base); ok {
		b.WriteRune(n)
		return text[from+digits:]
	}
	b.WriteByte('\\')
	return text
}

// number reads a number of exactly so many digits.
func number(text string, digits int, base rune) (n rune, ok bool) {
	if len(text) < digits {
		return 0, false
	}
	for i := range digits {
		d := rune(strings.IndexByte("0123456789abcdefABCDEF", text[i]))
		if d > 15 {
			d -= 6
		}
		if d < 0 || d >= base || n > math.MaxInt32/base-base {
			return 0, false
		}
		n = n*base + d
	}
	return n, n <= utf8.MaxRune
}

// clean removes the indentation of a docstring as PEP 257 and inspect.cleandoc do.
func clean(doc string) string {
	lines := strings.Split(expandTabs(doc), "\n")
	margin := math.MaxInt
	for _, line := range lines[1:] {
		if text := strings.TrimLeft(line, " "); text != "" {
			margin = min(margin, len(line)-len(text))
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " ")
	for i := range lines[1:] {
		lines[i+1] = lines[i+1][min(margin, len(lines[i+1])):]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// expandTabs puts spaces in place of tabs, with stops at each eighth character.
func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case '\n', '\r':
			column = -1
		}
		column++
		b.WriteRune(r)
	}
	return b.String()
}
