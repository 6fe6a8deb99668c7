package docker

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// detach unmounts the mounts of debootstrap that remain when it is killed: nothing may be removed through
// them.
func detach(root string) {
	for _, dir := range []string{"proc", "sys", "dev/pts", "dev/shm", "dev"} {
		_ = unix.Unmount(filepath.Join(root, dir), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // an error: nothing is mounted there
	}
}
