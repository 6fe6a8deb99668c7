package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// keepsOpen is false where an open file can be neither renamed nor removed.
const keepsOpen = false

// openFile opens a file for appending and refuses a symbolic link.
func openFile(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: remove it", path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

// readFile opens a file for reading.
func readFile(path string) (*os.File, error) { return os.Open(path) }

// checkDir has nothing to check: the inherited access list decides who may write.
func checkDir(string) error { return nil }

func lockFile(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func shareFile(f *os.File) error { return lock(f, 0) }

func tryLockFile(f *os.File) (bool, error) {
	err := lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// lock locks a byte far behind the end, so that readers are not kept from the lines.
func lock(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// turnFile copies a full file aside and empties it: a file that is open cannot be renamed here.
func turnFile(full *os.File, path, aside string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(aside, b, 0o600); err != nil {
		return err
	}
	return full.Truncate(0)
}
