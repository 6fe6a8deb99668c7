package seccomp

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lowHalf is where the lower half of an argument lies: every architecture here puts it first.
const lowHalf = 0

// Install puts a filter on this thread, for good, and on its children from now on. The goroutine must be
// locked to its thread, and the thread must have set PR_SET_NO_NEW_PRIVS.
func Install(rules []Rule) error {
	_, err := install(0, rules, nil)
	return err
}

// Listen installs a filter as Install does. Its callers wait in a call of told until the listener, a
// descriptor, answers (seccomp_unotify(2)). Once the call is received, nothing but the death of the caller
// ends the wait: that takes Linux 5.19. A thread can have one listener.
func Listen(refused, told []Rule) (listener int, err error) {
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	return install(flags, refused, told)
}

func install(flags uintptr, refused, told []Rule) (int, error) {
	raw, err := assemble(refused, told)
	if err != nil {
		return -1, err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	at := uintptr(unsafe.Pointer(&program))
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, at)
	runtime.KeepAlive(&program)
	runtime.KeepAlive(filter)
	if errno != 0 {
		return -1, fmt.Errorf("install seccomp filter: %w", errno)
	}
	return int(fd), nil
}

// NoOddSockets refuses sockets of families that no namespace of networks holds back, or that reach into the
// kernel: to the hypervisor (vsock), raw frames, the kernel's ciphers.
func NoOddSockets() []Rule {
	var rules []Rule
	for _, family := range []uint32{unix.AF_VSOCK, unix.AF_PACKET, unix.AF_ALG} {
		rules = append(rules, Rule{unix.SYS_SOCKET, syscall.EAFNOSUPPORT, []Match{Equal(0, family)}})
	}
	return rules
}

// NoUnixSockets refuses sockets by which a program reaches others on its machine, wherever their files lie:
// agents that hold keys, engines of containers. Pairs of sockets within a program (socketpair) stay.
func NoUnixSockets() []Rule {
	return []Rule{{unix.SYS_SOCKET, syscall.EPERM, []Match{Equal(0, unix.AF_UNIX)}}}
}

// setID are the set-user-id and set-group-id bits of a mode.
const setID = unix.S_ISUID | unix.S_ISGID

// NoSetID refuses every way to make a set-user-id or set-group-id file, and devices. If the kernel takes the
// mode behind a pointer (openat2), or out of sight (io_uring), or in a call that programs can do without
// (fchmodat2), the call does not exist.
func NoSetID() []Rule {
	rules := []Rule{
		{unix.SYS_FCHMOD, syscall.EPERM, []Match{AnyBit(1, setID)}},
		{unix.SYS_FCHMODAT, syscall.EPERM, []Match{AnyBit(2, setID)}},
		{unix.SYS_FCHMODAT2, syscall.ENOSYS, nil},
		{unix.SYS_OPENAT, syscall.EPERM, []Match{AnyBit(2, unix.O_CREAT), AnyBit(3, setID)}},
		{unix.SYS_OPENAT, syscall.EPERM, []Match{AnyBit(2, tmpfile), AnyBit(3, setID)}},
		{unix.SYS_OPENAT2, syscall.ENOSYS, nil},
		{unix.SYS_IO_URING_SETUP, syscall.ENOSYS, nil},
	}
	rules = append(rules, noDevices(unix.SYS_MKNODAT, 2)...)
	return append(rules, olderCalls()...)
}

// tmpfile is O_TMPFILE without O_DIRECTORY, which is part of it.
const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY

// noDevices refuses a call that makes files of all kinds, for files that change the user and for devices.
func noDevices(call uintptr, mode int) []Rule {
	kind := func(k uint32) Match { return Match{Arg: mode, Mask: unix.S_IFMT, Value: k} }
	return []Rule{
		{call, syscall.EPERM, []Match{AnyBit(mode, setID)}},
		{call, syscall.EPERM, []Match{kind(unix.S_IFCHR)}},
		{call, syscall.EPERM, []Match{kind(unix.S_IFBLK)}},
	}
}
