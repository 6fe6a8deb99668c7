package seccomp_test

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func older(call func(...uintptr) syscall.Errno, path, file func(string) uintptr) []attempt {
	return []attempt{
		{"chmod-suid", syscall.EPERM, func(d string) syscall.Errno { return call(unix.SYS_CHMOD, file(d), 0o4755) }},
		{"chmod-plain", 0, func(d string) syscall.Errno { return call(unix.SYS_CHMOD, file(d), 0o755) }},
		{"open-create-suid", syscall.EPERM, func(d string) syscall.Errno { return call(unix.SYS_OPEN, path(d), unix.O_CREAT|unix.O_WRONLY, 0o6755) }},
		{"creat-suid", syscall.EPERM, func(d string) syscall.Errno { return call(unix.SYS_CREAT, path(d), 0o4755) }},
		{"mknod-suid", syscall.EPERM, func(d string) syscall.Errno { return call(unix.SYS_MKNOD, path(d), unix.S_IFREG|0o4755, 0) }},
		{"x32", syscall.ENOSYS, func(d string) syscall.Errno { return call(unix.SYS_CHMOD|0x40000000, file(d), 0o4755) }},
	}
}
