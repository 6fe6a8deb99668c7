package filetools_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// place is a workspace with a gate in front of it.
type place struct {
	t    *testing.T
	dir  string // of the workspace, without links
	gate *engine.Gate
}

// allow lets everything pass, and remembers what it was asked.
type allow struct{ last *facts.Input }

func (*allow) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "allow"} }

func (a *allow) Evaluate(_ context.Context, in *facts.Input) (engine.Judgement, error) {
	a.last = in
	return engine.Judgement{Effect: engine.Allow}, nil
}

type forgetful struct{}

func (forgetful) Record(context.Context, engine.Record) error { return nil }

// newPlace makes a workspace of files; a name with a slash at its end is a directory, a content that
// starts with "-> " a symbolic link.
func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(root, "ws")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.put(files)
	runner, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.gate, err = engine.New(engine.Options{
		Layout:     facts.Layout{Workspace: p.dir, Roots: []facts.Root{{Path: p.dir, Write: true, Zone: "workspace"}}},
		Evaluators: []engine.Evaluator{&allow{}},
		Runner:     runner,
		Recorder:   forgetful{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.gate.Close() })
	return p
}

func (p *place) put(files map[string]string) {
	p.t.Helper()
	for name, content := range files {
		at := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			p.t.Fatal(err)
		}
		var err error
		switch {
		case name[len(name)-1] == '/':
			err = os.MkdirAll(at, 0o755)
		case len(content) > 3 && content[:3] == "-> ":
			err = os.Symlink(content[3:], at)
		default:
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestSmoke(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\n", "d/b.py": "def f(): 'x'\n", "d/e/c.txt": "c", "l": "-> a.txt"})
	five := 5
	_ = five
	for _, tool := range []filetools.Tool{
		filetools.ReadFile(filetools.ReadFileInput{Path: "a.txt", Offset: 1}),
		filetools.WriteFile(filetools.WriteFileInput{Path: "n/x.txt", Content: "one\nthree\n"}),
		filetools.CompareFiles(filetools.CompareFilesInput{File1: "a.txt", File2: "n/x.txt"}),
		filetools.CopyFile(filetools.CopyFileInput{SourcePath: "d", DestinationPath: "d2"}),
		filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "d", Dir2: "n", ShowContentDiff: true}),
		filetools.ReadDocstring(filetools.ReadDocstringInput{FilePath: "d/b.py", FunctionName: "f"}),
		filetools.CopyFilesBatch(filetools.CopyFilesBatchInput{SourceBasePath: ".", DestinationBasePath: "copy"}),
		filetools.DeleteFilesBatch(filetools.DeleteFilesBatchInput{BasePath: "copy", IncludePatterns: []string{"d/*"}}),
		filetools.DeleteFile(filetools.DeleteFileInput{Path: "copy", Recursive: true}),
	} {
		out, err := p.gate.Do(t.Context(), engine.Request{Tool: tool.Result().Operation, Operation: tool})
		if err != nil {
			t.Error(err)
			continue
		}
		r := tool.Result()
		t.Logf("%s ran=%v err=%v success=%v summary=%+v details=%+v", r.Operation, out.Ran, out.Exit.Error, r.Success, r.Summary, r.Details)
	}
}
