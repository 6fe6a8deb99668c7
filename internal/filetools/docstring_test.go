package filetools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/docstring"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func TestReadDocstring(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"tools/text.py": `"""
Name: text
Version: 1.0

Available Functions:
- greet: says hello
"""
import os
os.remove("text.py")  # parsed, never run

def greet(name: str) -> str:
    """Greet somebody.

    Args:
        name: who
    """
    return "hello " + name

async def wait(): "Wait."
def _hidden(): "Hidden."
class Box:
    def open(self):
        "Open it."
`})
	type out = filetools.ReadDocstringDetails
	for name, want := range map[string]out{
		"greet":    {Kind: "function", Signature: "def greet(name: str) -> str", Docstring: "Greet somebody.\n\nArgs:\n    name: who", Line: 11},
		"wait":     {Kind: "function", Signature: "async def wait()", Docstring: "Wait.", Line: 19},
		"_hidden":  {Kind: "function", Signature: "def _hidden()", Docstring: "Hidden.", Line: 20},
		"Box":      {Kind: "class", Signature: "class Box", Line: 21},
		"Box.open": {Kind: "method", Signature: "def open(self)", Docstring: "Open it.", Line: 22},
		"": {Kind: "module", Docstring: "Name: text\nVersion: 1.0\n\nAvailable Functions:\n- greet: says hello", Line: 1, Functions: []docstring.Entry{
			{Name: "greet", Kind: "function", Signature: "def greet(name: str) -> str", Docstring: "Greet somebody.", Line: 11},
			{Name: "wait", Kind: "function", Signature: "async def wait()", Docstring: "Wait.", Line: 19},
		}},
	} {
		want.FilePath, want.FunctionName = p.at("tools/text.py"), name
		got := must[out](p, filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "tools/text.py", FunctionName: name}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReadDocstringErrors: the predecessor answered each of these with an empty text.
func TestReadDocstringErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a.py": "def greet(): pass\nclass C:\n def m(self): pass\n", "broken.py": "x = 'a\n", "b.pyc": "\x00\x01", "large.py": strings.Repeat("#", 4<<20+1)})
	ask := func(file, name string) filetools.Tool {
		return filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: file, FunctionName: name})
	}
	p.fails(ask("a.py", "gret"), "read docstring from a.py: gret: not defined there: it defines greet, C, C.m")
	p.fails(ask("a.py", "m"), "use C.m")
	p.fails(ask("a.py", strings.Repeat("m", 5000)), "function_name: 5000 bytes")
	p.fails(ask("broken.py", "f"), "line 1: a string has no closing quote")
	p.fails(ask("b.pyc", "f"), "not a Python source but binary data")
	p.fails(ask("large.py", "f"), "longer than 4194304 bytes")
	p.fails(ask("none.py", "f"), "read none.py: does not exist")
	p.fails(ask("", "f"), "file_path: empty")
}

func TestReadDocstringIsCapped(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 600 {
		fmt.Fprintf(&many, "def f%d(): 'x'\n", i)
	}
	p := newPlace(t, map[string]string{"long.py": "def f():\n    '''" + strings.Repeat("é", 100_000) + "'''\n", "many.py": many.String()})
	got := must[filetools.ReadDocstringDetails](p, filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "long.py", FunctionName: "f"}))
	if len(got.Docstring) > 128<<10 || !strings.Contains(got.Note, "200000 bytes") {
		t.Errorf("%d bytes, %q", len(got.Docstring), got.Note)
	}
	got = must[filetools.ReadDocstringDetails](p, filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "many.py"}))
	if len(got.Functions) != 500 || !strings.Contains(got.Note, "600 public functions") {
		t.Errorf("%d functions, %q", len(got.Functions), got.Note)
	}
}
