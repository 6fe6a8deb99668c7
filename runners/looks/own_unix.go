//go:build unix

package looks

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether something is this user's, and nobody else may write to it.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// private reports whether a directory is ours alone to write to.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && ours(info)
}

// openOwn opens a regular file of ours.
func openOwn(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !ours(info) {
		_ = f.Close()
		return nil, errors.New("it is not a file of ours alone")
	}
	return f, nil
}
