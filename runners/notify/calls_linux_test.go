//go:build amd64 || arm64

package notify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelCalls lists the system calls of an architecture by the names of x/sys/unix, without SYS_.
func kernelCalls(t *testing.T, arch string) map[string]uintptr {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "zsysnum_linux_"+arch+".go")
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uintptr{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			number, err := strconv.Atoi(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.ToLower(strings.TrimPrefix(v.Names[0].Name, "SYS_"))] = uintptr(number)
		}
		return true
	})
	if len(all) < 250 {
		t.Fatalf("%s: only %d calls found", arch, len(all))
	}
	return all
}

// Every system call of the kernel's list is in one class: performed, refused, or known to make no name. Those
// of "changes" are performed, and those of "unchanging" refused, only if changes are recorded. A new one fails
// here until somebody has looked at it.
func TestEveryCallHasAClass(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/calls")
	if err != nil {
		t.Fatal(err)
	}
	class := map[string]string{}
	for line := range strings.Lines(string(text)) {
		head, names, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			if class[name] != "" {
				t.Errorf("%s has two classes", name)
			}
			class[name] = head
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for name := range kernelCalls(t, arch) {
			if class[name] == "" {
				t.Errorf("%s: %s has no class: find out whether it can make a name", arch, name)
			}
		}
	}
	for _, record := range []bool{false, true} {
		filtered := map[uintptr]string{}
		for _, r := range refused(record) {
			filtered[r.Call] = "refused"
		}
		for _, r := range told(record, false) {
			filtered[r.Call] = "performed"
		}
		recorded := map[string]string{"changes": "performed", "unchanging": "refused"}
		for name, number := range kernelCalls(t, runtime.GOARCH) {
			want := class[name]
			if want == "none" || want == "elsewhere" || recorded[want] != "" && !record {
				want = ""
			}
			if recorded[want] != "" {
				want = recorded[want]
			}
			if got := filtered[number]; got != want {
				t.Errorf("recording %v: the filter says %q of %s, and the list %q", record, got, name, want)
			}
		}
	}
}

// at is AT_FDCWD as an argument.
const at = ^uintptr(99)

// attempts make a name by each call, from the file "source" or the directory "source.d" where they need one.
func attempts() map[string]func(name string) error {
	pointer := func(s string) uintptr {
		b, _ := unix.BytePtrFromString(s)
		return uintptr(unsafe.Pointer(b)) // the collector is off
	}
	call := func(args ...uintptr) error {
		var a [7]uintptr
		copy(a[:], args)
		if _, _, errno := unix.Syscall6(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); errno != 0 {
			return errno
		}
		return nil
	}
	const create = unix.O_CREAT | unix.O_WRONLY
	how := unix.OpenHow{Flags: create, Mode: 0o644}
	all := map[string]func(name string) error{
		"openat":  func(n string) error { return call(unix.SYS_OPENAT, at, pointer(n), create, 0o644) },
		"mkdirat": func(n string) error { return call(unix.SYS_MKDIRAT, at, pointer(n), 0o755) },
		"mknodat": func(n string) error {
			return call(unix.SYS_MKNODAT, at, pointer(n), unix.S_IFIFO|0o644,
				0)
		},
		"mknodat-0": func(n string) error { return call(unix.SYS_MKNODAT, at, pointer(n), 0o644, 0) },
		"symlinkat": func(n string) error { return call(unix.SYS_SYMLINKAT, pointer("x"), at, pointer(n)) },
		"linkat": func(n string) error {
			return call(unix.SYS_LINKAT, at, pointer("source"), at,
				pointer(n), 0)
		},
		"linkat-proc": func(n string) error {
			fd, err := unix.Open("source", unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			from := pointer(fmt.Sprintf("/proc/self/fd/%d", fd))
			return call(unix.SYS_LINKAT, at, from, at, pointer(n), unix.AT_SYMLINK_FOLLOW)
		},
		"linkat-tmpfile": func(n string) error {
			fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o644)
			if err != nil {
				return err
			}
			from := pointer(fmt.Sprintf("/proc/self/fd/%d", fd))
			return call(unix.SYS_LINKAT, at, from, at, pointer(n), unix.AT_SYMLINK_FOLLOW)
		},
		"renameat2": func(n string) error {
			return call(unix.SYS_RENAMEAT2, at, pointer("source"), at,
				pointer(n), 0)
		},
		"renameat2-dir": func(n string) error {
			return call(unix.SYS_RENAMEAT2, at, pointer("source.d"), at,
				pointer(n), 0)
		},
		"renameat": func(n string) error {
			return call(unix.SYS_RENAMEAT, at, pointer("source"), at,
				pointer(n))
		},
		"openat-dirfd": func(n string) error {
			dir, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			return call(unix.SYS_OPENAT, uintptr(dir), pointer(n), create, 0o644)
		},
		"openat-link": func(n string) error {
			_ = os.Remove("link-" + n)
			if err := os.Symlink(n, "link-"+n); err != nil {
				return err
			}
			return call(unix.SYS_OPENAT, at, pointer("link-"+n), create, 0o644)
		},
		"openat2": func(n string) error {
			return call(unix.SYS_OPENAT2, at, pointer(n), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
		},
	}
	return olderAttempts(all, call, pointer)
}

// tryCalls makes a free name and the protected one by each call, and prints the errors and the files.
func tryCalls() {
	runtime.LockOSThread()
	all := attempts()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, call := range names {
		for _, name := range []string{"free", protected} {
			_ = os.WriteFile("source", []byte("x"), 0o644)
			_ = os.Mkdir("source.d", 0o755)
			_ = os.RemoveAll(name)
			err := all[call](name)
			_, missing := os.Lstat(name)
			fmt.Printf("%s %s: %v, there: %v\n", call, name, err, missing == nil)
			_ = os.RemoveAll(name)
		}
	}
}

// Each call makes a free name, and the protected one without the Service only.
func TestEachCall(t *testing.T) {
	t.Parallel()
	without := (*thread)(nil).caller(t, t.TempDir(), "calls", "GOGC=off")
	with := newService(t, refuseProtected, nil).caller(t, t.TempDir(), "calls", "GOGC=off")
	want := ""
	for line := range strings.Lines(without) {
		call, rest, _ := strings.Cut(line, " ")
		if !strings.HasSuffix(rest, ": <nil>, there: true\n") {
			t.Errorf("without the Service: %s", line)
		}
		switch {
		case call == "openat2":
			rest = strings.Replace(rest, "<nil>, there: true", "function not implemented, there: false", 1)
		case strings.HasPrefix(rest, protected):
			rest = strings.Replace(rest, "<nil>, there: true", "permission denied, there: false", 1)
		}
		want += call + " " + rest
	}
	if with != want {
		t.Errorf("with the Service:\n%s\nwant:\n%s", with, want)
	}
}

// Without the Service no call makes a name.
func TestClosed(t *testing.T) {
	t.Parallel()
	th, dir := newService(t, nil, nil), t.TempDir()
	const text = "echo x > name; mkdir name.d; ls -A"
	if got := th.run(t, t.TempDir(), nil, "bash", "-c", text); got != "name\nname.d\n" {
		t.Fatalf("before: %s", got)
	}
	th.s.Close()
	got := th.run(t, dir, nil, "bash", "-c", text)
	if strings.Count(got, "Function not implemented") != 2 || strings.Contains(got, "\nname") {
		t.Errorf("got %s", got)
	}
}
