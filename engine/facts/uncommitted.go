package facts

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

const (
	hashBytes = 1 << 20  // the largest file that is compared by content
	hashAll   = 8 << 20  // the same for all files of one request
	packBytes = 16 << 20 // the largest index of a pack that is read: of half a million objects
)

// gitStates are the states of Versions, the worst last.
var gitStates = []string{"none", "clean", "untracked", "changed", "unknown"}

// loss is the result of a delete.
type loss struct {
	unread   Unread
	versions Versions
}

func noLoss() loss {
	return loss{Unread{Examples: []string{}}, Versions{State: "none", Examples: []string{}}}
}

func (l *loss) note(state string) {
	if slices.Index(gitStates, state) > slices.Index(gitStates, l.versions.State) {
		l.versions.State = state
	}
}

// loses looks at the files that a delete would remove, except those that this text writes and those that are
// generated. Directories and links lose nothing, and neither does a file with content that git holds.
func (w *build) loses(s *spot, t touch) loss {
	l := noLoss()
	file := func(p string, g *cleaning) {
		if w.written[p] || w.isGenerated(p, false) {
			return
		}
		seen := "none"
		if w.history != nil {
			seen = w.history.Seen(p)
		}
		if seen == "created" {
			return
		}
		state := w.gitState(p, g)
		if l.note(state); state == "clean" {
			return
		}
		if state != "none" {
			l.versions.Count++
			l.versions.Examples = example(l.versions.Examples, relative(s.real, p))
		}
		if seen == "none" {
			l.unread.Count++
			l.unread.Examples = example(l.unread.Examples, relative(s.real, p))
		}
	}
	whole := s.whole
	var targets []string
	for _, p := range s.targets {
		targets = append(targets, w.before(p))
		for _, m := range w.moved {
			if t.recursive && below(m.to, p) {
				targets = append(targets, m.from)
			}
		}
	}
	for _, p := range targets {
		n := w.view.look(p)
		if t.filter == "" && n.mode.IsRegular() && n.exists {
			file(p, w.committed(p, targets))
			continue
		}
		if !t.recursive || !n.mode.IsDir() || w.isGenerated(p, true) {
			continue
		}
		g := w.committed(p, targets)
		whole = w.walk(p, func(at string, e fs.DirEntry) bool {
			if e.IsDir() { // a repository's own files are not read one by one: contains_git tells of them
				return e.Name() != ".git" && !w.isGenerated(at, true)
			}
			if e.Type().IsRegular() && (t.filter == "" || matchName(t.filter, e.Name())) {
				file(at, g)
			}
			return false
		}) && whole
	}
	if !whole {
		l.unread.Count++ // what was not looked at counts as unread
		if l.versions.State != "none" {
			l.note("unknown")
			l.versions.Count++
		}
	}
	return l
}

func example(list []string, name string) []string {
	if len(list) < 3 {
		list = append(list, name)
	}
	return list
}

// committed finds the repository that holds the contents of a file, or of the files below a directory; nil
// for none. A repository that the delete would take along holds nothing, and neither does one in a temporary
// place.
func (w *build) committed(p string, targets []string) *cleaning {
	start, _ := parent(p)
	top, dir := w.gitDir(start)
	if dir == "" {
		return nil
	}
	taken := func(t string) bool { return within(dir, t) || within(join(top, ".git"), t) }
	if slices.ContainsFunc(targets, taken) || w.zoneOf(dir, dir, bitset{}) == "temporary" {
		return &cleaning{w: w, top: top}
	}
	g, known := w.trees[top]
	if !known {
		g = &cleaning{w: w, top: top, objects: join(w.commonDir(dir), "objects")}
		w.trees[top] = g
		file := join(dir, "index")
		g.track(file)
		if info, err := w.fs.Lstat(file); err == nil && !w.converts(w.repository(start), g, dir) {
			g.written = info.ModTime()
		}
	}
	return g
}

