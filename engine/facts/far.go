package facts

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Far is an FS whose every answer is a journey, such as that of another machine. It is asked for all
// that can be foreseen at once.
type Far interface {
	FS
	// Walk tells what the function Walk finds there. What it leaves out is asked for one by one.
	Walk(paths []string) map[string]Node
	// Until returns the same files, which from t on, and not before, are errors at once. Whoever waits for facts
	// must not wait as long as a place that answers slowly likes.
	Until(t time.Time) FS
}

// Node is what lies at a path.
type Node struct {
	Exists bool
	Absent bool // it surely does not exist; with neither, it cannot be told
	Mode   fs.FileMode
	Link   string // target of a symbolic link
}

// Walk looks at everything on the ways to some absolute paths, symbolic links followed, and returns it
// by path.
func Walk(files FS, paths []string) map[string]Node {
	v := newView(files, 0)
	for _, p := range paths {
		real, n := v.real(p, false)
		if _, looked := v.nodes[real]; !looked { // something on the way to it is missing
			v.nodes[real] = n
		}
	}
	found := make(map[string]Node, len(v.nodes))
	for p, n := range v.nodes {
		absent := false
		if !n.exists {
			_, err := files.Lstat(p)
			absent = errors.Is(err, fs.ErrNotExist)
		}
		found[p] = Node{n.exists, absent, n.mode, n.link}
	}
	return found
}

// foresee looks at the ways to paths in one journey, if each is one.
func (v *view) foresee(paths ...string) {
	far, ok := v.fs.(Far)
	if !ok {
		return
	}
	var wanted []string
	for _, p := range paths {
		if _, known := v.nodes[p]; !known && !v.walked[p] {
			v.walked[p] = true
			wanted = append(wanted, p)
		}
	}
	if len(wanted) == 0 {
		return
	}
	for p, n := range far.Walk(wanted) {
		if _, known := v.nodes[p]; !known {
			v.nodes[p] = node{exists: n.Exists, mode: n.Mode, link: n.Link}
		}
	}
}

// Until returns a builder that gives up on files far away after t. What is not known by then is missing
// in its inputs: whoever uses one that was finished after t takes it for nothing.
func (b *Builder) Until(t time.Time) *Builder {
	far, ok := b.fs.(Far)
	if !ok {
		return b
	}
	c := *b
	c.fs = far.Until(t)
	return &c
}

// Foresee returns files with what lies at some paths at this moment, asked for at once if files are far
// away. What else is asked for is looked up as ever, and up to t.
func Foresee(files FS, paths []Path, t time.Time) FS {
	far, ok := files.(Far)
	if !ok {
		return files
	}
	var reals []string
	for i := range paths {
		if real := paths[i].Real; real != "" && len(reals) < maxForeseen {
			reals = append(reals, real)
		}
	}
	s := foreseen{FS: far.Until(t)}
	if again, ok := s.FS.(Far); ok && len(reals) > 0 {
		s.nodes = again.Walk(reals)
	}
	return s
}

// foreseen knows some files already.
type foreseen struct {
	FS
	nodes map[string]Node
}

func (s foreseen) Lstat(p string) (fs.FileInfo, error) {
	switch n := s.nodes[p]; {
	case n.Exists:
		return known{path.Base(p), n.Mode}, nil
	case n.Absent:
		return nil, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
	}
	return s.FS.Lstat(p)
}

// known is what a Node tells of a file: its type and mode.
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

// maxForeseen bounds the paths of one journey. What is beyond it is asked for when it is needed.
const maxForeseen = 500

// likely lists what a program will have to be known about: words that may be paths, where they would lie.
func likely(prog *shell.Program) []string {
	var paths []string
	add := func(w value.Word, dir shell.Dir) {
		if len(paths) < maxForeseen && w.Certainty == value.Exact && w.Text != "" && !strings.HasPrefix(w.Text, "-") {
			if p := absolute(w.Text, dir); p != "" {
				paths = append(paths, p)
			}
		}
	}
	for i := range prog.Commands {
		c := &prog.Commands[i]
		for _, w := range c.Words[min(1, len(c.Words)):] {
			add(w, c.Dir)
		}
		for _, r := range c.Redirects {
			if r.Mode != shell.RedirectDup && r.Mode != shell.RedirectHere {
				add(r.Target, c.Dir)
			}
		}
	}
	return paths
}
