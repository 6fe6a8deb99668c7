//go:build amd64 || arm64

package notify

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// A signal that meets a look at the socket of a watch, such as those of the runtime of Go, does not end the
// watch: its program would be judged again, and never compared.
func TestSignalsEndNoWatch(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := unix.Gettid()
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			_ = unix.Tgkill(os.Getpid(), thread, unix.SIGURG)
		}
	}()
	w := &watch{end: pair[0]}
	for i := range 20_000 {
		if !w.open() {
			t.Errorf("look %d: the socket is open, and the watch is over", i)
			break
		}
	}
	over.Store(true)
	<-ended
}

// aWatch returns a watch with a closed socket, and its process, which waits for the end of its input.
func aWatch(t *testing.T) (w *watch, child *exec.Cmd, end func()) {
	t.Helper()
	child = exec.Command(leftout.Command(t, "cat"))
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	pid := child.Process.Pid
	w = &watch{pid: pid, ended: make(chan struct{}), done: make(chan struct{})}
	if w.dir, err = unix.Open(procDir(pid), pathOnly|unix.O_DIRECTORY, 0); err != nil {
		t.Fatal(err)
	}
	if w.process, err = unix.PidfdOpen(pid, 0); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.end = pair[0]
	_ = unix.Close(pair[1])
	end = sync.OnceFunc(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	t.Cleanup(end)
	return w, child, end
}

// finished ends a watch that allows the program x, and returns the judged programs and the comparisons.
func finished(t *testing.T, w *watch, pid int) (judged []Program, compared []Comparison) {
	t.Helper()
	s, err := New(Options{
		Starts:   func(_ string, p Program, _ func()) bool { judged = append(judged, p); return true },
		Compared: func(_ string, _ Program, c Comparison) { compared = append(compared, c) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.allowed, w.files = []Program{{PID: pid, Argv: []string{"x"}}}, [][]inode{{{}}}
	f := &feed{s: s, watches: map[int]*watch{w.pid: w}}
	f.finish(w)
	<-w.done
	return judged, compared
}

// A process that ended before the comparison is not compared, also where another one has got its number: that
// one is neither judged nor counts as the program.
func TestNumbersOfEndedProcesses(t *testing.T) {
	t.Parallel()
	w, _, end := aWatch(t)
	end()
	judged, compared := finished(t, w, os.Getpid()) // in place of a process that got the number
	if len(judged) != 0 || !slices.Equal(compared, []Comparison{Uncertain}) {
		t.Errorf("compared as %v, and judged: %+v", compared, judged)
	}
}

// A process may close its socket after the last look at it, and before the kernel starts the program: that
// start is not compared, and counts so.
func TestSocketClosedBeforeTheStart(t *testing.T) {
	t.Parallel()
	w, child, _ := aWatch(t)
	var st unix.Stat_t
	if err := unix.Stat(child.Path, &st); err != nil {
		t.Fatal(err)
	}
	w.before = inode{st.Dev, st.Ino}
	judged, compared := finished(t, w, child.Process.Pid)
	if len(judged) != 1 || !slices.Equal(compared, []Comparison{Uncertain, Differs}) {
		t.Errorf("compared as %v, and judged: %+v", compared, judged)
	}
}

// A judgement that breaks ends a program that has begun, and nothing else.
func TestJudgeBreaksAfterTheStart(t *testing.T) {
	t.Parallel()
	w, child, _ := aWatch(t)
	s, err := New(Options{
		Starts:   func(string, Program, func()) bool { panic("the judge breaks") },
		Compared: func(string, Program, Comparison) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.allowed, w.files = []Program{{PID: w.pid, Argv: []string{"x"}}}, [][]inode{{{}}}
	f := &feed{s: s, watches: map[int]*watch{w.pid: w}}
	f.finish(w)
	<-w.done
	var ended *exec.ExitError
	err = child.Wait()
	if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("the program ends with %v", err)
	}
}
