//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
		return wire.User{}, fmt.Errorf(
			"look whose %s is: the system does not tell: name the user under docker.user", path)
	}
	if st.Uid == 0 || st.Gid == 0 {
		return wire.User{}, fmt.Errorf(
			"workspace %s belongs to root (%d:%d), and commands never run as root: give it to an ordinary user "+
				"(chown), or name a user with write access under docker.user", path, st.Uid, st.Gid)
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

// lock makes this the one process of the state directory that makes, enters or removes a container. It
// waits until ctx ends.
func lock(ctx context.Context, state, name string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(state, name)
		if err != nil || unlock != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for container %s: another sallyport is busy with it: %w", name,
				ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryLock returns nil without an error when another process holds the lock.
func tryLock(state, name string) (unlock func(), err error) {
	if state == "" {
		return func() {}, nil
	}
	dir := filepath.Join(state, "containers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock container %s: %w: sallyport's own directory must be writable", name, err)
	}
	file := filepath.Join(dir, name+".lock")
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock container %s: %w", name, err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil && isAt(f, file) {
		return func() {
			_ = os.Remove(file) // waiters see that it is gone
			_ = f.Close()
		}, nil
	}
	_ = f.Close()
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock container %s: %w", name, err)
}

// isAt reports whether an open file is still the one at a path.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}
