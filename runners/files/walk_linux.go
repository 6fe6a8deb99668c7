package files

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// noWaiting keeps an open from waiting for the other end of a pipe, and a terminal from becoming ours.
const noWaiting = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW

// onlyDirectory opens a directory as a place: other files, links to directories included, fail at once, and a
// directory that may be passed but not listed (mode 0711) will do.
const onlyDirectory = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// descend opens the directory that the names lead to. The kernel refuses a link in the very call
// that would follow it. Without /proc this is errors.ErrUnsupported.
func descend(root string, names []string, create bool) (*os.Root, error) {
	fd, err := atOnce(root, names)
	if err != nil { // a kernel or a filter without that call, or an error that the other way explains better
		fd, err = stepDown(root, names, create)
	}
	if err != nil {
		return nil, err
	}
	place := os.NewFile(uintptr(fd), root)
	defer place.Close()
	return reopen(place)
}

// atOnce opens a directory in one call, which keeps below root and follows no link (openat2(2)).
func atOnce(root string, names []string) (int, error) {
	fd, err := openDirectory(unix.AT_FDCWD, root)
	if err != nil || len(names) == 0 {
		return fd, err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Openat2(fd, strings.Join(names, "/"), &unix.OpenHow{
		Flags:   onlyDirectory,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// stepDown opens a directory one name after the other. With create it makes missing ones.
func stepDown(root string, names []string, create bool) (int, error) {
	fd, err := openDirectory(unix.AT_FDCWD, root)
	if err != nil {
		return -1, err
	}
	for _, name := range names {
		next, err := openDirectory(fd, name)
		if create && errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(fd, name, 0o777); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = openDirectory(fd, name)
			}
		}
		if errors.Is(err, unix.ENOTDIR) && isLink(fd, name) {
			err = ErrChanged
		}
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

func openDirectory(dir int, name string) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, onlyDirectory, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func isLink(dir int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// reopen makes an os.Root of an open place. /proc leads to that very directory, even if its path has changed;
// the comparison is for a /proc that is not the kernel's.
func reopen(place *os.File) (*os.Root, error) {
	want, err := place.Stat()
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", place.Fd()))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, errors.ErrUnsupported
	}
	if err != nil {
		return nil, err
	}
	if got, err := dir.Stat("."); err != nil || !os.SameFile(want, got) {
		_ = dir.Close()
		return nil, errors.Join(errors.ErrUnsupported, err)
	}
	return dir, nil
}
