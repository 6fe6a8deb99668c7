package filetools_test

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func (s stuck) Write(path string, content io.Reader, o engine.WriteOptions) (int64, error) {
	if s.before != nil {
		s.before(path)
	}
	if err := s.refuses(path); err != nil {
		return 0, err
	}
	return s.Files.Write(path, content, o)
}

func TestCopyFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "123", "old.txt": "old", "l": "-> a.txt", "to old": "-> old.txt"}
	type in = filetools.CopyFileInput
	for name, c := range map[string]struct {
		in    in
		added map[string]string
	}{
		"relative, into the workspace": {in{SourcePath: "a.txt", DestinationPath: "b.txt"}, map[string]string{"b.txt": "123"}},
		"parents are made":             {in{SourcePath: "a.txt", DestinationPath: "x/y/b.txt"}, map[string]string{"x/y/b.txt": "123"}},
		"overwrite":                    {in{SourcePath: "a.txt", DestinationPath: "old.txt", Overwrite: true}, map[string]string{"old.txt": "123"}},
		"through a link":               {in{SourcePath: "l", DestinationPath: "b.txt"}, map[string]string{"b.txt": "123"}},
		"onto a link":                  {in{SourcePath: "a.txt", DestinationPath: "to old", Overwrite: true}, map[string]string{"old.txt": "123"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, files)
			want := filetools.CopyFileDetails{Type: "file", Source: p.at(c.in.SourcePath), Destination: p.at(c.in.DestinationPath), Size: 3, DryRun: true}
			c.in.DryRun = true
			if diff := cmp.Diff(want, must[filetools.CopyFileDetails](p, filetools.CopyFile(c.in))); diff != "" {
				t.Errorf("dry run (-want +got):\n%s", diff)
			}
			p.same(files)
			c.in.DryRun, want.DryRun = false, false
			if diff := cmp.Diff(want, must[filetools.CopyFileDetails](p, filetools.CopyFile(c.in))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			left := maps.Clone(files)
			maps.Copy(left, c.added)
			p.same(left)
		})
	}
}

func TestCopyKeepsModeAndNotPrivileges(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "files have no such mode on Windows")
	}
	p := newPlace(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(p.dir, "run.sh"), 0o750|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	must[filetools.CopyFileDetails](p, filetools.CopyFile(filetools.CopyFileInput{SourcePath: "run.sh", DestinationPath: "b.sh"}))
	if info, err := os.Stat(filepath.Join(p.dir, "b.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestCopyDirectory(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/a": "1", "src/sub/b": "22", "src/sub/up": "-> ../a", "src/out": "-> /etc/hostname", "src/loop": "-> .", "src/hollow/": "", "src/nest/ed/": "",
	}
	p := newPlace(t, files)
	in := filetools.CopyFileInput{SourcePath: "src/", DestinationPath: "deep/dst", DryRun: true}
	want := filetools.CopyFileDetails{
		Type: "directory", Source: p.at("src"), Destination: p.at("deep/dst"), Size: 3, FileCount: ptr(2), LinkCount: ptr(3), DryRun: true,
	}
	if diff := cmp.Diff(want, must[filetools.CopyFileDetails](p, filetools.CopyFile(in))); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	p.same(files)
	in.DryRun, want.DryRun = false, false
	if diff := cmp.Diff(want, must[filetools.CopyFileDetails](p, filetools.CopyFile(in))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The predecessor followed links in a tree, and so copied what they lead to.
	maps.Copy(files, map[string]string{
		"deep/dst/a": "1", "deep/dst/sub/b": "22", "deep/dst/sub/up": "-> ../a", "deep/dst/out": "-> /etc/hostname", "deep/dst/loop": "-> .",
		"deep/dst/hollow/": "", "deep/dst/nest/ed/": "",
	})
	p.same(files)
}

// TestCopyDirectoryMerges: the predecessor deleted the destination first, whatever was in it.
func TestCopyDirectoryMerges(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"src/a": "new", "src/sub/b": "new", "src/l": "-> a", "dst/a": "old", "dst/mine": "kept", "dst/sub/other": "kept", "dst/l": "-> mine"})
	d := must[filetools.CopyFileDetails](p, filetools.CopyFile(filetools.CopyFileInput{SourcePath: "src", DestinationPath: "dst", Overwrite: true}))
	want := []filetools.Skipped{{Path: "l", Reason: "the destination exists, and a symbolic link replaces nothing"}}
	if diff := cmp.Diff(want, d.Skipped); diff != "" || *d.FileCount != 2 || *d.LinkCount != 0 {
		t.Errorf("(-want +got):\n%s %+v", diff, d)
	}
	p.same(map[string]string{"src/a": "new", "src/sub/b": "new", "src/l": "-> a", "dst/a": "new", "dst/mine": "kept", "dst/sub/b": "new", "dst/sub/other": "kept", "dst/l": "-> mine"})
}