// converts reports whether a setting or an attribute may make the content of a file differ from git's
// (gitattributes(5)), so that the time of the file proves nothing. Attributes count whatever they say.
func (w *build) converts(r *repository, g *cleaning, dir string) bool {
	for _, key := range []string{"autocrlf", "eol", "attributesFile", "worktree"} {
		if r.unclear || r.last("core", "", key) != "" {
			return true
		}
	}
	for _, file := range []string{
		"/etc/gitattributes", join(w.homeDir(), ".config/git/attributes"), join(dir, "info/attributes"),
	} {
		if content, _, err := w.fs.ReadFile(file, ignoreBytes); err == nil && len(bytes.TrimSpace(content)) > 0 {
			return true
		}
	}
	for p := range g.tracked {
		if path.Base(p) == ".gitattributes" {
			return true
		}
	}
	return w.view.look(join(g.top, ".gitattributes")).exists
}

// gitState names the state of a file: "none" without a repository, "clean" only if git surely holds its
// content.
func (w *build) gitState(p string, g *cleaning) string {
	switch {
	case g == nil:
		return "none"
	case g.tracked == nil:
		return "unknown"
	}
	e, tracked := g.tracked[p]
	if !tracked {
		return "untracked"
	}
	info, err := w.fs.Lstat(p)
	if err != nil || e == nil {
		return "unknown"
	}
	same := info.Size() == int64(e.Size) && info.ModTime().Equal(e.ModifiedAt) && e.ModifiedAt.Before(g.written)
	switch {
	case e.Stage != 0 || e.IntentToAdd || e.SkipWorktree:
		return "changed"
	case !g.stored(e.Hash): // git update-index enters any name
		return "unknown"
	case same && e.Mode != filemode.Symlink:
		return "clean"
	case info.Size() > hashBytes || w.hashed > hashAll:
		return "unknown"
	}
	content, whole, err := w.fs.ReadFile(p, hashBytes)
	w.hashed += len(content)
	switch {
	case err != nil || !whole:
		return "unknown"
	case plumbing.ComputeHash(plumbing.BlobObject, content) != e.Hash:
		return "changed"
	}
	return "clean"
}

// stored reports that the repository surely holds an object: as a file of its own, or in a pack with an
// index (gitformat-pack(5)) of at most packBytes. Objects of another repository do not count.
func (g *cleaning) stored(hash plumbing.Hash) bool {
	name := hash.String()
	if g.w.view.look(join(g.objects, name[:2]+"/"+name[2:])).exists {
		return true
	}
	if g.packs == nil {
		g.packs = []*idxfile.MemoryIndex{}
		entries, _ := g.w.fs.ReadDir(join(g.objects, "pack"))
		for _, e := range entries {
			idx := idxfile.NewMemoryIndex()
			content, whole, err := g.w.fs.ReadFile(join(g.objects, "pack/"+e.Name()), packBytes)
			if path.Ext(e.Name()) == ".idx" && err == nil && whole &&
				idxfile.NewDecoder(bytes.NewReader(content)).Decode(idx) == nil {
				g.packs = append(g.packs, idx)
			}
		}
	}
	return slices.ContainsFunc(g.packs, func(idx *idxfile.MemoryIndex) bool {
		found, err := idx.Contains(hash)
		return found && err == nil
	})
}

// RepositoryOf returns files of a repository that holds files with these contents, by their names in the
// working tree: the index (gitformat-index(5)), and an empty file for each object.
func RepositoryOf(contents map[string]string) (map[string]string, error) {
	files := map[string]string{}
	idx := index.Index{Version: 2}
	for name, text := range contents {
		hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(text))
		idx.Entries = append(idx.Entries, &index.Entry{
			Name: strings.TrimPrefix(path.Clean("/"+name), "/"), Mode: filemode.Regular, Size: uint32(len(text)),
			Hash: hash, ModifiedAt: time.Unix(1, 0),
		})
		files[".git/objects/"+hash.String()[:2]+"/"+hash.String()[2:]] = ""
	}
	var b strings.Builder
	err := index.NewEncoder(&b).Encode(&idx)
	files[".git/index"] = b.String()
	return files, err
}
