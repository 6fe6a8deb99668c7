package supervisor

import (
	"io"
	"testing"
	"time"
)

// TestLimits lets the time limit and then the grace period pass. Each is as long as was asked for, and begins
// when the one before has passed.
func TestLimits(t *testing.T) {
	t.Parallel()
	const limit, grace = 17 * time.Minute, 19 * time.Minute
	for name, tc := range map[string]struct {
		text, stdout, signal string
		code                 int
		grace, passes        time.Duration // the grace period, and the time to pass after TERM
	}{
		"ends by TERM":    {"echo up; exec sleep 3600", "up\n", "SIGTERM", 128 + 15, grace, 0},
		"obeys TERM":      {"trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done", "up\nbye\n", "", 7, grace, 0},
		"ignores TERM":    {"trap 'echo term' TERM; echo up; while :; do sleep 0.01; done", "up\nterm\n", "SIGKILL", 128 + 9, grace, grace},
		"no grace is set": {"trap 'echo term' TERM; echo up; while :; do sleep 0.01; done", "up\nterm\n", "SIGKILL", 128 + 9, 0, DefaultGrace},
	} {
		for _, killed := range []string{"", "enough"} {
			t.Run(name+" "+killed, func(t *testing.T) {
				t.Parallel()
				var clock handClock
				c := command(tc.text)
				c.Timeout, c.Grace = limit, tc.grace
				p := start(t, newSupervisor(t, Options{clock: clock.clock}), c)
				shows(t, p, "up\n")
				if clock.waits(grace) {
					t.Error("the grace period begins before the end")
				}
				if killed == "" {
					clock.pass(t, limit)
				} else {
					p.Kill(killed)
				}
				if tc.passes > 0 {
					shows(t, p, "term\n") // there is time for it
					clock.pass(t, tc.passes)
				}
				x := p.Wait()
				if x.TimedOut != (killed == "") || x.Killed != killed || x.Code != tc.code || x.Signal != tc.signal || x.Stdout.Text != tc.stdout || x.Error != nil || x.Survivors != 0 {
					t.Errorf("%+v", x)
				}
			})
		}
	}
}

// TestLeftovers: processes that outlive a command get TERM, and KILL after their own, shorter grace period.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	var clock handClock
	c := command("(trap 'echo term' TERM; echo up; while :; do sleep 0.01; done) & read -r _; exit 3")
	stdin, told := io.Pipe()
	c.Stdin = stdin
	p := start(t, newSupervisor(t, Options{clock: clock.clock}), c)
	shows(t, p, "up\n")
	told.Close()
	shows(t, p, "term\n")
	clock.pass(t, leftoverGrace)
	if x := p.Wait(); x.Code != 3 || x.TimedOut || x.Stdout.Text != "up\nterm\n" || x.Error != nil || x.Survivors != 0 {
		t.Errorf("%+v", x)
	}
}

// TestEscapesAtTheLimit lets the time of a command pass when all that it tries to leave behind is there.
func TestEscapesAtTheLimit(t *testing.T) {
	t.Parallel()
	var clock handClock
	tag := newTag()
	c := command(escapes+"sleep 3600", "TAG="+tag)
	p := start(t, newSupervisor(t, Options{clock: clock.clock}), c)
	there(t, tag, 5)
	clock.pass(t, c.Timeout)
	clock.pass(t, c.Grace)
	if x, left := p.Wait(), tagged(t, tag); len(left) != 0 || x.Survivors != 0 || !x.TimedOut || x.Error != nil {
		t.Errorf("%d left, %+v", len(left), x)
	}
}
