package source

import (
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// Check refuses a text before a parser sees it, at the place of the fault.
func TestCheck(t *testing.T) {
	t.Parallel()
	limits := shell.Limits{Bytes: 40, Nesting: 3}
	for _, c := range []struct {
		text string
		want shell.ErrorKind // "" for none
		at   int
	}{
		{"echo hi", "", 0},
		{strings.Repeat("a", 41), shell.ErrTooLong, 40},
		{"rm\x00x", shell.ErrNUL, 2},
		{"rm \xff", shell.ErrEncoding, 3},
		{"rm \ufdd0", shell.ErrControl, 3},
		{"((((", shell.ErrNesting, 3},
		{"'(((((('", "", 0},
		{`\(\(\(\(\(`, "", 0},
	} {
		err := Check(c.text, limits)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && (err == nil || err.Kind != c.want || err.Offset != c.at):
			t.Errorf("%q: %v, want %s at %d", c.text, err, c.want, c.at)
		}
	}
}

// Parse takes a here-document only where it ends at the same line for bash and for the parser.
func TestHereDocumentsEndWhereBashEndsThem(t *testing.T) {
	t.Parallel()
	for text, taken := range map[string]bool{
		"cat <<EOF\nx\nEOF\nls":                         true,
		"cat <<'EOF'\n${x\nEOF\nls":                     true,
		"cat <<-EOF\n\tx\n\tEOF\nls":                    true,
		"cat <<EOF\nEO\\\nF\nrm x\nEOF":                 false,
		"cat <<EOF\n${x:-'a}\nEOF\nrm x\necho 'b}\nEOF": false,
	} {
		if _, err := Parse(text, false); (err == nil) != taken {
			t.Errorf("%q: %v, want taken %v", text, err, taken)
		}
	}
}

// The grammar of POSIX has no process substitution.
func TestGrammarOfPOSIX(t *testing.T) {
	t.Parallel()
	if _, err := Parse("cat <(ls)", false); err != nil {
		t.Error(err)
	}
	if _, err := Parse("cat <(ls)", true); err == nil {
		t.Error("POSIX grammar took a process substitution")
	}
}
