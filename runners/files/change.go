package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
)

// Open reads a regular file.
func (Host) Open(path string) (io.ReadCloser, error) {
	a, err := walk("read", path, false)
	if err != nil {
		return nil, err
	}
	defer a.close()
	info, err := a.dir.Lstat(a.name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	f, err := a.dir.OpenFile(a.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", path, errors.Join(ErrChanged, err))
	}
	return f, nil
}

// Write makes a file beside its place and moves it there when it is complete.
func (Host) Write(path string, content io.Reader, o engine.WriteOptions) (n int64, err error) {
	a, err := walk("write", path, true)
	if err != nil {
		return 0, err
	}
	defer a.close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	old, err := a.dir.Lstat(a.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0, err
	case !o.Replace:
		return 0, fs.ErrExist
	case !old.Mode().IsRegular():
		return 0, errors.New("not a regular file")
	}
	temporary := ".sallyport-" + rand.Text()
	f, err := a.dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.dir.Remove(temporary))
		}
	}()
	if n, err = io.Copy(f, content); err != nil {
		return n, errors.Join(err, f.Close())
	}
	return n, errors.Join(like(f, old, o.Like), f.Close(), place(a, temporary, o.Replace))
}

// place gives the complete file its name. Without replace a file that has come there meanwhile stays.
func place(a at, temporary string, replace bool) error {
	if replace {
		return a.dir.Rename(temporary, a.name)
	}
	if err := a.dir.Link(temporary, a.name); err != nil {
		return err
	}
	return a.dir.Remove(temporary)
}

// like gives a file the mode of the one that it replaces, or of the one that it is a copy of, without
// the bits that change the user or the group.
func like(f *os.File, old, model fs.FileInfo) error {
	switch {
	case old != nil:
		return f.Chmod(old.Mode().Perm())
	case model != nil:
		return f.Chmod(model.Mode().Perm())
	}
	return nil
}

// Mkdir makes a directory and those above it.
func (Host) Mkdir(path string) error {
	a, err := walk("make directory", path, true)
	if err != nil {
		return err
	}
	defer a.close()
	if a.name == "." {
		return nil
	}
	dir, err := step(a.dir, a.name, true)
	if err != nil {
		return fmt.Errorf("make directory %s: %w", path, err)
	}
	return dir.Close()
}

// Symlink makes a symbolic link.
func (Host) Symlink(target, path string) error {
	a, err := walk("link", path, true)
	if err != nil {
		return err
	}
	defer a.close()
	return a.dir.Symlink(target, a.name)
}

// Remove removes one file, symbolic link or empty directory.
func (Host) Remove(path string) error {
	a, err := walk("delete", path, false)
	if err != nil {
		return err
	}
	defer a.close()
	return a.dir.Remove(a.name)
}
