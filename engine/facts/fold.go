package facts

import (
	"io/fs"
	"slices"
	"strings"
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