func TestCopyErrors(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1", "b": "2", "d/x": "", "d/sub/y": "", "e/x": "", "to d": "-> d"}
	p := newPlace(t, files)
	type in = filetools.CopyFileInput
	for name, c := range map[string]struct {
		in   in
		want string
	}{
		"missing":                    {in{SourcePath: "none", DestinationPath: "x"}, "copy none: does not exist"},
		"there already":              {in{SourcePath: "a", DestinationPath: "b"}, "copy to b: it is there already: use overwrite=true"},
		"directory there already":    {in{SourcePath: "d", DestinationPath: "e"}, "copy to e: it is there already"},
		"onto a directory":           {in{SourcePath: "a", DestinationPath: "d", Overwrite: true}, "copy to d: it is a directory: name the file"},
		"a directory onto a file":    {in{SourcePath: "d", DestinationPath: "a", Overwrite: true}, "a directory cannot replace a file"},
		"onto itself":                {in{SourcePath: "a", DestinationPath: "./a", Overwrite: true}, "to itself"},
		"onto itself by a link":      {in{SourcePath: "d", DestinationPath: "to d", Overwrite: true}, "to itself"},
		"into itself":                {in{SourcePath: "d", DestinationPath: "d/sub/copy"}, "into itself"},
		"into itself, not there yet": {in{SourcePath: "d", DestinationPath: "d/p/q/r"}, "into itself"},
		"into itself by a link":      {in{SourcePath: "d", DestinationPath: "to d/copy"}, "into itself"},
		"into itself, absolute":      {in{SourcePath: "d", DestinationPath: p.at("d/copy")}, "into itself"},
		"the workspace into itself":  {in{SourcePath: ".", DestinationPath: "copy"}, "into itself"},
		"no source":                  {in{DestinationPath: "x"}, "source_path: empty"},
		"no destination":             {in{SourcePath: "a"}, "destination_path: empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p.fails(filetools.CopyFile(c.in), c.want)
			p.same(files)
		})
	}
	// What only looks alike is no copy into itself.
	must[filetools.CopyFileDetails](p, filetools.CopyFile(in{SourcePath: "d", DestinationPath: "d2"}))
}

func TestCopyFilesBatch(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/a.py": "1", "src/b.txt": "2", "src/pkg/c.py": "33", "src/pkg/test_c.py": "4", "src/l.py": "-> /etc/hostname", "dst/a.py": "old",
	}
	p := newPlace(t, files)
	in := filetools.CopyFilesBatchInput{
		SourceBasePath: "src", DestinationBasePath: "dst", IncludePatterns: []string{"**/*.py"}, ExcludePatterns: []string{"*test_*"}, DryRun: true,
	}
	want := filetools.CopyFilesBatchDetails{
		CopiedFiles: []filetools.CopiedFile{
			{Source: p.at("src/l.py"), Destination: p.at("dst/l.py"), RelativePath: "l.py", Link: true},
			{Source: p.at("src/pkg/c.py"), Destination: p.at("dst/pkg/c.py"), RelativePath: "pkg/c.py", Size: 2},
		},
		SkippedFiles: []filetools.Skipped{{Path: "a.py", Reason: "the destination exists (use overwrite=true)"}},
		DryRun:       true,
	}
	check := func(want filetools.CopyFilesBatchDetails, counts filetools.CopySummary) {
		t.Helper()
		tool := filetools.CopyFilesBatch(in)
		if diff := cmp.Diff(want, must[filetools.CopyFilesBatchDetails](p, tool), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := tool.Result().Summary; got != counts {
			t.Errorf("summary is %+v, want %+v", got, counts)
		}
	}
	check(want, filetools.CopySummary{Copied: 2, Skipped: 1})
	p.same(files)
	in.DryRun, want.DryRun = false, false
	check(want, filetools.CopySummary{Copied: 2, Skipped: 1})
	maps.Copy(files, map[string]string{"dst/l.py": "-> /etc/hostname", "dst/pkg/c.py": "33"})
	p.same(files)

	in.Overwrite, in.ExcludePatterns = true, []string{"l.py", "*test_*"}
	check(filetools.CopyFilesBatchDetails{CopiedFiles: []filetools.CopiedFile{
		{Source: p.at("src/a.py"), Destination: p.at("dst/a.py"), RelativePath: "a.py", Size: 1},
		{Source: p.at("src/pkg/c.py"), Destination: p.at("dst/pkg/c.py"), RelativePath: "pkg/c.py", Size: 2},
	}}, filetools.CopySummary{Copied: 2})
	files["dst/a.py"] = "1"
	p.same(files)
}

// TestCopyFilesBatchToTheWorkspace: the predecessor's documents promise that, and its code refused it.
func TestCopyFilesBatchToTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"src/a": "1", "src/sub/b": "2"})
	must[filetools.CopyFilesBatchDetails](p, filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "src"}))
	p.same(map[string]string{"src/a": "1", "src/sub/b": "2", "a": "1", "sub/b": "2"})
}

