package filetools_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func search(in filetools.SearchFilesInput, texts ...string) filetools.Tool {
	in.Texts = texts
	return filetools.SearchFiles(in)
}

func TestSearchFiles(t *testing.T) {
	t.Parallel()
	const n = "needle"
	p := newPlace(t, map[string]string{
		".git/config": n, ".gitignore": "build/\n*.log\n!keep.log\n# needle\n", ".ignore": "lines\n",
		".hidden": n,
		"a.go":    "one\ntwo needle\nthree\n", "build/x": n, "keep.log": "needle\r\n", "drop.log": n,
		"src/b.go": "Needle\n", "src/.gitignore": "/gen.go\n", "src/gen.go": n, "src/deep/gen.go": "needle\n",
		"bytes": "needle\x00", "link": "-> a.go", "lines": "1\n2 needle\n3\n4\n5\n6 needle\n7\n",
	})
	type in = filetools.SearchFilesInput
	some := func(patterns ...string) in { return in{IncludePatterns: patterns} }
	for name, c := range map[string]struct {
		in    in
		texts string // separated by commas
		want  string // lines, with | between them
	}{
		"the workspace":         {in{}, n, "a.go:2:two needle|keep.log:1:needle|src/deep/gen.go:1:needle"},
		"a directory":           {in{Path: "src"}, n, "deep/gen.go:1:needle"},
		"an absolute directory": {in{Path: p.at("src")}, n, "deep/gen.go:1:needle"},
		"a file":                {in{Path: "drop.log"}, n, "drop.log:1:needle"},
		"a link to a file":      {in{Path: "link"}, n, "link:2:two needle"},
		"either case": {
			in{Path: "src", IgnoreCase: true}, "nEEdle", "b.go:1:Needle|deep/gen.go:1:needle",
		},
		"two texts": {in{Path: "a.go"}, "three,one", "a.go:1:one|a.go:3:three"},
		"only some": {some("a*", "k*"), n, "a.go:2:two needle|keep.log:1:needle"},
		"not some":  {in{ExcludePatterns: []string{"src/*", "*.go"}}, n, "keep.log:1:needle"},
		"hidden": {
			in{Hidden: true, IncludePatterns: []string{".*"}}, n, ".gitignore:4:# needle|.hidden:1:needle",
		},
		"ignored": {
			in{NoIgnore: true, IncludePatterns: []string{"*.log", "build/*"}}, n,
			"build/x:1:needle|drop.log:1:needle|keep.log:1:needle",
		},
		"files": {in{FilesOnly: true, NoIgnore: true, IncludePatterns: []string{"l*"}}, n, "lines"},
		"context": {
			in{Path: "lines", ContextLines: 1}, n,
			"lines-1-1|lines:2:2 needle|lines-3-3|--|lines-5-5|lines:6:6 needle|lines-7-7",
		},
		"context that meets": {
			in{Path: "lines", ContextLines: 2}, n,
			"lines-1-1|lines:2:2 needle|lines-3-3|lines-4-4|lines-5-5|lines:6:6 needle|lines-7-7",
		},
		"no regular expression": {in{}, "n..dle,needle|one", ""},
	} {
		got := must[filetools.SearchFilesDetails](p, search(c.in, strings.Split(c.texts, ",")...))
		found := strings.TrimSuffix(strings.ReplaceAll(got.Found, "\n", "|"), "|")
		if diff := cmp.Diff(c.want, found); diff != "" || got.Note != "" || len(got.Problems) > 0 {
			t.Errorf("%s: %s, problems %v (-want +got):\n%s", name, got.Note, got.Problems, diff)
		}
	}
}

