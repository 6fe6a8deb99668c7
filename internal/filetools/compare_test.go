package filetools_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func compare(p *place, in filetools.CompareFilesInput) filetools.CompareFilesDetails {
	p.t.Helper()
	d := must[filetools.CompareFilesDetails](p, filetools.CompareFiles(in))
	d.Diff = strings.ReplaceAll(d.Diff, filepath.ToSlash(p.dir)+"/", "")
	return d
}

func TestCompareFiles(t *testing.T) {
	t.Parallel()
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		a, b    string
		context *int
		diff    string
		stats   filetools.DiffStats
	}{
		"same":               {a: "x\ny\n", b: "x\ny\n"},
		"both empty":         {},
		"one line":           {a: numbers(0, 9), b: strings.Replace(numbers(0, 9), "4", "four", 1), diff: "@@ -2,7 +2,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"no context":         {a: numbers(0, 9), b: strings.Replace(numbers(0, 9), "4", "four", 1), context: ptr(0), diff: "@@ -5 +5 @@\n-4\n+four\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"much context":       {a: numbers(0, 4), b: numbers(0, 3), context: ptr(50), diff: "@@ -1,4 +1,3 @@\n 0\n 1\n 2\n-3\n", stats: filetools.DiffStats{Removed: 1}},
		"added":              {a: "1\n2\n", b: "1\nnew\n2\n", context: ptr(0), diff: "@@ -1,0 +2 @@\n+new\n", stats: filetools.DiffStats{Added: 1}},
		"from empty":         {a: "", b: "1\n2\n", diff: "@@ -0,0 +1,2 @@\n+1\n+2\n", stats: filetools.DiffStats{Added: 2}},
		"to empty":           {a: "1\n", b: "", diff: "@@ -1 +0,0 @@\n-1\n", stats: filetools.DiffStats{Removed: 1}},
		"last newline":       {a: "1\n2", b: "1\n2\n", diff: "@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"neither has one":    {a: "1\n2", b: "0\n2", diff: "@@ -1,2 +1,2 @@\n-1\n+0\n 2\n\\ No newline at end of file\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"carriage returns":   {a: "1\r\n", b: "1\n", diff: "@@ -1 +1 @@\n-1\r\n+1\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"two hunks":          {a: numbers(0, 20), b: "new\n" + strings.Replace(numbers(0, 20), "15\n", "", 1), context: ptr(1), diff: "@@ -1 +1,2 @@\n+new\n 0\n@@ -15,3 +16,2 @@\n 14\n-15\n 16\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"lines like headers": {a: "-- a\n@@ -9,9 +9,9 @@\n++ b\n", b: "-- a\n@@ -9,9 +9,9 @@ x\n++ b\n", diff: "@@ -1,3 +1,3 @@\n -- a\n-@@ -9,9 +9,9 @@\n+@@ -9,9 +9,9 @@ x\n ++ b\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
		"latin 1":            {a: "\xe9\n", b: "e\n", diff: "@@ -1 +1 @@\n-\uFFFD\n+e\n", stats: filetools.DiffStats{Added: 1, Removed: 1, Changed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"a": c.a, "b": c.b})
			got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "b", ContextLines: c.context})
			if c.diff != "" {
				c.diff = "--- a\n+++ b\n" + c.diff
			}
			want := filetools.CompareFilesDetails{File1: p.at("a"), File2: p.at("b"), Identical: c.a == c.b, Diff: c.diff, Stats: &c.stats}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareFilesErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "", "d/x": ""})
	p.fails(filetools.CompareFiles(filetools.CompareFilesInput{File1: "a", File2: "none"}), "read none: does not exist")
	p.fails(filetools.CompareFiles(filetools.CompareFilesInput{File1: "d", File2: "a"}), "read d: it is a directory")
	p.fails(filetools.CompareFiles(filetools.CompareFilesInput{File1: "a"}), "file2: empty")
	p.fails(filetools.CompareFiles(filetools.CompareFilesInput{File1: "a", File2: "a", ContextLines: ptr(-1)}), "context_lines: -1")
}

// TestCompareBinaryFiles: the predecessor had an error for them; whether they differ is known all the same.
func TestCompareBinaryFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "\x00\x01", "b": "\x00\x02\x03", "c": "\x00\x01", "t": "text"})
	got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "b"})
	if got.Identical || got.Diff != "" || got.Stats != nil || got.Note != "they differ and are not both text: 2 and 3 bytes, so no diff was made" {
		t.Errorf("%+v", got)
	}
	if got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "c"}); !got.Identical || got.Note != "" {
		t.Errorf("%+v", got)
	}
	if got := compare(p, filetools.CompareFilesInput{File1: "t", File2: "c"}); got.Identical || got.Note == "" {
		t.Errorf("%+v", got)
	}
}

