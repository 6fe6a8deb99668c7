package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

const (
	indexBytes    = 64 << 20 // the largest index that is read
	ignoreBytes   = 1 << 20  // the same of a file of ignore patterns
	UntrackedMost = 1000     // files that are named one by one
)

// Cleaning has the files that git clean deletes, as far as files tell (git-clean(1)). It errs on the side of
// more: it names files that git's settings outside the repository leave alone.
type Cleaning struct {
	F       *Finder
	top     string                  // of the working tree, real
	Tracked map[string]*index.Entry // tracked files, nil for directories around them; nil when not known
	within  []string                // only what is at or below one of these, or around it; empty: all
	Ignored bool                    // what is ignored is deleted, too
	Enter   bool                    // directories without a tracked file are entered
	Nested  bool                    // and so are other repositories
	Rules   Ignores
	Found   []string
	objects string                 // the directory of the objects, "" for none
	packs   []*idxfile.MemoryIndex // nil until one is looked for
	// written is the time of the index; zero where the time of a file does not prove that its content is
	// git's.
	written time.Time
}

// Open finds the working tree around a directory, and reads which of its files are tracked and ignored.
func (g *Cleaning) Open(start string) bool {
	top, git := g.F.gitDir(start)
	if git == "" {
		return false
	}
	g.top = top
	g.track(disk.Join(git, "index"))
	g.ignore(disk.Join(git, "info/exclude"), g.top)
	dir := g.top // deeper patterns count more, so they come later
	g.ignore(disk.Join(dir, ".gitignore"), dir)
	for _, name := range g.Parts(start) {
		dir = disk.Join(dir, name)
		g.ignore(disk.Join(dir, ".gitignore"), dir)
	}
	return true
}

// track reads the index (gitformat-index(5)). One that is missing tracks nothing; of one that cannot be
// read the tracked files are not known, and then everything counts as untracked.
func (g *Cleaning) track(file string) {
	content, whole, err := g.F.files.ReadFile(file, indexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		g.Tracked = map[string]*index.Entry{}
	}
	if err != nil || !whole {
		return
	}
	var idx index.Index
	if index.NewDecoder(bytes.NewReader(content)).Decode(&idx) != nil {
		return
	}
	g.Tracked = make(map[string]*index.Entry, 2*len(idx.Entries))
	for _, e := range idx.Entries {
		at := disk.Join(g.top, e.Name)
		for p := at; p != g.top && disk.Within(p, g.top); p, _ = disk.Parent(p) {
			if _, seen := g.Tracked[p]; seen {
				break
			}
			if g.Tracked[p] = nil; p == at {
				g.Tracked[p] = e
			}
		}
	}
}

// ignore reads patterns that hold below a directory.
func (g *Cleaning) ignore(file, dir string) {
	content, whole, err := g.F.files.ReadFile(file, ignoreBytes)
	if g.Ignored || err != nil || !whole {
		return
	}
	g.Rules.Add(content, g.Parts(dir))
}

// Parts are the names on the way from the top of the working tree to a path.
func (g *Cleaning) Parts(p string) []string {
	rest := strings.Trim(strings.TrimPrefix(p, g.top), "/")
	if rest == "" {
		return nil
	}
	return strings.Split(rest, "/")
}

// Limit takes the operands for the places to which the work is limited, if each is a plain path.
func (g *Cleaning) Limit(operands []value.Word, dir string) {
	for _, o := range operands {
		if o.Certainty != value.Exact || strings.ContainsAny(o.Text, `*?[\`) || strings.HasPrefix(o.Text, ":") {
			g.within = nil
			return
		}
		p := o.Text
		if !disk.IsAbs(p) {
			p = path.Join(dir, p)
		}
		real, _ := g.F.view.Real(disk.Clean(p), true)
		g.within = append(g.within, real)
	}
}

// Visit looks at one entry below the start and reports whether to look into it.
func (g *Cleaning) Visit(at string, e fs.DirEntry) bool {
	if e.Name() == ".git" || !g.wanted(at) || len(g.Found) == UntrackedMost {
		return false
	}
	_, tracked := g.Tracked[at]
	if !tracked && !g.Ignored && g.Rules.Match(g.Parts(at), e.IsDir()) {
		return false
	}
	if !e.IsDir() {
		if !tracked {
			g.Found = append(g.Found, at)
		}
		return false
	}
	if !tracked && (!g.Enter || !g.Nested && g.F.view.Look(disk.Join(at, ".git")).Exists) {
		return false
	}
	g.ignore(disk.Join(at, ".gitignore"), at)
	return true
}

// wanted reports whether a path lies within the limits, or on the way to one.
func (g *Cleaning) wanted(at string) bool {
	for _, dir := range g.within {
		if disk.Within(at, dir) || disk.Within(dir, at) {
			return true
		}
	}
	return len(g.within) == 0
}
