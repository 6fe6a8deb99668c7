package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// errOutside is the error for a path below no root.
var errOutside error = outside{}

type outside struct{}

func (outside) Error() string { return "it is outside of the granted places of this environment" }
func (outside) Unwrap() error { return fs.ErrPermission }

// below reaches files at and below some roots.
type below struct {
	roots []string
	files engine.Files
}

// Below keeps files to roots: absolute paths without links, of directories or single files. Since files
// follow no symbolic link, a path that begins with a root leads nowhere else.
func Below(roots []string, files engine.Files) (engine.Files, error) {
	if len(roots) == 0 {
		return nil, errors.New("restrict files: no roots given")
	}
	for _, r := range roots {
		if !path.IsAbs(r) || path.Clean(r) != r || strings.Contains(r, "\x00") {
			return nil, fmt.Errorf("restrict files to %q: not an absolute, clean path", r)
		}
	}
	return below{roots, files}, nil
}

// check returns an error for an outside path. An unclean path is one: its names do not show its target.
func (b below) check(op, p string) error {
	if !path.IsAbs(p) || path.Clean(p) != p {
		return fail(op, p, errUnclean)
	}
	for _, r := range b.roots {
		if p == r || strings.HasPrefix(p, strings.TrimSuffix(r, "/")+"/") {
			return nil
		}
	}
	return fail(op, p, errOutside)
}

func (b below) Lstat(p string) (fs.FileInfo, error) {
	if err := b.check("look at", p); err != nil {
		return nil, err
	}
	return b.files.Lstat(p)
}

func (b below) ReadLink(p string) (string, error) {
	if err := b.check("read link", p); err != nil {
		return "", err
	}
	return b.files.ReadLink(p)
}

func (b below) ReadDir(p string) ([]fs.DirEntry, error) {
	if err := b.check("list", p); err != nil {
		return nil, err
	}
	return b.files.ReadDir(p)
}

func (b below) Open(p string) (io.ReadCloser, error) {
	if err := b.check("read", p); err != nil {
		return nil, err
	}
	return b.files.Open(p)
}

func (b below) Write(p string, content io.Reader, o engine.WriteOptions) (int64, error) {
	if err := b.check("write", p); err != nil {
		return 0, err
	}
	return b.files.Write(p, content, o)
}

func (b below) Mkdir(p string) error {
	if err := b.check("make directory", p); err != nil {
		return err
	}
	return b.files.Mkdir(p)
}

func (b below) Symlink(target, p string) error {
	if err := b.check("link", p); err != nil {
		return err
	}
	return b.files.Symlink(target, p)
}

func (b below) Chmod(p string, mode fs.FileMode) error {
	if err := b.check("change the mode of", p); err != nil {
		return err
	}
	return b.files.Chmod(p, mode)
}

func (b below) Remove(p string) error {
	if err := b.check("delete", p); err != nil {
		return err
	}
	return b.files.Remove(p)
}
