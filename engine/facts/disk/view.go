// Package disk looks at the file system for facts: paths, links, directories and names in another case, each
// asked for once, and with the files that the text itself makes and moves.
package disk

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Kind reports whether something is at a path, and whether that is a directory, links followed.
func (v *View) Kind(p string) (dir, there bool) {
	_, n := v.Real(p, false)
	return n.Mode.IsDir(), n.Exists
}

// Renamed is a new name of a file that the text moved.
type Renamed struct{ From, To string } // real paths

// Origin is the place of a file before these moves. Moves of a place into one around it could make
// a path of any length: at the longest that Linux takes (PATH_MAX, 4096 bytes) it stops.
func Origin(moves []Renamed, p string) string {
	for _, m := range slices.Backward(moves) {
		if Within(p, m.To) && len(p) <= 4096 {
			p = m.From + strings.TrimPrefix(p, m.To)
		}
	}
	return p
}

// Carry lets a look find at a new place the link or the tree of links of its old one.
func (v *View) Carry(from, to string) {
	if n := v.Look(from); n.Mode&fs.ModeSymlink != 0 {
		v.Make(to, n)
	} else if _, n := v.Real(from, false); n.Mode.IsDir() || Origin(v.moved, from) != from {
		v.moved = append(v.moved, Renamed{Origin(v.moved, from), to})
	}
}

// Make lets a look find something new, and the directories that it needs: the text may have made these, too.
func (v *View) Make(p string, n Node) {
	if v.added == nil {
		v.added = map[string][]string{}
	}
	for there := false; !there && p != volume(p); n = (Node{Exists: true, Mode: fs.ModeDir | 0o755}) {
		v.Nodes[p] = n
		dir, name := Parent(p)
		v.added[dir] = append(v.added[dir], name)
		p, there = dir, v.Look(dir).Exists
	}
}

// maxLinks is how many symbolic links one path may go through, as Linux has it (path_resolution(7)).
const maxLinks = 40

// View is a look at the file system for the time of one Build: each path is asked for once.
type View struct {
	fs    facts.FS
	Nodes map[string]Node
	dirs  map[string][]fs.DirEntry
	Steps int        // directory entries that may still be read
	Folds *Spellings // nil where names that differ in case are different files
	// walked are the paths that a journey was made for; see foresee.
	walked map[string]bool
	User   User // for whom paths are resolved
	// added are the names that the text made in directories, moved the trees that it moved or copied.
	added map[string][]string
	moved []Renamed
}

// Node is a file at a path, or none.
type Node struct {
	Exists bool
	Absent bool // it surely does not exist; never set by Look
	Mode   fs.FileMode
	Link   string // target of a symbolic link
	Lost   bool   // a link that leads nobody knows where
}

// NewView begins a look that may read so many directory entries.
func NewView(f facts.FS, steps int) *View {
	return &View{fs: f, Nodes: make(map[string]Node, 8), dirs: make(map[string][]fs.DirEntry), Steps: steps, walked: map[string]bool{}}
}

// Look returns the node at a path, symbolic links not followed.
func (v *View) Look(p string) Node {
	if n, ok := v.Nodes[p]; ok {
		return n
	}
	var n Node
	if info, err := v.fs.Lstat(p); err == nil {
		n.Exists, n.Mode = true, info.Mode()
		if n.Mode&fs.ModeSymlink != 0 {
			n.Link, _ = v.fs.ReadLink(p)
		}
	}
	v.Nodes[p] = n
	return n
}

// List reads a directory and takes its entries from the budget. An entry beyond it is not
// seen, and whole says so.
func (v *View) List(p string) (entries []fs.DirEntry, whole bool) {
	entries, ok := v.dirs[p]
	if !ok {
		if v.Steps <= 0 {
			return nil, false
		}
		var err error
		if entries, err = v.fs.ReadDir(p); err != nil {
			entries = nil
		}
		v.dirs[p] = entries
	}
	for _, name := range v.added[p] {
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			entries = append(slices.Clip(entries), entry{name, v.Look(Join(p, name)).Mode})
		}
	}
	v.Steps -= 1 + len(entries)
	if v.Steps < 0 {
		return entries[:max(0, len(entries)+v.Steps)], false
	}
	return entries, true
}

// entry is one of a directory that the text makes.
type entry struct {
	name string
	mode fs.FileMode
}

func (e entry) Name() string             { return e.name }
func (e entry) IsDir() bool              { return e.mode.IsDir() }
func (e entry) Type() fs.FileMode        { return e.mode.Type() }
func (entry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// Real resolves an absolute path as the kernel would: link by link, so that the ".." behind a
// link leads to the parent of its target. The last link is followed unless ofLink is set and
// no slash follows it. From the first name on that does not exist the rest is lexical.
func (v *View) Real(p string, ofLink bool) (string, Node) {
	if p == "" { // no place is known
		return "", Node{}
	}
	at := volume(p)
	rest := p[len(at):]
	ofLink = ofLink && !strings.HasSuffix(rest, "/") && !strings.HasSuffix(rest, "/.")
	n := Node{Exists: true, Mode: fs.ModeDir}
	v.Foresee(p)
	if rest == "" {
		return at, v.Look(at)
	}
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at, _ = Parent(at)
			n = v.Look(at)
			continue
		}
		if v.Folds != nil {
			name = v.Folds.of(at, name)
		}
		next := Join(at, name)
		if v.User.Other && slices.Contains(ownPlaces, next) && !(ofLink && rest == "") {
			root, onward, ok := v.User.follow(rest)
			if links++; !ok || links > maxLinks {
				return Clean(Join(next, rest)), Node{}
			}
			at, rest, n = root, onward, v.Look(root)
			continue
		}
		n = v.Look(next)
		if !n.Exists && len(v.moved) > 0 {
			from := v.Look(Origin(v.moved, next))
			if from.Mode&fs.ModeSymlink != 0 {
				n = from
			} else if from.Exists && rest != "" {
				at = next
				continue
			}
		}
		if n.Lost && (!ofLink || rest != "") {
			return "", Node{}
		}
		if n.Mode&fs.ModeSymlink == 0 || n.Link == "" || ofLink && rest == "" {
			at = next
			if !n.Exists {
				return Clean(Join(at, rest)), Node{}
			}
			continue
		}
		if links++; links > maxLinks {
			return Clean(Join(next, rest)), Node{}
		}
		if IsAbs(n.Link) {
			at = volume(n.Link)
			rest = Join(n.Link[len(at):], rest)
		} else {
			rest = Join(n.Link, rest)
		}
	}
	return at, n
}

// Walk visits the files below a real directory, nearest first, links not followed, until visit
// refuses a directory or the budget is spent. It reports whether everything was visited.
func (v *View) Walk(root string, visit func(at string, e fs.DirEntry) (descend bool)) bool {
	if !v.Look(root).Mode.IsDir() {
		return true
	}
	queue := []string{root}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		entries, whole := v.List(dir)
		for _, e := range entries {
			at := Join(dir, e.Name())
			if visit(at, e) && e.IsDir() {
				queue = append(queue, at)
			}
		}
		if !whole {
			return false
		}
	}
	return true
}
