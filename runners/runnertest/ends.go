package runnertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// soon is a time limit within which a shell has begun, and set its traps, on any machine.
const soon = 3 * time.Second

// ends checks how commands are ended and what is told of it.
func (s *suite) ends(t *testing.T) {
	p := s.place(t)
	limited := map[string]engine.Process{} // all at once: the time is for the slowest machine
	for name, text := range map[string]string{
		"no trap": "echo before; echo warn >&2; sleep 60; echo after",
		"ignored": "trap '' TERM; echo before; sleep 60; sleep 60",
		"obeyed":  "trap 'echo bye; exit 7' TERM; sleep 60 & wait",
	} {
		c := p.command(t, text)
		if c.Timeout = soon; name == "obeyed" {
			c.Grace = time.Minute
		}
		limited[name] = p.start(t, c)
	}
	t.Run("time limit", func(t *testing.T) {
		x := limited["no trap"].Wait()
		if !x.TimedOut || x.Killed != "" || x.Code != 128+15 || x.Signal != "SIGTERM" || x.Error != nil {
			t.Errorf("%+v", x)
		}
		if x.Stdout.Text != "before\n" || x.Stderr.Text != "warn\n" {
			t.Errorf("output before the limit: %q, %q", x.Stdout.Text, x.Stderr.Text)
		}
		p.inTime(t, x.Duration-soon, 0)
	})
	t.Run("time limit, TERM ignored", func(t *testing.T) {
		x := limited["ignored"].Wait()
		if !x.TimedOut || x.Code != 128+9 || x.Signal != "SIGKILL" || x.Stdout.Text != "before\n" {
			t.Errorf("%+v", x)
		}
		p.inTime(t, x.Duration-soon, p.command(t, ":").Grace)
	})
	t.Run("time limit, TERM obeyed", func(t *testing.T) {
		x := limited["obeyed"].Wait()
		if !x.TimedOut || x.Code != 7 || x.Signal != "" || x.Stdout.Text != "bye\n" {
			t.Errorf("%+v", x)
		}
		p.inTime(t, x.Duration-soon, 0)
	})
	t.Run("kill", func(t *testing.T) {
		proc := p.start(t, p.command(t, "sleep 60"))
		proc.Kill("first")
		proc.Kill("second")
		if x := proc.Wait(); x.Killed != "first" || x.TimedOut || x.Signal != "SIGTERM" {
			t.Errorf("%+v", x)
		}
		proc.Kill("too late")
		if x := proc.Wait(); x.Killed != "first" {
			t.Errorf("a second Wait tells something else: %+v", x)
		}
	})
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		proc, err := p.env.Start(ctx, p.command(t, "sleep 60"))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if x := proc.Wait(); x.Killed != context.Canceled.Error() || x.Signal != "SIGTERM" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("the end of its own accord is not a kill", func(t *testing.T) {
		proc := p.start(t, p.command(t, "exit 3"))
		x := proc.Wait()
		proc.Kill("late")
		if x.Code != 3 || x.Killed != "" || x.TimedOut {
			t.Errorf("%+v", x)
		}
	})
	t.Run("a background process does not delay the result", func(t *testing.T) {
		x := p.run(t, "sleep 60 & echo done")
		if x.Stdout.Text != "done\n" || x.Code != 0 {
			t.Errorf("%+v", x)
		}
		p.inTime(t, x.Duration, 0)
	})
	t.Run("close", func(t *testing.T) {
		q := s.place(t)
		proc := q.start(t, q.command(t, "echo up; sleep 60"))
		await(t, func() bool { out, _ := proc.Output(); return out.Text == "up\n" })
		if err := q.env.Close(); err != nil {
			t.Error(err)
		}
		if x := proc.Wait(); x.Killed == "" || x.Stdout.Text != "up\n" {
			t.Errorf("%+v", x)
		}
		if err := q.env.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// inTime checks that an end came within half a second of what was granted. What the machine
// needs for the simplest command at this very moment, fifty times over, comes on top.
func (p *place) inTime(t *testing.T, took, granted time.Duration) {
	t.Helper()
	base := p.run(t, "true").Duration
	if limit := granted + 500*time.Millisecond + 50*base; took > limit {
		t.Errorf("the end took %v, want less than %v (simplest command: %v)", took, limit, base)
	}
}

// tagged prepares a text with a new tag, which is also the number of seconds that sleep takes.
func (p *place) tagged(t *testing.T, text string) (c engine.Command, tag string) {
	t.Helper()
	c, tag = p.command(t, text), NewTag()
	c.Env = append(c.Env, "TAG="+tag)
	return c, tag
}

// escapes checks that nothing outlives its command, whatever it does. Each style is first seen
// to be there.
func (s *suite) escapes(t *testing.T) {
	p := s.place(t)
	p.needsProc(t)
	var all strings.Builder
	want := 0
	for _, st := range styles() {
		t.Run(st.name, func(t *testing.T) {
			p.needs(t, st.needs...)
			c, tag := p.tagged(t, st.text+"\nsleep 60")
			proc := p.start(t, c)
			if n := p.awaitCount(t, tag, st.want, time.Minute); n < st.want {
				t.Fatalf("%d processes are there, want %d: the style does not work here", n, st.want)
			}
			killed := time.Now()
			proc.Kill("test")
			x := proc.Wait()
			p.inTime(t, time.Since(killed), c.Grace)
			p.noneLeft(t, x, tag)
			all.WriteString(st.text + "\n")
			want += st.want
		})
	}
	// From here on all styles at once.
	t.Run("at the time limit", func(t *testing.T) {
		c, tag := p.tagged(t, all.String()+"sleep 60")
		c.Timeout = soon
		proc := p.start(t, c)
		n := p.awaitCount(t, tag, want, soon/2)
		x := proc.Wait()
		if n == 0 || !x.TimedOut {
			t.Errorf("%d processes were seen, timed out %v", n, x.TimedOut)
		}
		p.inTime(t, x.Duration-c.Timeout, c.Grace)
		p.noneLeft(t, x, tag)
	})
	t.Run("after the normal end", func(t *testing.T) {
		c, tag := p.tagged(t, all.String()+"exit 5")
		x := p.start(t, c).Wait()
		if x.Code != 5 || x.TimedOut || x.Killed != "" {
			t.Errorf("%+v", x)
		}
		p.noneLeft(t, x, tag)
	})
	t.Run("at close", func(t *testing.T) {
		q := s.place(t)
		c, tag := q.tagged(t, all.String()+"sleep 60")
		proc := q.start(t, c)
		// What q started may be visible to q alone.
		if n := q.awaitCount(t, tag, want, time.Minute); n < want {
			t.Errorf("%d processes are there, want %d", n, want)
		}
		if err := q.env.Close(); err != nil {
			t.Error(err)
		}
		p.noneLeft(t, proc.Wait(), tag)
	})
}

func (p *place) noneLeft(t *testing.T, x engine.Exit, tag string) {
	t.Helper()
	if n := p.count(t, tag); n != 0 || x.Survivors != 0 || x.Error != nil {
		t.Errorf("%d processes are left, the exit tells of %d, error %v", n, x.Survivors, x.Error)
	}
}
