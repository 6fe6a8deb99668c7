package supervisor

import (
	"errors"
	"os"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestBounds: a process is given up only when it hangs at every look of a period.
func TestBounds(t *testing.T) {
	t.Parallel()
	here := func(state byte, start uint64) []proc {
		return []proc{{pid: os.Getpid(), state: state, start: start}}
	}
	failed := errors.New("too many open files")
	type look struct {
		left []proc
		err  error
	}
	hangs, runs := look{left: here('D', 1)}, look{left: here('R', 1)}
	other, blind := look{left: here('D', 2)}, look{here(0, 0), failed}
	for name, tc := range map[string]struct {
		before, after look // the end of the first period
		gone          bool // endMost has passed
		want          bool
	}{
		"hangs":             {before: hangs, after: hangs, want: true},
		"hangs at the end":  {before: runs, after: hangs},
		"hangs no more":     {before: hangs, after: runs},
		"another one hangs": {before: hangs, after: other},
		"every look fails":  {before: blind, after: blind, want: true},
		"one look fails":    {before: runs, after: blind},
		"runs for endMost":  {before: runs, after: runs, gone: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clock handClock
			b := newBounds(clock.clock)
			defer b.stop()
			for range 2 {
				if b.hopeless(tc.before.left, tc.before.err) {
					t.Fatal("given up before the time has passed")
				}
			}
			clock.pass(t, endTime)
			if tc.gone {
				clock.pass(t, endMost)
			}
			if got := b.hopeless(tc.after.left, tc.after.err); got != tc.want {
				t.Errorf("given up is %t", got)
			}
			if tc.want {
				return
			}
			for range 2 { // the next period
				if b.hopeless(hangs.left, nil) {
					t.Fatal("given up before the second period has passed")
				}
			}
			clock.pass(t, endTime)
			if !b.hopeless(hangs.left, nil) {
				t.Error("not given up after the second period")
			}
		})
	}
}

// TestNoProcessesToSee lets every look at the processes fail. The command ends when that has lasted.
func TestNoProcessesToSee(t *testing.T) {
	t.Parallel()
	var clock handClock
	s := newSupervisor(t, Options{clock: clock.clock})
	s.host.scans.read = func() ([]proc, error) { return nil, errors.New("too many open files") }
	c := command("echo up; exec sleep 3600")
	p := start(t, s, c)
	shows(t, p, "up\n")
	p.Kill("test")
	clock.pass(t, c.Grace)
	clock.pass(t, endTime)
	await.Receive(t, "end of the command", p.done)
	if x := p.Wait(); x.Survivors != 1 || x.Killed != "test" || x.Error != nil || x.Stdout.Text != "up\n" {
		t.Errorf("%+v", x)
	}
}

// TestUnseenShell concludes a command of which no process is seen, while its shell has not ended.
func TestUnseenShell(t *testing.T) {
	t.Parallel()
	var clock handClock
	p := &Process{clock: clock.clock}
	for _, s := range []**stream{&p.stdout, &p.stderr} {
		var err error
		if *s, err = newStream(1<<10, nil); err != nil {
			t.Fatal(err)
		}
		(*s).begin()
	}
	exit, concluded := engine.Exit{Code: -1}, make(chan struct{})
	go func() {
		p.conclude(&exit, make(chan struct{}))
		close(concluded)
	}()
	clock.pass(t, endMost)
	await.Receive(t, "end of the command", concluded)
	if exit.Survivors != 1 || exit.Error == nil || exit.Code != -1 {
		t.Errorf("%+v", exit)
	}
}
