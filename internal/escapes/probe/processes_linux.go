package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// address is where a process has something to read: as told, or the first readable page of its map.
func address(pid int, told string) (uintptr, error) {
	var a uintptr
	if _, err := fmt.Sscan(told, &a); err == nil && a != 0 {
		return a, nil
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err == nil {
		if _, err := fmt.Sscanf(string(b), "%x-", &a); err == nil && a != 0 {
			return a, nil
		}
	}
	return 0x400000, nil // where a static Go program begins, which the supervisor is
}

// shown is the content of another process's memory: the secret of the process of the host, or a program.
func shown(b []byte) (string, error) {
	if bytes.HasPrefix(b, []byte("\x7fELF")) {
		return got(), nil
	}
	return string(bytes.TrimRight(b, "\x00")), nil
}

func ptraceRead(w words) (string, error) {
	runtime.LockOSThread()
	pid := w.num(0)
	if err := unix.PtraceAttach(pid); err != nil {
		return "", err
	}
	defer func() { _ = unix.PtraceDetach(pid) }()
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return "", err
	}
	return got(), nil
}

func vmRead(w words) (string, error) {
	at, err := address(w.num(0), w.at(1))
	if err != nil {
		return "", err
	}
	buf := make([]byte, 256)
	local := []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}}
	n, err := unix.ProcessVMReadv(w.num(0), local, []unix.RemoteIovec{{Base: at, Len: len(buf)}}, 0)
	if err != nil {
		return "", err
	}
	return shown(buf[:n])
}

// pidfdFile takes a file out of the table of another process.
func pidfdFile(w words) (string, error) {
	fd, err := unix.PidfdOpen(w.num(0), 0)
	if err != nil {
		return "", err
	}
	theirs, err := unix.PidfdGetfd(fd, w.num(1), 0)
	if err != nil {
		return "", err
	}
	if w.at(2) == "any" {
		return got(), nil
	}
	return read(theirs)
}

// lowerLimit takes from another process the right to open files.
func lowerLimit(w words) (string, error) {
	var old unix.Rlimit
	if err := unix.Prlimit(w.num(0), unix.RLIMIT_NOFILE, nil, &old); err != nil {
		return "", err
	}
	lower := unix.Rlimit{Cur: old.Cur, Max: old.Max}
	return through(unix.Prlimit(w.num(0), unix.RLIMIT_NOFILE, &lower, nil))
}

// priority sets another process back behind all others.
func priority(w words) (string, error) {
	return through(unix.Setpriority(unix.PRIO_PROCESS, w.num(0), 19))
}

// affinity binds another process to the first processor that it has.
func affinity(w words) (string, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(w.num(0), &set); err != nil {
		return "", err
	}
	return through(unix.SchedSetaffinity(w.num(0), &set))
}

// realtime asks for a class of scheduling that goes before everything else on the machine.
func realtime(words) (string, error) {
	runtime.LockOSThread()
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO,
		Priority: 50}, 0)
	if err == nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0)
	}
	return through(err)
}

func compare(w words) (string, error) {
	const file = 0
	_, _, e := unix.Syscall6(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(w.num(0)), file, 0, 0, 0)
	if e != 0 {
		return "", e
	}
	return got(), nil
}

func noNewPrivileges(words) (string, error) {
	on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil || on == 1 {
		return "", err
	}
	return got(), nil
}

// cloneSpaces makes namespaces of its own, where it would be root.
func cloneSpaces(w words) (string, error) {
	runtime.LockOSThread()
	flags := 0
	for name, flag := range map[string]int{
		"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "net": unix.CLONE_NEWNET, "pid": unix.CLONE_NEWPID,
		"ipc": unix.CLONE_NEWIPC, "uts": unix.CLONE_NEWUTS, "cgroup": unix.CLONE_NEWCGROUP,
	} {
		if strings.Contains(w.at(0), name) {
			flags |= flag
		}
	}
	if flags == unix.CLONE_NEWUSER { // a program with threads cannot unshare it, but fork into one
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(flags)|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return child(pid, e)
	}
	return through(unix.Unshare(flags))
}

func cloneSpaces3(words) (string, error) {
	args := struct {
		flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize,
		tls uint64
	}{flags: unix.CLONE_NEWUSER, exitSignal: uint64(unix.SIGCHLD)}
	pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	return child(pid, e)
}

// child ends the new process at once, for it is a copy of one with threads, and reaps it.
func child(pid uintptr, e unix.Errno) (string, error) {
	if e != 0 {
		return "", e
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(int(pid), &status, 0, nil); err != nil && !errors.Is(err, unix.ECHILD) {
		return "", err
	}
	return got(), nil
}
