//go:build unix

package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// O_NONBLOCK keeps a pipe in place of a file from blocking the open; on files it does nothing.
const openNoFollow = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// ownersKnown says that the platform has owners, modes and inodes that can be checked.
const ownersKnown = true

func infoOf(fi fs.FileInfo) info {
	i := info{Size: fi.Size(), Mode: fi.Mode(), UID: -1}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		i.UID = int(st.Uid)
		i.Nlink = uint64(st.Nlink)
		i.ID = fileID{dev: uint64(st.Dev), ino: st.Ino}
	}
	return i
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lock waits in two queues, of which the kernel serves each in order: the process that has just freed the log
// stands at the end of the first, and so passes no waiting process. Without wait it takes the
// log only if nobody has it or waits for it.
func lock(f *os.File, wait bool) error {
	if !wait {
		err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return errBusy
		}
		if err == nil && turnTaken(f) {
			return errors.Join(errBusy, unlock(f))
		}
		return err
	}
	turn, err := takeTurn(f)
	if err != nil {
		return err
	}
	defer turn()
	return flock(f, unix.LOCK_EX)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// isFull says whether an error means that there is no space left for this user.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

func processGone(pid int) bool {
	return errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
