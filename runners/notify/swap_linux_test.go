//go:build amd64 || arm64

package notify

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

var more = flag.Int("notify.tries", 0, "calls of each caller; 0 for a few")

// tries is how many calls a caller makes.
func tries(usual int) string { return fmt.Sprint("TRIES=", max(usual, *more)) }

func wanted() int {
	n, err := strconv.Atoi(os.Getenv("TRIES"))
	if err != nil {
		panic(err)
	}
	return n
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// files is how many files openMany opens.
const files = 10

// withFiles makes a directory with them.
func withFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openMany opens files one after another, and counts the answers that are no descriptor of theirs.
func openMany() {
	var inodes [files]uint64
	for i := range inodes {
		var st unix.Stat_t
		must(0, unix.Stat(fmt.Sprint("f", i), &st))
		inodes[i] = st.Ino
	}
	zero, other, failed := 0, 0, 0
	n := wanted()
	for i := range n {
		name := fmt.Sprint("f", i%files)
		fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o644)
		var st unix.Stat_t
		switch {
		case err != nil:
			failed++
			continue
		case fd == 0:
			zero++
			continue
		case unix.Fstat(fd, &st) != nil || st.Ino != inodes[i%files]:
			other++
		}
		must(0, unix.Close(fd))
	}
	fmt.Printf("%d opens: %d answered 0, %d another file, %d failed\n", n, zero, other, failed)
}

// storm sends SIGURG to all threads of this process until the returned function is called.
func storm() (stop func()) {
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		self, me := os.Getpid(), unix.Gettid()
		for {
			tasks, _ := os.ReadDir("/proc/self/task")
			for range 100 {
				select {
				case <-end:
					return
				default:
				}
				for _, task := range tasks {
					if tid, _ := strconv.Atoi(task.Name()); tid != me {
						_ = unix.Tgkill(self, tid, unix.SIGURG)
					}
				}
				for range 20 { // some microseconds
					_ = unix.Getppid()
				}
			}
		}
	}()
	return func() { close(end); <-over }
}

// Signals to the threads of the Service change no answer.
func TestOpensUnderSignals(t *testing.T) {
	th := newService(t, func(Name) bool { return true }, nil)
	stop := storm()
	defer stop()
	n := tries(5_000)
	want := strings.TrimPrefix(n, "TRIES=") + " opens: 0 answered 0, 0 another file, 0 failed\n"
	if got := th.caller(t, withFiles(t), "opens", n); got != want {
		t.Errorf("got %s", got)
	}
}

// The same signals do harm if the descriptor and the answer go out in one call.
func TestOpensInOneAnswer(t *testing.T) {
	th := newService(t, func(Name) bool { return true }, func(s *Service) {
		s.reply = func(f *feed, id uint64, a answer) {
			if a.fd < 0 {
				f.answer(id, a)
				return
			}
			add := addition{
				id:       id,
				from:     uint32(a.fd),
				flags:    unix.SECCOMP_ADDFD_FLAG_SEND,
				newFlags: unix.O_CLOEXEC,
			}
			_, _ = f.ioctl(notifyAdd, unsafe.Pointer(&add))
			_ = unix.Close(a.fd)
		}
	})
	stop := storm()
	defer stop()
	got := th.caller(t, withFiles(t), "opens", "TRIES=10000")
	if !strings.Contains(got, " answered 0,") || strings.Contains(got, " 0 answered 0,") {
		t.Errorf("the test of two calls shows nothing: %s", got)
	}
	t.Log(got)
}

// swaps are ways to exchange the meaning of a call, again and again. Each returns a directory descriptor and
// the two paths between which a path is exchanged.
const (
	swapPath   = "path"
	swapParent = "parent"
	swapFD     = "descriptor"
	swapDir    = "directory"
)

