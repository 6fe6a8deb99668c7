//go:build !linux

package usersocket

import (
	"fmt"
	"net"
	"os"
	"runtime"
)

// Ours relies on private.
func Ours(*net.UnixConn) error { return nil }

// Runs knows no way to look at the program at the other end.
func Runs(*net.UnixConn, string) error { return nil }

// Process cannot tell the process at the other end.
func Process(*net.UnixConn) int { return 0 }

// private refuses a directory that others may use. The directory of a state below a home directory on
// Windows has no mode to look at.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s is open to others (mode %v): chmod 700 it", dir, info.Mode().Perm())
	}
	return err
}
