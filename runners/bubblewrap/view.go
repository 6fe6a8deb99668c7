package bubblewrap

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// mount is one thing that is put into the view of a sandbox.
type mount struct {
	kind   string // see below
	at     string // absolute and clean
	source string // its content, for those kinds that have one; the target of a symlink
	size   int64  // of a tmpfs
	mode   string // of a tmpfs or a file, octal; "" for a file that nobody may change
	data   []byte // of a file
	order  int    // among those of equal depth
}

// Kinds of mounts.
const (
	readOnly  = "ro-bind" // a place of the host, which must not be changed
	writable  = "bind"    // a place of the host
	scratch   = "tmpfs"   // an empty directory in memory
	directory = "dir"
	symlink   = "symlink"
	content   = "file"
)

// view is everything that a sandbox shows. Inner places go on top of outer ones, regardless of the order in
// which they were added; of two at one place the later one holds.
type view struct{ mounts []mount }

func (v *view) add(m mount) {
	m.order = len(v.mounts)
	v.mounts = append(v.mounts, m)
}

// sorted returns the mounts in the order in which they are to be made.
func (v *view) sorted() []mount {
	all := slices.Clone(v.mounts)
	slices.SortFunc(all, func(a, b mount) int {
		return cmp.Or(cmp.Compare(depth(a.at), depth(b.at)), cmp.Compare(a.order, b.order))
	})
	// Of two at one place only the last is made: the source of a hidden one would have to exist for nothing.
	last := map[string]int{}
	for i, m := range all {
		last[m.at] = i
	}
	kept := all[:0]
	for i, m := range all {
		if last[m.at] == i {
			kept = append(kept, m)
		}
	}
	return kept
}

// depth is how many names lead to a path.
func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// shown returns the deepest mount that covers a path, if any does.
func (v *view) shown(p string) (mount, bool) {
	var best mount
	found := false
	for _, m := range v.mounts {
		if m.kind != directory && within(p, m.at) && (!found || depth(m.at) >= depth(best.at)) {
			best, found = m, true
		}
	}
	return best, found
}

// arguments turns the view into arguments of bwrap. file gives the number of a descriptor with a content.
func (v *view) arguments(file func(data []byte) (int, error)) ([]string, error) {
	var args []string
	for _, m := range v.sorted() {
		switch m.kind {
		case readOnly, writable:
			args = append(args, "--"+m.kind, m.source, m.at)
		case scratch:
			args = append(args, "--perms", m.mode, "--size", fmt.Sprint(m.size), "--tmpfs", m.at)
		case directory:
			args = append(args, "--dir", m.at)
		case symlink:
			args = append(args, "--symlink", m.source, m.at)
		case content:
			fd, err := file(m.data)
			if err != nil {
				return nil, err
			}
			args = append(args, "--perms", cmp.Or(m.mode, "0444"), "--file", fmt.Sprint(fd), m.at)
		}
	}
	return args, nil
}

// watched returns the places of the host where commands write.
func (v *view) watched() (places []string) {
	for _, m := range v.sorted() {
		if m.kind == writable {
			places = append(places, m.at)
		}
	}
	return places
}

// venv shows a virtual environment that the operator named, wherever it lies.
func (v *view) venv(dir string, roots []facts.Root) {
	real, err := filepath.EvalSymlinks(dir)
	if !filepath.IsAbs(dir) || err != nil || slices.ContainsFunc(roots,
		func(r facts.Root) bool { return within(real, r.Path) }) {
		return
	}
	v.add(mount{kind: readOnly, at: filepath.Clean(dir), source: real})
}

// maxCopy bounds the size of a copy.
const maxCopy = 64 << 20

// copies shows copies of files that lie below the empty home directory. Others are not shown: a copy would
// lie on a granted place.
func (v *view) copies(files []string) {
	for _, at := range files {
		m, ok := v.shown(at)
		if !clean(at) || !ok || m.kind != scratch {
			continue
		}
		info, err := os.Stat(at)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopy {
			continue
		}
		if data, err := os.ReadFile(at); err == nil {
			v.add(mount{kind: content, at: at, data: data, mode: "0600"})
		}
	}
}

// clean reports whether a path can be put into a view.
func clean(p string) bool {
	return filepath.IsAbs(p) && filepath.Clean(p) == p && !strings.Contains(p, "\x00")
}
