package filetools_test

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/plugins"
)

// guarded is a workspace in which the real policies judge. Its home is around it:
//
//	home/project   the workspace
//	home/lib       granted to write, but for lib/protected
//	home/doc       granted to read
//	home/one.txt   granted to write, by itself
//	home/other     not granted
type guarded struct {
	*place
	home string
	all  *place // sees the whole home
}

const grants = `
paths:
  - {path: home/lib, access: write, protected: [protected, protected.txt]}
  - {path: home/doc, access: read}
  - {path: home/one.txt, access: write}
`

// newGuarded makes files in the home; the configuration is added to the grants.
func newGuarded(t *testing.T, more string, files map[string]string) *guarded {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{home: filepath.Join(root, "home")}
	g.all = &place{t: t, dir: g.home}
	g.all.put(map[string]string{"project/": "", "lib/": "", "doc/": "", "other/": "", "one.txt": "one", "two.txt": "two"})
	g.all.put(files)
	l, err := config.Parse("version: 1\nworkspace: home/project\n"+grants+more, filepath.Join(root, "c.yaml"), "--config", config.Host{
		Dir: root, Home: g.home, Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	g.place = &place{t: t, dir: filepath.Join(g.home, "project"), gate: s}
	return g
}

// refused sends a call that policies refuse, for one of the rules, and that changes nothing.
func (g *guarded) refused(tool filetools.Tool, rules ...string) {
	g.t.Helper()
	before := g.all.tree()
	name := tool.Result().Operation
	out, err := g.gate.Do(g.t.Context(), engine.Request{Tool: name, Operation: tool})
	switch {
	case err != nil:
		g.t.Errorf("%s: %v", name, err)
		return
	case out.Ran || out.Fault != nil || out.Decision.Effect == engine.Allow:
		g.t.Errorf("%s: not refused: %+v %v", name, out.Decision, out.Fault)
	}
	for _, r := range out.Decision.Reasons {
		for _, rule := range rules {
			if r.Rule == rule {
				rules = nil
				break
			}
		}
	}
	if rules != nil {
		g.t.Errorf("%s: refused, and not by %v: %+v", name, rules, out.Decision.Reasons)
	}
	if !maps.Equal(before, g.all.tree()) {
		g.t.Errorf("%s: it was refused, and files changed", name)
	}
}

// allowed sends a call that policies let pass.
func (g *guarded) allowed(tool filetools.Tool) filetools.Result {
	g.t.Helper()
	r, err := g.try(tool)
	if err != nil {
		g.t.Errorf("%s: %v", r.Operation, err)
	}
	return r
}

func read(path string) filetools.Tool {
	return filetools.ReadFile(filetools.ReadFileInput{Path: path})
}

func write(path string) filetools.Tool {
	return filetools.WriteFile(filetools.WriteFileInput{Path: path, Content: "new"})
}

func remove(path string) filetools.Tool {
	return filetools.DeleteFile(filetools.DeleteFileInput{Path: path, Recursive: true})
}

func removeAll(base string, include ...string) filetools.Tool {
	return filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: base, IncludePatterns: include})
}

func clone(from, to string) filetools.Tool {
	return filetools.CopyFile(filetools.CopyFileInput{SourcePath: from, DestinationPath: to, Overwrite: true})
}

func cloneAll(from, to string) filetools.Tool {
	return filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: from, DestinationBasePath: to, Overwrite: true})
}

const outside = "paths/tool_outside"

