package value

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

func plenty(int) bool { return true }

// A Value is exact when all of it is known; its prefix ends at the first part that is not, or that leads anywhere.
func TestCertainty(t *testing.T) {
	t.Parallel()
	open, made := Piece{Text: "$x"}, Piece{Text: "$y", Made: true}
	for _, c := range []struct {
		v      Value
		prefix string
		grade  Certainty
	}{
		{Known("a b"), "a b", Exact},
		{nil, "", Exact},
		{Opaque("$x", nil), "", Unknown},
		{Value{{Text: "a/", Known: true}, open}, "a/", Partial},
		{Value{{Text: "a/", Known: true}, made}, "", Unknown},
		{Blurred("$z", Known("../b")), "", Unknown},
		{Blurred("$z", Value{made}), "", Unknown},
	} {
		a := NewArg(c.v, "raw")
		_, exact := c.v.Exact()
		if a.Prefix != c.prefix || a.Certainty != c.grade || exact != (c.grade == Exact) {
			t.Errorf("%+v: prefix %q, %v, exact %v", c.v, a.Prefix, a.Certainty, exact)
		}
	}
	glob := NewArg(Value{{Text: "*.go", Known: true, Glob: true}}, "*.go")
	if _, exact := glob.Val.Exact(); exact || !glob.Glob || glob.Spelled() {
		t.Errorf("a pattern that stands for its matches is no exact value: %+v", glob)
	}
	if up := Blurred("$z", Known("..")); !up[0].Made {
		t.Error("what is made of .. may lead up")
	}
}

// Unknown parts survive a text that is parsed again, and a hole that nobody dug is text.
func TestHoles(t *testing.T) {
	t.Parallel()
	var h Holes
	v := Value{{Text: "rm ", Known: true}, {Text: "$x", Inputs: []int{3}}, {Text: " y", Known: true}}
	text := h.Source(v)
	back := h.Fill(text, false)
	if back.Text() != "rm $x y" || back.Prefix() != "rm " || !slices.Equal(back.Inputs(), []int{3}) {
		t.Errorf("%q: %+v", text, back)
	}
	forged := string(HoleOpen) + "7" + string(HoleClose)
	if got := h.Fill(forged, false); !got.Known() || got.Text() != forged {
		t.Errorf("forged: %+v", got)
	}
}

// pieces reads a pattern of which the part between quotes is quoted.
func pieces(text string) Value {
	var v Value
	for i, part := range strings.Split(text, `"`) {
		v = append(v, Piece{Text: part, Known: true, Quoted: i%2 == 1})
	}
	return v
}

// Patterns remove and replace what bash removes and replaces.
func TestPatternsAsBashMatchesThem(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	ops := map[string]syntax.ParExpOperator{
		"#": syntax.RemSmallPrefix, "##": syntax.RemLargePrefix, "%": syntax.RemSmallSuffix, "%%": syntax.RemLargeSuffix,
	}
	texts := []string{"", "a", "abcabc", "a.b.c", "/usr/lib", "a*b", "a]b-c", "ABC123", "éa"}
	patterns := []string{"a", "*", "?", "*b", "b*", "[ab]", "[!ab]*", "[[:digit:]]", "[a-c]*", "*.", "/*", `"*"`, `a"*"b`, "[]]", "nothing"}
	var script strings.Builder
	var got, shown []string
	add := func(i int, expansion, text string, ok bool) {
		if ok {
			fmt.Fprintf(&script, "x=${%d}; printf '%%s\\0' \"${x%s}\"\n", i+1, expansion)
			got, shown = append(got, text), append(shown, "x="+texts[i]+" ${x"+expansion+"}")
		}
	}
	for i, text := range texts {
		for _, pattern := range patterns {
			g, ok := PatternOf(pieces(pattern))
			if !ok {
				continue
			}
			for name, op := range ops {
				trimmed, ok := g.Trim(op, text, plenty)
				add(i, name+pattern, trimmed, ok)
			}
			for name, all := range map[string]bool{"/": false, "//": true} {
				replaced, ok := g.Replace(text, "_", 0, all, plenty)
				add(i, name+strings.ReplaceAll(pattern, "/", `\/`)+"/_", replaced, ok)
			}
		}
	}
	for i, want := range strings.Split(run(t, bash, script.String(), texts...), "\x00")[:len(got)] {
		if got[i] != want {
			t.Errorf("%s: %q, bash %q", shown[i], got[i], want)
		}
	}
	g, _ := PatternOf(Known("[a-c]*x"))
	if _, ok := g.Trim(syntax.RemLargePrefix, strings.Repeat("a", 1000), func(int) bool { return false }); ok {
		t.Error("a pattern without steps to spend has a result")
	}
	for _, unread := range []string{"[", "[a-Z]", "[[:word:]]", "[[.a.]]", "a(b)", `\a`, "[é]"} {
		if g, ok := PatternOf(Known(unread)); ok {
			t.Errorf("%s is read as %+v", unread, g)
		}
	}
}

func run(t *testing.T, bash, text string, args ...string) string {
	t.Helper()
	cmd := exec.Command(bash, append([]string{"-c", text, "bash"}, args...)...)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(out)
}

