//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// keepsOpen is false where an open file can be neither renamed nor removed.
const keepsOpen = true

// openFile opens a file for appending. O_NOFOLLOW refuses a symbolic link; O_NONBLOCK keeps a FIFO in its
// place from blocking until it is recognised.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(
		path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0o600)
}

// readFile opens a file for reading, in the same way.
func readFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// checkDir refuses a directory in which others could put files.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory: remove it", dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others: chmod 700 it", dir)
	}
	return nil
}

// lockFile waits for the exclusive lock, which ends with the file.
func lockFile(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// shareFile takes a lock that others may have too.
func shareFile(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// tryLockFile takes the exclusive lock, if nobody has any.
func tryLockFile(f *os.File) (bool, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) { _ = flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// turnFile renames a full file. It stays open: waiters for its lock see that it has another name now.
func turnFile(_ *os.File, path, aside string) error { return os.Rename(path, aside) }
