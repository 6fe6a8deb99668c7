package filetools_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "123", "keep.txt": "", "l": "-> keep.txt", "ld": "-> dir", "dangling": "-> nowhere",
		"dir/x": "", "dir/sub/y": "", "dir/sub/out": "-> ../../keep.txt", "dir/hollow/": "", "empty/": "",
	}
	type in = filetools.DeleteFileInput
	type out = filetools.DeleteFileDetails
	for _, c := range []struct {
		in   in
		want out
		gone []string
	}{
		{in{Path: "a.txt"}, out{Type: "file", Size: ptr(int64(3))}, []string{"a.txt"}},
		{in{Path: "a.txt", Recursive: true}, out{Type: "file", Size: ptr(int64(3))}, []string{"a.txt"}},
		{in{Path: "empty"}, out{Type: "directory", FileCount: ptr(0)}, []string{"empty/"}},
		{in{Path: "dir", Recursive: true}, out{Type: "directory", FileCount: ptr(3)}, []string{"dir/x", "dir/sub/y", "dir/sub/out", "dir/hollow/"}},
		// The predecessor resolved the path first and so deleted the target of a link.
		{in{Path: "l"}, out{Type: "symlink", Size: ptr(int64(8))}, []string{"l"}},
		{in{Path: "ld", Recursive: true}, out{Type: "symlink", Size: ptr(int64(3))}, []string{"ld"}},
		{in{Path: "ld/", Recursive: true}, out{Type: "symlink", Size: ptr(int64(3))}, []string{"ld"}},
		{in{Path: "dangling"}, out{Type: "symlink", Size: ptr(int64(7))}, []string{"dangling"}},
		{in{Path: "ld/x"}, out{Type: "file", Size: ptr(int64(0))}, []string{"dir/x"}}, // a link on the way is judged where it leads
	} {
		t.Run(c.in.Path, func(t *testing.T) {
			p := newPlace(t, files)
			c.in.DryRun = true
			c.want.Path, c.want.DryRun = p.at(c.in.Path), true
			if diff := cmp.Diff(c.want, must[out](p, filetools.DeleteFile(c.in))); diff != "" {
				t.Errorf("dry run (-want +got):\n%s", diff)
			}
			if in := p.asked.last; len(in.Paths) != 1 || in.Paths[0].Access != "delete" {
				t.Errorf("a dry run was judged as %+v", in.Paths)
			}
			p.same(files)

			c.in.DryRun, c.want.DryRun = false, false
			if diff := cmp.Diff(c.want, must[out](p, filetools.DeleteFile(c.in))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			left := map[string]string{}
			for name, content := range files {
				left[name] = content
			}
			for _, name := range c.gone {
				delete(left, name)
			}
			p.same(left)
		})
	}
}

func TestDeleteFileErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"dir/x": ""})
	p.fails(filetools.DeleteFile(filetools.DeleteFileInput{Path: "none"}), "delete none: does not exist")
	p.fails(filetools.DeleteFile(filetools.DeleteFileInput{Path: "dir"}), "delete dir: the directory is not empty", "recursive=true")
	p.fails(filetools.DeleteFile(filetools.DeleteFileInput{Path: ""}), "path: empty")
	p.same(map[string]string{"dir/x": ""})
}

