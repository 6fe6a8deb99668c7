//go:build unix

package resident

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the lock of a view, which its process holds as long as it lives.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrServed
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
}

// apart lets a process outlive the terminal and the group of the one that starts it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
