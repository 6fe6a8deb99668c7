//go:build unix

package docker

import (
	"fmt"
	"os"
	"syscall"

	"github.com/sallyport-dev/sallyport/runners/wire"
)

// ownerOfFile is the owner of a place.
func ownerOfFile(path string) (wire.User, error) {
	info, err := os.Stat(path)
	if err != nil {
		return wire.User{}, fmt.Errorf("look whose the workspace is: %w: name the user under docker.user", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return wire.User{}, fmt.Errorf("look whose %s is: the system does not tell: name the user under docker.user", path)
	}
	if st.Uid == 0 || st.Gid == 0 {
		return wire.User{}, fmt.Errorf("workspace %s belongs to root (%d:%d), and commands never run as root: give it to an ordinary user (chown), or name a user with write access under docker.user", path, st.Uid, st.Gid)
	}
	return wire.User{UID: int(st.Uid), GID: int(st.Gid)}, nil
}

// fileVersion tells the versions of a file apart.
func fileVersion(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	version := fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		version += fmt.Sprintf(" %d:%d", st.Dev, st.Ino)
	}
	return version
}

// readableBy reports whether somebody may read a file or directory, as its mode says.
func readableBy(path string, uid, gid int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	needs := uint32(4)
	if info.IsDir() {
		needs = 5
	}
	switch {
	case int(st.Uid) == uid:
		needs <<= 6
	case int(st.Gid) == gid:
		needs <<= 3
	}
	return uint32(st.Mode)&needs == needs
}
