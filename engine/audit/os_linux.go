package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// self names this process: its id and the time it started, in clock ticks after boot (field 22 of
// proc(5) stat), so that a later process with the same id is not taken for it.
func self() string { return fmt.Sprintf("%d-%s", os.Getpid(), startTicks(os.Getpid())) }

func startTicks(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "0"
	}
	// The name in parentheses may hold anything; the fields after it are plain.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return "0"
	}
	return string(fields[19])
}

// writerGone says that the process that wrote a record has surely ended. Processes of another
// machine or process-id namespace cannot be told from those that ended.
func writerGone(writer string) bool {
	id, ticks, _ := strings.Cut(writer, "-")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return true
	}
	if processGone(pid) {
		return true
	}
	now := startTicks(pid)
	return now != "0" && ticks != "0" && now != ticks
}

// dataSync leaves out the modification time: nobody relies on it, and the journal write it costs is
// most of an fsync.
func dataSync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// turnTaken reports whether somebody waits for the log, with the lock that takeTurn takes.
func turnTaken(f *os.File) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l)
	return err != nil || l.Type != unix.F_UNLCK
}

// takeTurn takes a lock of the open file description (fcntl(2), F_OFD_SETLKW), which is none of those of
// flock(2).
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