func TestNothingOutsideTheGrantedPlaces(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"other/secret.txt": "s", "other/dir/x": "", "project/a.txt": "a", "project/out": "-> ../other", "project/out.txt": "-> ../other/secret.txt"})
	for _, path := range []string{"../other/secret.txt", filepath.Join(g.home, "other", "secret.txt"), "out/secret.txt", "out.txt", "../other/missing.txt", "../other/missing/x", "../two.txt"} {
		g.refused(read(path), outside)
		g.refused(write(path), outside)
		g.refused(clone("a.txt", path), outside)
		g.refused(clone(path, "b.txt"), outside)
		g.refused(filetools.CompareFiles(filetools.CompareFilesInput{File1: "a.txt", File2: path}), outside)
		g.refused(filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: path}), outside)
		if path != "out.txt" { // the link itself lies in the workspace
			g.refused(remove(path), outside)
		}
	}
	for _, path := range []string{"../other", "../other/dir", "out", "/etc", "/"} {
		g.refused(filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: ".", Dir2: path}), outside)
		g.refused(removeAll(path), outside)
		g.refused(cloneAll(path, "copy"), outside)
		if path != "/" && path != "/etc" {
			g.refused(cloneAll(".", path), outside)
		}
	}
	g.refused(cloneAll("a.txt/..", "/etc"), outside)

	// All of it works where something is granted.
	g.allowed(read("a.txt"))
	g.allowed(clone("a.txt", "b.txt"))
	g.allowed(filetools.CompareFiles(filetools.CompareFilesInput{File1: "a.txt", File2: "b.txt"}))
	g.allowed(cloneAll("../doc", "copy"))
	g.allowed(remove("out.txt"))
	if got := g.all.tree()["other/secret.txt"]; got != "s" {
		t.Errorf("the target of the link is %q", got)
	}
}

func TestContextPaths(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"doc/a.md": "a", "doc/sub/b.md": "b", "lib/c.go": "c", "project/d.txt": "d"})
	readOnly := "paths/write_read_only"
	g.allowed(read("../doc/a.md"))
	g.allowed(clone("../doc/a.md", "from-doc.md")) // from a read-only place is only reading it
	g.allowed(cloneAll("../doc", "docs"))
	g.refused(write("../doc/a.md"), readOnly)
	g.refused(write("../doc/new.md"), readOnly)
	g.refused(remove("../doc/a.md"), readOnly)
	g.refused(remove("../doc/sub"), readOnly)
	g.refused(removeAll("../doc"), readOnly)
	g.refused(clone("d.txt", "../doc/d.txt"), readOnly)
	g.refused(cloneAll("docs", "../doc"), readOnly)
	g.refused(clone("docs", "../doc/more"), readOnly)

	g.allowed(write("../lib/new.go"))
	g.allowed(clone("d.txt", "../lib/d.txt"))
	g.allowed(read("../lib/c.go"))
	g.allowed(remove("../lib/c.go"))
	g.allowed(remove("../lib/new.go"))
}

func TestFileContextPaths(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"project/a.txt": "a"})
	g.allowed(read("../one.txt"))
	g.allowed(write("../one.txt"))
	g.refused(read("../two.txt"), outside) // a sibling
	g.refused(write("../two.txt"), outside)
	g.refused(remove("../two.txt"), outside)
	g.refused(clone("a.txt", "../two.txt"), outside)
	g.refused(removeAll(".."), outside) // the parent
	g.refused(remove("../one.txt"), "deletion/tool_critical", "deletion/permission_root")
}

func TestProtectedPaths(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"lib/protected/x": "x", "lib/protected/deep/y": "y", "lib/protected.txt": "p", "lib/free.txt": "f", "project/a/x": "a"})
	protected := "paths/protected"
	for _, path := range []string{"../lib/protected.txt", "../lib/protected/x", "../lib/protected/deep/y", filepath.Join(g.home, "lib", "protected", "x")} {
		g.allowed(read(path))
		g.refused(write(path), protected)
		g.refused(remove(path), protected)
	}
	g.refused(remove("../lib/protected"), protected)
	g.refused(removeAll("../lib"), protected)
	g.refused(cloneAll("a", "../lib/protected"), protected)
	g.refused(clone("a", "../lib/protected"), protected)
	g.allowed(write("../lib/free.txt"))
	// A tree may be merged around what is protected as long as it writes nothing there.
	g.allowed(clone("a", "../lib"))
}

