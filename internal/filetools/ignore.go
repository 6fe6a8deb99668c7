package filetools

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
)

// maxIgnoreBytes bounds the bytes that are read of one such file.
const maxIgnoreBytes = 256 << 10

// ignoring holds the patterns of the ignore files around and below a directory.
type ignoring struct {
	fs       facts.FS
	base     string   // where the search starts
	above    []string // names of the directories between the repository and base
	patterns repo.Ignores
}

// newIgnoring reads the ignore files of the repository around a directory, as far as places are granted.
func newIgnoring(files facts.FS, base string) *ignoring {
	g := &ignoring{fs: files, base: base}
	var above []string
	for dir := base; ; dir = path.Dir(dir) {
		if _, err := files.Lstat(below(dir, ".git")); err == nil {
			break
		}
		if parent := path.Dir(dir); parent == dir || strings.HasPrefix(path.Base(dir), "..") {
			above = nil // no repository: nothing around the directory counts
			break
		}
		above = append([]string{path.Base(dir)}, above...)
	}
	dir := base
	for range above {
		dir = path.Dir(dir)
	}
	for i, name := range above {
		g.read(dir, above[:i])
		dir = below(dir, name)
	}
	g.above = above
	return g
}

// enter reads the ignore files of a directory of the search; "" is the one in which it starts.
func (g *ignoring) enter(rel string) {
	dir := g.base
	if rel != "" {
		dir = below(g.base, rel)
	}
	g.read(dir, g.parts(rel))
}

func (g *ignoring) read(dir string, domain []string) {
	for _, name := range repo.IgnoreFiles {
		content, _, err := g.fs.ReadFile(below(dir, name), maxIgnoreBytes)
		if err != nil {
			continue // without it more is searched, and judged
		}
		g.patterns.Add(content, domain)
	}
}

// skips reports whether the patterns exclude an entry.
func (g *ignoring) skips(rel string, dir bool) bool {
	return g.patterns.Match(g.parts(rel), dir)
}

func (g *ignoring) parts(rel string) []string {
	parts := append([]string{}, g.above...)
	if rel != "" {
		parts = append(parts, strings.Split(rel, "/")...)
	}
	return parts
}
