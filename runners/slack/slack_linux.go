package slack

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Rerun runs this program anew with wide slack. Where it has that already, or cannot, it returns.
func Rerun() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if self, err := os.Executable(); err == nil && Widen() {
		_ = syscall.Exec(self, os.Args, os.Environ())
		Narrow() // the program is nothing but slower
	}
}

// Widen widens the slack of this thread, and of the programs that it becomes or starts. It reports whether
// that changed.
func Widen() bool { return change(usual, wide) }

// Narrow takes it back. It reports whether that changed.
func Narrow() bool { return change(wide, usual) }

func change(from, to int) bool {
	now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return err == nil && now == from && unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(to), 0, 0, 0) == nil
}
