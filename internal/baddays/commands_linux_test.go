package baddays

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestDescriptors runs commands that close or replace their descriptors. Output from before is kept, and the
// result comes at the end of the command, without a wait for processes that still run.
func TestDescriptors(t *testing.T) {
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		env := open(t, r, h.spec())
		for _, tc := range []struct {
			name, text, out string
			code            int
		}{
			{"closed", `echo before; exec <&- >&- 2>&-; sleep 0.2; exit 3`, "before\n", 3},
			{"closed, and a child goes on", `echo before; exec <&- >&- 2>&-; (sleep 0.2); exit 4`, "before\n", 4},
			{"to nothing", `echo before; exec >/dev/null 2>&1; echo lost; exit 5`, "before\n", 5},
			{"to a file and back", `exec 3>&1 >file; echo in the file; exec >&3 3>&-; cat file; exit 6`, "in the file\n", 6},
			{"into each other", `exec 2>&1; echo one >&2; exec 1>&2; echo two; exit 7`, "one\ntwo\n", 7},
			{"opened anew by name", `echo one; (echo two) >/dev/stdout; echo three >/proc/self/fd/1; exit 8`, "one\ntwo\nthree\n", 8},
			{"a child keeps them open", `echo before; sleep 3600 & exit 9`, "before\n", 9},
			{"the shell replaces itself", `echo before; exec sh -c 'exec >&-; exit 10'`, "before\n", 10},
			{"pretends to be another end", `(exit 0) & exec >&- 2>&-; trap '' TERM PIPE; exit 77`, "", 77},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c := prepared(t, env, h.workspace, tc.text)
				x := ended(t, start(t, env, c))
				if x.Code != tc.code || x.Stdout.Text != tc.out || x.Error != nil || x.TimedOut || x.Signal != "" {
					t.Errorf("%+v", x)
				}
			})
		}
		serves(t, env, h.workspace)
	})
}

// TestParallel runs a hundred commands at once: each has its own end and its own output.
func TestParallel(t *testing.T) {
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		env := open(t, r, h.spec())
		var all sync.WaitGroup
		for i := range 100 {
			c := prepared(t, env, h.workspace, fmt.Sprintf(`echo out %[1]d; echo err %[1]d >&2; echo %[1]d >f%[1]d; sleep 0.2; cat f%[1]d; exit %[1]d`, i))
			all.Go(func() {
				p, err := env.Start(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				x := p.Wait()
				if x.Code != i || x.Stdout.Text != fmt.Sprintf("out %d\n%d\n", i, i) || x.Stderr.Text != fmt.Sprintf("err %d\n", i) || x.Error != nil {
					t.Errorf("%d: code %d, says %q and %q: %v", i, x.Code, x.Stdout.Text, x.Stderr.Text, x.Error)
				}
			})
		}
		all.Wait()
		serves(t, env, h.workspace)
	})
}

// TestFlood writes without end until it is ended: all is counted, little is kept, and this process does not
// grow with it.
func TestFlood(t *testing.T) {
	const written, limit = 256 << 20, 16 << 20
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		env := open(t, r, h.spec())
		serves(t, env, h.workspace)
		c := prepared(t, env, h.workspace, "yes; yes >&2")
		before, most := resident(t), 0
		p := start(t, env, c)
		await.True(t, "enough is written", func() bool {
			most = max(most, vmRSS())
			out, _ := p.Output()
			return out.Bytes > written
		})
		p.Kill("enough")
		x := ended(t, p)
		kept := x.Stdout.Bytes - x.Stdout.Dropped
		if x.Killed != "enough" || x.Stdout.Bytes < written || kept != int64(c.Output) || x.Error != nil {
			x.Stdout.Text, x.Stderr.Text = "", ""
			t.Errorf("%+v", x)
		}
		if most-before > limit {
			t.Errorf("this process grew by %d KiB, want at most %d", (most-before)>>10, limit>>10)
		}
		serves(t, env, h.workspace)
	})
}

// resident is the memory of this process, without what it could give back.
func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	n := vmRSS()
	if n == 0 {
		t.Fatal("no memory use in /proc/self/status")
	}
	return n
}

func vmRSS() int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}