func TestWhatAProjectKeeps(t *testing.T) {
	t.Parallel()
	critical := "deletion/tool_critical"
	g := newGuarded(t, "", map[string]string{
		"project/.git/HEAD": "ref", "project/app/.env": "A=1", "project/app/main.py": "", "project/.massgen/workspaces/a/f.txt": "",
		"project/node_modules/m/i.js": "", "project/__pycache__/x.pyc": "", "project/src/a.pyc": "",
	})
	for _, path := range []string{".git", ".git/HEAD", "app/.env", "app", ".massgen", ".", "../lib", "../project"} {
		g.refused(remove(path), critical)
	}
	g.refused(removeAll("."), critical)
	g.refused(removeAll("app", "*"), critical)
	g.refused(removeAll(".git", "HEAD"), critical)
	// What tools make again may go: the predecessor exempted it from reading and then refused it by name.
	g.allowed(remove("node_modules"))
	g.allowed(remove("__pycache__"))
	g.allowed(removeAll(".", "*.pyc"))
}

func TestWorkspaceBelowMassgen(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "  - {path: home/.massgen/workspaces/w, access: write}\n", map[string]string{".massgen/workspaces/w/out.txt": "x", ".massgen/workspaces/w/.env": "A=1"})
	g.allowed(read("../.massgen/workspaces/w/out.txt"))
	g.allowed(remove("../.massgen/workspaces/w/out.txt"))
	g.refused(remove("../.massgen/workspaces/w/.env"), "deletion/tool_critical")
	g.refused(remove("../.massgen/workspaces/w"), "deletion/tool_critical")
}

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

// TestDeepestPlaceWins: a place inside another is what it was granted as, whatever is around it.
func TestDeepestPlaceWins(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "  - {path: home/doc/drafts, access: write}\n  - {path: home/project/fixed, access: read}\n", map[string]string{
		"doc/a": "", "doc/drafts/b": "", "project/fixed/c": "", "project/fixed2/d": "",
	})
	g.refused(write("../doc/a"), "paths/write_read_only")
	g.allowed(write("../doc/drafts/b"))
	g.allowed(write("../doc/drafts/new/deep"))
	g.refused(write("fixed/c"), "paths/write_read_only")
	g.allowed(write("fixed2/d"))
	g.refused(cloneAll("fixed2", "fixed"), "paths/write_read_only")
	g.refused(removeAll("../doc", "*/b"), unread) // only what goes is judged, and that may be written
	g.allowed(read("../doc/drafts/b"))
	g.allowed(removeAll("../doc", "*/b"))
}

// TestInternalsOfContextPaths: the predecessor made caches and packages read-only as well, which only kept
// agents from building; what a project keeps is asked about, and here there is nobody to ask.
func TestInternalsOfContextPaths(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"lib/.git/config": "", "lib/.env": ""})
	for _, path := range []string{"../lib/.env", "../lib/.git/config", "../lib/.massgen/state"} {
		g.refused(write(path), "paths/tool_internals", "git/hooks", "git/config_exec")
	}
	for _, path := range []string{"../lib/src/main.py", "../lib/README.md", "../lib/config.yaml", "../lib/node_modules/m/i.js", "../lib/__pycache__/x.pyc"} {
		g.allowed(write(path))
	}
	g.allowed(write(".env")) // the workspace is the agent's own
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

