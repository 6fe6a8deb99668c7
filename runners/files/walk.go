package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// at is an open directory and the last name of a path in it: "." for a root.
type at struct {
	dir  *os.Root
	name string
}

func (a at) close() { _ = a.dir.Close() }

// walk opens the directory around a path. With create it makes missing directories.
func (h Host) walk(path string, create bool) (at, error) {
	root, names, err := split(path)
	if err != nil {
		return at{}, err
	}
	if len(names) == 0 {
		dir, err := h.descend(root, nil, false)
		return at{dir, "."}, err
	}
	last := len(names) - 1
	dir, err := h.descend(root, names[:last], create)
	return at{dir, names[last]}, err
}

// directory opens the directory at a path. With create it makes missing directories.
func (h Host) directory(path string, create bool) (*os.Root, error) {
	root, names, err := split(path)
	if err != nil {
		return nil, err
	}
	return h.descend(root, names, create)
}

// split takes an absolute, clean path apart: the root of its file system or drive, and the names below.
func split(path string) (root string, names []string, err error) {
	native := filepath.FromSlash(path)
	if strings.Contains(native, "\x00") || !filepath.IsAbs(native) || filepath.Clean(native) != native {
		return "", nil, errUnclean
	}
	root = filepath.VolumeName(native) + string(filepath.Separator)
	// On Windows only drives: a path of a device or another machine is no place that was judged.
	if runtime.GOOS == "windows" && len(root) != len(`C:\`) {
		return "", nil, errUnclean
	}
	rest := strings.TrimPrefix(native, root)
	if rest == "" {
		return root, nil, nil
	}
	if !filepath.IsLocal(rest) { // names of devices and of streams on Windows
		return "", nil, errUnclean
	}
	return root, strings.Split(rest, string(filepath.Separator)), nil
}

// descend opens the directory that the names lead to, by the best way that the system has.
func (h Host) descend(root string, names []string, create bool) (*os.Root, error) {
	if !h.stepwise {
		dir, err := descend(root, names, create)
		if !errors.Is(err, errors.ErrUnsupported) {
			return dir, err
		}
	}
	return steps(root, names, create)
}

// steps walks with nothing but os.Root, which follows links inside a directory: each name is checked before
// it is opened, and compared with the opened file.
func steps(root string, names []string, create bool) (*os.Root, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		next, err := step(dir, name, create)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
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
		return nil, ErrChanged
	}
	if !info.IsDir() {
		return nil, errNoDirectory
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = next.Close()
		return nil, errors.Join(ErrChanged, err)
	}
	return next, nil
}