func TestSearchFilesBounds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"many": strings.Repeat("needle\n", 1000), "long": strings.Repeat("é", 5000) + "needle\n",
		"wide": strings.Repeat("needle "+strings.Repeat("x", 390)+"\n", 150),
	})
	found := func(in filetools.SearchFilesInput) filetools.SearchFilesDetails {
		return must[filetools.SearchFilesDetails](p, search(in, "needle"))
	}
	got := found(filetools.SearchFilesInput{Path: "many", MaxMatches: 3})
	if got.Matches != 3 || strings.Count(got.Found, "\n") != 3 ||
		!strings.Contains(got.Note, "ended at 3 matches") {
		t.Errorf("%+v", got)
	}
	got = found(filetools.SearchFilesInput{Path: "long"})
	if got.Matches != 1 || len(got.Found) > 500 || strings.Contains(got.Found, "\uFFFD") {
		t.Errorf("%d bytes: %+v", len(got.Found), got)
	}
	got = found(filetools.SearchFilesInput{Path: "wide"})
	if len(got.Found) > 25<<10 || !strings.Contains(got.Note, "bytes of lines") {
		t.Errorf("%d bytes, note %q", len(got.Found), got.Note)
	}
	x := []string{"x"}
	for want, in := range map[string]filetools.SearchFilesInput{
		"context_lines: 21": {Texts: x, ContextLines: 21},
		"max_matches: 5001": {Texts: x, MaxMatches: 5001},
		"texts: 0":          {},
		"neither empty":     {Texts: []string{"a\nb"}},
		"does not exist":    {Texts: x, Path: "none"},
		"not a pattern":     {Texts: x, IncludePatterns: []string{"["}},
	} {
		p.fails(filetools.SearchFiles(in), want)
	}
}

// TestSearchFilesIsJudged: each file that would be read is judged by its own name, and a search counts as no
// reading.
func TestSearchFilesIsJudged(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{
		"other/b": "needle", "project/a.txt": "needle", "project/.env": "needle",
		"project/keys/id_rsa": "needle", "project/out": "-> ../other",
	})
	without := []string{"keys/*"}
	g.refused(search(filetools.SearchFilesInput{Path: "../other"}, "needle"), outside)
	g.refused(search(filetools.SearchFilesInput{Path: "out"}, "needle"), outside)
	g.refused(search(filetools.SearchFilesInput{}, "needle"), "paths/credentials_read")
	g.allowed(search(filetools.SearchFilesInput{ExcludePatterns: without}, "needle"))
	hidden := search(filetools.SearchFilesInput{Hidden: true, ExcludePatterns: without}, "needle")
	g.refused(hidden, "paths/credentials_read")
	g.refused(remove("a.txt"), unread)
}

func TestListDirectory(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		".git/x": "", ".hidden": "12", "a/b/c/d": "", "a/x": "1", "empty/": "", "l": "-> a",
	})
	type in = filetools.ListDirectoryInput
	list := func(in in) string {
		var out []string
		for _, e := range must[filetools.ListDirectoryDetails](p, filetools.ListDirectory(in)).Entries {
			out = append(out, e.Path+":"+e.Kind[:1])
		}
		return strings.Join(out, " ")
	}
	for want, in := range map[string]in{
		".git:d .hidden:f a:d empty:d l:s": {},
		"b:d x:f":                          {Path: "l"},
		".git:d .hidden:f a:d empty:d l:s a/b:d a/x:f": {Depth: 2},
		"b:d x:f b/c:d b/c/d:f":                        {Path: "a", Depth: 10},
		".hidden:f empty:d l:s":                        {Depth: 3, ExcludePatterns: []string{"a", ".git"}},
	} {
		if got := list(in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	p.fails(filetools.ListDirectory(in{Path: "a/x"}), "it is a file, not a directory")
	p.fails(filetools.ListDirectory(in{Depth: 11}), "depth: 11")

	g := newGuarded(t, "", map[string]string{"other/b": "", "project/out": "-> ../other", "project/a": ""})
	g.refused(filetools.ListDirectory(in{Path: "../other"}), outside)
	g.refused(filetools.ListDirectory(in{Path: "out"}), outside)
	g.allowed(filetools.ListDirectory(in{Depth: 5}))
}
