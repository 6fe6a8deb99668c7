//go:build unix

package mounts

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock of a file, which ends with the file or the process. Without wait it is an error
// when another has it.
func lockFile(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
