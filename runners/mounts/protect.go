package mounts

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
)

// Guarded is a place in a writable root that is mounted on itself.
type Guarded struct {
	Path string
	// Write means that it can be written to. It is listed all the same, because a mount cannot be renamed,
	// and another file cannot be put in its place.
	Write bool
}

// Protection lists the guarded places within the writable places of a layout.
type Protection struct {
	Guarded      []Guarded // those that lie around others before them
	Repositories []string  // each .git, and each directory that git would take for one
	Notes        []string  // places that cannot be guarded, for people
}

// Bounds of a walk through the writable places, of which an agent can make any number. Beyond maxEntries
// there is an error; repositories beyond maxRepositories, the highest first, are not guarded.
const (
	maxEntries      = 3_000_000
	maxRepositories = 200
)

// Protect finds the files within the writable places that must not be changed from inside, because programs
// of the user outside would run them: hooks and configuration of git in every repository, settings of
// editors and agents; and sallyport's own files. Files that commands make meanwhile are found at their end
// (package runners/boundary). The paths of roots are those that Resolve found.
func Protect(roots []facts.Root, home string, self []facts.Place) (Protection, error) {
	p := &protector{roots: roots, home: home, found: map[string]Guarded{}}
	for _, r := range roots {
		if !r.Write || r.File {
			continue
		}
		for _, place := range r.Protected {
			if err := p.protected(r, place); err != nil {
				return Protection{}, err
			}
		}
		for _, s := range self {
			if within(s.Path, r.Path) && s.Path != r.Path {
				p.keep(s.Path)
			}
		}
		p.habits(r.Path)
		if err := p.walk(r.Path); err != nil {
			return Protection{}, err
		}
	}
	return p.result(), nil
}

// protector collects the guarded places.
type protector struct {
	roots   []facts.Root
	home    string
	found   map[string]Guarded
	repos   []string
	notes   []string
	entries int
}

func (p *protector) result() Protection {
	all := slices.SortedFunc(maps.Values(p.found), func(a, b Guarded) int {
		return cmp.Or(cmp.Compare(depth(a.Path), depth(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	slices.Sort(p.repos)
	return Protection{Guarded: all, Repositories: p.repos, Notes: p.notes}
}

// note reports problems to people.
func (p *protector) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// rootOf returns the root that decides about a path.
func (p *protector) rootOf(path string) (facts.Root, bool) {
	var best facts.Root
	found := false
	for _, r := range p.roots {
		if within(path, r.Path) && (!found || depth(r.Path) > depth(best.Path)) {
			best, found = r, true
		}
	}
	return best, found
}

// keep makes a place read-only, if it is there and commands could write to it otherwise.
func (p *protector) keep(path string) {
	root, ok := p.rootOf(path)
	if !ok || !root.Write || root.File || root.Path == path {
		return // nobody can write there; or the operator granted this very place
	}
	at, info, err := reach(root.Path, path)
	if err != nil {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		p.note("%s is a symbolic link: commands can put another in its place", at)
		return
	}
	p.pin(root.Path, path)
	if old, ok := p.found[path]; !ok || old.Write {
		p.found[path] = Guarded{Path: path}
	}
}

// pin keeps the directories between a root and a place below it from being renamed.
func (p *protector) pin(root, path string) {
	for dir := filepath.Dir(path); dir != root && within(dir, root); dir = filepath.Dir(dir) {
		if _, ok := p.found[dir]; !ok {
			p.found[dir] = Guarded{Path: dir, Write: true}
		}
	}
}

// reach looks at a path below root name by name. It returns the first that is missing or a link, or the
// path itself.
func reach(root, path string) (string, fs.FileInfo, error) {
	at := root
	rest := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
	var info fs.FileInfo
	for name := range strings.SplitSeq(rest, "/") {
		at = filepath.Join(at, name)
		var err error
		if info, err = os.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return at, info, err
		}
	}
	return at, info, nil
}

// protected keeps a place that the operator named. It must not depend on a link.
func (p *protector) protected(r facts.Root, place string) error {
	if !clean(place) || !within(place, r.Path) {
		return fmt.Errorf("protected place %s: not below %s", place, r.Path)
	}
	if at, info, err := reach(r.Path, place); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf(
			"protected place %s: %s is a symbolic link, which commands could replace: name its target", place, at)
	}
	p.keep(place)
	return nil
}

// habits keeps the files by which the user's editors, shells and agents start programs when they open a
// directory.
func (p *protector) habits(dir string) {
	for _, name := range []string{".vscode", ".idea", ".mcp.json", ".claude", ".envrc"} {
		at := filepath.Join(dir, name)
		entries, err := list(at)
		if by, _ := places.ObeyedBy(filepath.ToSlash(at), p.home); err != nil || places.StartsOthers(by) {
			p.keep(at)
			continue
		}
		for _, e := range entries {
			inner := filepath.Join(at, e.Name())
			if by, _ := places.ObeyedBy(filepath.ToSlash(inner), p.home); places.StartsOthers(by) {
				p.keep(inner)
			}
		}
	}
}
