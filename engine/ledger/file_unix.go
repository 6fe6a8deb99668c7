//go:build unix

package ledger

import (
	"fmt"
	"os"
	"syscall"
)

// openFile opens the file for appending. O_NOFOLLOW refuses a symbolic link; O_NONBLOCK keeps
// a FIFO in its place from blocking until it is recognised.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(
		path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0o600)
}

// checkDir refuses a directory in which others could put files.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s may be written by others: chmod 700 it", dir)
	}
	return nil
}

// lockFile waits for the exclusive lock. It ends with the process, so it is never stale.
func lockFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

func unlockFile(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
