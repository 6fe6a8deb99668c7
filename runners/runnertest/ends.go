package runnertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// endings are texts that end in one way each when they get TERM.
func endings() []ending {
	return []ending{
		{"no trap", "echo up; exec sleep 1200", time.Hour, "up\n", 128 + 15, "SIGTERM"},
		{"TERM ignored", "trap '' TERM; echo up; sleep 1200; echo after", 100 * time.Millisecond, "up\n", 128 + 9,
			"SIGKILL"},
		{"TERM obeyed", "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done", time.Hour,
			"up\nbye\n", 7, ""},
	}
}

type ending struct {
	name, text string
	grace      time.Duration
	stdout     string
	code       int
	signal     string
}

func (e ending) is(x engine.Exit) bool {
	return x.Code == e.code && x.Signal == e.signal && x.Stdout.Text == e.stdout && x.Error == nil &&
		x.Survivors == 0
}

// ends checks how commands are ended and the reports of it.
func (s *suite) ends(t *testing.T) {
	p := s.place(t)
	limited := map[string]engine.Process{} // all at once
	for _, e := range endings() {
		c := p.command(t, e.text)
		c.Grace, c.Timeout = e.grace, time.Second
		limited[e.name] = p.start(t, c)
	}
	for _, e := range endings() {
		t.Run("kill, "+e.name, func(t *testing.T) {
			c := p.command(t, e.text)
			c.Grace = e.grace
			proc := p.start(t, c)
			shows(t, proc, "up\n")
			proc.Kill("first")
			proc.Kill("second")
			if x := wait(t, proc); x.Killed != "first" || x.TimedOut || !e.is(x) {
				t.Errorf("%+v", x)
			}
			proc.Kill("too late")
			if x := proc.Wait(); x.Killed != "first" {
				t.Errorf("a second Wait tells something else: %+v", x)
			}
		})
		t.Run("time limit, "+e.name, func(t *testing.T) {
			x := wait(t, limited[e.name])
			// A shell that is not far by then has no trap yet, or has said nothing.
			early := !strings.HasPrefix(x.Stdout.Text, "up\n") && (x.Signal == "SIGTERM" || x.Signal == e.signal) &&
				x.Error == nil && x.Survivors == 0
			if !x.TimedOut || x.Killed != "" || !early && !e.is(x) {
				t.Errorf("%+v", x)
			}
		})
	}
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		proc, err := p.env.Start(ctx, p.command(t, "sleep 1200"))
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
		c, tag := p.tagged(t, `(sleep "$TAG"; echo late) & echo done`)
		x := wait(t, p.start(t, c))
		if x.Stdout.Text != "done\n" || x.Code != 0 || x.TimedOut || x.Killed != "" {
			t.Errorf("%+v", x)
		}
		p.noneLeft(t, x, tag)
	})
	t.Run("close", func(t *testing.T) {
		q := s.place(t)
		proc := q.start(t, q.command(t, "echo up; sleep 1200"))
		shows(t, proc, "up\n")
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

// tagged prepares a text with a new tag, which is also the number of seconds that sleep takes.
func (p *place) tagged(t *testing.T, text string) (c engine.Command, tag string) {
	t.Helper()
	c, tag = p.command(t, text), NewTag()
	c.Env = append(c.Env, "TAG="+tag)
	return c, tag
}

// escapes checks that no process outlives its command. Each style of escape is first seen to be there.
func (s *suite) escapes(t *testing.T) {
	p := s.place(t)
	p.needsProc(t)
	var all strings.Builder
	want := 0
	for _, st := range styles() {
		t.Run(st.name, func(t *testing.T) {
			p.needs(t, st.needs...)
			c, tag := p.tagged(t, st.text+"\nsleep 1200")
			proc := p.start(t, c)
			p.awaitCount(t, tag, st.want)
			proc.Kill("test")
			p.noneLeft(t, wait(t, proc), tag)
			all.WriteString(st.text + "\n")
			want += st.want
		})
	}
	// From here on all styles at once.
	t.Run("at the time limit", func(t *testing.T) {
		c, tag := p.tagged(t, all.String()+"sleep 1200")
		c.Timeout = 2 * time.Second // they come up meanwhile, or are ended on their way
		x := wait(t, p.start(t, c))
		if !x.TimedOut {
			t.Errorf("%+v", x)
		}
		p.noneLeft(t, x, tag)
	})
	t.Run("after the normal end", func(t *testing.T) {
		c, tag := p.tagged(t, all.String()+"exit 5")
		x := wait(t, p.start(t, c))
		if x.Code != 5 || x.TimedOut || x.Killed != "" {
			t.Errorf("%+v", x)
		}
		p.noneLeft(t, x, tag)
	})
	t.Run("at close", func(t *testing.T) {
		q := s.place(t)
		c, tag := q.tagged(t, all.String()+"sleep 1200")
		proc := q.start(t, c)
		// Descendants of q may be visible to q alone.
		q.awaitCount(t, tag, want)
		if err := q.env.Close(); err != nil {
			t.Error(err)
		}
		p.noneLeft(t, wait(t, proc), tag)
	})
}

func (p *place) noneLeft(t *testing.T, x engine.Exit, tag string) {
	t.Helper()
	if n := p.count(t, tag); n != 0 || x.Survivors != 0 || x.Error != nil {
		t.Errorf("%d processes are left, the exit tells of %d, error %v", n, x.Survivors, x.Error)
	}
}
