package confirm

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// judge asks the built-in policies about texts in the fixture. Its zero value allows nothing.
type judge struct {
	mu       sync.Mutex
	policies *rego.Evaluator
	builders map[bool]*build.Builder // by whether the text is for dash
}

func newJudge(t testing.TB) *judge {
	t.Helper()
	e, err := rego.New(context.Background(), rego.Options{
		Bundle: policies.FS(), Tested: true, Revision: policies.Revision(), Timeout: await.Guard,
	})
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{policies: e, builders: map[bool]*build.Builder{}}
	for _, posix := range []bool{false, true} {
		j.builders[posix] = build.NewBuilder(facts.Layout{
			Workspace: Dir, Home: Home, Roots: []facts.Root{{Path: Dir, Write: true, Zone: "workspace"}},
			Temporary: []string{"/tmp", "/var/tmp"}, POSIX: posix,
		}, newMemory(), nil)
	}
	return j
}

// escapes reports a program that runs commands by a language of its own, as sed does: the table of commands says so,
// not the reader of shell text.
func (j *judge) escapes(p Program) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	in := j.builders[p.Sh].Build(facts.Ask{Request: facts.Request{Command: p.Text}, Env: Environment()})
	return slices.ContainsFunc(in.Commands, func(c facts.Command) bool {
		return slices.ContainsFunc([]string{"escape", "loader_env", "hook_env"}, func(f string) bool { return slices.Contains(c.Flags, f) })
	})
}

// allows reports whether the policies let a text run without a question.
func (j *judge) allows(p Program) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	in := j.builders[p.Sh].Build(facts.Ask{Request: facts.Request{Command: p.Text}, Env: Environment()})
	found, err := j.policies.Evaluate(context.Background(), in)
	return err == nil && found.Effect == engine.Allow
}

// memory is the fixture, and the directories of a machine, without a disk.
type memory struct{ files fstest.MapFS }

func newMemory() memory {
	m := memory{fstest.MapFS{}}
	for _, n := range fixture() {
		mode := map[string]fs.FileMode{"dir": fs.ModeDir | 0o755, "link": fs.ModeSymlink | 0o777,
			"run": 0o755, "file": 0o644}
		m.files[m.name(n.path)] = &fstest.MapFile{Data: []byte(n.content), Mode: mode[n.kind]}
	}
	for _, d := range []string{"/tmp", "/usr/bin", "/usr/lib", "/etc", "/dev", "/proc"} {
		m.files[m.name(d)] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	}
	return m
}

func (memory) name(p string) string { return cmp.Or(strings.TrimPrefix(path.Clean(p), "/"), ".") }

func (m memory) Lstat(p string) (fs.FileInfo, error)     { return m.files.Lstat(m.name(p)) }
func (m memory) ReadLink(p string) (string, error)       { return m.files.ReadLink(m.name(p)) }
func (m memory) ReadDir(p string) ([]fs.DirEntry, error) { return m.files.ReadDir(m.name(p)) }
func (m memory) ReadFile(p string, limit int) ([]byte, bool, error) {
	f, err := m.files.Open(m.name(p))
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	return content[:min(len(content), limit)], len(content) <= limit, err
}
