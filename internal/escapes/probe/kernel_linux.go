package main

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keyring leaves a key with the user, beyond the life of the command.
func keyring(words) (string, error) {
	id, err := unix.AddKey("user", "sallyport-escapes", []byte("x"), unix.KEY_SPEC_USER_KEYRING)
	if err != nil {
		return "", err
	}
	_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
	return got(), nil
}

func bpfMap(words) (string, error) {
	attr := struct{ kind, key, value, entries, flags, pad [1]uint32 }{kind: [1]uint32{2}, key: [1]uint32{4},
		value: [1]uint32{4}, entries: [1]uint32{1}}
	_, _, e := unix.Syscall(unix.SYS_BPF, unix.BPF_MAP_CREATE, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr))
	return through(errOf(e))
}

func errOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func perfEvent(words) (string, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	_, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
	return through(err)
}

func ioUring(words) (string, error) {
	var params [120]byte
	_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 2, uintptr(unsafe.Pointer(&params)), 0)
	return through(errOf(e))
}

func userFault(words) (string, error) {
	const userModeOnly = 1
	_, _, e := unix.Syscall(unix.SYS_USERFAULTFD, userModeOnly, 0, 0)
	return through(errOf(e))
}

// typeInput types into the terminal that the command has, or one of its own.
func typeInput(words) (string, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	b := byte(' ')
	_, _, e := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&b)))
	return through(errOf(e))
}

func kernelLog(words) (string, error) {
	_, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 4096))
	return through(err)
}

// refusedFor says that the kernel did not refuse the caller, but only the nonsense that it was given.
func refusedFor(err error, nonsense ...error) (string, error) {
	for _, n := range nonsense {
		if errors.Is(err, n) {
			return got(), nil
		}
	}
	return through(err)
}

func swap(w words) (string, error) {
	p, err := unix.BytePtrFromString(w.at(0))
	if err != nil {
		return "", err
	}
	_, _, e := unix.Syscall(unix.SYS_SWAPON, uintptr(unsafe.Pointer(p)), 0, 0)
	return refusedFor(errOf(e), unix.EINVAL)
}

// reboot gives a number that no kernel takes: only a caller without the permission gets EPERM.
func reboot(words) (string, error) {
	_, _, e := unix.Syscall6(unix.SYS_REBOOT, 0, 0, 0, 0, 0, 0)
	return refusedFor(errOf(e), unix.EINVAL)
}

// setClock sets the tick of the clock to its present value.
func setClock(words) (string, error) {
	var now unix.Timex
	if _, err := unix.Adjtimex(&now); err != nil {
		return "", err
	}
	const tick = 0x4000
	set := unix.Timex{Modes: tick, Tick: now.Tick}
	_, err := unix.Adjtimex(&set)
	return through(err)
}

// account turns process accounting off, which it is.
func account(words) (string, error) {
	_, _, e := unix.Syscall(unix.SYS_ACCT, 0, 0, 0)
	return through(errOf(e))
}

// openTree takes a copy of a mount, detached.
func openTree(w words) (string, error) {
	_, err := unix.OpenTree(unix.AT_FDCWD, w.at(0), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	return through(err)
}

func fsOpen(w words) (string, error) {
	_, err := unix.Fsopen(w.at(0), 0)
	return through(err)
}

// chrootOut leaves a root by way of a directory that was opened before.
func chrootOut(w words) (string, error) {
	dir, err := unix.Open("/", unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	if err := unix.Chroot(w.at(0)); err != nil {
		return "", err
	}
	if err := unix.Fchdir(dir); err != nil {
		return "", err
	}
	for range 64 {
		if err := unix.Chdir(".."); err != nil {
			return "", err
		}
	}
	return through(unix.Chroot("."))
}
