package boundary

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// The list of changes says of each file whether it was there, names removed files first, and leaves out those
// that came and went.
func TestChanged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"gone", "old", "moved"} {
		must(os.WriteFile(at(name), []byte("before"), 0o644))
	}
	b := New(Options{Layout: facts.Layout{Workspace: root, Roots: []facts.Root{{Path: root, Write: true}}}})
	b.Enter()
	defer b.Close()
	must(os.Remove(at("gone")))
	must(os.WriteFile(at("old"), []byte("after"), 0o644))
	must(os.Rename(at("moved"), at("there")))
	must(os.Symlink("old", at("link")))
	must(os.MkdirAll(at("dir/sub"), 0o755))
	must(os.WriteFile(at("dir/sub/tool"), []byte("after"), 0o755))
	must(os.WriteFile(at("brief"), nil, 0o644))
	must(os.Remove(at("brief")))
	b.Leave()
	got := b.Changed()
	for i := range got.List {
		if got.List[i].SHA256 != "" {
			got.List[i].SHA256 = "digest"
		}
	}
	want := engine.Changes{Created: 2, Changed: 1, Written: 1, Removed: 2, Whole: true, List: []engine.Change{
		{Path: at("gone"), What: engine.Removed},
		{Path: at("moved"), What: engine.Removed},
		{Path: at("there"), What: engine.Written, Mode: "-rw-r--r--", Size: 6, SHA256: "digest"},
		{Path: at("old"), What: engine.Changed, Mode: "-rw-r--r--", Size: 5, SHA256: "digest"},
		{Path: at("dir/sub/tool"), What: engine.Created, Mode: "-rwxr-xr-x", Size: 5, SHA256: "digest"},
		{Path: at("link"), What: engine.Created, Mode: "Lrwxrwxrwx", Size: 3, Link: "old"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const line = "removed 2 (gone, moved); written 1 (there); changed 1 (old); " +
		"created 2 (dir/sub/tool [-rwxr-xr-x], link -> old)"
	if s := got.String(root); s != line {
		t.Errorf("got %s", s)
	}
	if again := b.Changed(); len(again.List) > 0 || again.Created > 0 {
		t.Errorf("listed again: %+v", again)
	}
}
