package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// renamed is a new name of what the text moved.
type renamed struct{ from, to string } // real paths

// before is where what lies at a place was before the text moved it there: what was not read under its old name
// is not known under the new one.
func (w *build) before(p string) string {
	for _, m := range slices.Backward(w.moved) {
		if within(p, m.to) {
			p = m.from + strings.TrimPrefix(p, m.to)
		}
	}
	return p
}

// moves notes the new names of what a command moves: later commands of the text may delete it under these.
func (w *build) moves(from []*spot, made []*spot) {
	if len(made) != 1 || made[0].certainty != shell.Exact || made[0].glob || made[0].real == "" {
		return
	}
	to := made[0]
	for _, s := range from {
		for _, p := range s.targets {
			at := to.real
			if to.node.mode.IsDir() {
				at = join(at, path.Base(p))
			}
			w.moved = append(w.moved, renamed{w.before(p), at})
		}
	}
}

// links lets later commands of the text see the links that ln makes: what they reach through one lies elsewhere.
// A hard link is seen as one, too: what is written through either is the same file.
func (w *build) links(c *call, targets []touch, made []*spot) {
	if len(made) != 1 || made[0].certainty != shell.Exact || made[0].glob || made[0].real == "" {
		return
	}
	symbolic, as := c.has("s", "symbolic"), made[0]
	dir, there := w.view.real(as.path, c.has("n", "no-dereference") || c.has("T", "no-target-directory"))
	for _, t := range targets {
		if t.word.Certainty != shell.Exact || t.word.Glob || t.word.Text == "" {
			continue
		}
		at, taken := as.real, as.node
		if there.exists && there.mode.IsDir() {
			at = join(dir, path.Base(t.word.Text))
			taken = w.view.look(at)
		}
		if taken.exists && !c.has("f", "force") {
			continue // ln fails
		}
		target := t.word.Text
		if !symbolic {
			target = absolute(target, c.dir)
		}
		if target != "" {
			w.view.make(at, node{exists: true, mode: fs.ModeSymlink | 0o777, link: target})
		}
	}
}

// copiesLinks lets later commands see the links that cp copies as links.
func (w *build) copiesLinks(from []touch, made []*spot) {
	if len(made) != 1 || made[0].certainty != shell.Exact || made[0].glob || made[0].real == "" {
		return
	}
	for _, t := range from {
		abs := absolute(t.word.Text, t.dir)
		if t.word.Certainty != shell.Exact || t.word.Glob || abs == "" {
			continue
		}
		p, n := w.view.real(abs, true)
		if n.mode&fs.ModeSymlink == 0 {
			continue
		}
		at := made[0].real
		if made[0].node.mode.IsDir() {
			at = join(at, path.Base(p))
		}
		w.view.make(at, n)
	}
}

// make lets a look find something new, and the directories that it needs: the text may have made these, too.
func (v *view) make(p string, n node) {
	v.nodes[p] = n
	above, name := parent(p)
	if entries, _ := v.list(above); !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
		v.dirs[above] = append(slices.Clip(entries), madeEntry{name, n.mode})
	}
	for dir, _ := parent(p); dir != volume(p) && !v.look(dir).exists; dir, _ = parent(dir) {
		v.nodes[dir] = node{exists: true, mode: fs.ModeDir | 0o755}
	}
}

// madeEntry is an entry of a directory that the text makes.
type madeEntry struct {
	name string
	mode fs.FileMode
}

func (e madeEntry) Name() string             { return e.name }
func (e madeEntry) IsDir() bool              { return e.mode.IsDir() }
func (e madeEntry) Type() fs.FileMode        { return e.mode.Type() }
func (madeEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }
