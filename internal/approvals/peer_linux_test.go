package approvals_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/approvals"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestOtherUsers: a process of another user sees no question, even where the directory lets it in. The same
// exchange by the user itself works.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	leftout.NeedRoot(t)
	root, err := os.MkdirTemp("/tmp", "approvals")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	q := approvals.Queue{Dir: filepath.Join(root, "q"), User: "ann"}
	done := ask(t, q, q.Beside(nobody, true), "one")
	for _, dir := range []string{root, q.Dir} {
		if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // the other user may come in
			t.Fatal(err)
		}
	}
	socket := filepath.Join(q.Dir, "one.sock")
	if err := os.Chmod(socket, 0o777); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	read := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and with it the other user
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Error(errno)
		}
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Error(err)
			read <- 0
			return
		}
		defer c.Close()
		n, _ := c.Read(make([]byte, 100))
		read <- n
	}()
	if n := <-read; n != 0 {
		t.Errorf("the other user has read %d bytes", n)
	}
	if _, err := q.Reply(t.Context(), "one", approvals.Answer{Granted: true}); err != nil {
		t.Error(err)
	}
	if got := <-done; !got.Granted {
		t.Errorf("%+v", got)
	}
}
