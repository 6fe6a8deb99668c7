package files

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// noWaiting does nothing here: no file on a drive can block.
const noWaiting = 0

// keepOwner does nothing: a new file gets the owner of its directory.
func keepOwner(*os.File, fs.FileInfo) {}

// mends are the fixes of errors of the system.
func mends() []remedy {
	return []remedy{
		{windows.ERROR_DISK_FULL, "free some space there, or write elsewhere"},
		{windows.ERROR_HANDLE_DISK_FULL, "free some space there, or write elsewhere"},
		{windows.ERROR_WRITE_PROTECT, "write elsewhere"},
		{windows.ERROR_SHARING_VIOLATION, "end the program that has it open"},
		{windows.ERROR_DIR_NOT_EMPTY, "delete its contents first"},
		{windows.ERROR_FILENAME_EXCED_RANGE, "use a shorter name"},
	}
}

// renameNew has no way here that leaves a file alone in every case; a hard link does that.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }

// linksUnsupported reports whether a file system has no hard links.
func linksUnsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) ||
		errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}
