package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestUnderline(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200)
	for _, test := range []struct {
		text        string
		start, end  int
		shown, mark string
	}{
		{"sudo id", 0, 7, "sudo id", "^^^^^^^"},
		{"a; sudo id; b", 3, 10, "a; sudo id; b", "   ^^^^^^^"},
		{"one\ntwo x\nthree", 4, 7, "two x", "^^^"},
		{"one\ntwo x\nthree", 4, 15, "two x", "^^^^^"},
		{"é ü x", 3, 5, "é ü x", "  ^"},
		{"\x1b[31m x", 0, 1, `\u001b[31m x`, "^^^^^^"},
		{"x", 0, 2, "", ""}, {"x", -1, 1, "", ""}, {"x", 1, 1, "", ""}, {"", 0, 0, "", ""},
		{long + "X" + long, 200, 201, "…" + long[:47] + "X" + long[:46] + "…", strings.Repeat(" ", 48) + "^"},
	} {
		shown, mark := underline(test.text, facts.Span{Start: test.start, End: test.end})
		if shown != test.shown || mark != test.mark {
			t.Errorf("underline(%.20q, %d, %d) =\n%q\n%q, want\n%q\n%q", test.text, test.start, test.end, shown, mark, test.shown, test.mark)
		}
	}
}

// FuzzUnderline: an agent's text can neither break the display nor send a terminal anything.
func FuzzUnderline(f *testing.F) {
	f.Add("a\x1b]0;x\x07\nb", 0, 3)
	f.Add("\xff\u202e", 1, 4)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		shown, mark := underline(text, facts.Span{Start: start, End: end})
		if strings.ContainsFunc(shown+mark, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }) {
			t.Fatalf("control characters in %q %q", shown, mark)
		}
		if (shown == "") != (mark == "") && end > start {
			t.Fatalf("%q is marked with %q", shown, mark)
		}
	})
}

func TestReasonsAreShownOnce(t *testing.T) {
	t.Parallel()
	span := &facts.Span{Start: 0, End: 4}
	var out bytes.Buffer
	WriteReasons(&out, "> ", "evil \x1b[2J", engine.Decision{Reasons: []engine.Reason{
		{Rule: "a/b", Effect: engine.Deny, Severity: "high", Title: "Title", Message: "found \x1b[2J", Remediation: "do this", Span: span},
		{Rule: "c/d", Effect: engine.Warn, Severity: "low", Title: "Title only", Span: span},
		{Rule: "c/d", Effect: engine.Warn, Severity: "low", Title: "Title only", Span: &facts.Span{Start: 0, End: 4}, Command: 1},
	}})
	want := "> deny a/b (high): found \\u001b[2J\n>     evil \\u001b[2J\n>     ^^^^ line 1, column 1\n>   instead: do this\n> warn c/d (low): Title only\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestPlaceInWords: a place is told in words, but not where it is the whole text.
func TestPlaceInWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text       string
		start, end int
		want       string
	}{
		{"sudo id", 0, 7, "^^^^^^^"},
		{"  sudo id\n", 2, 9, "  ^^^^^^^"},
		{"a; sudo id", 3, 10, "   ^^^^^^^ line 1, column 4"},
		{"sudo id; a", 0, 7, "^^^^^^^ line 1, column 1"},
		{"é\né; sudo id", 7, 14, "   ^^^^^^^ line 2, column 4"},
	} {
		var out bytes.Buffer
		WriteReasons(&out, "", test.text, engine.Decision{Reasons: []engine.Reason{
			{Rule: "a/b", Effect: engine.Deny, Severity: "low", Title: "T", Span: &facts.Span{Start: test.start, End: test.end}},
		}})
		_, marks, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n")
		_, marks, _ = strings.Cut(marks, "\n")
		if got := strings.TrimPrefix(marks, "    "); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
