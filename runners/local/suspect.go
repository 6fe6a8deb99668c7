package local

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
)

// suspect returns the names that commands are kept from unless somebody allows one; nil for none.
func (r *Runner) suspect() func(p string) (around string, is bool) {
	if len(r.opts.Watched) == 0 {
		return nil
	}
	home := valueOf(r.base, "HOME")
	return func(p string) (string, bool) {
		watched := slices.ContainsFunc(r.opts.Watched, func(dir string) bool {
			return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
		})
		if !watched {
			return "", false
		}
		around := path.Dir(p)
		for around != "/" && obeyedBelow(around, home) {
			around = path.Dir(around)
		}
		by, _ := places.ObeyedBy(p, home)
		return around, !inRepository(p) && slices.ContainsFunc(by, func(o facts.Obeyed) bool {
			return o.Severity == "high"
		})
	}
}

// obeyedBelow reports a directory that is itself part of a name by which programs look for files.
func obeyedBelow(dir, home string) bool {
	by, holds := places.ObeyedBy(dir, home)
	return holds || places.StartsOthers(by)
}

// inRepository reports a file of a repository's directory: programs make it when they make a repository, and
// its contents tell whether it starts others. So it is looked at when it is written.
func inRepository(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return name == ".git" || name == ".hg" || name == ".jj" || name == "rebase-merge"
	})
}
