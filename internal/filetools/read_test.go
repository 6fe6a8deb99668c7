package filetools_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a.txt": "1\n2\n3\n4\n5", "end.txt": "1\n2\n", "crlf.txt": "1\r\n2\r\n", "empty.txt": "", "l": "-> a.txt", "dir/x": ""})
	type in = filetools.ReadFileInput
	type out = filetools.ReadFileDetails
	for name, c := range map[string]struct {
		in   in
		want out
	}{
		"whole":                {in{Path: "a.txt"}, out{Content: "1\n2\n3\n4\n5", Size: 9, TotalLines: 5, LineCount: 5}},
		"offset 2, two lines":  {in{Path: "a.txt", Offset: 2, LineCount: ptr(2)}, out{Content: "3\n4\n", Size: 9, TotalLines: 5, Offset: 2, LineCount: 2, NextOffset: ptr(4), Note: "lines 3 to 4 of 5; continue with offset 4"}},
		"offset only":          {in{Path: "a.txt", Offset: 3}, out{Content: "4\n5", Size: 9, TotalLines: 5, Offset: 3, LineCount: 2}},
		"first lines":          {in{Path: "a.txt", LineCount: ptr(1)}, out{Content: "1\n", Size: 9, TotalLines: 5, LineCount: 1, NextOffset: ptr(1), Note: "lines 1 to 1 of 5; continue with offset 1"}},
		"more than there are":  {in{Path: "a.txt", Offset: 4, LineCount: ptr(100)}, out{Content: "5", Size: 9, TotalLines: 5, Offset: 4, LineCount: 1}},
		"behind the end":       {in{Path: "a.txt", Offset: 9}, out{Size: 9, TotalLines: 5, Offset: 9, Note: "the file has only 5 lines"}},
		"newline at the end":   {in{Path: "end.txt"}, out{Content: "1\n2\n", Size: 4, TotalLines: 2, LineCount: 2}},
		"carriage returns":     {in{Path: "crlf.txt", LineCount: ptr(1)}, out{Content: "1\r\n", Size: 6, TotalLines: 2, LineCount: 1, NextOffset: ptr(1), Note: "lines 1 to 1 of 2; continue with offset 1"}},
		"empty":                {in{Path: "empty.txt"}, out{}},
		"through a link":       {in{Path: "l", LineCount: ptr(1), Offset: 4}, out{Content: "5", Size: 9, TotalLines: 5, Offset: 4, LineCount: 1}},
		"absolute":             {in{Path: p.at("end.txt")}, out{Content: "1\n2\n", Size: 4, TotalLines: 2, LineCount: 2}},
		"dots and slashes":     {in{Path: "./dir//../end.txt"}, out{Content: "1\n2\n", Size: 4, TotalLines: 2, LineCount: 2}},
		"a count out of range": {in{Path: "end.txt", Offset: 1, LineCount: ptr(int(^uint(0) >> 1))}, out{Content: "2\n", Size: 4, TotalLines: 2, Offset: 1, LineCount: 1}},
	} {
		got := must[out](p, filetools.ReadFile(c.in))
		if !filepath.IsAbs(filepath.FromSlash(got.Path)) {
			t.Errorf("%s: path %q is not absolute", name, got.Path)
		}
		got.Path = ""
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadFileErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a.txt": "x", "dir/x": "", "dangling": "-> nowhere", "loop": "-> loop", "long": "-> " + strings.Repeat("../", 9) + "etc/hostname"})
	for name, c := range map[string]struct {
		in   filetools.ReadFileInput
		want string
	}{
		"missing":          {filetools.ReadFileInput{Path: "none.txt"}, "read none.txt: does not exist"},
		"missing parent":   {filetools.ReadFileInput{Path: "no/ne.txt"}, "does not exist"},
		"a dangling link":  {filetools.ReadFileInput{Path: "dangling"}, "read dangling: does not exist"},
		"a loop":           {filetools.ReadFileInput{Path: "loop"}, "loop"},
		"a directory":      {filetools.ReadFileInput{Path: "dir"}, "read dir: it is a directory, not a file"},
		"no path":          {filetools.ReadFileInput{}, "path: empty"},
		"a NUL":            {filetools.ReadFileInput{Path: "a\x00b"}, "NUL"},
		"a home":           {filetools.ReadFileInput{Path: "~/x"}, "~ is not expanded"},
		"a very long path": {filetools.ReadFileInput{Path: strings.Repeat("a/", 3000)}, "6000 bytes"},
		"negative offset":  {filetools.ReadFileInput{Path: "a.txt", Offset: -1}, "offset: -1"},
		"no lines":         {filetools.ReadFileInput{Path: "a.txt", LineCount: ptr(0)}, "line_count: 0"},
		"below a file":     {filetools.ReadFileInput{Path: "a.txt/b"}, "a.txt/b"},
	} {
		t.Run(name, func(t *testing.T) { p.fails(filetools.ReadFile(c.in), c.want) })
	}
}

func TestReadFileOfBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, err, text string }{
		"png":                  {content: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", err: "not a text file but image/png"},
		"pdf":                  {content: "%PDF-1.7\n\xe2\xe3\xcf\xd3\n1 0 obj\n", err: "application/pdf"},
		"gzip":                 {content: "\x1f\x8b\x08\x00\x00\x00\x00\x00", err: "gzip"},
		"executable":           {content: "\x7fELF\x02\x01\x01\x00", err: "binary data"},
		"zero later":           {content: strings.Repeat("text ", 100) + "\x00", err: "binary data"},
		"control characters":   {content: "\x01\x02\x03\x04\x05\x06", err: "binary data"},
		"utf-16":               {content: "\xff\xfea\x00b\x00", err: "UTF-16 text"},
		"text that says BM":    {content: "BMW builds cars", text: "BMW builds cars"},
		"colours":              {content: "\x1b[31mred\x1b[0m\n", text: "\x1b[31mred\x1b[0m\n"},
		"svg":                  {content: "<svg xmlns='x'/>", text: "<svg xmlns='x'/>"},
		"latin 1":              {content: "na\xefve\n", text: "na\uFFFDve\n"},
		"unicode":              {content: "žluťoučký 🐎\n", text: "žluťoučký 🐎\n"},
		"rune across the peek": {content: strings.Repeat("x", 8<<10-1) + "é", text: strings.Repeat("x", 8<<10-1) + "é"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": c.content})
			tool := filetools.ReadFile(filetools.ReadFileInput{Path: "f"})
			if c.err != "" {
				p.fails(tool, c.err)
				return
			}
			got := must[filetools.ReadFileDetails](p, tool)
			if got.Content != c.text || strings.Contains(c.text, "\uFFFD") != strings.Contains(got.Note, "not UTF-8") {
				t.Errorf("%q, note %q", got.Content, got.Note)
			}
		})
	}
}

// TestReadFilePages: reading on from each next_offset returns the whole file, however large it is.
func TestReadFilePages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60_000 {
		b.WriteString("line " + strconv.Itoa(i) + " with some text\n")
	}
	b.WriteString("the last one")
	p := newPlace(t, map[string]string{"big.txt": b.String()})
	var got strings.Builder
	pages := 0
	for next := ptr(0); next != nil; pages++ {
		d := must[filetools.ReadFileDetails](p, filetools.ReadFile(filetools.ReadFileInput{Path: "big.txt", Offset: *next}))
		if len(d.Content) > 256<<10 || d.TotalLines != 60_001 || d.NextOffset != nil && !strings.Contains(d.Note, "continue with offset") {
			t.Fatalf("%d bytes, %d lines, note %q", len(d.Content), d.TotalLines, d.Note)
		}
		got.WriteString(d.Content)
		next = d.NextOffset
	}
	if got.String() != b.String() || pages < 5 {
		t.Errorf("%d pages of %d bytes, want %d bytes", pages, got.Len(), b.Len())
	}
}

func TestReadFileOfLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200_000)
	p := newPlace(t, map[string]string{"f": "short\n" + long + "\nshort again\n"})
	first := must[filetools.ReadFileDetails](p, filetools.ReadFile(filetools.ReadFileInput{Path: "f"}))
	if first.Content != "short\n" || *first.NextOffset != 1 {
		t.Errorf("%d bytes, next %v", len(first.Content), first.NextOffset)
	}
	second := must[filetools.ReadFileDetails](
		p,
		filetools.ReadFile(filetools.ReadFileInput{Path: "f", Offset: 1, LineCount: ptr(1)}),
	)
	if len(second.Content) != 256<<10 || strings.Trim(second.Content, "é") != "" ||
		*second.NextOffset != 2 ||
		!strings.Contains(second.Note, "line 2 is longer") {
		t.Errorf("%d bytes, next %v, note %q", len(second.Content), second.NextOffset, second.Note)
	}
	usual := must[filetools.ReadFileDetails](
		p,
		filetools.ReadFile(filetools.ReadFileInput{Path: "f", Offset: 1}),
	)
	if len(usual.Content) != 24<<10 || *usual.NextOffset != 2 {
		t.Errorf("%d bytes, next %v", len(usual.Content), usual.NextOffset)
	}
	third := must[filetools.ReadFileDetails](p, filetools.ReadFile(filetools.ReadFileInput{Path: "f", Offset: 2}))
	if third.Content != "short again\n" || third.NextOffset != nil {
		t.Errorf("%q, next %v", third.Content, third.NextOffset)
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"old.txt": "old", "dir/x": "", "l": "-> old.txt", "new link": "-> target"})
	type out = filetools.WriteFileDetails
	for _, c := range []struct {
		in   filetools.WriteFileInput
		want out
	}{
		{filetools.WriteFileInput{Path: "new.txt", Content: "é\n"}, out{Path: p.at("new.txt"), BytesWritten: 3, Created: true}},
		{filetools.WriteFileInput{Path: "a/b/c.json", Content: "{}"}, out{Path: p.at("a/b/c.json"), BytesWritten: 2, Created: true}},
		{filetools.WriteFileInput{Path: "old.txt", Content: ""}, out{Path: p.at("old.txt"), Replaced: true}},
		{filetools.WriteFileInput{Path: "l", Content: "through a link"}, out{Path: p.at("l"), BytesWritten: 14, Replaced: true}},
		{filetools.WriteFileInput{Path: "new link", Content: "x", Overwrite: ptr(false)}, out{Path: p.at("new link"), BytesWritten: 1, Created: true}},
		{filetools.WriteFileInput{Path: "./~", Content: "tilde"}, out{Path: p.at("~"), BytesWritten: 5, Created: true}},
	} {
		if diff := cmp.Diff(c.want, must[out](p, filetools.WriteFile(c.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.in.Path, diff)
		}
	}
	p.fails(filetools.WriteFile(filetools.WriteFileInput{Path: "old.txt", Content: "no", Overwrite: ptr(false)}), "there already", "overwrite=true")
	p.fails(filetools.WriteFile(filetools.WriteFileInput{Path: "dir", Content: "no"}), "it is a directory")
	p.fails(filetools.WriteFile(filetools.WriteFileInput{Path: "old.txt/x", Content: "no"}), "old.txt")
	p.same(map[string]string{
		"new.txt": "é\n", "a/b/c.json": "{}", "old.txt": "through a link", "dir/x": "", "l": "-> old.txt", "new link": "-> target",
		"target": "x", "~": "tilde",
	})
}

// TestWhatIsWrittenIsReadBack is the round trip of the predecessor's tests, for kinds of content.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	for name, content := range map[string]string{
		"a.py": "print('hi')\n", "b.json": `{"a": [1, 2]}`, "c.csv": "a,b\r\n1,2\r\n", "d.md": "# é\n\n```\n$(x) `y` 'z'\n```",
		"quotes ' and \" $HOME `id`.txt": "%s %d\\n\n",
	} {
		must[filetools.WriteFileDetails](p, filetools.WriteFile(filetools.WriteFileInput{Path: name, Content: content}))
		if got := must[filetools.ReadFileDetails](p, filetools.ReadFile(filetools.ReadFileInput{Path: name})); got.Content != content {
			t.Errorf("%s: %q, want %q", name, got.Content, content)
		}
		if onDisk, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(onDisk) != content {
			t.Errorf("%s: %v %q", name, err, onDisk)
		}
	}
}
