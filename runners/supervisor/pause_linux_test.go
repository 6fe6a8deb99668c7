package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// firstProcess runs this test binary, in a mode, as the first process of a namespace, and returns its output.
func firstProcess(t *testing.T, mode string) string {
	t.Helper()
	c := exec.Command(leftout.Command(t, "unshare"),
		"--user", "--map-root-user", "--kill-child", "--pid", "--mount-proc", os.Args[0])
	c.Env = append(os.Environ(), helper+"="+mode)
	out, err := c.CombinedOutput()
	if strings.HasPrefix(string(out), "unshare: ") {
		leftout.Skip(t, leftout.Platform, "no namespace can be made: "+string(out))
	}
	if err != nil {
		return fmt.Sprint(string(out), err)
	}
	return string(out)
}

// TestPauseMeetsOwnForks checks that no pause stops a child of this very process that has yet to execute its
// program: the runtime waits for the thread that forks it, and the child would wait for the end of the pause.
func TestPauseMeetsOwnForks(t *testing.T) {
	t.Parallel()
	if out := firstProcess(t, "own forks"); out != "all went on\n" {
		t.Error(out)
	}
}

// pauseOwnForks is the first process of a namespace. It starts programs all the time.
func pauseOwnForks() int {
	all := &pause{enclosed: enclosed(), starts: new(sync.Mutex)}
	for range 4 {
		go func() {
			for {
				_ = exec.Command("/bin/true").Run()
			}
		}()
	}
	for range 200 {
		s := &stillness{of: all}
		s.begin()
		runtime.GC() // waits for threads within a fork
		s.end()
	}
	fmt.Println("all went on")
	return 0
}
