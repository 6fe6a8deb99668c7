//go:build !linux

package changes

import "io/fs"

// Watch does not watch on this system: its lists are never whole.
type Watch struct{}

// Open begins to watch.
func Open(roots []string, each func(dir string, entries []fs.DirEntry)) *Watch {
	if each != nil {
		Walk(roots, each)
	}
	return &Watch{}
}

// Touched returns no names, and false.
func (w *Watch) Touched() (names []Touch, whole bool) { return nil, false }

// Sees reports false: some changes are not seen.
func (w *Watch) Sees() bool { return false }

// Size returns that no directory is watched.
func (w *Watch) Size() (directories, limit int) { return 0, 0 }

// Close ends the watch.
func (w *Watch) Close() error { return nil }
