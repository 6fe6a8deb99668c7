//go:build amd64 || arm64

package notify

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
)

// nameless are the flags of an open that makes no name and changes no file: O_PATH makes the kernel ignore
// the others, and the file of O_TMPFILE has no name.
const nameless = unix.O_PATH | unix.O_TMPFILE&^unix.O_DIRECTORY

// opens are the conditions under which an open is handed over.
func opens(flags int, record bool) []seccomp.Match {
	bits := uint32(unix.O_CREAT)
	if record {
		bits |= unix.O_ACCMODE | unix.O_TRUNC
	}
	return []seccomp.Match{seccomp.AnyBit(flags, bits), {Arg: flags, Mask: nameless, Value: 0}}
}

// told are the calls that are handed over; record adds those that change files, and programs those that
// execute programs.
func told(record, programs bool) []seccomp.Rule {
	rules := []seccomp.Rule{
		{Call: unix.SYS_OPENAT, When: opens(2, record)},
		{Call: unix.SYS_MKDIRAT}, {Call: unix.SYS_MKNODAT}, {Call: unix.SYS_SYMLINKAT},
		{Call: unix.SYS_LINKAT}, {Call: unix.SYS_RENAMEAT}, {Call: unix.SYS_RENAMEAT2},
	}
	if record {
		for _, call := range []uintptr{
			unix.SYS_TRUNCATE, unix.SYS_UNLINKAT, unix.SYS_FCHMODAT, unix.SYS_FCHMOD,
		} {
			rules = append(rules, seccomp.Rule{Call: call})
		}
	}
	if programs {
		rules = append(rules, seccomp.Rule{Call: unix.SYS_EXECVE}, seccomp.Rule{Call: unix.SYS_EXECVEAT})
	}
	return append(rules, olderTold(record)...)
}

// refused are the calls that make names, or change files, and are not performed, and those by which a caller
// would see other files than the Service.
func refused(record bool) []seccomp.Rule {
	absent := []uintptr{
		unix.SYS_OPENAT2, // its flags lie in memory; programs do without
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_CLONE3, // likewise: programs fall back to clone
	}
	if record {
		absent = append(absent, unix.SYS_FCHMODAT2) // programs fall back to fchmodat
	}
	var rules []seccomp.Rule
	for _, call := range absent {
		rules = append(rules, seccomp.Rule{Call: call, Errno: syscall.ENOSYS})
	}
	for _, call := range []uintptr{
		unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_MOVE_MOUNT,
		unix.SYS_UMOUNT2,
	} {
		rules = append(rules, seccomp.Rule{Call: call, Errno: syscall.EPERM})
	}
	views := []seccomp.Match{seccomp.AnyBit(0, unix.CLONE_NEWNS|unix.CLONE_NEWUSER|unix.CLONE_NEWPID)}
	return append(rules,
		seccomp.Rule{Call: unix.SYS_UNSHARE, Errno: syscall.EPERM, When: views},
		seccomp.Rule{Call: unix.SYS_CLONE, Errno: syscall.EPERM, When: views},
	)
}

// perform performs the caller's call.
func (c *caller) perform(n *notification) answer {
	if err := c.begin(); err != nil {
		return failed(err)
	}
	a := n.args
	at := func(i int) int32 { return int32(a[i]) }
	word := func(i int) uint32 { return uint32(a[i]) }
	const here = unix.AT_FDCWD
	switch uintptr(n.call) {
	case unix.SYS_OPENAT:
		return c.open(at(0), a[1], int(at(2)), word(3))
	case unix.SYS_MKDIRAT:
		return c.mkdir(at(0), a[1], word(2))
	case unix.SYS_MKNODAT:
		return c.mknod(at(0), a[1], word(2), word(3))
	case unix.SYS_SYMLINKAT:
		return c.symlink(a[0], at(1), a[2])
	case unix.SYS_LINKAT:
		return c.link(at(0), a[1], at(2), a[3], int(at(4)))
	case unix.SYS_RENAMEAT:
		return c.rename(at(0), a[1], at(2), a[3], 0)
	case unix.SYS_RENAMEAT2:
		return c.rename(at(0), a[1], at(2), a[3], word(4))
	case unix.SYS_TRUNCATE:
		return c.truncate(a[0], int64(a[1]))
	case unix.SYS_UNLINKAT:
		return c.unlink(at(0), a[1], int(at(2)))
	case unix.SYS_FCHMODAT:
		return c.chmod(at(0), a[1], word(2))
	case unix.SYS_FCHMOD:
		return c.fchmod(at(0), word(1))
	}
	return c.older(n, here)
}