func TestDeleteFilesBatch(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"base/a.log": "1", "base/b.txt": "2", "base/logs/c.log": "3", "base/logs/deep/d.log": "4", "base/mixed/e.log": "5", "base/mixed/f.txt": "6",
		"base/.hidden/g.log": "7", "base/h.log": "-> ../outside.log", "base/hollow/": "", "base/ld": "-> ../other", "outside.log": "", "other/i.log": "",
	}
	p := newPlace(t, files)
	in := filetools.DeleteFilesBatchInput{BasePath: "base", IncludePatterns: []string{"*.log"}, ExcludePatterns: []string{"mixed/*"}, DryRun: true}
	want := filetools.DeleteFilesBatchDetails{
		DeletedFiles: []filetools.DeletedFile{
			{Path: p.at("base/.hidden/g.log"), RelativePath: ".hidden/g.log", Size: 1},
			{Path: p.at("base/a.log"), RelativePath: "a.log", Size: 1},
			{Path: p.at("base/h.log"), RelativePath: "h.log", Size: 14},
			{Path: p.at("base/logs/c.log"), RelativePath: "logs/c.log", Size: 1},
			{Path: p.at("base/logs/deep/d.log"), RelativePath: "logs/deep/d.log", Size: 1},
		},
		// The predecessor left empty directories behind.
		RemovedDirectories: []string{".hidden", "logs/deep", "logs"},
		DryRun:             true,
	}
	check := func() {
		t.Helper()
		tool := filetools.DeleteFilesBatch(in)
		got := must[filetools.DeleteFilesBatchDetails](p, tool)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(filetools.DeleteSummary{Deleted: 5}, tool.Result().Summary); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
	}
	check()
	p.same(files)
	in.DryRun, want.DryRun = false, false
	check()
	for _, gone := range []string{"base/a.log", "base/logs/c.log", "base/logs/deep/d.log", "base/.hidden/g.log", "base/h.log"} {
		delete(files, gone)
	}
	p.same(files)
}

func TestDeleteFilesBatchOfEverything(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"base/a": "", "base/b/c": "", "base/hollow/": "", "x": ""})
	must[filetools.DeleteFilesBatchDetails](p, filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base"}))
	p.same(map[string]string{"base/hollow/": "", "x": ""}) // a directory that was empty before is none of its business
	p.put(map[string]string{"base/a": ""})
	os.Remove(filepath.Join(p.dir, "base/hollow"))
	must[filetools.DeleteFilesBatchDetails](p, filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base/"}))
	p.same(map[string]string{"base/": "", "x": ""}) // and the base stays
}

func TestDeleteFilesBatchWithoutMatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"base/a": ""})
	tool := filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base", IncludePatterns: []string{"*.log"}})
	must[filetools.DeleteFilesBatchDetails](p, tool)
	if tool.Result().Summary != (filetools.DeleteSummary{}) {
		t.Errorf("%+v", tool.Result().Summary)
	}
	for _, path := range p.asked.last.Paths {
		if path.Access == "delete" {
			t.Errorf("nothing goes, and yet %+v is judged", path)
		}
	}
}

func TestDeleteFilesBatchErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"base/a": "", "file": ""})
	type in = filetools.DeleteFilesBatchInput
	p.fails(filetools.DeleteFilesBatch(in{}), "base_path: empty")
	p.fails(filetools.DeleteFilesBatch(in{BasePath: "none"}), "none: does not exist")
	p.fails(filetools.DeleteFilesBatch(in{BasePath: "file"}), "it is a file, not a directory")
	p.fails(filetools.DeleteFilesBatch(in{BasePath: "base", IncludePatterns: []string{"["}}), "include_patterns: [: not a pattern")
	p.fails(filetools.DeleteFilesBatch(in{BasePath: "base", ExcludePatterns: []string{""}}), "exclude_patterns: an empty pattern")
	p.same(map[string]string{"base/a": "", "file": ""})
}

func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	for i := range 51 {
		dir := filepath.Join(p.dir, "d", strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(j)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.put(map[string]string{"deep/" + strings.Repeat("d/", 70) + "x": ""})
	p.fails(filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "d"}), "more than 5000 files: narrow the patterns")
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "d", DestinationBasePath: "e"}), "more than 5000 files")
	p.fails(filetools.CopyFile(filetools.CopyFileInput{SourcePath: "d", DestinationPath: "e"}), "more than 5000 files")
	p.fails(filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "deep"}), "more than 64 directories inside each other")
	long := strings.Repeat("x", 4000)
	p.fails(filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "d", IncludePatterns: []string{long, long}}), "more than 4096 bytes")

	// What excludes a whole directory keeps it from being looked through.
	must[filetools.DeleteFilesBatchDetails](p, filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: ".", ExcludePatterns: []string{"d/*", "deep/**"}}))
	// A tree that goes as a whole need not be listed, so its size is no matter.
	if got := must[filetools.DeleteFileDetails](p, filetools.DeleteFile(filetools.DeleteFileInput{Path: "d", Recursive: true})); *got.FileCount != 5100 {
		t.Errorf("%d files", *got.FileCount)
	}
	must[filetools.DeleteFileDetails](p, filetools.DeleteFile(filetools.DeleteFileInput{Path: "deep", Recursive: true}))
	p.same(map[string]string{})
}

