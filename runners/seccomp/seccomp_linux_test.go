package seccomp_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
)

// asFiltered tells the test binary to try everything, with or without a filter, in a directory.
const asFiltered = "SALLYPORT_SECCOMP_TEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asFiltered); dir != "" {
		runtime.LockOSThread()
		debug.SetGCPercent(-1) // what addresses were taken of stays where it is
		if os.Getenv("FILTER") != "" {
			if err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), seccomp.Install(slices.Concat(seccomp.NoSetID(), seccomp.NoOddSockets(), seccomp.NoUnixSockets()))); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		for _, a := range attempts() {
			fmt.Println(a.name, int(a.try(dir)))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type attempt struct {
	name string
	want syscall.Errno
	try  func(dir string) syscall.Errno
}

func attempts() []attempt {
	const at = ^uintptr(99) // AT_FDCWD
	var made int
	path := func(dir string) uintptr {
		made++
		b, _ := unix.BytePtrFromString(filepath.Join(dir, fmt.Sprint("new", made)))
		return uintptr(unsafe.Pointer(b))
	}
	file := func(dir string) uintptr {
		p := filepath.Join(dir, "file")
		_ = os.WriteFile(p, nil, 0o755)
		b, _ := unix.BytePtrFromString(p)
		return uintptr(unsafe.Pointer(b))
	}
	open := func(dir string) uintptr {
		fd, _ := unix.Open(filepath.Join(dir, "file"), unix.O_RDONLY, 0)
		return uintptr(fd)
	}
	call := func(args ...uintptr) syscall.Errno {
		var a [7]uintptr
		copy(a[:], args)
		_, _, errno := unix.Syscall6(a[0], a[1], a[2], a[3], a[4], a[5], a[6])
		return errno
	}
	const eperm, ok = syscall.EPERM, syscall.Errno(0)
	list := []attempt{
		{"fchmodat-suid", eperm, func(d string) syscall.Errno { return call(unix.SYS_FCHMODAT, at, file(d), 0o4755) }},
		{"fchmodat-sgid", eperm, func(d string) syscall.Errno { return call(unix.SYS_FCHMODAT, at, file(d), 0o2755) }},
		{"fchmodat-high-half", eperm, func(d string) syscall.Errno { return call(unix.SYS_FCHMODAT, at, file(d), 1<<40|0o4755) }},
		{"fchmodat-plain", ok, func(d string) syscall.Errno { return call(unix.SYS_FCHMODAT, at, file(d), 0o1755) }},
		{"fchmod-suid", eperm, func(d string) syscall.Errno { return call(unix.SYS_FCHMOD, open(d), 0o4755) }},
		{"fchmod-plain", ok, func(d string) syscall.Errno { return call(unix.SYS_FCHMOD, open(d), 0o700) }},
		{"fchmodat2", syscall.ENOSYS, func(d string) syscall.Errno { return call(unix.SYS_FCHMODAT2, at, file(d), 0o4755, 0) }},
		{"openat-create-suid", eperm, func(d string) syscall.Errno {
			return call(unix.SYS_OPENAT, at, path(d), unix.O_CREAT|unix.O_WRONLY, 0o4755)
		}},
		{"openat-create-plain", ok, func(d string) syscall.Errno {
			return call(unix.SYS_OPENAT, at, path(d), unix.O_CREAT|unix.O_WRONLY, 0o755)
		}},
		{"openat-tmpfile-suid", eperm, func(d string) syscall.Errno {
			b, _ := unix.BytePtrFromString(d)
			return call(unix.SYS_OPENAT, at, uintptr(unsafe.Pointer(b)), unix.O_TMPFILE|unix.O_WRONLY, 0o4755)
		}},
		{"openat-directory-any-mode", ok, func(d string) syscall.Errno {
			b, _ := unix.BytePtrFromString(d)
			return call(unix.SYS_OPENAT, at, uintptr(unsafe.Pointer(b)), unix.O_DIRECTORY|unix.O_RDONLY, 0o4755)
		}},
		{"openat2", syscall.ENOSYS, func(d string) syscall.Errno {
			how := unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755}
			return call(unix.SYS_OPENAT2, at, path(d), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
		}},
		{"io_uring", syscall.ENOSYS, func(string) syscall.Errno {
			var params [120]byte
			return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
		}},
		{"mknodat-suid", eperm, func(d string) syscall.Errno { return call(unix.SYS_MKNODAT, at, path(d), unix.S_IFREG|0o4755, 0) }},
		{"mknodat-fifo", ok, func(d string) syscall.Errno { return call(unix.SYS_MKNODAT, at, path(d), unix.S_IFIFO|0o600, 0) }},
	}
	list = append(list,
		attempt{"socket-unix", eperm, func(string) syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0) }},
		attempt{"socket-pair", ok, func(string) syscall.Errno {
			var pair [2]int32
			return call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, uintptr(unsafe.Pointer(&pair)))
		}},
		attempt{"socket-inet", ok, func(string) syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) }},
		attempt{"socket-vsock", syscall.EAFNOSUPPORT, func(string) syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
		attempt{"socket-alg", syscall.EAFNOSUPPORT, func(string) syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},
	)
	if os.Getuid() == 0 {
		list = append(list, attempt{"socket-packet", syscall.EAFNOSUPPORT, func(string) syscall.Errno {
			return call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0)
		}})
		list = append(list, attempt{"mknodat-device", eperm, func(d string) syscall.Errno {
			return call(unix.SYS_MKNODAT, at, path(d), unix.S_IFCHR|0o600, uintptr(unix.Mkdev(1, 3)))
		}})
	}
	return append(list, older(call, path, file)...)
}

// Each way to make a file that changes its user works without the filter and not with it.
func TestNoSetID(t *testing.T) {
	t.Parallel()
	try := func(filter string) map[string]string {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asFiltered+"="+t.TempDir(), "FILTER="+filter)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got := map[string]string{}
		for line := range strings.Lines(string(out)) {
			name, errno, _ := strings.Cut(strings.TrimSpace(line), " ")
			got[name] = errno
		}
		return got
	}
	free, filtered := try(""), try("yes")
	for _, a := range attempts() {
		if free[a.name] != "0" && a.want != syscall.ENOSYS && a.want != syscall.EAFNOSUPPORT { // what this kernel does not have is refused all the same
			t.Errorf("%s: does not work without a filter (error %s), so it shows nothing", a.name, free[a.name])
		}
		if want := fmt.Sprint(int(a.want)); filtered[a.name] != want {
			t.Errorf("%s: got error %s, want %s", a.name, filtered[a.name], want)
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	program, err := seccomp.Program(seccomp.NoSetID())
	if err != nil || len(program) == 0 || len(program)%8 != 0 || len(program) > 8*4096 {
		t.Errorf("%d bytes, %v", len(program), err)
	}
	for name, r := range map[string]seccomp.Rule{
		"argument": {Call: 1, Errno: syscall.EPERM, When: []seccomp.Match{seccomp.Equal(6, 1)}},
		"no error": {Call: 1, When: []seccomp.Match{seccomp.Equal(0, 1)}},
		"too many": {Call: 1, Errno: syscall.EPERM, When: make([]seccomp.Match, 17)},
	} {
		if _, err := seccomp.Program([]seccomp.Rule{r}); err == nil {
			t.Errorf("%s: assembled", name)
		}
	}
}
