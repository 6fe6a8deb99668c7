package docstring

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shapes(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/shapes.py")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Entry{
		"":                           {Kind: "module", Docstring: "The module's docstring, in two pieces.", Line: 1},
		"one_line":                   {Kind: "function", Signature: "def one_line()", Docstring: "The body is on the line.", Line: 12},
		"joined":                     {Kind: "function", Signature: "def joined()", Docstring: "abc", Line: 15},
		"a_tuple":                    {Kind: "function", Signature: "def a_tuple()", Line: 18},
		"formatted":                  {Kind: "function", Signature: "def formatted()", Line: 20},
		"raw":                        {Kind: "function", Signature: "def raw()", Docstring: `a raw \n one`, Line: 24},
		"decorated":                  {Kind: "function", Signature: "def decorated(a, b=1)", Docstring: "Decorated.", Line: 37},
		"waits":                      {Kind: "function", Signature: `async def waits(x: int = 3, /, y: "str" = "):", *args: int, key=lambda q: (q, ":"), **rest: dict[str, int]) -> "list[int]"`, Docstring: "Waits.", Line: 43},
		"many_lines":                 {Kind: "function", Signature: `def many_lines(a, b: int = 3, *, c={"x": 1, 'y': [1, 2]})`, Docstring: "Many lines.\n\n    Indented.\n    Tab.", Line: 47},
		"continued":                  {Kind: "function", Signature: "def continued(a, b) -> int", Docstring: "Indented by a tab.", Line: 63},
		"continued.inner.Local.deep": {Kind: "method", Signature: "def deep(self)", Docstring: "Deep.", Line: 71},
		"Outer":                      {Kind: "class", Signature: "class Outer(Base, metaclass=Meta, flag=1)", Docstring: "Outer.\n\nMore.", Line: 80},
		"Outer.method":               {Kind: "method", Signature: "def method(self)", Docstring: "Method.", Line: 91},
		"Outer.method.nested":        {Kind: "function", Signature: "def nested()", Docstring: "Nested.", Line: 94},
		"Outer.value":                {Kind: "method", Signature: "def value(self)", Docstring: "The value.", Line: 101},
		"Outer.Inner.far":            {Kind: "method", Signature: "async def far()", Docstring: "Far.", Line: 112},
		"branch":                     {Kind: "function", Signature: "def branch()", Docstring: "Second.", Line: 119},
		"after":                      {Kind: "function", Signature: "def after()", Docstring: "After.", Line: 134},
	} {
		got, err := Find(shapes(t), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want.Name = name
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"not_one":  "it defines one_line, no_doc, number,",
		"not_two":  "and more",
		"method":   "use Outer.method",
		"nested":   "use Outer.method.nested",
		"_no_such": "it defines",
	} {
		_, err := Find(shapes(t), name)
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := Find([]byte("x = 1"), "f"); err == nil || !strings.Contains(err.Error(), "no function") {
		t.Errorf("nothing there: %v", err)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	source := `"""
Name: tools
Available Functions:
- greet
"""
def greet(name):
    """Greets."""
def _hidden(): "no"
class C:
    def method(self): "no"
async def wait(): 'Waits.'
if True:
    def greet(name, again): "Greets again."
def greet(name, once_more): pass
def outer():
    def inner(): pass
`
	got, err := Functions([]byte(source))
	want := []Entry{
		{Name: "greet", Kind: "function", Signature: "def greet(name, again)", Docstring: "Greets again.", Line: 13},
		{Name: "wait", Kind: "function", Signature: "async def wait()", Docstring: "Waits.", Line: 11},
		{Name: "outer", Kind: "function", Signature: "def outer()", Line: 15},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if m, err := Find([]byte(source), ""); err != nil || m.Docstring != "Name: tools\nAvailable Functions:\n- greet" {
		t.Errorf("%v %q", err, m.Docstring)
	}
}

// TestNestedQuotes needs no Python of a version that knows them.
func TestNestedQuotes(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/nested_quotes.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"first": "First.", "second": "Second.", "generic": "Generic.", "Box": "Box.",
	} {
		if got, err := Find(source, name); err != nil || got.Docstring != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, _ := Find(source, "generic"); got.Signature != "def generic[T: (int, str), *Ts, **P](x: T) -> T" {
		t.Errorf("signature %q", got.Signature)
	}
}

func TestTextOfSources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"windows newlines":  {"def f():\r\n    '''a\r\n    b'''\r\n", "a\nb"},
		"old mac newlines":  {"def f():\r    '''a\r    b'''\r", "a\nb"},
		"byte order mark":   {"\xef\xbb\xbfdef f(): 'a'", "a"},
		"invalid UTF-8":     {"def f(): 'a\xffb'", "a\uFFFDb"},
		"no newline at end": {"def f():\n  'a'", "a"},
		"names in unicode":  {"def ünï(): 'no'\ndef f(): 'é'", "é"},
		"by name":           {`def f(): "\N{BULLET} x"`, `\N{BULLET} x`},
		"surrogate":         {`def f(): "\ud800"`, "\uFFFD"},
		"out of range":      {`def f(): "\U00110000"`, `\U00110000`},
		"short escape":      {`def f(): "\x4"`, `\x4`},
		"form feed":         {"\fdef f():\n    'a'\n", "a"},
		"python 2":          {"print 'x'\ndef f(): 'a'\nprint >>x, 'y'", "a"},
		"stray bracket":     {"x = )\ndef f(): 'a'", "a"},
		"blanks only":       {"def f():\n    '''\n    \n    '''", ""},
		"only a first line": {"def f():\n    '''a\n    '''", "a"},
	} {
		if got, err := Find([]byte(c.source), "f"); err != nil || got.Docstring != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got.Docstring, err, c.want)
		}
	}
}

