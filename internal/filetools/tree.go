package filetools

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of the files that one call expands to before it is judged.
const (
	maxFiles    = 5000    // files and links that one call may name
	maxSeen     = 50_000  // directory entries that it may look at to find them
	maxDepth    = 64      // directories inside each other
	maxMatching = 1 << 31 // bytes of names times bytes of patterns: a few seconds
)

// item is a name in a tree, relative to its base, with slashes.
type item struct {
	rel  string
	mode fs.FileMode
	link string // target of a symbolic link
}

// tree is the part of a directory that a batch takes. Links are never followed.
type tree struct {
	files []item // everything that is no directory, in the order of names
	// emptied are directories of which every entry was taken, inner ones first; hollow are those that
	// had no entry to begin with.
	emptied, hollow []string
	problems        []Problem // directories that could not be read
}

// grower makes a tree.
type grower struct {
	tree
	fs       facts.FS
	base     string
	takes    selection
	avoid    fs.FileInfo // a directory that is not entered; nil for none
	ignores  *ignoring   // excludes more entries; nil for none
	visible  bool        // hidden entries are left out
	regular  bool        // only regular files are taken, and .git is not entered
	seen     int
	matching int
}

// grow searches a directory for selected files. It reads no file.
func grow(files facts.FS, base string, takes selection, avoid fs.FileInfo) (tree, error) {
	g := grower{fs: files, base: base, takes: takes, avoid: avoid}
	if _, err := g.dir("", 0); err != nil {
		return tree{}, fmt.Errorf("%s: %w", base, err)
	}
	return g.tree, nil
}

// dir looks through one directory and reports whether the selection takes all that is in it.
func (g *grower) dir(rel string, depth int) (all bool, _ error) {
	if depth > maxDepth {
		return false, fmt.Errorf(
			"more than %d directories inside each other at %s: choose a base path further down", maxDepth, rel)
	}
	at := g.base
	if rel != "" {
		at = below(g.base, rel)
	}
	entries, err := g.fs.ReadDir(at)
	if err != nil {
		if rel == "" {
			return false, cause(err)
		}
		g.problems = append(g.problems, Problem{rel, cause(err).Error()})
		return false, nil
	}
	if len(entries) == 0 && rel != "" {
		g.hollow = append(g.hollow, rel)
	}
	if g.ignores != nil {
		g.ignores.enter(rel)
	}
	all = len(entries) > 0
	for _, e := range entries {
		name := join(rel, e.Name())
		if err := g.count(name); err != nil {
			return false, err
		}
		if g.passes(name, e) {
			all = false
			continue
		}
		taken, err := g.entry(name, e, depth)
		if err != nil {
			return false, err
		}
		all = all && taken
	}
	if all && rel != "" {
		g.emptied = append(g.emptied, rel)
	}
	return all, nil
}

// passes reports whether a search passes over an entry.
func (g *grower) passes(name string, e fs.DirEntry) bool {
	switch {
	case g.visible && strings.HasPrefix(e.Name(), "."), g.regular && e.Name() == ".git":
		return true
	case g.regular && !e.IsDir() && !e.Type().IsRegular():
		return true
	}
	return g.ignores != nil && g.ignores.skips(name, e.IsDir())
}

// count takes an entry from the budgets.
func (g *grower) count(name string) error {
	g.seen++
	g.matching += len(name) * (g.takes.include.bytes + g.takes.exclude.bytes)
	switch {
	case g.seen > maxSeen:
		return fmt.Errorf(
			"more than %d entries to look through: choose a base path further down, or exclude directories "+
				"(\"node_modules/*\")", maxSeen)
	case g.matching > maxMatching:
		return fmt.Errorf(
			"too many names for that many patterns: send fewer patterns, or choose a base path further down")
	}
	return nil
}

// entry looks at one entry of a directory and reports whether all of it is taken.
func (g *grower) entry(name string, e fs.DirEntry, depth int) (taken bool, _ error) {
	if e.IsDir() {
		if g.takes.exclude.matchAllBelow(name) || g.isAvoided(e) {
			return false, nil
		}
		return g.dir(name, depth+1)
	}
	if !g.takes.takes(name) {
		return false, nil
	}
	if len(g.files) == maxFiles {
		return false, fmt.Errorf("more than %d files: narrow the patterns, or choose a base path further down",
			maxFiles)
	}
	if !utf8.ValidString(name) {
		g.problems = append(g.problems, Problem{strings.ToValidUTF8(name, "\uFFFD"),
			"its name is not UTF-8, so no policy can judge it: rename it"})
		return false, nil
	}
	it := item{rel: name, mode: e.Type()}
	if it.mode&fs.ModeSymlink != 0 {
		target, err := g.fs.ReadLink(below(g.base, name))
		if err != nil {
			g.problems = append(g.problems, Problem{name, cause(err).Error()})
			return false, nil
		}
		it.link = target
	}
	g.files = append(g.files, it)
	return true, nil
}

func (g *grower) isAvoided(e fs.DirEntry) bool {
	if g.avoid == nil {
		return false
	}
	info, err := e.Info()
	return err == nil && engine.SameFile(info, g.avoid)
}

// base looks up the directory that a batch starts from. Where nothing is granted it is not looked at.
func lookBase(files facts.FS, doing, p string) (granted bool, _ error) {
	f, err := look(files, p)
	switch {
	case err != nil:
		return false, fmt.Errorf("%s %w", doing, err)
	case f.granted && !f.info.IsDir():
		return false, fmt.Errorf("%s %s: it is a %s, not a directory", doing, p, kindOf(f.info.Mode()))
	}
	return f.granted, nil
}

// realBelow joins a judged directory and a name below it, as engine.Files takes it.
func realBelow(real, rel string) string {
	return filepath.ToSlash(filepath.Join(filepath.FromSlash(real), filepath.FromSlash(rel)))
}
