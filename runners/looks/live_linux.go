package looks

import (
	"os"

	"golang.org/x/sys/unix"
)

// openPlace opens something to look at it. It is where a mount leads, so no link is followed.
func openPlace(name string) (*os.File, error) {
	return os.OpenFile(name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}
