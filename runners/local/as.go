package local

import (
	"io"
	"io/fs"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/runners/identity"
)

// as runs f with the user's rights on files.
func as[T any](r *identity.Rights, f func() (T, error)) (v T, err error) {
	r.Do(func() { v, err = f() })
	return v, err
}

// userFS shows files to the user that commands run as.
type userFS struct {
	rights *identity.Rights
	facts.FS
}

func (u userFS) Lstat(path string) (fs.FileInfo, error) {
	return as(u.rights, func() (fs.FileInfo, error) { return u.FS.Lstat(path) })
}

func (u userFS) ReadLink(path string) (string, error) {
	return as(u.rights, func() (string, error) { return u.FS.ReadLink(path) })
}

func (u userFS) ReadDir(path string) ([]fs.DirEntry, error) {
	return as(u.rights, func() ([]fs.DirEntry, error) { return u.FS.ReadDir(path) })
}

func (u userFS) ReadFile(path string, limit int) (content []byte, whole bool, err error) {
	u.rights.Do(func() { content, whole, err = u.FS.ReadFile(path, limit) })
	return content, whole, err
}

// Walk looks at many paths on one thread: to change it takes longer than to look at one.
func (u userFS) Walk(paths []string) (found map[string]facts.Node) {
	u.rights.Do(func() { found = disk.Walk(u.FS, paths) })
	return found
}

// userFiles reaches files for the user that commands run as.
type userFiles struct {
	rights *identity.Rights
	engine.Files
}

func (u userFiles) Lstat(path string) (fs.FileInfo, error) {
	return as(u.rights, func() (fs.FileInfo, error) { return u.Files.Lstat(path) })
}

func (u userFiles) ReadLink(path string) (string, error) {
	return as(u.rights, func() (string, error) { return u.Files.ReadLink(path) })
}

func (u userFiles) ReadDir(path string) ([]fs.DirEntry, error) {
	return as(u.rights, func() ([]fs.DirEntry, error) { return u.Files.ReadDir(path) })
}

// Open opens a file; reading an open file takes no right.
func (u userFiles) Open(path string) (io.ReadCloser, error) {
	return as(u.rights, func() (io.ReadCloser, error) { return u.Files.Open(path) })
}

func (u userFiles) Write(path string, content io.Reader, o engine.WriteOptions) (int64, error) {
	return as(u.rights, func() (int64, error) { return u.Files.Write(path, content, o) })
}

func (u userFiles) Mkdir(path string) (err error) {
	u.rights.Do(func() { err = u.Files.Mkdir(path) })
	return err
}

func (u userFiles) Symlink(target, path string) (err error) {
	u.rights.Do(func() { err = u.Files.Symlink(target, path) })
	return err
}

func (u userFiles) Chmod(path string, mode fs.FileMode) (err error) {
	u.rights.Do(func() { err = u.Files.Chmod(path, mode) })
	return err
}

func (u userFiles) Remove(path string) (err error) {
	u.rights.Do(func() { err = u.Files.Remove(path) })
	return err
}