// swap makes names while a second thread exchanges their meaning, and counts those that come up in guarded.
func swap() {
	runtime.GOMAXPROCS(4)
	for _, dir := range []string{"plain", "guarded", "source"} {
		must(0, os.Mkdir(dir, 0o755))
	}
	must(0, os.Symlink("plain", "parent"))
	must(0, os.Symlink("guarded", "parent2"))
	root := must(unix.Open(".", unix.O_PATH, 0))
	plain, guarded := must(unix.Open("plain", unix.O_PATH, 0)), must(unix.Open("guarded", unix.O_PATH, 0))
	const moving = 100
	must(0, unix.Dup3(plain, moving, 0))
	path := must(unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))
	counts := ""
	for _, what := range []string{swapPath, swapParent, swapFD, swapDir} {
		at, text := root, "parent/x"
		exchange := func(int) {}
		switch what {
		case swapPath:
			text = "plain/.././plain/x"
			exchange = func(i int) { copy(path, []string{"plain/.././plain/x", "plain/../guarded/x"}[i%2]) }
		case swapParent:
			exchange = func(int) { _ = unix.Renameat2(root, "parent", root, "parent2", unix.RENAME_EXCHANGE) }
		case swapFD:
			at, text = moving, "x"
			exchange = func(i int) { _ = unix.Dup3([]int{plain, guarded}[i%2], moving, 0) }
		case swapDir:
			at, text = unix.AT_FDCWD, "x"
			exchange = func(i int) { _ = unix.Fchdir([]int{plain, guarded}[i%2]) }
		}
		copy(path, text+"\x00")
		var stop atomic.Bool
		over := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			defer close(over)
			for i := 0; !stop.Load(); i++ {
				exchange(i)
			}
		}()
		made, came := callsOn(root, plain, guarded, uintptr(at), uintptr(unsafe.Pointer(&path[0])))
		stop.Store(true)
		<-over
		must(0, unix.Fchdir(root))
		counts += fmt.Sprintf("%s: %d made, %d protected\n", what, made, came)
	}
	fmt.Print(counts)
}

// callsOn makes names by each kind of call, and removes them.
func callsOn(root, plain, guarded int, at, path uintptr) (made, came int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	source := append([]byte("source/s"), 0)
	from := uintptr(unsafe.Pointer(&source[0]))
	s := uintptr(root)
	calls := [][7]uintptr{
		{unix.SYS_OPENAT, at, path, unix.O_CREAT | unix.O_WRONLY | unix.O_CLOEXEC, 0o644},
		{unix.SYS_MKDIRAT, at, path, 0o755},
		{unix.SYS_SYMLINKAT, from, at, path},
		{unix.SYS_LINKAT, s, from, at, path, 0},
		{unix.SYS_RENAMEAT2, s, from, at, path, 0},
	}
	for i := range wanted() {
		a := calls[i%len(calls)]
		if a[0] == unix.SYS_LINKAT || a[0] == unix.SYS_RENAMEAT2 {
			if fd, err := unix.Openat(root, "source/s", unix.O_CREAT|unix.O_WRONLY, 0o644); err == nil {
				_ = unix.Close(fd)
			}
		}
		fd, _, errno := unix.Syscall6(a[0], a[1], a[2], a[3], a[4], a[5], 0)
		if errno == 0 && a[0] == unix.SYS_OPENAT {
			_ = unix.Close(int(fd))
		}
		for _, dir := range []int{plain, guarded} {
			var st unix.Stat_t
			if unix.Fstatat(dir, "x", &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			if made++; dir == guarded {
				came++
			}
			flags := 0
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				flags = unix.AT_REMOVEDIR
			}
			_ = unix.Unlinkat(dir, "x", flags)
		}
	}
	return made, came
}

func refuseGuarded(n Name) bool { return filepath.Base(filepath.Dir(n.Path)) != "guarded" }

// Nothing that changes while a call is performed makes a protected name.
func TestSwap(t *testing.T) {
	t.Parallel()
	got := newService(t, refuseGuarded, nil).caller(t, t.TempDir(), "swap", tries(1500))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for _, line := range lines {
		if !strings.HasSuffix(line, " 0 protected") || strings.Contains(line, ": 0 made") {
			t.Error(line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("got %q", got)
	}
	t.Log(got)
}

// The same swaps make protected names if the kernel performs a call after it was judged: so TestSwap can
// fail.
func TestSwapWithContinue(t *testing.T) {
	t.Parallel()
	th := newService(t, refuseGuarded, func(s *Service) {
		s.perform = func(c *caller, n *notification) answer {
			if err := c.begin(); err != nil {
				return failed(err)
			}
			at, path := n.args[0], n.args[1]
			switch uintptr(n.call) {
			case unix.SYS_SYMLINKAT:
				at, path = n.args[1], n.args[2]
			case unix.SYS_LINKAT, unix.SYS_RENAMEAT2:
				at, path = n.args[2], n.args[3]
			}
			p, err := c.find(int32(at), path)
			if err == nil {
				defer p.close()
				err = c.judge(p, File)
			}
			if err != nil {
				return failed(err)
			}
			return failed(goOn)
		}
		s.reply = func(f *feed, id uint64, a answer) {
			if a.errno != goOn {
				f.answer(id, a)
				return
			}
			r := response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
			_, _ = f.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		}
	})
	got := th.caller(t, t.TempDir(), "swap", tries(1500))
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		if strings.HasSuffix(line, " 0 protected") {
			t.Errorf("the kernel reads nothing twice? %s", line)
		}
	}
	t.Log(got)
}

// goOn is an answer of TestSwapWithContinue.
const goOn = unix.Errno(4000)