// TestCopyFilesBatchIntoItsSource: what is being made is not copied again.
func TestCopyFilesBatchIntoItsSource(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "1", "sub/b": "2"})
	want := map[string]string{"a": "1", "sub/b": "2", "backup/a": "1", "backup/sub/b": "2"}
	for range 2 {
		must[filetools.CopyFilesBatchDetails](p, filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: ".", DestinationBasePath: "backup", Overwrite: true}))
		p.same(want)
	}
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: ".", DestinationBasePath: "sub/.."}), "the same directory")
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "sub", DestinationBasePath: "a"}), "it is a file, not a directory")
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "none", DestinationBasePath: "x"}), "none: does not exist")
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "a", DestinationBasePath: "x"}), "it is a file, not a directory")
	p.fails(filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{DestinationBasePath: "x"}), "source_base_path: empty")
	p.same(want)
}

func TestCopiesTellWhatFailed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"src/a": "1", "src/b": "2", "all/b": "3", "dst/a/": ""})
	batch := hinder{Tool: filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "src", DestinationBasePath: "x"}), stuck: stuck{names: "/b"}}
	if d := must[filetools.CopyFilesBatchDetails](p, batch); len(d.Errors) != 1 || d.Errors[0] != (filetools.Problem{Path: "b", Error: "permission denied"}) {
		t.Errorf("%+v", d.Errors)
	}
	r := p.fails(hinder{Tool: filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "all", DestinationBasePath: "x"}), stuck: stuck{names: "/b"}}, "none of 1 could be copied")
	if r.Success || r.Summary != (filetools.CopySummary{Errors: 1}) {
		t.Errorf("%+v", r)
	}
	tree := hinder{Tool: filetools.CopyFile(filetools.CopyFileInput{SourcePath: "src", DestinationPath: "y"}), stuck: stuck{names: "/b"}}
	if d := must[filetools.CopyFileDetails](p, tree); len(d.Errors) != 1 || *d.FileCount != 1 {
		t.Errorf("%+v", d)
	}
	p.fails(hinder{Tool: filetools.CopyFile(filetools.CopyFileInput{SourcePath: "all", DestinationPath: "z"}), stuck: stuck{names: "/b"}}, "nothing of it could be copied")
	d := must[filetools.CopyFilesBatchDetails](p, filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "src", DestinationBasePath: "dst", Overwrite: true}))
	if len(d.Errors) != 1 || d.Errors[0].Error != "a directory is in the place of the copy" {
		t.Errorf("%+v", d)
	}
	p.same(map[string]string{"src/a": "1", "src/b": "2", "all/b": "3", "x/a": "1", "y/a": "1", "z/": "", "dst/a/": "", "dst/b": "2"})
}

func TestCopyingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]filetools.Tool{
		"batch": filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "src", DestinationBasePath: "dst"}),
		"tree":  filetools.CopyFile(filetools.CopyFileInput{SourcePath: "src", DestinationPath: "dst"}),
	} {
		p := newPlace(t, map[string]string{"src/a": "", "src/b": "", "src/c": ""})
		ctx, cancel := context.WithCancel(t.Context())
		p.fails(hinder{Tool: tool, stuck: stuck{before: func(string) { cancel() }}, ctx: ctx}, "context canceled")
		if left := p.tree(); len(left) > 4 {
			t.Errorf("%s: made %v", name, left)
		}
	}
}

// TestPipesHoldNothingUp: what is neither file nor directory is not opened.
func TestPipesHoldNothingUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"src/a": "1"})
	makePipe(t, filepath.Join(p.dir, "src", "pipe"))
	p.fails(filetools.ReadFile(filetools.ReadFileInput{Path: "src/pipe"}), "it is a fifo, not a file")
	p.fails(filetools.CopyFile(filetools.CopyFileInput{SourcePath: "src/pipe", DestinationPath: "x"}), "it is a fifo, not a file")
	p.fails(filetools.CompareFiles(filetools.CompareFilesInput{File1: "src/a", File2: "src/pipe"}), "it is a fifo, not a file")
	d := must[filetools.CopyFileDetails](p, filetools.CopyFile(filetools.CopyFileInput{SourcePath: "src", DestinationPath: "dst"}))
	if len(d.Skipped) != 1 || d.Skipped[0].Reason != "it is a fifo, not a file" {
		t.Errorf("%+v", d)
	}
	makePipe(t, filepath.Join(p.dir, "dst", "pipe"))
	c := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "src", Dir2: "dst", ShowContentDiff: true}))
	if len(c.NotCompared) != 1 || c.Counts.Identical != 1 {
		t.Errorf("%+v", c)
	}
	if d := must[filetools.DeleteFileDetails](p, filetools.DeleteFile(filetools.DeleteFileInput{Path: "src/pipe"})); d.Type != "fifo" {
		t.Errorf("%+v", d)
	}
}