// TestALinkThatComesBetweenIsNotFollowed: a directory becomes a link while a batch is under way.
func TestALinkThatComesBetweenIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]filetools.Tool{
		"copy batch": cloneAll("src", "dst"), "copy tree": clone("src", "dst"), "delete batch": removeAll("dst"), "delete tree": remove("dst"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"other/2": "outside", "other/sub/3": "outside"}
			for _, f := range []string{"src/1", "src/sub/2", "src/sub/sub/3", "dst/1", "dst/sub/2", "dst/sub/sub/3"} {
				files["project/"+f] = "inside"
			}
			g := newGuarded(t, "rules: {deletion/read_before_delete: off}\n", files)
			swapped := false
			swap := func(string) {
				if swapped {
					return
				}
				swapped = true
				sub := filepath.Join(g.dir, "dst", "sub")
				if err := os.Rename(sub, sub+"-away"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(g.home, "other"), sub); err != nil {
					t.Fatal(err)
				}
			}
			out, err := g.gate.Do(t.Context(), engine.Request{Tool: "t", Operation: hinder{Tool: tool, stuck: stuck{before: swap}}})
			if err != nil || !out.Ran || !swapped {
				t.Fatalf("%v %+v", err, out.Decision)
			}
			after := g.all.tree()
			if after["other/2"] != "outside" || after["other/sub/3"] != "outside" || len(after["other/1"]) > 0 {
				t.Errorf("it reached through the link: %v", after)
			}
			if _, inside := after["other/sub/2"]; inside {
				t.Errorf("it wrote through the link: %v", after)
			}
		})
	}
}

// TestLinksAreJudgedWhereTheyLead: between the decision and the run the way must not change either.
func TestLinksAreJudgedWhereTheyLead(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"project/src/a": "a", "project/src/out": "-> ../../other", "other/secret": "s", "project/to-doc": "-> ../doc", "doc/d": "d"})
	g.refused(write("to-doc/new"), "paths/write_read_only")
	g.refused(cloneAll("src", "to-doc"), "paths/write_read_only")
	g.allowed(clone("src", "copy"))
	if got := g.tree()["copy/out"]; got != "-> ../../other" {
		t.Errorf("the copied link is %q", got)
	}
	r := g.allowed(filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "src", Dir2: "copy", ShowContentDiff: true}))
	if c := r.Details.(*filetools.CompareDirectoriesDetails).Counts; c != (filetools.CompareCounts{Identical: 2}) {
		t.Errorf("%+v", c)
	}
	g.allowed(read("src/a"))
	g.allowed(remove("src")) // with the link, and not with what it leads to
	if g.all.tree()["other/secret"] != "s" {
		t.Error("a link was followed")
	}
}

// TestErrorsTellNothingOfOtherPlaces: what is not granted is refused alike, be it there or not.
func TestErrorsTellNothingOfOtherPlaces(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"other/there/x": "1"})
	for _, make := range []func(string) filetools.Tool{read, remove, func(p string) filetools.Tool { return removeAll(p) }, func(p string) filetools.Tool { return cloneAll(p, "c") }, func(p string) filetools.Tool { return clone(p, "c") }} {
		var said []string
		for _, path := range []string{"../other/there", "../other/none", "../other/there/x"} {
			out, err := g.gate.Do(t.Context(), engine.Request{Tool: "t", Operation: make(path)})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			text := ""
			for _, r := range out.Decision.Reasons {
				text += r.Rule + ": " + strings.ReplaceAll(r.Message, filepath.Base(path), "NAME") + "\n"
			}
			said = append(said, strings.ReplaceAll(text, "there/NAME", "NAME"))
		}
		for _, s := range said {
			if s != said[0] {
				t.Errorf("%q and %q", said[0], s)
			}
		}
	}
}

// TestLargeBatchIsJudged: the largest batch that a call may name is judged within the limit of a judgement.
func TestLargeBatchIsJudged(t *testing.T) {
	g := newGuarded(t, "rules: {deletion/read_before_delete: off}\n", nil)
	for i := range 50 {
		dir := filepath.Join(g.dir, "logs", strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(j)+".txt"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tool := range []filetools.Tool{cloneAll("logs", "copy"), removeAll("logs")} {
		start := time.Now()
		out, err := g.gate.Do(t.Context(), engine.Request{Tool: tool.Result().Operation, Operation: tool})
		if err != nil || out.Fault != nil || out.Exit.Error != nil || !tool.Result().Success {
			t.Errorf("%s: %v %+v %v", tool.Result().Operation, err, out.Fault, out.Exit.Error)
		}
		t.Logf("%s of 5,000 files: judged in %v, done in %v", tool.Result().Operation, time.Duration(out.Decision.ElapsedUS)*time.Microsecond, time.Since(start))
	}
}