func TestBrokenSources(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"x = 1\ny = 'a\n":                 "line 2: a string has no closing quote",
		"\n'''a":                          "line 2: a string has no closing quote",
		"f(\n(1)\n":                       "line 1: a bracket is opened and never closed",
		"f'{x":                            "line 1: a field of a formatted string is not closed",
		"f'{x:":                           "line 1: a field of a formatted string is not closed",
		strings.Repeat("f'{", 200):        "line 1: formatted strings are nested more than 100 times",
		"f'" + strings.Repeat("{x:", 200): "line 1: formatted strings are nested more than 100 times",
		strings.Repeat("(", 1001):         "line 1: more than 1000 brackets inside each other",
		"'\\":                             "line 1: a string has no closing quote",
		"f'\\N{":                          "line 1: a string has no closing quote",
	} {
		if _, err := Find([]byte(source), "f"); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", source, err, want)
		}
	}
}

// TestHostileSources: what is large or deep is read in a time that grows with it and no faster.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, source := range map[string]string{
		"brackets":     strings.Repeat("()", n) + strings.Repeat("(", 1000) + strings.Repeat(")", 1000),
		"one line":     "x = [" + strings.Repeat("1, ", n) + "]",
		"indentation":  deep(500),
		"definitions":  strings.Repeat("def f(): 'x'\n", n/10),
		"backslashes":  "'" + strings.Repeat(`\\`, n) + "'",
		"many strings": "x = " + strings.Repeat("'' ", n),
		"brackets doc": strings.Repeat("(", 1000) + "'x'" + strings.Repeat(")", 1000),
		"long names":   "class " + strings.Repeat("C", n) + ":\n" + strings.Repeat(" def f(): 0\n", n),
		"long doc":     strings.Repeat(" 'a'", n) + " % x",
		"margins":      "'''" + strings.Repeat("\n \t", n) + "'''",
	} {
		if _, err := Find([]byte(source+"\ndef g(): 'last'"), "g"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "def f():\n")
	}
	return b.String()
}

func FuzzFind(f *testing.F) {
	for _, name := range []string{"testdata/shapes.py", "testdata/nested_quotes.py"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		for _, line := range strings.Split(string(b), "\n") {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte("f'{x:{y:{z}}}' '\\N{' r'\\"))
	f.Fuzz(func(t *testing.T, source []byte) {
		m, err := parse(source)
		if err != nil {
			return
		}
		lines := strings.Count(strings.ReplaceAll(string(source), "\r", "\n"), "\n") + 1
		for i := range m.definitions {
			e := m.entry(&m.definitions[i])
			if e.Name == "" || e.Line < 1 || e.Line > lines || strings.Contains(e.Signature, "\n") && !strings.ContainsAny(e.Signature, `"'`) {
				t.Fatalf("%+v", e)
			}
			if got, err := Find(source, e.Name); err != nil || got.Name != e.Name {
				t.Fatalf("%s is listed and not found: %v", e.Name, err)
			}
		}
	})
}
