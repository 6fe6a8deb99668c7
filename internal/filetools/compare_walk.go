package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// dirRun is one comparison under way.
type dirRun struct {
	*compareDirs
	ctx      context.Context
	files    engine.Files
	a, b     string // the directories as they were judged
	seen     int
	matching int
	room     int // bytes of diffs that may still be shown
}

// dir compares one directory of both sides. Only the first may not be unreadable.
func (r *dirRun) dir(rel string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d directories inside each other at %s: compare inner ones, or exclude some",
			maxDepth, rel)
	}
	a, err := r.list(r.a, rel)
	if err == nil {
		var b []fs.DirEntry
		if b, err = r.list(r.b, rel); err == nil {
			return r.merge(rel, a, b, depth)
		}
	}
	if rel == "" || errors.Is(err, errTooMuch) || r.ctx.Err() != nil {
		return err
	}
	r.not(rel+"/", err)
	return nil
}

// errTooMuch is why a comparison does not go on.
var errTooMuch = fmt.Errorf(
	"more than %d entries, or too many names for the patterns: compare inner directories, or exclude some",
	maxCompareSeen)

// list reads a directory of one side, without the excluded entries.
func (r *dirRun) list(side, rel string) ([]fs.DirEntry, error) {
	if err := alive(r.ctx); err != nil {
		return nil, err
	}
	entries, err := r.files.ReadDir(realBelow(side, rel))
	if err != nil {
		return nil, cause(err)
	}
	kept := entries[:0:0]
	for _, e := range entries {
		name := join(rel, e.Name())
		r.seen++
		r.matching += len(name) * r.exclude.bytes
		if r.seen > maxCompareSeen || r.matching > maxMatching {
			return nil, errTooMuch
		}
		if !r.exclude.match(name) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// merge goes through the sorted entries of both sides.
func (r *dirRun) merge(rel string, a, b []fs.DirEntry, depth int) error {
	d := &r.details
	for len(a) > 0 || len(b) > 0 {
		var order int
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].Name(), b[0].Name())
		}
		switch {
		case order < 0:
			d.Counts.OnlyInDir1++
			d.OnlyInDir1 = appendListed(d.OnlyInDir1, slashed(rel, a[0]))
			a = a[1:]
		case order > 0:
			d.Counts.OnlyInDir2++
			d.OnlyInDir2 = appendListed(d.OnlyInDir2, slashed(rel, b[0]))
			b = b[1:]
		default:
			if err := r.pair(join(rel, a[0].Name()), a[0], b[0], depth); err != nil {
				return err
			}
			a, b = a[1:], b[1:]
		}
	}
	return nil
}

func slashed(rel string, e fs.DirEntry) string {
	if e.IsDir() {
		return join(rel, e.Name()) + "/"
	}
	return join(rel, e.Name())
}

// pair compares two entries of one name.
func (r *dirRun) pair(rel string, a, b fs.DirEntry, depth int) error {
	if err := alive(r.ctx); err != nil {
		return err
	}
	switch {
	case a.IsDir() && b.IsDir():
		return r.dir(rel, depth+1)
	case a.Type() != b.Type():
		r.differ(rel)
		r.show(rel, fmt.Sprintf("a %s became a %s\n", kindOf(a.Type()), kindOf(b.Type())))
		return nil
	case a.Type()&fs.ModeSymlink != 0:
		r.links(rel)
		return nil
	case !a.Type().IsRegular():
		r.not(rel, fmt.Errorf("both are a %s, which has no contents", kindOf(a.Type())))
		return nil
	}
	return r.regular(rel)
}

func (r *dirRun) links(rel string) {
	a, err := r.files.ReadLink(realBelow(r.a, rel))
	if err != nil {
		r.not(rel, err)
		return
	}
	b, err := r.files.ReadLink(realBelow(r.b, rel))
	switch {
	case err != nil:
		r.not(rel, err)
	case a == b:
		r.same(rel)
	default:
		r.differ(rel)
		r.show(rel, fmt.Sprintf("the target of the symbolic link: %s became %s\n", a, b))
	}
}

// regular compares two files: by size, then by contents, then line by line where that is asked for.
func (r *dirRun) regular(rel string) error {
	a, b := realBelow(r.a, rel), realBelow(r.b, rel)
	x, err := r.files.Lstat(a)
	if err != nil {
		r.not(rel, err)
		return nil
	}
	y, err := r.files.Lstat(b)
	if err != nil {
		r.not(rel, err)
		return nil
	}
	same := false
	if x.Size() == y.Size() {
		if same, err = sameContents(r.ctx, r.files, a, b); err != nil {
			if stopped := alive(r.ctx); stopped != nil {
				return stopped
			}
			r.not(rel, err)
			return nil
		}
	}
	if same {
		r.same(rel)
		return nil
	}
	r.differ(rel)
	if r.in.ShowContentDiff && r.room > 0 && len(r.details.ContentDiffs) < maxListed {
		return r.diff(rel, a, b)
	}
	return nil
}

func (r *dirRun) diff(rel, a, b string) error {
	c, err := compareContents(r.ctx, r.files, a, b)
	switch {
	case alive(r.ctx) != nil:
		return alive(r.ctx)
	case err != nil:
		r.show(rel, cause(err).Error()+"\n")
	case c.note != "":
		r.show(rel, c.note+"\n")
	case c.diffable():
		r.show(rel, compareLines(c.a, c.b).unified(rel, rel, usualContextLines, maxDirDiff))
	}
	return nil
}

// show keeps the diff of a file, where diffs are asked for and as long as there is room.
func (r *dirRun) show(rel, text string) {
	if !r.in.ShowContentDiff || r.room <= 0 {
		return
	}
	if r.room -= len(text); r.room <= 0 {
		text = fmt.Sprintf("left out: the diffs of this comparison are longer than %d bytes; use compare_files\n",
			maxDirDiffBytes)
	}
	r.details.ContentDiffs[rel] = text
}

func (r *dirRun) same(rel string) {
	r.details.Counts.Identical++
	r.details.Identical = appendListed(r.details.Identical, rel)
}

func (r *dirRun) differ(rel string) {
	r.details.Counts.Different++
	r.details.Different = appendListed(r.details.Different, rel)
}

func (r *dirRun) not(rel string, err error) {
	r.details.Counts.NotCompared++
	r.details.NotCompared = appendListed(r.details.NotCompared, Problem{rel, cause(err).Error()})
}
