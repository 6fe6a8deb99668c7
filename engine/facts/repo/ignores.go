package repo

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// IgnoreFiles are the names of files with patterns of entries that searches pass over (gitignore(5)). Later
// names take precedence.
var IgnoreFiles = []string{".gitignore", ".ignore"}

// maxIgnores bounds the patterns of Ignores. Later ones ignore nothing.
const maxIgnores = 2000

// Ignores are patterns of entries that git and searches pass over (gitignore(5)). Later patterns take
// precedence. The zero value ignores nothing.
type Ignores struct{ patterns []gitignore.Pattern }

// Add takes the patterns of a file. They hold below the directory to which the names in dir lead.
func (g *Ignores) Add(content []byte, dir []string) {
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && line[0] != '#' && len(g.patterns) < maxIgnores {
			g.patterns = append(g.patterns, gitignore.ParsePattern(line, dir))
		}
	}
}

// Match reports whether the patterns hold for the entry to which names lead.
func (g *Ignores) Match(names []string, isDir bool) bool {
	return gitignore.NewMatcher(g.patterns).Match(names, isDir)
}
