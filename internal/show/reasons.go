package show

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// WriteReasons explains a decision to a person: for each reason the rule, its finding, the place in
// the text, and the remediation. Words tell a place that is not the whole text, too, for readers without
// carets. A command that stands in the list once for each directory in which it may run has one
// reason here. prefix begins each line.
func WriteReasons(w io.Writer, prefix, text string, d engine.Decision) {
	s := StyleOf(w)
	shownBefore := "" // several findings about one place need it shown once
	line := func(format string, args ...any) { fmt.Fprintf(w, prefix+format+"\n", args...) }
	for _, r := range engine.Distinct(d.Reasons) {
		line("%s %s (%s): %s", s.Effect(r.Effect), s.Bold(r.Rule), r.Severity,
			Printable(cmp.Or(r.Message, r.Title)))
		if r.Span != nil {
			shown, mark := underline(text, *r.Span)
			in := ""
			if shown != "" && text[r.Span.Start:r.Span.End] != strings.TrimSpace(text) {
				in = " " + place(text, r.Span.Start)
			}
			if shown != "" && shown+mark+in != shownBefore {
				shownBefore = shown + mark + in
				line("    %s", shown)
				line("    %s%s", s.Red(mark), in)
			}
		}
		if r.Rule == "shell/unparseable" {
			if at := unreadable(text); at != "" {
				line("    %s", Printable(at))
			}
		}
		if r.Remediation != "" {
			line("  instead: %s", Printable(r.Remediation))
		}
	}
}

// unreadable says where and why a text is no bash: "line 1, column 6: reached EOF without closing quote".
func unreadable(text string) string {
	_, err := walk.Parse(text, shell.Options{})
	e, ok := errors.AsType[*shell.Error](err)
	if !ok || e.Offset < 0 || e.Offset > len(text) || e.Detail == "" {
		return ""
	}
	return place(text, e.Offset) + ": " + e.Detail
}

// place is a byte of a text in words: "line 1, column 6".
func place(text string, offset int) string {
	before := text[:offset]
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", 1+strings.Count(before, "\n"), column)
}

// Effect returns the effect in its colour.
func (s Style) Effect(e engine.Effect) string {
	switch e {
	case engine.Allow:
		return s.Green(string(e))
	case engine.Ask, engine.Warn:
		return s.Yellow(string(e))
	}
	return s.Red(string(e))
}

// shownWidth is how much of a long line is shown around a marked place, in characters.
const shownWidth = 96

// underline returns the line of text in which span begins, and below it carets under the span.
// A long line is cut around the span. Both are empty when the span lies outside the text.
func underline(text string, span facts.Span) (shown, mark string) {
	start, end := span.Start, span.End
	if start < 0 || end <= start || end > len(text) {
		return "", ""
	}
	first := strings.LastIndexByte(text[:start], '\n') + 1
	last := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		last = start + i
	}
	if last == first {
		return "", "" // a span that begins with an empty line
	}
	end = min(end, last)
	before, marked, after := Printable(text[first:start]), Printable(text[start:end]), Printable(text[end:last])
	if utf8.RuneCountInString(before+marked+after) > shownWidth {
		before = tail(before, shownWidth/2)
		marked = Shorten(marked, shownWidth)
		after = Shorten(after, max(shownWidth-utf8.RuneCountInString(before+marked), 1))
	}
	return before + marked + after, strings.Repeat(" ", utf8.RuneCountInString(before)) + strings.Repeat("^",
		max(utf8.RuneCountInString(marked), 1))
}

// tail keeps the last n characters of a text.
func tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}
