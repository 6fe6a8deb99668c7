package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dataSync leaves out the modification time: nobody relies on it, and the journal write it costs is
// most of an fsync.
func dataSync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// takeTurn takes a lock of the open file description (fcntl(2), F_OFD_SETLKW), which is none of those of flock(2).
func takeTurn(f *os.File) (free func(), err error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLKW, &l)
		if errors.Is(err, unix.EBADF) {
			return func() {}, nil // a reader's: it has no place in this queue
		}
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, err
		}
	}
	return func() {
		l.Type = unix.F_UNLCK
		_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l) // it can only fail where taking it did
	}, nil
}
