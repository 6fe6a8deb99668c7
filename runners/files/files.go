// Package files reaches the files of the machine that it stands on for file tools: each path is walked
// from the root of the file system, one name after the other, and no symbolic link is followed.
//
// So the opened file is the judged one. A link that replaces a directory or a file in
// between is an error, and a race cannot lead anywhere else: every step is taken from a directory that
// is open already, and opens no link.
//
// It decides nothing: which paths may be reached, and how, is the gate's decision. It does not
// protect from bind mounts or from other names (hard links) of a file, except that writing makes a new
// file and so leaves other names of the old one alone. It does not wait for the disk (fsync): its
// promises hold while the machine runs.
package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// ErrChanged is wrapped by the error for a path in which a symbolic link, or another file, has replaced an
// earlier file.
var ErrChanged = errors.New("it is a symbolic link or was changed meanwhile")

// Host is the machine's own files. The zero value is ready. Paths are absolute and clean, with slashes
// or in the form of the system.
type Host struct {
	stepwise bool // walk as on systems that have no better way; for tests
}

var _ engine.Files = Host{}

// Lstat describes a path without following it.
func (h Host) Lstat(path string) (fs.FileInfo, error) {
	const op = "look at"
	a, err := h.walk(path, false)
	if err != nil {
		return nil, fail(op, path, err)
	}
	defer a.close()
	info, err := a.dir.Lstat(a.name)
	return info, fail(op, path, err)
}

// ReadLink returns the target of a symbolic link.
func (h Host) ReadLink(path string) (string, error) {
	const op = "read link"
	a, err := h.walk(path, false)
	if err != nil {
		return "", fail(op, path, err)
	}
	defer a.close()
	target, err := a.dir.Readlink(a.name)
	return target, fail(op, path, err)
}

// ReadDir lists a directory, sorted by name. The entries are described at once: later their
// directory is closed, and another may be in its place.
func (h Host) ReadDir(path string) ([]fs.DirEntry, error) {
	const op = "list"
	dir, err := h.directory(path, false)
	if err != nil {
		return nil, fail(op, path, err)
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.Open(".")
	if err != nil {
		return nil, fail(op, path, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fail(op, path, err)
	}
	slices.Sort(names)
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		info, err := dir.Lstat(name)
		switch {
		case err == nil:
			entries = append(entries, fs.FileInfoToDirEntry(info))
		case !errors.Is(err, fs.ErrNotExist): // gone meanwhile
			return nil, fail(op, strings.TrimSuffix(path, "/")+"/"+name, err)
		}
	}
	return entries, nil
}

// Open reads a regular file.
func (h Host) Open(path string) (io.ReadCloser, error) {
	const op = "read"
	a, err := h.walk(path, false)
	if err != nil {
		return nil, fail(op, path, err)
	}
	defer a.close()
	info, err := a.dir.Lstat(a.name)
	if err != nil {
		return nil, fail(op, path, err)
	}
	// Looked at before it is opened, since to open a device may do something.
	if err := regular(info); err != nil {
		return nil, fail(op, path, err)
	}
	f, err := a.dir.OpenFile(a.name, os.O_RDONLY|noWaiting, 0)
	if err != nil {
		return nil, fail(op, path, err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, fail(op, path, errors.Join(ErrChanged, err))
	}
	return reader{f, path}, nil
}

// regular returns why something is not a file that can be read or replaced.
func regular(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrChanged
	case info.IsDir():
		return errDirectory
	default:
		return errSpecial
	}
}

// reader is an open file that names its errors as the caller named the path.
type reader struct {
	f    *os.File
	path string
}

func (r reader) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, fail("read", r.path, err)
}

func (r reader) Close() error { return fail("close", r.path, r.f.Close()) }
