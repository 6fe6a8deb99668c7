package mounts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Place is where a granted path really is, and the links by which it is reached.
type Place struct {
	Path  string
	Links []Link
}

// Link is a symbolic link.
type Link struct{ At, Target string }

// ErrPlanted is wrapped by the error for a link that a command can have made.
var ErrPlanted = errors.New("it leads over a symbolic link in a place that commands may write to")

// Resolve finds the granted places. Links that the operator made are followed. Those below a place that
// commands may write to are not: commands could choose the grant. The result is by the granted path.
func Resolve(roots []facts.Root) (map[string]Place, error) {
	byDepth := slices.Clone(roots)
	slices.SortStableFunc(byDepth, func(a, b facts.Root) int { return depth(a.Path) - depth(b.Path) })
	out := map[string]Place{}
	var writable []string
	for _, r := range byDepth {
		if !clean(r.Path) {
			return nil, fmt.Errorf("granted place %q: not an absolute, clean path", r.Path)
		}
		p, err := follow(r.Path, writable)
		if err != nil {
			return nil, fmt.Errorf("granted place %s: %w", r.Path, err)
		}
		out[r.Path] = p
		if r.Write {
			writable = append(writable, p.Path)
		}
	}
	return out, nil
}

// maxLinks bounds the links of one path, as the kernel does.
const maxLinks = 40

// follow resolves a path name by name.
func follow(p string, writable []string) (Place, error) {
	var out Place
	real, rest := "/", strings.Split(strings.TrimPrefix(p, "/"), "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		if err != nil {
			return Place{}, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = next
			continue
		}
		if slices.ContainsFunc(writable, func(w string) bool { return within(real, w) }) {
			return Place{}, fmt.Errorf("%s: %w: grant its target", next, ErrPlanted)
		}
		if len(out.Links) == maxLinks {
			return Place{}, fmt.Errorf("%s: too many symbolic links", p)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return Place{}, err
		}
		out.Links = append(out.Links, Link{At: next, Target: target})
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	out.Path = real
	return out, nil
}

// depth is how many names lead to a path.
func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}

// clean reports whether a path is one that can be mounted.
func clean(p string) bool {
	return filepath.IsAbs(p) && filepath.Clean(p) == p && !strings.Contains(p, "\x00")
}
