//go:build unix

package supervisor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// waitStatus keeps the exit status as it is. A signal is told by name; 128+n is how shells put it
// as a number.
func waitStatus(ws syscall.WaitStatus) status {
	if !ws.Signaled() {
		return status{code: ws.ExitStatus()}
	}
	name := unix.SignalName(ws.Signal())
	if name == "" {
		name = fmt.Sprintf("signal %d", int(ws.Signal()))
	}
	return status{code: 128 + int(ws.Signal()), signal: name}
}

// enterable reports whether a process of ours can enter dir. Where another user's rights on files are used,
// access(2) would ask for the wrong ones.
func enterable(dir string) error {
	var st unix.Stat_t
	return unix.Lstat(strings.TrimSuffix(dir, "/")+"/.", &st)
}

// closeOnExec keeps the descriptors that this process was started with from its children. Those
// that it opened itself are kept from them anyway.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
