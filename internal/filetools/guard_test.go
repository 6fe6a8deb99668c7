package filetools_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/filetools"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/policies/precompiled"
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
	l, err := config.Parse("version: 1\nworkspace: home/project\nlocal: {sandbox: none}\n"+grants+more, filepath.Join(root, "c.yaml"), "--config", config.Host{
		Dir: root, Home: g.home, Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	precompiled.Into(t, l.CompiledDir())
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{Version: "test", Judge: await.Guard})
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
