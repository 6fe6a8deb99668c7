package facts

import (
	"io/fs"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// Far is an FS whose every answer is a journey, such as that of another machine. It is asked for all
// that can be foreseen at once.
type Far interface {
	FS
	// Walk tells what the function Walk finds there. What it leaves out is asked for one by one.
	Walk(paths []string) map[string]Node
}

// Node is what lies at a path.
type Node struct {
	Exists bool
	Mode   fs.FileMode
	Link   string // target of a symbolic link
}

// Walk looks at everything on the ways to some absolute paths, symbolic links followed, and returns it
// by path.
func Walk(files FS, paths []string) map[string]Node {
	v := newView(files, 0)
	for _, p := range paths {
		v.real(p, false)
	}
	found := make(map[string]Node, len(v.nodes))
	for p, n := range v.nodes {
		found[p] = Node{n.exists, n.mode, n.link}
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
			v.nodes[p] = node{n.Exists, n.Mode, n.Link}
		}
	}
}

// maxForeseen bounds the paths of one journey. What is beyond it is asked for when it is needed.
const maxForeseen = 500

// likely lists what a program will have to be known about: words that may be paths, where they would lie.
func likely(prog *shell.Program) []string {
	var paths []string
	add := func(w shell.Word, dir shell.Dir) {
		if len(paths) < maxForeseen && w.Certainty == shell.Exact && w.Text != "" && !strings.HasPrefix(w.Text, "-") {
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
