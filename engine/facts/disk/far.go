package disk

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/shell"
)

// Walk looks at everything on the ways to some absolute paths, symbolic links followed, and returns it
// by path.
func Walk(files facts.FS, paths []string) map[string]facts.Node {
	v := NewView(files, 0)
	for _, p := range paths {
		real, n := v.Real(p, false)
		if _, looked := v.Nodes[real]; !looked { // something on the way to it is missing
			v.Nodes[real] = n
		}
	}
	found := make(map[string]facts.Node, len(v.Nodes))
	for p, n := range v.Nodes {
		absent := false
		if !n.Exists {
			_, err := files.Lstat(p)
			absent = errors.Is(err, fs.ErrNotExist)
		}
		found[p] = facts.Node{Exists: n.Exists, Absent: absent, Mode: n.Mode, Link: n.Link}
	}
	return found
}

// Foresee looks at the ways to paths in one journey, if each is one.
func (v *View) Foresee(paths ...string) {
	far, ok := v.fs.(facts.Far)
	if !ok {
		return
	}
	var wanted []string
	for _, p := range paths {
		if _, known := v.Nodes[p]; !known && !v.walked[p] {
			v.walked[p] = true
			wanted = append(wanted, p)
		}
	}
	if len(wanted) == 0 {
		return
	}
	v.Know(far.Walk(wanted))
}

// Walked takes the result of a journey that others made.
func (v *View) Walked(w facts.Ways) {
	for _, p := range w.To {
		v.walked[p] = true
	}
	v.Know(w.Nodes)
}

// Know takes nodes from others. The view keeps its own.
func (v *View) Know(nodes map[string]facts.Node) {
	for p, n := range nodes {
		if _, known := v.Nodes[p]; !known {
			v.Nodes[p] = Node{Exists: n.Exists, Absent: n.Absent, Mode: n.Mode, Link: n.Link}
		}
	}
}

// Foresee returns files with the nodes at some paths at this moment, asked for at once if files are far
// away. Other paths are looked up as ever, and up to t.
func Foresee(files facts.FS, paths []facts.Path, t time.Time) facts.FS {
	far, ok := files.(facts.Far)
	if !ok {
		return files
	}
	var reals []string
	for i := range paths {
		if real := paths[i].Real; real != "" && len(reals) < MaxForeseen {
			reals = append(reals, real)
		}
	}
	s := foreseen{FS: far.Until(t)}
	if again, ok := s.FS.(facts.Far); ok && len(reals) > 0 {
		s.nodes = again.Walk(reals)
	}
	return s
}

// Named lists the places that the words of a program may name, relative to a directory, and the directory
// itself: the subjects of the facts about the program.
func Named(dir string, words []string) []string {
	paths := []string{dir, Join(dir, AnyName)}
	for _, w := range words {
		if strings.HasPrefix(w, "-") { // an option, perhaps with a path
			i := strings.IndexByte(w, '/')
			if i < 0 {
				continue
			}
			w = w[i:]
		}
		if w != "" && len(w) < maxName && len(paths) < MaxForeseen {
			paths = append(paths, Absolute(w, shell.Dir{Path: dir, Known: true}))
		}
	}
	return paths
}

// maxName bounds the bytes of a word that may be a path: the kernel takes no longer ones (PATH_MAX).
const maxName = 4096

// foreseen knows some files already.
type foreseen struct {
	facts.FS
	nodes map[string]facts.Node
}

func (s foreseen) Lstat(p string) (fs.FileInfo, error) {
	switch n := s.nodes[p]; {
	case n.Exists:
		return Known(path.Base(p), n.Mode), nil
	case n.Absent:
		return nil, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
	}
	return s.FS.Lstat(p)
}

// Known describes a file of which only the name, the type and the mode are known.
func Known(name string, mode fs.FileMode) fs.FileInfo { return known{name, mode} }

// known is the part of a Node about the file itself.
type known struct {
	name string
	mode fs.FileMode
}

func (k known) Name() string       { return k.name }
func (k known) Size() int64        { return 0 }
func (k known) Mode() fs.FileMode  { return k.mode }
func (k known) ModTime() time.Time { return time.Time{} }
func (k known) IsDir() bool        { return k.mode.IsDir() }
func (k known) Sys() any           { return nil }

// AnyName is the name by which facts look whether a directory may be entered.
const AnyName = "x"

// MaxForeseen bounds the paths of one journey. Further ones are asked for when they are needed.
const MaxForeseen = 500
