package filetools_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

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

// TestBeyondTheGrants: where policies let a tool work in a place that is not granted (in monitor mode, or by
// a custom set), it does what can be judged by name, and never something else instead.
func TestBeyondTheGrants(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a.txt": "a", "out": "-> ../out"})
	beyond := &place{t: t, dir: filepath.Join(filepath.Dir(p.dir), "out")}
	files := map[string]string{"f.txt": "f", "d/g.txt": "g"}
	beyond.put(files)
	for _, base := range []string{"../out", "out", filepath.Join(beyond.dir, "d")} {
		p.fails(removeAll(base), "cannot be listed")
		p.fails(cloneAll(base, "copy"), "cannot be listed")
		p.fails(clone(base, "copy"), "cannot be listed")
	}
	p.fails(read("../out/none"), "no such file")
	beyond.same(files)
	if got := must[filetools.ReadFileDetails](p, read("../out/f.txt")); got.Content != "f" {
		t.Errorf("%+v", got)
	}
	must[filetools.CopyFileDetails](p, clone("../out/f.txt", "f.txt"))
	must[filetools.CopyFilesBatchDetails](p, filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: ".", DestinationBasePath: "../out/new", IncludePatterns: []string{"a.txt"}}))
	if d := must[filetools.CompareDirectoriesDetails](p, filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "../out", Dir2: "."})); d.Counts.Identical != 1 {
		t.Errorf("%+v", d)
	}
	must[filetools.DeleteFileDetails](p, remove("../out/d"))
	beyond.same(map[string]string{"f.txt": "f", "new/a.txt": "a"})
}

// TestPlanIsRepeatable: a request may be judged before it is sent.
func TestPlanIsRepeatable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"src/a": "1", "src/b": "2"})
	for _, tool := range []filetools.Tool{clone("src", "tree"), cloneAll("src", "batch"), removeAll("batch")} {
		for range 2 {
			if _, err := p.gate.Check(t.Context(), engine.Request{Tool: "t", Operation: tool}); err != nil && !strings.Contains(err.Error(), "does not exist") {
				t.Error(err)
			}
		}
		if _, err := p.try(tool); err != nil {
			t.Error(err)
		}
		switch s := tool.Result().Summary.(type) {
		case filetools.CopySummary:
			if s.Copied != 2 {
				t.Errorf("%+v", s)
			}
		case filetools.DeleteSummary:
			if s.Deleted != 2 {
				t.Errorf("%+v", s)
			}
		}
	}
	p.same(map[string]string{"src/a": "1", "src/b": "2", "tree/a": "1", "tree/b": "2", "batch/": ""})
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

// TestLargeBatchIsJudged: the largest batch that a call may name is judged whole. internal/bench times it.
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
		request := engine.Request{Tool: tool.Result().Operation, Operation: tool}
		out, err := g.gate.Check(t.Context(), request)
		if err != nil || out.Fault != nil || out.Decision.Effect != engine.Allow || len(out.Input.Paths) < 5000 {
			t.Errorf("%s: %v %+v %+v", tool.Result().Operation, err, out.Fault, out.Decision)
		}
	}
}
