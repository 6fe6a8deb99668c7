package filetools_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func edits(path string, pairs ...string) filetools.EditFileInput {
	in := filetools.EditFileInput{Path: path}
	for i := 0; i+1 < len(pairs); i += 2 {
		in.Edits = append(in.Edits, filetools.Edit{OldText: pairs[i], NewText: pairs[i+1]})
	}
	return in
}

func edit(path string, pairs ...string) filetools.Tool {
	return filetools.EditFile(edits(path, pairs...))
}

func TestEditFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		pairs   []string // old and new texts
		want    string
		n       int
	}{
		"one":                     {"a\nb\nc\n", []string{"b", "B"}, "a\nB\nc\n", 1},
		"several, in order":       {"a\nb\n", []string{"a", "x\ny", "y\nb", "z"}, "x\nz\n", 2},
		"all":                     {"a a a", []string{"a", "aa"}, "aa aa aa", 3},
		"a deletion":              {"a\nb\n", []string{"b\n", ""}, "a\n", 1},
		"no special characters":   {"a.c $1 (x) \\n", []string{"(x) \\n", "$1"}, "a.c $1 $1", 1},
		"carriage returns":        {"a\r\nb\r\n", []string{"a\r\n", "c\r\n"}, "c\r\nb\r\n", 1},
		"nothing but white space": {"a\n  b\n", []string{"  b", "\tb"}, "a\n\tb\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": c.content})
			if err := os.Chmod(p.at("f"), 0o750); err != nil {
				t.Fatal(err)
			}
			in := edits("f", c.pairs...)
			in.Edits[0].ReplaceAll = name == "all"
			got := must[filetools.EditFileDetails](p, filetools.EditFile(in))
			now, diff := p.tree()["f"], strings.HasPrefix(got.Diff, "--- ")
			if now != c.want || got.Replacements != c.n || !diff {
				t.Errorf("content %q, want %q; %+v", now, c.want, got)
			}
			if info, err := os.Stat(p.at("f")); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("the mode became %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestEditFileCreates: an edit without a text to replace makes a file, and changes none that is there.
func TestEditFileCreates(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"there": "old\n"})
	got := must[filetools.EditFileDetails](p, edit("new/f", "", "a\nb\n"))
	if now := p.tree()["new/f"]; now != "a\nb\n" || !got.Created || !strings.Contains(got.Diff, "+a\n+b\n") {
		t.Errorf("content %q; %+v", now, got)
	}
	p.fails(edit("there", "", "new\n"), "it is there already")
	if now := p.tree()["there"]; now != "old\n" {
		t.Errorf("it replaced a file by %q", now)
	}
}

// TestEditFileFails: the error shows the nearest lines, and nothing changes.
func TestEditFileFails(t *testing.T) {
	t.Parallel()
	const code = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	files := map[string]string{
		"f":     code,
		"crlf":  "a\r\nb\r\n",
		"bytes": "a\x00b",
		"latin": "na\xefve",
		"dir/x": "",
	}
	for name, c := range map[string]struct {
		path  string
		pairs []string
		want  string
	}{
		"several places": {"f", []string{"\treturn 1", "\treturn 2"},
			"old_text occurs 2 times, in lines 2, 6"},
		"another indent": {"f", []string{"func a() {\n    return 1\n}", "x"},
			"1 to 3 come nearest and differ in white space:\nfunc a"},
		"another end": {"f", []string{"func a() {\n\treturn 1\n\tfoo()", "x"},
			"differ from its line 3 on"},
		"line ends":    {"crlf", []string{"a\nb", "x"}, "ends its lines with \\r\\n"},
		"no such line": {"f", []string{"import os", "x"}, "no line of it does; nothing was changed"},
		"the second fails": {"f", []string{"func a", "func c", "func a", "func d"},
			"edits[1]: old_text does not occur"},
		"no edit":       {"f", []string{}, "edits: 0"},
		"an empty text": {"f", []string{"a", "x", "", "x"}, "edits[1].old_text: empty"},
		"no change":     {"f", []string{"a", "a"}, "nothing would change"},
		"bytes":         {"bytes", []string{"a", "b"}, "not UTF-8 text but binary data"},
		"latin 1":       {"latin", []string{"na", "NA"}, "not UTF-8 text but another encoding"},
		"a directory":   {"dir", []string{"a", "b"}, "it is a directory"},
		"missing":       {"none", []string{"a", "b"}, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, files)
			p.fails(edit(c.path, c.pairs...), c.want)
			for f, content := range p.tree() {
				if content != files[f] {
					t.Errorf("%s became %q", f, content)
				}
			}
		})
	}
}

func TestEditFileIsJudged(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{
		"doc/a.md": "a", "other/b": "b", "project/a.txt": "a", "project/.envrc": "a",
		"project/l": "-> ../other/b",
	})
	g.refused(edit("../other/b", "b", "c"), outside)
	g.refused(edit("l", "b", "c"), outside)
	g.refused(edit("../doc/a.md", "a", "b"), "paths/write_read_only")
	g.refused(edit(".envrc", "a", "b"), "system/startup_files")
	g.allowed(edit("a.txt", "a", "b"))
	g.refused(remove("a.txt"), unread) // an edit shows a part of a file: it is not reading it
	if got := g.all.tree(); got["other/b"] != "b" || got["project/a.txt"] != "b" {
		t.Errorf("%q", got)
	}
}
