// Package changes names the files below some directories of this machine that changed.
//
// On Linux, inotify(7) watches each directory, and only names that were touched are looked at: ten changes
// among 100,000 files cost ten looks. The kernel does not report a write through a hard link that lies
// outside of the directories, and drops events when its queue is full; Touched then says that its list is
// not whole, and Walk visits everything. Elsewhere no list is whole.
//
// The package neither judges a change nor knows its author.
package changes

import (
	"io/fs"
	"path/filepath"
)

// maxNames bounds the names that a Watch keeps between two calls of Touched.
const maxNames = 200_000

// Before says whether a file was there before it was touched.
type Before int

const (
	Unknown Before = iota // something was moved to its name
	Absent
	Present
)

// Touch is a name that was touched.
type Touch struct {
	Path   string
	Before Before
}

// Walk visits each directory below roots with its entries, an outer one before those in it. It follows no
// symbolic link and passes over directories that List cannot read.
func Walk(roots []string, each func(dir string, entries []fs.DirEntry)) {
	queue := append([]string{}, roots...)
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		entries := List(dir)
		each(dir, entries)
		for _, e := range entries {
			if e.IsDir() {
				queue = append(queue, filepath.Join(dir, e.Name()))
			}
		}
	}
}

// List returns the entries of a directory in no order; none if it cannot be read. One that its owner may
// enter but not list hides no file from a program that knows the name: on Linux, its owner may list it
// afterwards.
func List(dir string) (entries []fs.DirEntry) {
	_ = listable(dir, func() error {
		f, err := openDirectory(dir)
		if err != nil {
			return err
		}
		defer f.Close()
		entries, err = f.ReadDir(-1)
		return err
	})
	return entries
}

// Outermost drops directories that lie in another one of the list.
func Outermost(roots []string) []string {
	var out []string
	for i, r := range roots {
		inner := false
		for j, o := range roots {
			inner = inner || i != j && (Within(r, o) && (r != o || i > j))
		}
		if !inner {
			out = append(out, r)
		}
	}
	return out
}

// Within reports a path that is a directory or lies below it. It looks at no file.
func Within(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}