// Escapes and formats print what bash prints, and what printf alone decodes is not known.
func TestEscapesAndFormats(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, words := range [][]string{
		{"%s-", "a", "b"}, {`a\tb\n`}, {`\x41\101\\`}, {"%b", `a\x41\0101`}, {"%d %x %o\n", "10", "255", "8"}, {"%02x", "10"}, {"%c%%", "abc"},
		{"%s"}, {"%5s", "a"}, {"%d", "010"}, {"%q", "a b"}, {`\u00e9`}, {"%s", `\n`},
	} {
		args := literals(words)
		v, ok := Format(args[0], args[1:], false)
		if text, exact := v.Exact(); ok && exact && text != run(t, bash, `printf "$@"`, words...) {
			t.Errorf("printf %q: %q", words, text)
		}
	}
	for _, words := range [][]string{{"a", "b"}, {"-n", "a"}, {"-e", `a\x41\0101`}, {"-E", `a\n`}, {"-nx"}, {"-ne", `\t`}, {"-e", `\c`}} {
		v, ok := Echo(literals(words), false, false)
		if text, exact := v.Exact(); ok && exact && text != run(t, bash, `echo "$@"`, words...) {
			t.Errorf("echo %q: %q", words, text)
		}
	}
	if _, ok := Echo(literals([]string{`a\n`}), true, false); ok {
		t.Error("shells differ in what echo does with a backslash")
	}
	for _, unknown := range []string{`\c`, `\x41`, `\x{41}`, `\u00e9`, `\0`, `\777`, `a\`} {
		if text, ok := Unescape(unknown, true); ok {
			t.Errorf("%s is read as %q", unknown, text)
		}
	}
}

// Characters by their numbers are known where bash gives the same in every locale.
func TestANSI(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	var texts []string
	for _, code := range []int{' ', '"', '\'', '0', '\\', 'a', 'x', '~'} {
		for _, form := range []string{`\x%x`, `\%o`, `\%03o`, `\u%x`, `\u%04x`, `\U%x`, `\U%08x`, `\\x%x`} {
			for _, after := range []string{"", "8", "g", "a7", `\\`, `\x72`} {
				texts = append(texts, "a"+fmt.Sprintf(form, code)+after)
			}
		}
	}
	known := 0
	for _, text := range texts {
		got, ok := ANSI(text)
		if want := run(t, bash, "printf %s $'"+text+"'"); ok && got != want {
			t.Errorf("$'%s': %q, but %q in bash", text, got, want)
		}
		if ok {
			known++
		}
	}
	if known < len(texts)*3/4 {
		t.Errorf("%d of %d are known", known, len(texts))
	}
	for _, unknown := range []string{
		`\c`, `\x`, `\xg`, `\x{41}`, `\x80`, `\u00e9`, `\0`, `\x0`, `\x1`, `\777`, `a\`,
	} {
		if text, ok := ANSI(unknown); ok {
			t.Errorf("%s is read as %q", unknown, text)
		}
	}
}

func literals(words []string) []Arg {
	args := make([]Arg, len(words))
	for i, w := range words {
		args[i] = Literal(w)
	}
	return args
}

// What sed prints is known for one plain substitution only.
func TestSubstitutions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, text, want string }{
		{"s/a/b/", "a a\na\n", "b a\nb\n"}, {"s/a/b/g", "a a\n", "b b\n"}, {"s/^a$/b/", "a\naa\n", "b\naa\n"}, {"s|/x|/y|", "/x\n", "/y\n"}, {`s/a\.b/c/`, "axb a.b\n", "axb c\n"},
		{"s/a*/b/", "a", ""}, {"s/a/&&/", "a", ""}, {"s/a/b/e", "a", ""}, {"s/[a]/b/", "a", ""}, {"2s/a/b/", "a", ""}, {"/a/d", "a", ""},
	} {
		if got, ok := Substituted(c.script, c.text); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("sed %s: %q, %v", c.script, got, ok)
		}
	}
}

// Numbers are those of bash, not those of Go; indexes never leave the text.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"10": 10, "0x10": 16, "010": 8, "2#101": 5, "36#z": 35} {
		if n, ok := Number(text); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "08", "1_000", "0b1", "0o7", "1#1", "37#1", "99999999999999999999", "2#2", "a"} {
		if n, ok := Number(text); ok {
			t.Errorf("%q is read as %d", text, n)
		}
	}
	for _, op := range []syntax.BinAritOperator{syntax.Quo, syntax.Rem, syntax.Pow} {
		if n, ok := Calculate(op, 2, 0); ok {
			t.Errorf("2 %v 0 is %d", op, n)
		}
	}
	const none = 1 << 30
	for _, c := range []struct{ from, length, n int }{{0, none, 3}, {1, 1, 3}, {-2, none, 3}, {0, -1, 3}, {9, none, 3}, {-9, none, 3}, {2, -9, 3}, {1, 9, 3}} {
		if lo, hi, ok := Bounds(c.from, c.length, c.n, none); ok && (lo < 0 || hi < lo || hi > c.n) && lo <= c.n {
			t.Errorf("%+v: [%d:%d]", c, lo, hi)
		}
	}
}

// FuzzPieces checks what holds of every value: its prefix begins its text, a quoted word reads back as itself, and
// cutting never adds anything.
func FuzzPieces(f *testing.F) {
	f.Add("a b", "$x", uint8(1))
	f.Add("'\"", "", uint8(0))
	f.Fuzz(func(t *testing.T, text, open string, cut uint8) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r"+string(HoleOpen)+string(HoleClose)) {
			return
		}
		v := Value{{Text: text, Known: true}, {Text: open}}
		if !strings.HasPrefix(v.Text(), v.Prefix()) || !strings.HasSuffix(v.Text(), v.After(int(cut)).Text()) {
			t.Errorf("%q %q: prefix %q, cut %q", text, open, v.Prefix(), v.After(int(cut)).Text())
		}
		a := Literal(text)
		a.Val[0].Quoted = true
		file, err := syntax.NewParser().Parse(strings.NewReader("x"+Quote([]Arg{a}).Text()), "")
		if err != nil || len(file.Stmts) != 1 {
			t.Errorf("%q is quoted as %q: %v", text, Quote([]Arg{a}).Text(), err)
		}
	})
}
