package filetools_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// place is a workspace with a gate in front of it.
type place struct {
	t    *testing.T
	dir  string // of the workspace, without links
	gate interface {
		Do(context.Context, engine.Request) (engine.Outcome, error)
		Check(context.Context, engine.Request) (engine.Outcome, error)
	}
	asked *allow // what a policy saw; nil where real ones judge
}

// allow lets everything pass, and remembers what it was asked.
type allow struct{ last *facts.Input }

func (*allow) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "allow"} }

func (a *allow) Evaluate(_ context.Context, in *facts.Input) (engine.Judgement, error) {
	a.last = in
	return engine.Judgement{Effect: engine.Allow}, nil
}

type forgetful struct{}

func (forgetful) Record(context.Context, ...engine.Record) error { return nil }

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
	p.asked = &allow{}
	gate, err := engine.New(engine.Options{
		Layout:     facts.Layout{Workspace: p.dir, Roots: []facts.Root{{Path: p.dir, Write: true, Zone: "workspace"}}},
		Evaluators: []engine.Evaluator{p.asked},
		Runner:     runner,
		Recorder:   forgetful{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	p.gate = gate
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

// try sends a call through the gate. The error is that of the request, or of the run.
func (p *place) try(tool filetools.Tool) (filetools.Result, error) {
	p.t.Helper()
	out, err := p.gate.Do(p.t.Context(), engine.Request{Tool: tool.Result().Operation, Operation: tool})
	switch {
	case err != nil:
	case !out.Ran:
		p.t.Fatalf("%s did not run: %+v %+v", tool.Result().Operation, out.Decision, out.Fault)
	default:
		err = out.Exit.Error
	}
	r := tool.Result()
	if r.Success != (err == nil) {
		p.t.Errorf("%s: success is %v, and the error %v", r.Operation, r.Success, err)
	}
	return r, err
}

// must is try where nothing goes wrong. It returns the details.
func must[Details any](p *place, tool filetools.Tool) Details {
	p.t.Helper()
	r, err := p.try(tool)
	if err != nil {
		p.t.Fatal(err)
	}
	d, ok := r.Details.(*Details)
	if !ok {
		p.t.Fatalf("%s: details are a %T", r.Operation, r.Details)
	}
	return *d
}

// fails is try where the error says all of want.
func (p *place) fails(tool filetools.Tool, want ...string) filetools.Result {
	p.t.Helper()
	r, err := p.try(tool)
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			p.t.Errorf("%s: error %v, want %q", r.Operation, err, w)
		}
	}
	return r
}

// tree lists what is in the workspace as newPlace takes it, directories only when they are empty.
func (p *place) tree() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.dir, func(at string, d os.DirEntry, err error) error {
		if err != nil || at == p.dir {
			return err
		}
		name, _ := filepath.Rel(p.dir, at)
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir():
			if entries, _ := os.ReadDir(at); len(entries) == 0 {
				out[name+"/"] = ""
			}
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(at)
			out[name] = "-> " + target
			return err
		case d.Type().IsRegular():
			content, err := os.ReadFile(at)
			out[name] = string(content)
			return err
		default:
			out[name] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *place) same(want map[string]string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.tree()); diff != "" {
		p.t.Errorf("files (-want +got):\n%s", diff)
	}
}

// at is a path in the workspace as results have it.
func (p *place) at(name string) string { return filepath.ToSlash(filepath.Join(p.dir, name)) }

func ptr[T any](v T) *T { return &v }
