package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Windows has no O_NOFOLLOW; creating symbolic links there needs a privilege.
const openNoFollow = 0

// ownersKnown says that the platform has owners, modes and inodes that can be checked. Windows has
// access lists instead: the log relies on those of the directory above it, and doctor says so.
const ownersKnown = false

func infoOf(fi fs.FileInfo) info {
	return info{Size: fi.Size(), Mode: fi.Mode(), UID: -1}
}

// syncDir does nothing: NTFS journals directory entries and cannot flush a directory handle.
func syncDir(string) error { return nil }

func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errBusy
	}
	return err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

// isFull says whether an error means that there is no space left for this user.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func processGone(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	_ = windows.CloseHandle(h) // a query handle holds nothing that could be lost
	return false
}
