//go:build amd64 || arm64

package notify

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
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

// A process that ended before the comparison is not compared, also where another one has got its number: that
// one is neither judged nor counts as the program.
func TestNumbersOfEndedProcesses(t *testing.T) {
	child := exec.Command("/proc/self/exe", "-test.run=^$")
	in, err := child.StdinPipe() // nobody reads it
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := unix.Open(procDir(child.Process.Pid), pathOnly|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	process, err := unix.PidfdOpen(child.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(pair[1])
	var judged []Program
	var compared []Comparison
	s, err := New(Options{
		Starts:   func(_ string, p Program, _ func()) bool { judged = append(judged, p); return true },
		Compared: func(_ string, _ Program, c Comparison) { compared = append(compared, c) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := os.Getpid() // in place of a process that got the number
	f := &feed{s: s, watches: map[int]*watch{}}
	w := &watch{pid: now, process: process, dir: dir, end: pair[0], ended: make(chan struct{}),
		done: make(chan struct{}), allowed: []Program{{PID: now, Argv: []string{"x"}}}, files: [][]inode{{{}}}}
	f.watches[now] = w
	f.finish(w)
	<-w.done
	if len(judged) != 0 || !slices.Equal(compared, []Comparison{Uncertain}) {
		t.Errorf("compared as %v, and judged: %+v", compared, judged)
	}
}
