package local

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// hostFS looks at the files of this machine.
type hostFS struct{}

func (hostFS) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (hostFS) ReadLink(path string) (string, error)       { return os.Readlink(path) }
func (hostFS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// ReadFile returns at most limit bytes of a regular file and whether that is all of it. It does
// not wait for anything: a pipe or a device in the place of a file is refused.
func (hostFS) ReadFile(path string, limit int) (content []byte, whole bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("read file %s: not a regular file", path)
	}
	content, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, false, err
	}
	if len(content) > limit {
		return content[:limit], false, nil
	}
	return content, true, nil
}
