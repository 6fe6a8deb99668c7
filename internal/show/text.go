// Package show writes decisions and versions for people: the findings of rules, under the judged text, with
// colours on a terminal; and it makes texts printable. It also quotes words of a command line as bash text.
//
// It decides nothing, and knows no flags.
package show

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// WriteJSON prints v on one line.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// WriteIndented prints v for people and tools alike.
func WriteIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Printable makes one line of a text that a terminal shows as it is: control characters, those
// that turn the direction of writing and broken UTF-8 are written out.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Shorten cuts a text to n characters for a table.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Style colours words where w is a terminal and NO_COLOR (https://no-color.org) is not set.
type Style bool

// StyleOf is the style of output to w.
func StyleOf(w io.Writer) Style {
	f, ok := w.(*os.File)
	return Style(ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" &&
		term.IsTerminal(int(f.Fd())))
}

func (s Style) in(code, text string) string {
	if !s {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red is text in that style.
func (s Style) Red(text string) string { return s.in("31", text) }

// Yellow is text in that style.
func (s Style) Yellow(text string) string { return s.in("33", text) }

// Green is text in that style.
func (s Style) Green(text string) string { return s.in("32", text) }

// Bold is text in that style.
func (s Style) Bold(text string) string { return s.in("1", text) }
