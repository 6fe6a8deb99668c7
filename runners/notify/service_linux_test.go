//go:build amd64 || arm64

package notify

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// asCaller tells the test binary to be a caller, and which.
const asCaller = "SALLYPORT_NOTIFY_TEST"

func TestMain(m *testing.M) {
	if role := os.Getenv(asCaller); role != "" {
		callers[role]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// callers are the programs that the tests start. They work in the current directory.
var callers = map[string]func(){"calls": tryCalls, "opens": openMany, "swap": swap, "fifos": waitForFIFOs}

// protected is the last name that the Judge of the tests refuses.
const protected = "protected"

func refuseProtected(n Name) bool { return filepath.Base(n.Path) != protected }

// newService makes a Service for one test; change prepares it before it is installed.
func newService(t testing.TB, j Judge, change func(*Service)) *thread {
	t.Helper()
	s, err := New(Options{Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	th := &thread{work: make(chan func()), s: s}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		ready <- errors.Join(err, s.Install())
		for w := range th.work {
			w()
		}
	}()
	if err := <-ready; err != nil {
		if errors.Is(err, ErrUnsupported) {
			leftout.Skip(t, leftout.Platform, err.Error())
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(th.work)
		s.Close()
	})
	return th
}

// thread is the thread whose children a Service serves. Nil starts children without one.
type thread struct {
	work chan func()
	s    *Service
}

// start starts a program in a directory and returns a function that waits for its output.
func (th *thread) start(
	t testing.TB,
	dir string,
	env []string,
	words ...string,
) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &out, &out
	err := make(chan error, 1)
	if th == nil {
		err <- cmd.Start()
	} else {
		th.work <- func() { err <- cmd.Start() }
	}
	if err := <-err; err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

func (th *thread) run(t testing.TB, dir string, env []string, words ...string) string {
	t.Helper()
	cmd, out := th.start(t, dir, env, words...)
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(out, err)
	}
	return out.String()
}

// caller runs a role of the test binary.
func (th *thread) caller(t testing.TB, dir, role string, env ...string) string {
	t.Helper()
	return th.run(t, dir, append(env, asCaller+"="+role), os.Args[0])
}
