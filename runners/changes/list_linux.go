package changes

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openDirectory opens a directory, and nothing that came in its place.
func openDirectory(dir string) (*os.File, error) {
	return os.OpenFile(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// listable calls do, which reads a directory. If that is refused and the owner may enter the directory, the
// owner may also read it from then on, and do is called again.
func listable(dir string, do func() error) error {
	err := do()
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	fd, open := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if open != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&0o500 != 0o100 {
		return err
	}
	itself := fmt.Sprintf("/proc/self/fd/%d", fd) // also if its path leads elsewhere by now
	if unix.Chmod(itself, st.Mode&0o7777|0o400) != nil {
		return err
	}
	return do()
}
