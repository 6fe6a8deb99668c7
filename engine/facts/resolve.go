package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links one path may go through, as Linux has it (path_resolution(7)).
const maxLinks = 40

// view is a look at the file system for the time of one Build: each path is asked for once.
type view struct {
	fs    FS
	nodes map[string]node
	dirs  map[string][]fs.DirEntry
	steps int        // directory entries that may still be read
	folds *spellings // nil where names that differ in case are different files
	// walked are the paths that a journey was made for; see foresee.
	walked map[string]bool
	user   user // for whom paths are resolved
	// added are the names that the text made in directories, moved the trees that it moved or copied.
	added map[string][]string
	moved []renamed
}

// node is what lies at a path.
type node struct {
	exists bool
	mode   fs.FileMode
	link   string // target of a symbolic link
	lost   bool   // a link that leads nobody knows where
}

func newView(f FS, steps int) *view {
	return &view{fs: f, nodes: make(map[string]node, 8), dirs: make(map[string][]fs.DirEntry), steps: steps, walked: map[string]bool{}}
}

// look returns what lies at a path, symbolic links not followed.
func (v *view) look(p string) node {
	if n, ok := v.nodes[p]; ok {
		return n
	}
	var n node
	if info, err := v.fs.Lstat(p); err == nil {
		n.exists, n.mode = true, info.Mode()
		if n.mode&fs.ModeSymlink != 0 {
			n.link, _ = v.fs.ReadLink(p)
		}
	}
	v.nodes[p] = n
	return n
}

// list reads a directory and takes its entries from the budget. What is beyond it is not
// seen, and whole says so.
func (v *view) list(p string) (entries []fs.DirEntry, whole bool) {
	entries, ok := v.dirs[p]
	if !ok {
		if v.steps <= 0 {
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
			entries = append(slices.Clip(entries), entry{name, v.look(join(p, name)).mode})
		}
	}
	v.steps -= 1 + len(entries)
	if v.steps < 0 {
		return entries[:max(0, len(entries)+v.steps)], false
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

// real resolves an absolute path as the kernel would: link by link, so that the ".." behind a
// link leads to the parent of its target. The last link is followed unless ofLink is set and
// no slash follows it. From the first name on that does not exist the rest is lexical.
func (v *view) real(p string, ofLink bool) (string, node) {
	if p == "" { // no place is known
		return "", node{}
	}
	at := volume(p)
	rest := p[len(at):]
	ofLink = ofLink && !strings.HasSuffix(rest, "/") && !strings.HasSuffix(rest, "/.")
	n := node{exists: true, mode: fs.ModeDir}
	v.foresee(p)
	if rest == "" {
		return at, v.look(at)
	}
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at, _ = parent(at)
			n = v.look(at)
			continue
		}
		if v.folds != nil {
			name = v.folds.of(at, name)
		}
		next := join(at, name)
		if v.user.other && slices.Contains(ownPlaces, next) && !(ofLink && rest == "") {
			root, onward, ok := v.user.follow(rest)
			if links++; !ok || links > maxLinks {
				return clean(join(next, rest)), node{}
			}
			at, rest, n = root, onward, v.look(root)
			continue
		}
		n = v.look(next)
		if !n.exists && len(v.moved) > 0 {
			from := v.look(origin(v.moved, next))
			if from.mode&fs.ModeSymlink != 0 {
				n = from
			} else if from.exists && rest != "" {
				at = next
				continue
			}
		}
		if n.lost && (!ofLink || rest != "") {
			return "", node{}
		}
		if n.mode&fs.ModeSymlink == 0 || n.link == "" || ofLink && rest == "" {
			at = next
			if !n.exists {
				return clean(join(at, rest)), node{}
			}
			continue
		}
		if links++; links > maxLinks {
			return clean(join(next, rest)), node{}
		}
		if isAbs(n.link) {
			at = volume(n.link)
			rest = join(n.link[len(at):], rest)
		} else {
			rest = join(n.link, rest)
		}
	}
	return at, n
}

// join puts two pieces of a path together without cleaning them.
func join(dir, name string) string {
	if name == "" {
		return dir
	}
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// volume returns the root of an absolute path: "/" or "C:/".
func volume(p string) string {
	if len(p) >= 3 && p[1] == ':' && p[2] == '/' {
		return p[:3]
	}
	return "/"
}

// clean is path.Clean for absolute paths, which does not climb out of a drive.
func clean(abs string) string {
	root := volume(abs)
	return root + strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(abs, root)), "/")
}

// isAbs reports whether a path is absolute here or on Windows.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 3 && p[1] == ':' && p[2] == '/' && isLetter(p[0])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// typeOf names what lies at a path.
func typeOf(n node) string {
	switch {
	case !n.exists:
		return ""
	case n.mode.IsRegular():
		return "file"
	case n.mode.IsDir():
		return "dir"
	case n.mode&fs.ModeSymlink != 0:
		return "symlink"
	case n.mode&fs.ModeCharDevice != 0:
		return "char_device"
	case n.mode&fs.ModeDevice != 0:
		return "block_device"
	case n.mode&fs.ModeSocket != 0:
		return "socket"
	case n.mode&fs.ModeNamedPipe != 0:
		return "fifo"
	default:
		return ""
	}
}
