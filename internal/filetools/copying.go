package filetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// step is one file, link or empty directory of a copy, with the judged paths that it uses.
type step struct {
	item
	from int // index of the touch that reads it, or of the directory around it; -1 for none
	to   int // index of the touch that writes it
}

// copied is the result of a step.
type copied struct {
	size    int64
	link    bool
	skipped string // why it was left out; "" when it was copied
}

// copier carries steps out. An existing file that may not be replaced is skipped; nothing is ever deleted.
type copier struct {
	files     engine.Files
	paths     []facts.Path
	overwrite bool
	dryRun    bool
}

// source is the real path that a step reads. Of a tree that was judged as a whole it is below that.
func (c copier) source(s step) string {
	p := c.paths[s.from]
	if p.Recursive {
		return realBelow(p.Real, s.rel)
	}
	return p.Real
}

// copy does one step.
func (c copier) copy(ctx context.Context, s step) (copied, error) {
	target := c.paths[s.to].Real
	old, err := c.files.Lstat(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return copied{}, err
	}
	there := err == nil
	switch {
	case there && old.IsDir():
		if s.mode.IsDir() {
			return copied{}, nil
		}
		return copied{}, errors.New("a directory is in the place of the copy")
	case there && !c.overwrite:
		return copied{skipped: "the destination exists (use overwrite=true)"}, nil
	case s.mode.IsDir():
		if there {
			return copied{}, fmt.Errorf("a %s is in the place of the copied directory", kindOf(old.Mode()))
		}
		if c.dryRun {
			return copied{}, nil
		}
		return copied{}, c.files.Mkdir(target)
	case s.mode&fs.ModeSymlink != 0:
		return c.link(s, target, there)
	case !s.mode.IsRegular():
		return copied{skipped: "it is a " + kindOf(s.mode) + ", not a file"}, nil
	}
	return c.file(ctx, s, target)
}

// link makes a link like the one that was found. It is not followed, and nothing of its target is read.
func (c copier) link(s step, target string, there bool) (copied, error) {
	switch {
	case there: // to replace it would be to delete it, which nobody has judged
		return copied{skipped: "the destination exists, and a symbolic link replaces nothing"}, nil
	case c.dryRun:
		return copied{link: true}, nil
	}
	return copied{link: true}, c.files.Symlink(s.link, target)
}

func (c copier) file(ctx context.Context, s step, target string) (copied, error) {
	source := c.source(s)
	if source == target {
		return copied{skipped: "the destination is the file itself"}, nil
	}
	info, err := c.files.Lstat(source)
	if err != nil {
		return copied{}, err
	}
	if !info.Mode().IsRegular() {
		return copied{}, fmt.Errorf("it is now a %s", kindOf(info.Mode()))
	}
	if c.dryRun {
		return copied{size: info.Size()}, nil
	}
	r, err := c.files.Open(source)
	if err != nil {
		return copied{}, err
	}
	defer r.Close()
	n, err := c.files.Write(target, steady{ctx, r}, engine.WriteOptions{Replace: c.overwrite, Like: info})
	return copied{size: n}, err
}

// insideItself reports whether a destination is a directory or lies in it, by the judged paths.
func insideItself(source, destination facts.Path) bool {
	return destination.Real == source.Real || strings.HasPrefix(destination.Real,
		strings.TrimSuffix(source.Real, "/")+"/")
}
