//go:build amd64 || arm64

package notify

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// waitForFIFOs waits on two threads for the readers of FIFOs, while signals come to the process. The first
// thread takes them: it is that of the main goroutine, as a rule.
func waitForFIFOs() {
	runtime.LockOSThread()
	for _, name := range []string{"first", "further"} {
		must(0, unix.Mkfifo(name, 0o600))
	}
	const signals = 100
	came := make(chan os.Signal, signals)
	signal.Notify(came, unix.SIGUSR1)
	open := func(name string) error {
		_, err := unix.Open(name, unix.O_CREAT|unix.O_WRONLY, 0o600)
		return err
	}
	further, read := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		further <- open("further")
	}()
	go func() {
		defer close(read)
		for range signals {
			must(0, unix.Kill(os.Getpid(), unix.SIGUSR1))
			<-came
		}
		for _, name := range []string{"first", "further"} {
			must(unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK, 0))
		}
	}()
	err := open("first")
	fmt.Println(err, <-further)
	<-read
}

// A signal that another thread takes does not end the wait of a caller.
func TestSignalsForOtherThreads(t *testing.T) {
	t.Parallel()
	th := newService(t, func(Name) bool { return true }, nil)
	if got := th.caller(t, t.TempDir(), "fifos"); got != "<nil> <nil>\n" {
		t.Error(got)
	}
}
