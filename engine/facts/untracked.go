package facts

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

const (
	indexBytes    = 64 << 20 // the largest index that is read
	ignoreBytes   = 1 << 20  // the same of a file of ignore patterns
	untrackedMost = 1000     // files that are named one by one
)

// cleaning is what one git clean deletes, as far as files tell (git-clean(1)). It errs on the side of
// more: what git's settings outside the repository leave alone is named, too.
type cleaning struct {
	w       *build
	top     string                  // of the working tree, real
	tracked map[string]*index.Entry // tracked files, nil for directories around them; nil when not known
	within  []string                // only what is at or below one of these, or around it; empty: all
	ignored bool                    // what is ignored is deleted, too
	enter   bool                    // directories without a tracked file are entered
	nested  bool                    // and so are other repositories
	rules   []gitignore.Pattern
	found   []string
	objects string                 // the directory of the objects, "" for none
	packs   []*idxfile.MemoryIndex // nil until one is looked for
	// written is the time of the index; zero where the time of a file does not prove that its content is git's.
	written time.Time
}

// untracked names the files that a git clean deletes, each as a path of its own.
func (w *build) untracked(i int, c *call) {
	if len(c.sub) == 0 || c.sub[0] != "clean" || !c.flags.has(flagRemovesUntracked) {
		return
	}
	deletes := func(word value.Word) {
		w.place(touch{word: word, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes, ofLink: true}}, i)
	}
	unknown := value.Word{Raw: "git clean", Certainty: value.Unknown}
	if !c.dir.Known {
		deletes(unknown)
		return
	}
	start, _ := w.view.real(clean(c.dir.Path), false)
	g := cleaning{w: w, ignored: c.flags.has(flagAll), enter: c.has("d") || len(c.operands) > 0, nested: c.times("f", "force") > 1}
	if !g.open(start) {
		return // no working tree: git does nothing
	}
	g.limit(c)
	whole := w.walk(start, g.visit)
	for _, p := range g.found {
		deletes(value.Word{Text: p, Prefix: p, Raw: relative(start, p), Certainty: value.Exact, Quoted: true})
	}
	if !whole || len(g.found) == untrackedMost {
		deletes(unknown) // there is more than was looked at
	}
}

// times counts how often an option was given.
func (c *call) times(names ...string) int {
	n := 0
	for _, o := range c.options {
		for _, name := range names {
			if o.name == name {
				n++
			}
		}
	}
	return n
}

// open finds the working tree around a directory, and reads which of its files are tracked and ignored.
func (g *cleaning) open(start string) bool {
	top, git := g.w.gitDir(start)
	if git == "" {
		return false
	}
	g.top = top
	g.track(join(git, "index"))
	g.ignore(join(git, "info/exclude"), g.top)
	dir := g.top // deeper patterns count more, so they come later
	g.ignore(join(dir, ".gitignore"), dir)
	for _, name := range g.parts(start) {
		dir = join(dir, name)
		g.ignore(join(dir, ".gitignore"), dir)
	}
	return true
}

// track reads the index (gitformat-index(5)). One that is missing tracks nothing; of one that cannot be
// read it is not known what it tracks, and then everything counts as untracked.
func (g *cleaning) track(file string) {
	content, whole, err := g.w.fs.ReadFile(file, indexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		g.tracked = map[string]*index.Entry{}
	}
	if err != nil || !whole {
		return
	}
	var idx index.Index
	if index.NewDecoder(bytes.NewReader(content)).Decode(&idx) != nil {
		return
	}
	g.tracked = make(map[string]*index.Entry, 2*len(idx.Entries))
	for _, e := range idx.Entries {
		at := join(g.top, e.Name)
		for p := at; p != g.top && within(p, g.top); p, _ = parent(p) {
			if _, seen := g.tracked[p]; seen {
				break
			}
			if g.tracked[p] = nil; p == at {
				g.tracked[p] = e
			}
		}
	}
}

// ignore reads patterns that hold below a directory.
func (g *cleaning) ignore(file, dir string) {
	content, whole, err := g.w.fs.ReadFile(file, ignoreBytes)
	if g.ignored || err != nil || !whole {
		return
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			g.rules = append(g.rules, gitignore.ParsePattern(line, g.parts(dir)))
		}
	}
}

// parts are the names on the way from the top of the working tree to a path.
func (g *cleaning) parts(p string) []string {
	rest := strings.Trim(strings.TrimPrefix(p, g.top), "/")
	if rest == "" {
		return nil
	}
	return strings.Split(rest, "/")
}

// limit takes the operands for the places to which the work is limited, if each is a plain path.
func (g *cleaning) limit(c *call) {
	for _, o := range c.operands {
		if o.Certainty != value.Exact || strings.ContainsAny(o.Text, `*?[\`) || strings.HasPrefix(o.Text, ":") {
			g.within = nil
			return
		}
		p := o.Text
		if !isAbs(p) {
			p = path.Join(c.dir.Path, p)
		}
		real, _ := g.w.view.real(clean(p), true)
		g.within = append(g.within, real)
	}
}

// visit looks at one entry below the start and reports whether to look into it.
func (g *cleaning) visit(at string, e fs.DirEntry) bool {
	if e.Name() == ".git" || !g.wanted(at) || len(g.found) == untrackedMost {
		return false
	}
	_, tracked := g.tracked[at]
	if !tracked && !g.ignored && gitignore.NewMatcher(g.rules).Match(g.parts(at), e.IsDir()) {
		return false
	}
	if !e.IsDir() {
		if !tracked {
			g.found = append(g.found, at)
		}
		return false
	}
	if !tracked && (!g.enter || !g.nested && g.w.view.look(join(at, ".git")).exists) {
		return false
	}
	g.ignore(join(at, ".gitignore"), at)
	return true
}

// wanted reports whether a path lies within the limits, or on the way to one.
func (g *cleaning) wanted(at string) bool {
	for _, dir := range g.within {
		if within(at, dir) || within(dir, at) {
			return true
		}
	}
	return len(g.within) == 0
}
