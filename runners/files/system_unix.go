//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepOwner gives a file the owner of the one that it replaces, where we may: root works in other
// people's directories, too. Anybody else gets a file of their own, as from any editor.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// mends are the fixes of errors of the system.
func mends() []remedy {
	return []remedy{
		{unix.ENOSPC, "free some space there, or write elsewhere"},
		{unix.EDQUOT, "free some space there, or write elsewhere"},
		{unix.EROFS, "write elsewhere"},
		{unix.ENOTEMPTY, "delete its contents first"},
		{unix.ENAMETOOLONG, "use a shorter name"},
		{unix.EMFILE, "raise the limit of open files (ulimit -n)"},
		{unix.ENFILE, "close programs that have many files open"},
		{unix.EBUSY, "end the program that uses it, or unmount it"},
	}
}

// linksUnsupported reports whether a file system has no hard links. Linux returns EPERM for vfat.
func linksUnsupported(err error) bool {
	for _, e := range []error{unix.EPERM, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK, unix.EINVAL} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// renameNew gives a file another name, unless there is something under that name, in one step. Where
// the system or the file system cannot, it is errors.ErrUnsupported.
func renameNew(dir *os.Root, from, to string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	err = renameExclusive(int(d.Fd()), from, to)
	for _, e := range []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EPERM} {
		if errors.Is(err, e) {
			return errors.Join(errors.ErrUnsupported, err)
		}
	}
	return err
}
