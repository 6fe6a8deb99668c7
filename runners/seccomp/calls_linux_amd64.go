package seccomp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const auditArch = unix.AUDIT_ARCH_X86_64

// olderCalls are those of NoSetID that only this architecture has.
func olderCalls() []Rule {
	return append([]Rule{
		{unix.SYS_CHMOD, syscall.EPERM, []Match{AnyBit(1, setID)}},
		{unix.SYS_OPEN, syscall.EPERM, []Match{AnyBit(1, unix.O_CREAT), AnyBit(2, setID)}},
		{unix.SYS_OPEN, syscall.EPERM, []Match{AnyBit(1, tmpfile), AnyBit(2, setID)}},
		{unix.SYS_CREAT, syscall.EPERM, []Match{AnyBit(1, setID)}},
	}, noDevices(unix.SYS_MKNOD, 1)...)
}