// stuck are files of which some cannot be removed or written.
type stuck struct {
	engine.Files
	names  string       // parts of the names, separated by blanks
	before func(string) // called before each removal
}

func (s stuck) refuses(path string) error {
	for _, name := range strings.Fields(s.names) {
		if strings.HasSuffix(path, name) {
			return &os.PathError{Op: "touch", Path: path, Err: os.ErrPermission}
		}
	}
	return nil
}

func (s stuck) Remove(path string) error {
	if s.before != nil {
		s.before(path)
	}
	if err := s.refuses(path); err != nil {
		return err
	}
	return s.Files.Remove(path)
}

// hinder is an operation that runs with files of which some are stuck.
type hinder struct {
	filetools.Tool
	stuck
	ctx context.Context
}

func (h hinder) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	h.Files = files
	if h.ctx != nil {
		ctx = h.ctx
	}
	return h.Tool.Run(ctx, h.stuck, paths)
}

// TestBatchesTellWhatFailed: the predecessor called a batch a success in which every file had failed.
func TestBatchesTellWhatFailed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"base/a": "", "base/b": "", "base/d/c": ""})
	tool := hinder{Tool: filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base"}), stuck: stuck{names: "/b /c"}}
	d := must[filetools.DeleteFilesBatchDetails](p, tool)
	want := []filetools.Problem{{Path: "b", Error: "permission denied"}, {Path: "d/c", Error: "permission denied"}}
	if diff := cmp.Diff(want, d.Errors); diff != "" || len(d.RemovedDirectories) != 0 {
		t.Errorf("(-want +got):\n%s %v", diff, d.RemovedDirectories)
	}
	if got := tool.Result().Summary; got != (filetools.DeleteSummary{Deleted: 1, Errors: 2}) {
		t.Errorf("%+v", got)
	}
	r := p.fails(hinder{Tool: filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base"}), stuck: stuck{names: "/b /c"}}, "none of 2 could be deleted", "permission denied")
	if r.Success || r.Summary != (filetools.DeleteSummary{Errors: 2}) {
		t.Errorf("%+v", r)
	}
	p.fails(hinder{Tool: filetools.DeleteFile(filetools.DeleteFileInput{Path: "base", Recursive: true}), stuck: stuck{names: "/c"}}, "permission denied", "1 files below it are deleted already")
	p.same(map[string]string{"base/d/c": ""})
}

// TestSomebodyElseWasFaster: a file that went between the decision and the run is no failure.
func TestSomebodyElseWasFaster(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"base/a": "", "base/b": ""})
	race := func(at string) {
		if strings.HasSuffix(at, "/a") {
			os.Remove(filepath.Join(p.dir, "base", "b"))
		}
	}
	tool := hinder{Tool: filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base"}), stuck: stuck{before: race}}
	d := must[filetools.DeleteFilesBatchDetails](p, tool)
	if len(d.DeletedFiles) != 1 || len(d.SkippedFiles) != 1 || d.SkippedFiles[0].Path != "b" {
		t.Errorf("%+v", d)
	}
}

func TestDeletingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]filetools.Tool{
		"batch": filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "base"}),
		"tree":  filetools.DeleteFile(filetools.DeleteFileInput{Path: "base", Recursive: true}),
	} {
		p := newPlace(t, map[string]string{"base/a": "", "base/b": "", "base/c": ""})
		ctx, cancel := context.WithCancel(t.Context())
		p.fails(hinder{Tool: tool, stuck: stuck{before: func(string) { cancel() }}, ctx: ctx}, "context canceled")
		if left := p.tree(); len(left) != 2 {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}