func TestDiffIsCapped(t *testing.T) {
	t.Parallel()
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "old %d\n", i)
		fmt.Fprintf(&b, "new %d\n", i)
	}
	p := newPlace(t, map[string]string{"a": a.String(), "b": b.String(), "long a": strings.Repeat("x", 1<<20), "long b": strings.Repeat("y", 1<<20)})
	got := compare(p, filetools.CompareFilesInput{File1: "a", File2: "b"})
	if n := strings.Count(got.Diff, "\n"); n != 501 || !strings.HasSuffix(got.Diff, "... (5503 more lines of the diff are not shown)\n") {
		t.Errorf("%d lines, ending %q", n, got.Diff[len(got.Diff)-80:])
	}
	if want := (filetools.DiffStats{Added: 3000, Removed: 3000, Changed: 3000}); *got.Stats != want {
		t.Errorf("stats are %+v", *got.Stats)
	}
	got = compare(p, filetools.CompareFilesInput{File1: "long a", File2: "long b"})
	if len(got.Diff) > 5000 || !strings.Contains(got.Diff, "more bytes)") {
		t.Errorf("%d bytes: %.100q", len(got.Diff), got.Diff)
	}
}

func TestCompareDirectories(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"a/same": "1\n", "b/same": "1\n",
		"a/differs": "1\n2\n", "b/differs": "1\n3\n",
		"a/sub/deep/x": "1", "b/sub/deep/x": "2", // the predecessor looked at the top only
		"a/only1": "", "b/only2": "", "a/dir1/f": "", "b/dir2/": "",
		"a/.git/HEAD": "1", "b/.git/HEAD": "2", "a/__pycache__/x": "1", "b/__pycache__/x": "1", "a/tags": "1", "b/tags": "2", // it hid these
		"a/kind": "file", "b/kind/": "", "a/link": "-> x", "b/link": "-> y", "a/link same": "-> x", "b/link same": "-> x", "a/to file": "-> same", "b/to file": "1\n",
		"a/binary": "\x00a", "b/binary": "\x00b",
		"a/long": strings.Repeat("a\n", 200), "b/long": strings.Repeat("b\n", 200),
	})
	// The same size and time, and other contents: the predecessor called these identical.
	when := time.Now()
	for _, name := range []string{"a/differs", "b/differs"} {
		if err := os.Chtimes(filepath.Join(p.dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	want := filetools.CompareDirectoriesDetails{
		Dir1: p.at("a"), Dir2: p.at("b"),
		OnlyInDir1: []string{"dir1/", "only1"}, OnlyInDir2: []string{"dir2/", "only2"},
		Different: []string{".git/HEAD", "binary", "differs", "kind", "link", "long", "sub/deep/x", "tags", "to file"},
		Identical: []string{"__pycache__/x", "link same", "same"},
		Counts:    filetools.CompareCounts{OnlyInDir1: 2, OnlyInDir2: 2, Different: 9, Identical: 3},
	}
	in := filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b/"}
	if diff := cmp.Diff(want, must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(in)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.ShowContentDiff = true
	got := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(in)).ContentDiffs
	long := got["long"]
	delete(got, "long")
	if strings.Count(long, "\n") != 101 || !strings.Contains(long, "more lines of the diff are not shown") {
		t.Errorf("%q", long)
	}
	if diff := cmp.Diff(map[string]string{
		".git/HEAD":  "--- .git/HEAD\n+++ .git/HEAD\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n",
		"binary":     "they differ and are not both text: 2 and 2 bytes, so no diff was made\n",
		"differs":    "--- differs\n+++ differs\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
		"kind":       "a file became a directory\n",
		"link":       "the target of the symbolic link: x became y\n",
		"sub/deep/x": "--- sub/deep/x\n+++ sub/deep/x\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n",
		"tags":       "--- tags\n+++ tags\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n",
		"to file":    "a symlink became a file\n",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in = filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b", ExcludePatterns: []string{".git", "__pycache__", "*/x", "link*"}}
	excluded := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(in))
	if excluded.Counts != (filetools.CompareCounts{OnlyInDir1: 2, OnlyInDir2: 2, Different: 6, Identical: 1}) {
		t.Errorf("%+v %v", excluded.Counts, excluded.Different)
	}
}

func TestCompareDirectoriesErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a/x": "", "f": "", "deep1/" + strings.Repeat("d/", 70) + "x": "", "deep2/" + strings.Repeat("d/", 70) + "x": ""})
	type in = filetools.CompareDirectoriesInput
	p.fails(filetools.CompareDirectories(in{Dir1: "a", Dir2: "none"}), "compare none: does not exist")
	p.fails(filetools.CompareDirectories(in{Dir1: "f", Dir2: "a"}), "compare f: it is a file, not a directory")
	p.fails(filetools.CompareDirectories(in{Dir1: "a"}), "dir2: empty")
	p.fails(filetools.CompareDirectories(in{Dir1: "deep1", Dir2: "deep2"}), "more than 64 directories inside each other")
}

// TestComparingFollowsNoLink: a link to a directory is a link, and not what is in the directory.
func TestComparingFollowsNoLink(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a/l": "-> ../real", "b/l": "-> ../other", "real/x": "1", "other/x": "1", "a/up": "-> ..", "b/up": "-> .."})
	got := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b"}))
	if diff := cmp.Diff([]string{"l"}, got.Different); diff != "" || got.Counts.Identical != 1 {
		t.Errorf("%+v", got)
	}
}

func (s stuck) Open(path string) (io.ReadCloser, error) {
	if s.before != nil {
		s.before(path)
	}
	if err := s.refuses(path); err != nil {
		return nil, err
	}
	return s.Files.Open(path)
}

func (s stuck) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := s.refuses(path); err != nil {
		return nil, err
	}
	return s.Files.ReadDir(path)
}

func (s stuck) ReadLink(path string) (string, error) {
	if err := s.refuses(path); err != nil {
		return "", err
	}
	return s.Files.ReadLink(path)
}

// TestCompareDirectoriesTellsWhatItCouldNotRead: the rest is compared all the same.
func TestCompareDirectoriesTellsWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, dir := range []string{"a/", "b/"} {
		for _, name := range []string{"same", "locked-file", "sub/same", "locked-dir/x"} {
			files[dir+name] = "x"
		}
		files[dir+"locked-link"] = "-> x"
		files[dir+"long-locked"] = dir // of one size
		files[dir+"grown-locked"] = strings.Repeat("x", len(files))
	}
	p := newPlace(t, files)
	tool := hinder{Tool: filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b", ShowContentDiff: true}), stuck: stuck{names: "locked-file locked-dir b/locked-link long-locked grown-locked"}}
	got := must[filetools.CompareDirectoriesDetails](p, tool)
	want := []filetools.Problem{
		{Path: "locked-dir/", Error: "permission denied"}, {Path: "locked-file", Error: "permission denied"},
		{Path: "locked-link", Error: "permission denied"}, {Path: "long-locked", Error: "permission denied"},
	}
	if diff := cmp.Diff(want, got.NotCompared); diff != "" || got.Counts != (filetools.CompareCounts{Identical: 2, Different: 1, NotCompared: 4}) {
		t.Errorf("%+v (-want +got):\n%s", got.Counts, diff)
	}
	if got.ContentDiffs["grown-locked"] != "permission denied\n" {
		t.Errorf("%q", got.ContentDiffs)
	}
	p.fails(hinder{Tool: filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b"}), stuck: stuck{names: "/b"}}, "compare a with b: permission denied")
	p.fails(hinder{Tool: filetools.CompareFiles(filetools.CompareFilesInput{File1: "a/same", File2: "b/same"}), stuck: stuck{names: "b/same"}}, "compare a/same with b/same", "permission denied")
}

func TestComparingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a/1": "x", "a/2": "x", "b/1": "x", "b/2": "x"})
	for _, tool := range []filetools.Tool{
		filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b"}),
		filetools.CompareFiles(filetools.CompareFilesInput{File1: "a/1", File2: "b/1"}),
		filetools.ReadFile(filetools.ReadFileInput{Path: "a/1"}),
		filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "a/1"}),
		filetools.CopyFile(filetools.CopyFileInput{SourcePath: "a/1", DestinationPath: "c"}),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		p.fails(hinder{Tool: tool, stuck: stuck{before: func(string) { cancel() }}, ctx: ctx}, "context canceled")
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "c")); err == nil {
		t.Error("half a copy was left behind")
	}
}

// TestListsAreCapped: counts are of all.
func TestListsAreCapped(t *testing.T) {
	t.Parallel()
	files := map[string]string{"b/": ""}
	for i := range 1100 {
		files[fmt.Sprintf("a/%d", i)] = ""
	}
	p := newPlace(t, files)
	if got := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "a", Dir2: "b"})); len(got.OnlyInDir1) != 1000 || got.Counts.OnlyInDir1 != 1100 {
		t.Errorf("%d of %d", len(got.OnlyInDir1), got.Counts.OnlyInDir1)
	}
	tool := removeAll("a")
	if got := must[filetools.DeleteFilesBatchDetails](p, tool); len(got.DeletedFiles) != 1000 || tool.Result().Summary != (filetools.DeleteSummary{Deleted: 1100}) {
		t.Errorf("%d of %+v", len(got.DeletedFiles), tool.Result().Summary)
	}
	p.same(map[string]string{"a/": "", "b/": ""})
}
