//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
)

// addUserSignals adds SIGUSR1 and SIGUSR2: each program defines their meaning.
func addUserSignals(all map[os.Signal]request) {
	all[syscall.SIGUSR1] = request{engine.SignalUser1, false}
	all[syscall.SIGUSR2] = request{engine.SignalUser2, false}
}

// notifyResize relays SIGWINCH, a change of the terminal's size, to ch.
func notifyResize(ch chan<- os.Signal) error {
	signal.Notify(ch, syscall.SIGWINCH)
	return nil
}

// openTerminal opens the controlling terminal of this process; there is none in a service or pipe.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// dropTyped forgets the lines that were typed at a terminal before now.
func dropTyped(tty *os.File) {
	conn, err := tty.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { // it fails for a closed file, from which nothing is read
		var line [4096]byte
		for waiting := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}; ; {
			n, err := unix.Poll(waiting, 0)
			if err == nil && n > 0 {
				n, err = unix.Read(int(fd), line[:])
			}
			if errors.Is(err, unix.EINTR) {
				continue // the runtime of Go sends SIGURG to its threads
			}
			if err != nil || n == 0 {
				return
			}
		}
	})
}

// givenByRoot reports a file of root that only the group of this process may read, such as a mounted Secret.
func givenByRoot(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && int(s.Gid) == os.Getegid() && info.Mode().Perm()&0o037 == 0
}

// freeSpace returns the bytes that a user without privileges may still write at a place.
func freeSpace(place string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(place, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// writable asks the system, and so knows read-only file systems too.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
