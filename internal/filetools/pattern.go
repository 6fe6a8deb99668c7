package filetools

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Bounds of patterns. Together with maxMatching they bound the time that matching takes.
const (
	maxPatterns     = 64
	maxPatternBytes = 4 << 10 // of one list
	maxAnyDepth     = 4       // how often "**/" may stand in one pattern
)

// patterns are globs on a path relative to the base, as Python's fnmatch reads them: * and ? match a
// slash, too, so that "*.py" means all Python files at any depth. Besides, "**/" may match nothing, so
// that "**/*.py" and "src/**/*.py" find the files of the first directory as well.
type patterns struct {
	globs []string // for path.Match, with \x00 in place of each slash
	bytes int
}

// parsePatterns checks the patterns of a request.
func parsePatterns(parameter string, list []string) (patterns, error) {
	var p patterns
	if len(list) > maxPatterns {
		return p, fmt.Errorf("%s: %d patterns: send at most %d", parameter, len(list), maxPatterns)
	}
	for _, glob := range list {
		p.bytes += len(glob)
		switch {
		case glob == "":
			return p, fmt.Errorf("%s: an empty pattern matches nothing: leave it out", parameter)
		case p.bytes > maxPatternBytes:
			return p, fmt.Errorf("%s: more than %d bytes: send fewer or shorter patterns", parameter, maxPatternBytes)
		case strings.Count(glob, "**/") > maxAnyDepth:
			return p, fmt.Errorf("%s: %s: more than %d times **/: one * crosses directories already", parameter, glob,
				maxAnyDepth)
		}
		for _, g := range withoutAnyDepth(strings.TrimPrefix(glob, "./")) {
			g = strings.NewReplacer("/", "\x00", "[!", "[^", `\`, `\\`).Replace(g)
			if _, err := path.Match(g, ""); errors.Is(err, path.ErrBadPattern) {
				return p, fmt.Errorf("%s: %s: not a pattern: a [ needs its ], and stands for itself as [[]", parameter,
					glob)
			}
			p.globs = append(p.globs, g)
		}
	}
	return p, nil
}

// withoutAnyDepth returns a pattern and its readings in which some "**/" match nothing.
func withoutAnyDepth(glob string) []string {
	first, rest, more := strings.Cut(glob, "/")
	if !more {
		return []string{glob}
	}
	var out []string
	for _, r := range withoutAnyDepth(rest) {
		out = append(out, first+"/"+r)
		if first == "**" {
			out = append(out, r)
		}
	}
	return out
}

// match reports whether a relative path matches one of the patterns.
func (p patterns) match(rel string) bool {
	name := strings.ReplaceAll(rel, "/", "\x00")
	for _, g := range p.globs {
		if ok, _ := path.Match(g, name); ok {
			return true
		}
	}
	return false
}

// matchAllBelow reports whether one of the patterns matches everything below a directory.
func (p patterns) matchAllBelow(dir string) bool {
	name := strings.ReplaceAll(dir, "/", "\x00") + "\x00"
	for _, g := range p.globs {
		if ok, _ := path.Match(g, name); ok && strings.HasSuffix(g, "*") {
			return true
		}
	}
	return false
}

// selection is the part of a tree that a batch takes.
type selection struct{ include, exclude patterns }

func parseSelection(include, exclude []string) (s selection, err error) {
	if len(include) == 0 {
		include = []string{"*"}
	}
	if s.include, err = parsePatterns("include_patterns", include); err != nil {
		return s, err
	}
	s.exclude, err = parsePatterns("exclude_patterns", exclude)
	return s, err
}

func (s selection) takes(rel string) bool { return s.include.match(rel) && !s.exclude.match(rel) }
