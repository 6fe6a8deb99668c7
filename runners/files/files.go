// Package files reaches the files of the machine that it stands on for file tools: each path is walked
// from the root of the file system, one name after the other, and no symbolic link is followed.
//
// So what is opened is what was judged. A link that comes into the place of a directory or a file in
// between is an error, and a race cannot lead anywhere else (os.Root holds each step to the directory
// that was opened before; os.SameFile shows that it is the one that was looked at).
//
// It decides nothing: which paths may be reached, and for what, is the gate's to say. It does not
// protect from bind mounts or from other names (hard links) of a file, except that writing makes a new
// file and so leaves other names of the old one alone.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// ErrChanged is wrapped by the error for a path in which a symbolic link, or another file, has come
// into the place of what was there.
var ErrChanged = errors.New("it is a symbolic link or was changed meanwhile")

// Host is the machine's own files. The zero value is ready.
type Host struct{}

var _ engine.Files = Host{}

// at is an open directory and the last name of a path in it.
type at struct {
	dir  *os.Root
	name string
}

func (a at) close() { _ = a.dir.Close() }

// walk opens the directory around an absolute, clean path. With create it makes what is missing of it.
func walk(op, path string, create bool) (at, error) {
	wrap := func(err error) error { return fmt.Errorf("%s %s: %w", op, path, err) }
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return at{}, wrap(errors.New("not an absolute, clean path"))
	}
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	dir, err := os.OpenRoot(volume)
	if err != nil {
		return at{}, wrap(err)
	}
	rest := strings.TrimPrefix(path, volume)
	if rest == "" {
		return at{dir, "."}, nil
	}
	names := strings.Split(rest, string(filepath.Separator))
	for _, name := range names[:len(names)-1] {
		next, err := step(dir, name, create)
		_ = dir.Close()
		if err != nil {
			return at{}, wrap(err)
		}
		dir = next
	}
	return at{dir, names[len(names)-1]}, nil
}

// step opens a directory in a directory, if it is one and not a link to one.
func step(dir *os.Root, name string, create bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = dir.Mkdir(name, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = dir.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = next.Close()
		return nil, errors.Join(fmt.Errorf("%s: %w", name, ErrChanged), err)
	}
	return next, nil
}

// Lstat describes a path without following it.
func (Host) Lstat(path string) (fs.FileInfo, error) {
	a, err := walk("look at", path, false)
	if err != nil {
		return nil, err
	}
	defer a.close()
	return a.dir.Lstat(a.name)
}

// ReadLink returns the target of a symbolic link.
func (Host) ReadLink(path string) (string, error) {
	a, err := walk("read link", path, false)
	if err != nil {
		return "", err
	}
	defer a.close()
	return a.dir.Readlink(a.name)
}

// ReadDir lists a directory, sorted by name.
func (Host) ReadDir(path string) ([]fs.DirEntry, error) {
	a, err := walk("list", path, false)
	if err != nil {
		return nil, err
	}
	defer a.close()
	dir := a.dir
	if a.name != "." {
		if dir, err = step(a.dir, a.name, false); err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		defer dir.Close()
	}
	f, err := dir.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
