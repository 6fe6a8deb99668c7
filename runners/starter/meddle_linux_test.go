//go:build linux && (amd64 || arm64)

package starter_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/notify"
)

// meddle executes ./broken, which fails, uses the socket that it got for that in some way, and becomes touch.
// With "close" it does so while touch is judged.
func meddle(how, touch string) {
	if how == "close" {
		go func() {
			for unix.Access("judging", unix.F_OK) != nil {
				runtime.Gosched()
			}
			use(how)
			_ = os.WriteFile("used", nil, 0o644)
		}()
	} else {
		_ = executed("./broken", "broken")
		use(how)
	}
	fmt.Println(executed(touch, "touch", "begun"))
	os.Exit(1)
}

func executed(path string, words ...string) error {
	file, _ := unix.BytePtrFromString(path)
	argv, _ := syscall.SlicePtrFromStrings(words)
	envp := []*byte{nil}
	_, _, errno := syscall.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(file)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])))
	return errno
}

// use meddles with all sockets of this process.
func use(how string) {
	found := false
	for fd := range 64 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
			continue
		}
		found = true
		switch how {
		case "close":
			_ = unix.Close(fd)
		case "data":
			_ = unix.Sendto(fd, []byte("x"), unix.MSG_NOSIGNAL, nil)
		case "itself":
			_ = unix.Sendmsg(fd, []byte("x"), unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
		case "half":
			_ = unix.Shutdown(fd, unix.SHUT_WR)
		}
	}
	if !found {
		fmt.Println("no socket")
		os.Exit(2)
	}
}

// A caller that uses the socket by which its start is noticed neither holds up the service nor starts a
// program that nobody compares.
func TestMeddling(t *testing.T) {
	t.Parallel()
	touch, limit := leftout.Command(t, "touch"), leftout.Command(t, "timeout")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"nothing", "close", "data", "itself", "half"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir+"/broken", "\x7fELF, but no more", 0o755)
			s := &seen{}
			isTouch := func(p notify.Program) bool { return slices.Equal(p.Argv, []string{"touch", "begun"}) }
			compared := make(chan notify.Comparison, 10)
			service, err := notify.New(notify.Options{
				Starts: func(d string, p notify.Program, waits func()) bool {
					if how == "close" && isTouch(p) {
						waits()
						write(t, dir+"/judging", "", 0o644)
						await.True(t, "the socket is closed", func() bool {
							_, err := os.Stat(dir + "/used")
							return err == nil
						})
					}
					return s.starts(d, p, waits)
				},
				Compared: func(_ string, p notify.Program, c notify.Comparison) {
					if isTouch(p) {
						compared <- c
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer service.Close()
			text := strings.Join([]string{limit, "-s", "KILL", "20", self, "meddle", how, touch}, " ")
			out, err := serve(t, service, dir, text)
			if _, missing := os.Stat(dir + "/begun"); errors.Join(err, missing) != nil {
				t.Fatalf("%v, %v, %q", err, missing, out)
			}
			if c := await.Receive(t, "comparison", compared); c != notify.Same {
				t.Errorf("the start is compared: %v", c)
			}
		})
	}
}
