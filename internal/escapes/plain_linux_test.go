package escapes

import (
	"io"
	"io/fs"
	"os"

	"github.com/sallyport-dev/sallyport/engine"
)

// plainFiles are file tools as they are usually written: by paths, which the system follows.
type plainFiles struct{}

var _ engine.Files = plainFiles{}

func (plainFiles) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (plainFiles) ReadLink(path string) (string, error)       { return os.Readlink(path) }
func (plainFiles) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }
func (plainFiles) Open(path string) (io.ReadCloser, error)    { return os.Open(path) }
func (plainFiles) Chmod(path string, mode fs.FileMode) error  { return os.Chmod(path, mode) }
func (plainFiles) Mkdir(path string) error                    { return os.MkdirAll(path, 0o755) }
func (plainFiles) Symlink(target, path string) error          { return os.Symlink(target, path) }
func (plainFiles) Remove(path string) error                   { return os.Remove(path) }
func (plainFiles) Write(path string, content io.Reader, _ engine.WriteOptions) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(f, content)
}
