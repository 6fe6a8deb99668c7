package facts

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OSFS looks at the files of this machine. Paths are slash-separated, also on Windows.
type OSFS struct{}

var _ FS = OSFS{}

// errNotRegular is for what could block or has no end: fifos, devices, directories.
var errNotRegular = errors.New("not a regular file")

// Lstat describes a file; a symbolic link is not followed.
func (OSFS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(filepath.FromSlash(path)) }

// ReadLink returns the target of a symbolic link, with slashes.
func (OSFS) ReadLink(path string) (string, error) {
	target, err := os.Readlink(filepath.FromSlash(path))
	return filepath.ToSlash(target), err
}

// ReadDir returns the entries of a directory, sorted by name.
func (OSFS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.FromSlash(path)) }

// ReadFile returns at most limit bytes of a regular file and whether that is all of it. The file
// type is checked before it is opened, so that a fifo or device does not hold it up, and once more
// on the open file, because another may have taken its place.
func (OSFS) ReadFile(path string, limit int) (content []byte, whole bool, err error) {
	name := filepath.FromSlash(path)
	info, err := os.Stat(name)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	content, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if len(content) > limit {
		return content[:limit], false, err
	}
	return content, err == nil, err
}
