package usersocket

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Ours refuses a process of another user at the other end (SO_PEERCRED, unix(7)).
func Ours(c *net.UnixConn) error {
	cred, err := peer(c)
	if err != nil {
		return fmt.Errorf("find the user at the other end: %w", err)
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the other end belongs to user %d", cred.Uid)
	}
	return nil
}

// Runs refuses a process at the other end that does not run the program in a file. A process that ends
// while this function looks may be confused with another one of the user.
func Runs(c *net.UnixConn, file string) error {
	cred, err := peer(c)
	if err != nil {
		return fmt.Errorf("find the process at the other end: %w", err)
	}
	wanted, err := os.Stat(file)
	if err != nil {
		return err
	}
	running, err := os.Stat(fmt.Sprintf("/proc/%d/exe", cred.Pid))
	if err != nil {
		return err
	}
	if !os.SameFile(wanted, running) {
		return fmt.Errorf("process %d at the other end does not run %s", cred.Pid, file)
	}
	return nil
}

// Process is the id of the process at the other end; 0 if it cannot be told.
func Process(c *net.UnixConn) int {
	cred, err := peer(c)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}

func peer(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return nil, err
	}
	return cred, failed
}

// private is true of every directory here: Ours looks at the other end itself.
func private(string) error { return nil }
