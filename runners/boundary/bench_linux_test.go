package boundary

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// tree makes a root of 100,000 files in 5,000 directories.
func tree(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	for d := range 5000 {
		dir := filepath.Join(root, strconv.Itoa(d%70), strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(filepath.Join(dir, "f"+strconv.Itoa(f)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	return root
}

// BenchmarkEnter measures the first command in a tree of 100,000 files (enter), the only command of a further
// session with a kept boundary (again), and one that changes ten of the files (leave), beside a walk that
// reads each directory and describes each file.
func BenchmarkEnter(b *testing.B) {
	root := tree(b)
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			if err := filepath.Walk(root, func(string, os.FileInfo, error) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	layout := facts.Layout{Workspace: root, Roots: []facts.Root{{Path: root, Write: true}}}
	b.Run("enter", func(b *testing.B) {
		for b.Loop() {
			w := New(Options{Layout: layout})
			w.Enter()
			b.StopTimer()
			w.Leave()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("again", func(b *testing.B) {
		var p Pool
		defer p.Close()
		session := func() {
			w := p.New(Options{Layout: layout, Once: true})
			w.Enter()
			w.Leave()
			w.Close()
		}
		session()
		for b.Loop() {
			session()
		}
	})
	b.Run("leave", func(b *testing.B) {
		w := New(Options{Layout: layout})
		w.Enter()
		defer w.Close()
		for b.Loop() {
			for f := range 10 {
				p := filepath.Join(root, strconv.Itoa(f), strconv.Itoa(f), "f1")
				if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			w.Leave()
			w.Enter()
		}
	})
}
