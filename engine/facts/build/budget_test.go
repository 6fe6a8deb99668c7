package build

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestBudget holds that a big tree is not walked to its end, and that what is not seen counts.
func TestBudget(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 90 {
		for j := range 90 {
			list.WriteString(testWS + "/big/d" + string(rune('A'+i)) + "/f" + string(rune('A'+j)) + "\n")
		}
	}
	files := newMemFS(list.String())
	seen := fakeHistory{seen: map[string]string{}}
	for p := range files {
		seen.seen[p] = "read"
	}
	counted := &countFS{FS: files}
	in := NewBuilder(testLayout(), counted, seen).Build(testAsk("rm -rf big"))
	if u := in.Paths[0].Unread; u.Count != 1 || len(u.Examples) != 0 {
		t.Errorf("unread is %+v, want one for what was not looked at", u)
	}
	if counted.dirs > 60 {
		t.Errorf("%d directories were read", counted.dirs)
	}
	in = NewBuilder(testLayout(), files, seen).Build(testAsk("rm big/dA/*"))
	if u := in.Paths[0].Unread; u.Count != 0 {
		t.Errorf("unread is %+v, want none: all 90 were read", u)
	}
}

type countFS struct {
	facts.FS
	dirs int
}

func (c *countFS) ReadDir(p string) ([]fs.DirEntry, error) {
	c.dirs++
	return c.FS.ReadDir(p)
}

func TestManyMatches(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range maxMatches + 50 {
		list.WriteString(testWS + "/m/f" + string(rune('A'+i)) + "\n")
	}
	in := NewBuilder(testLayout(), newMemFS(list.String()), nil).Build(testAsk("rm -r m/*"))
	if u := in.Paths[0].Unread; u.Count != maxMatches+1 {
		t.Errorf("%d unread, want the %d that were looked at and one for the rest", u.Count, maxMatches)
	}
}
