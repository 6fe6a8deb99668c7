package disk

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Spellings find the one name that a file has where .GIT and .git are the same, as on macOS and
// Windows. Without that, another case would be a way around every rule about a place.
type Spellings struct {
	fs   facts.FS
	dirs map[string][]string
}

// NewSpellings returns nil for a file system in which case tells names apart. It finds out by a
// directory that is there under another case, although no entry is spelled so.
func NewSpellings(files facts.FS, dirs ...string) *Spellings {
	s := &Spellings{files, map[string][]string{}}
	for _, p := range dirs {
		dir, base := Parent(Clean(p))
		other := swapped(base)
		if p == "" || other == base {
			continue
		}
		if _, err := files.Lstat(Clean(p)); err != nil {
			continue
		}
		if _, err := files.Lstat(Join(dir, other)); err != nil || slices.Contains(s.list(dir), other) {
			return nil
		}
		return s
	}
	return nil
}

// Again returns spellings for another look at a file system that may have changed.
func (s *Spellings) Again(files facts.FS) *Spellings {
	if s == nil {
		return nil
	}
	return &Spellings{files, map[string][]string{}}
}

// of returns how an entry of a directory is spelled.
func (s *Spellings) of(dir, name string) string {
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

func (s *Spellings) list(dir string) []string {
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
