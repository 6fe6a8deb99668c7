package filetools_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

const unread = "deletion/read_before_delete"

func TestReadBeforeDelete(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{"read", "compared1", "compared2", "unread", "batch/1", "batch/2", "dir/1", "dir/sub/2", "replaced", "copied", "documented.py", "part", "seen1/x", "seen2/y"} {
		files["project/"+name] = "old\n"
	}
	g := newGuarded(t, "", files)
	g.refused(remove("unread"), unread)
	g.refused(filetools.DeleteFile(filetools.DeleteFileInput{Path: "unread", DryRun: true}), unread)

	g.allowed(read("read"))
	g.allowed(remove("read"))
	g.allowed(filetools.CompareFiles(filetools.CompareFilesInput{File1: "compared1", File2: "compared2"}))
	g.allowed(remove("compared1"))
	g.allowed(remove("compared2"))
	g.allowed(filetools.ReadFile(filetools.ReadFileInput{Path: "part", LineCount: ptr(1)}))
	g.allowed(remove("part"))

	g.allowed(write("made"))
	g.allowed(remove("made"))
	g.allowed(write("replaced")) // to overwrite a file is not to read it, which the predecessor took for it
	g.refused(remove("replaced"), unread)

	g.refused(removeAll("batch"), unread)
	g.allowed(read("batch/1"))
	g.refused(removeAll("batch"), unread)
	g.allowed(removeAll("batch", "1"))
	g.allowed(read("batch/2"))
	g.allowed(removeAll("batch"))

	g.refused(remove("dir"), unread)
	g.allowed(read("dir/1"))
	g.refused(remove("dir"), unread)
	g.allowed(read("dir/sub/2"))
	g.allowed(remove("dir"))

	// A refused or failed read is none, nor is a dry run; a copy is one, since what was copied is still there.
	rehearsal := filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: "seen1", DestinationBasePath: "x", DryRun: true})
	g.allowed(rehearsal)
	g.allowed(filetools.CopyFile(filetools.CopyFileInput{SourcePath: "seen1/x", DestinationPath: "x", DryRun: true}))
	g.refused(removeAll("seen1"), unread)
	g.allowed(cloneAll("seen1", "x"))
	g.allowed(removeAll("seen1"))
	// Nor is a comparison of directories, even with diffs: it shows parts of many files.
	g.allowed(filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "seen2", Dir2: "x", ShowContentDiff: true}))
	g.refused(remove("seen2"), unread)
	if _, err := g.try(filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "documented.py", FunctionName: "none"})); err == nil {
		t.Error("a function was found in a file without any")
	}
	g.refused(remove("documented.py"), unread)
}

func TestReadBeforeDeleteCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "rules: {deletion/read_before_delete: off}\n", map[string]string{"project/a": "1", "project/b/c": "2", "project/b/d": "3"})
	g.allowed(remove("a"))
	g.allowed(removeAll("b")) // the predecessor's batch ignored the switch
}

func TestGeneratedFilesNeedNoReading(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{
		"project/__pycache__/m.pyc": "1", "project/m.pyc": "2", "project/.pytest_cache/v/cache/x": "3", "project/module.py": "4", "project/pkg/__pycache__/n.pyc": "5",
	})
	g.refused(remove("module.py"), unread)
	g.allowed(remove("__pycache__/m.pyc"))
	g.allowed(remove("m.pyc"))
	g.allowed(remove(".pytest_cache/v/cache/x"))
	g.allowed(remove("pkg")) // it holds nothing else
}

// TestWriteExecuteRead: commands and file tools see the same files, and one memory serves both.
func TestWriteExecuteRead(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"project/seen.txt": "s", "project/unseen.txt": "u"})
	script := filetools.WriteFile(filetools.WriteFileInput{Path: "bin/make.sh", Content: "echo made > made.txt\n"})
	g.allowed(script)
	run := func(command string) engine.Outcome {
		t.Helper()
		out, err := g.gate.Do(t.Context(), engine.Request{Tool: "execute_command", Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := run("sh bin/make.sh && cat seen.txt"); !out.Ran || out.Exit.Code != 0 {
		t.Fatalf("%+v", out)
	}
	if got := g.allowed(read("made.txt")).Details.(*filetools.ReadFileDetails).Content; got != "made\n" {
		t.Errorf("%q", got)
	}
	g.allowed(remove("seen.txt")) // the command has read it
	g.refused(remove("unseen.txt"), unread)
	g.allowed(read("unseen.txt"))
	if out := run("rm unseen.txt"); !out.Ran || out.Exit.Code != 0 { // and the tool this one
		t.Errorf("%+v", out.Decision)
	}
}
