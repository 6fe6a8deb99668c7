package facts

import (
	"fmt"
	"io/fs"
	"maps"
)

// granted shows the files that some root grants. It is for reading names before anything is decided,
// so that no answer, not even a refusal, depends on what lies elsewhere.
type granted struct{ b *Builder }

// Granted returns a view of the environment's files that shows the granted roots and what is below
// them. Links are followed as long as they stay there; all else is fs.ErrPermission.
func (b *Builder) Granted() FS { return granted{b} }

// real returns where a path leads, if that is granted. With ofLink a last link is not followed.
func (g granted) real(op, p string, ofLink bool) (string, error) {
	real, _ := g.b.viewOf(fenced{g.b.fs, g.b}, 0).real(g.b.workDir(p), ofLink)
	if g.b.permission(real) == "none" {
		return "", &fs.PathError{Op: op, Path: p, Err: fs.ErrPermission}
	}
	return real, nil
}

func (g granted) Lstat(p string) (fs.FileInfo, error) {
	real, err := g.real("look at", p, true)
	if err != nil {
		return nil, err
	}
	return g.b.fs.Lstat(real)
}

func (g granted) ReadLink(p string) (string, error) {
	real, err := g.real("read link", p, true)
	if err != nil {
		return "", err
	}
	return g.b.fs.ReadLink(real)
}

func (g granted) ReadDir(p string) ([]fs.DirEntry, error) {
	real, err := g.real("list", p, false)
	if err != nil {
		return nil, err
	}
	return g.b.fs.ReadDir(real)
}

func (g granted) ReadFile(p string, limit int) ([]byte, bool, error) {
	if _, err := g.real("read", p, false); err != nil {
		return nil, false, err
	}
	return nil, false, fmt.Errorf("read %s: contents are not shown before a decision: %w", p, fs.ErrPermission)
}

// fenced hides all but granted places and the ways to them, so that a link that passes through some
// other place says nothing about it.
type fenced struct {
	FS
	b *Builder
}

func (f fenced) Lstat(p string) (fs.FileInfo, error) {
	if !f.b.known[p] && f.b.permission(p) == "none" {
		return nil, &fs.PathError{Op: "look at", Path: p, Err: fs.ErrPermission}
	}
	return f.FS.Lstat(p)
}

// waysTo returns every path that has to be looked at to get to some root.
func (b *Builder) waysTo(roots []Root) map[string]bool {
	known := map[string]bool{}
	for i := range roots {
		v := b.viewOf(b.fs, 0)
		v.real(clean(roots[i].Path), false)
		for p := range maps.Keys(v.nodes) {
			known[p] = true
		}
	}
	return known
}
