package boundary

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/runners/changes"
	"github.com/sallyport-dev/sallyport/runners/files"
)

const (
	// maxChanges bounds the changes that are listed one by one.
	maxChanges = 200
	// maxDigested bounds a file of which the list has a digest, in bytes.
	maxDigested = 1 << 20
)

// note keeps the touched names for Changed. The caller holds b.mu.
func (b *Boundary) note(touched []changes.Touch, whole bool) {
	if b.changed == nil {
		b.changed = map[string]changes.Before{}
	}
	b.unsure = b.unsure || !whole
	for _, t := range touched {
		if _, known := b.changed[t.Path]; !known {
			b.changed[t.Path] = t.Before
		}
	}
}

// Changed lists the files that were changed between the starts of commands and Leave, since the last call.
func (b *Boundary) Changed() engine.Changes {
	b.mu.Lock()
	touched, whole := b.changed, !b.unsure && b.watch != nil
	b.changed, b.unsure = nil, false
	b.mu.Unlock()
	out := engine.Changes{Whole: whole}
	for p, before := range touched {
		c, ok := changeOf(p, before)
		if !ok {
			continue
		}
		out.Count(c.What)
		out.List = append(out.List, c)
	}
	rank := map[string]int{engine.Removed: -1, engine.Changed: 1, engine.Created: 2}
	slices.SortFunc(out.List, func(a, b engine.Change) int {
		return cmp.Or(cmp.Compare(rank[a.What], rank[b.What]), cmp.Compare(a.Path, b.Path))
	})
	out.List = out.List[:min(len(out.List), maxChanges)]
	for i := range out.List {
		if c := &out.List[i]; c.What != engine.Removed && c.Link == "" && c.Size <= maxDigested {
			if content, err := read(c.Path, maxDigested); err == nil {
				c.SHA256 = sum(content)
			}
		}
	}
	return out
}

// changeOf describes the change of a file. There is none if it came and went, or if it is a directory that
// is there now: its files are listed.
func changeOf(p string, before changes.Before) (engine.Change, bool) {
	info, err := (files.Host{}).Lstat(p)
	if err != nil {
		_, err = os.Lstat(p)
		gone := os.IsNotExist(err) && before == changes.Present
		return engine.Change{Path: p, What: engine.Removed}, gone
	}
	c := engine.Change{Path: p, What: engine.Changed, Mode: info.Mode().String(), Size: info.Size()}
	switch before {
	case changes.Absent:
		c.What = engine.Created
	case changes.Unknown:
		c.What = engine.Written
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		c.Link, _ = (files.Host{}).ReadLink(p)
	}
	return c, !info.IsDir()
}

// ObeyedBy names the programs of a user that take commands or instructions from a file.
func ObeyedBy(p, home string) []string {
	by, _ := places.ObeyedBy(filepath.ToSlash(p), home)
	names := make([]string, len(by))
	for i, o := range by {
		names[i] = o.Program
	}
	return names
}

// Compare compares a file with its state after a change: "as left", "changed", "gone", "back" for one that
// was removed, or "unknown" if the change has no digest.
func Compare(c engine.Change) string {
	info, err := (files.Host{}).Lstat(c.Path)
	switch {
	case err != nil && c.What == engine.Removed:
		return "as left"
	case err != nil:
		return "gone"
	case c.What == engine.Removed:
		return "back"
	case info.Mode().String() != c.Mode || info.Size() != c.Size:
		return "changed"
	}
	var same bool
	if c.Link != "" {
		target, err := (files.Host{}).ReadLink(c.Path)
		same = err == nil && target == c.Link
	} else {
		if c.SHA256 == "" {
			return "unknown"
		}
		content, err := read(c.Path, maxDigested)
		same = err == nil && sum(content) == c.SHA256
	}
	if !same {
		return "changed"
	}
	return "as left"
}
