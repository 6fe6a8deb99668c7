package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/obeyed"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// spellings find the one name that a file has where .GIT and .git are the same, as on macOS and
// Windows. Without that, another case would be a way around every rule about a place.
type spellings struct {
	fs   FS
	dirs map[string][]string
}

// newSpellings returns nil for a file system in which case tells names apart. It finds out by a
// directory that is there under another case, although no entry is spelled so.
func newSpellings(files FS, dirs ...string) *spellings {
	s := &spellings{files, map[string][]string{}}
	for _, p := range dirs {
		dir, base := parent(clean(p))
		other := swapped(base)
		if p == "" || other == base {
			continue
		}
		if _, err := files.Lstat(clean(p)); err != nil {
			continue
		}
		if _, err := files.Lstat(join(dir, other)); err != nil || slices.Contains(s.list(dir), other) {
			return nil
		}
		return s
	}
	return nil
}

// again returns spellings for another look at a file system that may have changed.
func (s *spellings) again(files FS) *spellings {
	if s == nil {
		return nil
	}
	return &spellings{files, map[string][]string{}}
}

// of returns how an entry of a directory is spelled.
func (s *spellings) of(dir, name string) string {
	names := s.list(dir)
	if slices.Contains(names, name) {
		return name
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	return name
}

func (s *spellings) list(dir string) []string {
	names, ok := s.dirs[dir]
	if !ok {
		entries, err := s.fs.ReadDir(dir)
		if err != nil {
			entries = []fs.DirEntry{}
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		s.dirs[dir] = names
	}
	return names
}

// folded spells a path that is not there as the place that it would be taken for: where case does not
// matter, a new .BASHRC is read by every shell.
func (b *Builder) folded(p string) string {
	if b.folds == nil {
		return p
	}
	names := strings.Split(p, "/")
	for i, name := range names {
		if known, ok := b.names[strings.ToLower(name)]; ok {
			names[i] = known
		}
	}
	return strings.Join(names, "/")
}

// foldable are the names of the places that the builder knows, by their lower case. Of two that differ
// in case only, the last stands for both.
func (b *Builder) foldable() map[string]string {
	names := map[string]string{}
	add := func(p string) {
		for name := range strings.SplitSeq(p, "/") {
			if name != "" && !strings.ContainsAny(name, "*?[~") {
				names[strings.ToLower(name)] = name
			}
		}
	}
	for _, rows := range [][]placeRow{placeRows, notPlaces} {
		for _, r := range rows {
			for p := range strings.FieldsSeq(r.patterns) {
				add(p)
			}
		}
	}
	for _, g := range obeyed.Groups() {
		for _, f := range g.Files {
			for p := range strings.FieldsSeq(f.Patterns) {
				add(p)
			}
		}
	}
	for _, p := range slices.Concat(criticalNames, b.protected) {
		add(p)
	}
	for _, p := range b.self {
		add(p.Path)
	}
	return names
}

// swapped is a name in the other case, letter by letter.
func swapped(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, name)
}

// renamed is a new name of what the text moved.
type renamed struct{ from, to string } // real paths

// before is where what lies at a place was before the text moved it there: what was not read under its old
// name is not known under the new one.
func (w *build) before(p string) string { return origin(w.moved, p) }

// origin is where what lies at a place was before these moves. Moves of a place into one around it could make
// a path of any length: at the longest that Linux takes (PATH_MAX, 4096 bytes) it stops.
func origin(moves []renamed, p string) string {
	for _, m := range slices.Backward(moves) {
		if within(p, m.to) && len(p) <= 4096 {
			p = m.from + strings.TrimPrefix(p, m.to)
		}
	}
	return p
}

// moves notes the new names of what a command moves: later commands of the text may delete it under these.
func (w *build) moves(from []*spot, made []*spot) {
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" {
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
			w.view.carry(p, at)
		}
	}
}

// copies lets later commands of the text see the links that a copy takes along.
func (w *build) copies(c *call, sources []touch, made []*spot) {
	keeps := c.has("a", "archive", "d", "P", "no-dereference", "R", "r", "recursive", "l", "links")
	keeps = keeps && !c.has("L", "dereference")
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" || !keeps {
		return
	}
	for _, t := range sources {
		abs := absolute(t.word.Text, t.dir)
		if t.word.Certainty != value.Exact || t.word.Glob || abs == "" {
			continue
		}
		from, _ := w.view.real(abs, true)
		base, at := path.Base(t.word.Text), made[0].real
		slash := c.cmd.Name == "rsync" && strings.HasSuffix(t.word.Text, "/")
		whole := slash || base == "." || strings.HasSuffix(t.word.Text, "/.")
		if made[0].node.mode.IsDir() && !whole {
			at = join(at, base)
		}
		w.view.carry(from, at)
	}
}

// carry lets a look find at a new place what a link or a tree of links looks like at its old one.
func (v *view) carry(from, to string) {
	if n := v.look(from); n.mode&fs.ModeSymlink != 0 {
		v.make(to, n)
	} else if _, n := v.real(from, false); n.mode.IsDir() || origin(v.moved, from) != from {
		v.moved = append(v.moved, renamed{origin(v.moved, from), to})
	}
}

// links lets later commands of the text see the links that ln makes: what they reach through one lies
// elsewhere. A hard link is seen as one, too: what is written through either is the same file.
func (w *build) links(c *call, targets []touch, made []*spot) {
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" {
		return
	}
	symbolic, as := c.has("s", "symbolic", "symbolic-link"), made[0]
	dir, there := w.view.real(as.path, c.has("n", "no-dereference") || c.has("T", "no-target-directory"))
	for _, t := range targets {
		lost := t.word.Certainty != value.Exact || t.word.Glob
		at, taken := as.real, as.node
		if there.exists && there.mode.IsDir() {
			if lost {
				continue // its name is not known, either
			}
			at = join(dir, path.Base(t.word.Text))
			taken = w.view.look(at)
		}
		if t.word.Text == "" || taken.exists && !c.has("f", "force") && c.cmd.Name == "ln" {
			continue // ln fails
		}
		target := t.word.Text
		if !symbolic || c.has("r", "relative") {
			target = absolute(target, c.dir)
		}
		if target != "" {
			w.view.make(at, node{exists: true, mode: fs.ModeSymlink | 0o777, link: target, lost: lost})
		}
	}
}

// make lets a look find something new, and the directories that it needs: the text may have made these, too.
func (v *view) make(p string, n node) {
	if v.added == nil {
		v.added = map[string][]string{}
	}
	for there := false; !there && p != volume(p); n = (node{exists: true, mode: fs.ModeDir | 0o755}) {
		v.nodes[p] = n
		dir, name := parent(p)
		v.added[dir] = append(v.added[dir], name)
		p, there = dir, v.look(dir).exists
	}
}
