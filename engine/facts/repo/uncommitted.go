package repo

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

const (
	HashBytes = 1 << 20  // the largest file that is compared by content
	hashAll   = 8 << 20  // the same for all files of one request
	packBytes = 16 << 20 // the largest index of a pack that is read: of half a million objects
)

// Committed finds the repository that holds the contents of a file, or of the files below a directory; nil
// for none. A repository that the delete would take along holds nothing, and neither does one in a temporary
// place.
func (f *Finder) Committed(p string, targets []string, temporary func(dir string) bool) *Cleaning {
	start, _ := disk.Parent(p)
	top, dir := f.gitDir(start)
	if dir == "" {
		return nil
	}
	taken := func(t string) bool { return disk.Within(dir, t) || disk.Within(disk.Join(top, ".git"), t) }
	if slices.ContainsFunc(targets, taken) || temporary(dir) {
		return &Cleaning{F: f, top: top}
	}
	g, known := f.trees[top]
	if !known {
		g = &Cleaning{F: f, top: top, objects: disk.Join(f.commonDir(dir), "objects")}
		f.trees[top] = g
		file := disk.Join(dir, "index")
		g.track(file)
		if info, err := f.files.Lstat(file); err == nil && !f.converts(f.Repository(start), g, dir) {
			g.written = info.ModTime()
		}
	}
	return g
}

// converts reports whether a setting or an attribute may make the content of a file differ from git's
// (gitattributes(5)), so that the time of the file proves nothing. Attributes count by name alone.
func (f *Finder) converts(r *repository, g *Cleaning, dir string) bool {
	for _, key := range []string{"autocrlf", "eol", "attributesFile", "worktree"} {
		if r.Unclear || r.Last("core", "", key) != "" {
			return true
		}
	}
	for _, file := range []string{
		"/etc/gitattributes", disk.Join(f.home, ".config/git/attributes"), disk.Join(dir, "info/attributes"),
	} {
		if content, _, err := f.files.ReadFile(file, ignoreBytes); err == nil && len(bytes.TrimSpace(content)) > 0 {
			return true
		}
	}
	for p := range g.Tracked {
		if path.Base(p) == ".gitattributes" {
			return true
		}
	}
	return f.view.Look(disk.Join(g.top, ".gitattributes")).Exists
}

// GitState names the state of a file: "none" without a repository, "clean" only if git surely holds its
// content.
func (f *Finder) GitState(p string, g *Cleaning) string {
	switch {
	case g == nil:
		return "none"
	case g.Tracked == nil:
		return "unknown"
	}
	e, tracked := g.Tracked[p]
	if !tracked {
		return "untracked"
	}
	info, err := f.files.Lstat(p)
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
	case info.Size() > HashBytes || f.hashed > hashAll:
		return "unknown"
	}
	content, whole, err := f.files.ReadFile(p, HashBytes)
	f.hashed += len(content)
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
func (g *Cleaning) stored(hash plumbing.Hash) bool {
	name := hash.String()
	if g.F.view.Look(disk.Join(g.objects, name[:2]+"/"+name[2:])).Exists {
		return true
	}
	if g.packs == nil {
		g.packs = []*idxfile.MemoryIndex{}
		entries, _ := g.F.files.ReadDir(disk.Join(g.objects, "pack"))
		for _, e := range entries {
			idx := idxfile.NewMemoryIndex()
			content, whole, err := g.F.files.ReadFile(disk.Join(g.objects, "pack/"+e.Name()), packBytes)
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
