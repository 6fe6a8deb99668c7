package runnertest

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// many checks that commands at the same time have nothing to do with each other.
func (s *suite) many(t *testing.T) {
	p := s.place(t)
	t.Run("100 at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 100 {
			c := p.command(t, fmt.Sprintf("echo %d; echo -%d >&2; sleep 0.2; exit %d", i, i, i))
			wg.Go(func() {
				proc := p.start(t, c)
				x := proc.Wait()
				if x.Code != i || x.Stdout.Text != fmt.Sprintf("%d\n", i) || x.Stderr.Text != fmt.Sprintf("-%d\n", i) ||
					x.Survivors != 0 {
					t.Errorf("command %d: %+v", i, x)
				}
			})
		}
		wg.Wait()
	})
	t.Run("one in the background", func(t *testing.T) {
		proc := p.start(t, p.command(t, `i=0; while :; do echo $i; i=$((i+1)); sleep 0.01; done`))
		last := ""
		for range 5 {
			await.True(
				t, "there is more output", func() bool { out, _ := proc.Output(); return len(out.Text) > len(last) })
			out, _ := proc.Output()
			if !strings.HasPrefix(out.Text, last) {
				t.Errorf("its output was %q and is %q", last, out.Text)
			}
			last = out.Text
			if x := p.run(t, "echo beside"); x.Stdout.Text != "beside\n" {
				t.Errorf("beside it: %+v", x)
			}
		}
		proc.Kill("enough")
		if x := proc.Wait(); x.Killed != "enough" || !strings.HasPrefix(x.Stdout.Text, last) || x.Survivors != 0 {
			t.Errorf("%+v", x)
		}
	})
	t.Run("an end spares the others", func(t *testing.T) { s.spares(t, s.place(t)) })
	t.Run("50 that leave something behind", func(t *testing.T) {
		p.needsProc(t)
		p.needs(t, "setsid")
		var wg sync.WaitGroup
		keep, kept := p.tagged(t, `(setsid env -i sleep "$TAG" &); sleep 1200`)
		keeper := p.start(t, keep)
		c, tag := p.tagged(t, `(setsid env -i /bin/sh -c '(sleep "$0" &)' "$TAG" &); sleep 0.1`)
		for i := range 50 {
			c := c
			c.ID = fmt.Sprintf("%s-%d", c.ID, i)
			wg.Go(func() {
				if x := p.start(t, c).Wait(); x.Survivors != 0 || x.Code != 0 {
					t.Errorf("%+v", x)
				}
			})
		}
		wg.Wait()
		if n := p.count(t, tag); n != 0 {
			t.Errorf("%d processes are left", n)
		}
		p.settle(t, kept, 1)
		keeper.Kill("test")
		p.noneLeft(t, keeper.Wait(), kept)
	})
}

// spares starts two commands that both try to escape, kills one, and looks at the other.
func (s *suite) spares(t *testing.T, p *place) {
	p.needsProc(t)
	p.needs(t, "setsid")
	text := `sleep "$TAG" &
		(setsid sleep "$TAG" &)
		(setsid env -i /bin/sh -c '(sleep "$0" &)' "$TAG" </dev/null >/dev/null 2>&1 &)
		sleep 1200`
	const each = 3
	var tags []string
	var procs []engine.Process
	for range 4 {
		c, tag := p.tagged(t, text)
		procs, tags = append(procs, p.start(t, c)), append(tags, tag)
	}
	for _, tag := range tags {
		p.settle(t, tag, each)
	}
	for i, proc := range procs {
		proc.Kill("test")
		p.noneLeft(t, proc.Wait(), tags[i])
		for _, tag := range tags[i+1:] {
			if n := p.count(t, tag); n != each {
				t.Errorf("after the end of command %d another has %d processes, want %d", i, n, each)
			}
		}
	}
}

// settle waits until the processes with a tag are as many that sleep as wanted, and no others: those on the
// way to become them have it too.
func (p *place) settle(t *testing.T, tag string, want int) {
	t.Helper()
	look := fmt.Sprintf(
		`for f in $(grep -ls '[%s]%s' /proc/[0-9]*/cmdline); do read -r name <"${f%%cmdline}comm" && echo "$name"; done 2>/dev/null`, tag[:1], tag[1:])
	await.True(
		t, "they sleep", func() bool { return p.run(t, look).Stdout.Text == strings.Repeat("sleep\n", want) })
}

// leaks checks that an environment releases its resources of this process.
func (s *suite) leaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		leftout.Skip(
			t, leftout.Platform,
			"descriptors and children of this process are counted through /proc: run this on Linux")
	}
	p := s.place(t)
	work := func() {
		var wg sync.WaitGroup
		for range 20 {
			c := p.command(t, "echo a; echo b >&2; (sleep 1200 &); ( (exit 3) & )")
			wg.Go(func() { p.start(t, c).Wait() })
		}
		wg.Wait()
	}
	before := zombies(t) // of a gateway that another test killed: nobody waits for them
	work()               // resources taken once are no leak
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range 5 {
		work()
	}
	await.True(t, "its goroutines end", func() bool { return runtime.NumGoroutine() <= routines+2 })
	await.True(
		t, "its files are closed", func() bool {
			return openFiles(t) <= files
		}) // a walk of /proc opens some for a moment
	await.True(t, "its children are waited for", func() bool {
		left := zombies(t)
		maps.DeleteFunc(left, func(pid string, _ bool) bool { return before[pid] })
		return len(left) == 0
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// zombies are the children of this process that have ended and were not waited for.
func zombies(t *testing.T) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if strings.HasPrefix(rest, fmt.Sprintf("Z %d ", os.Getpid())) {
			found[e.Name()] = true
		}
	}
	return found
}
