//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

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
			return nil, fmt.Errorf("wait for container %s: another sallyport is busy with it: %w", name, ctx.Err())
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
