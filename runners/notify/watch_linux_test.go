//go:build amd64 || arm64

package notify

import (
	"os"
	"runtime"
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
