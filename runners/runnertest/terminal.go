package runnertest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// typed is a command at a terminal.
type typed struct {
	engine.Process
	t    *testing.T
	keys *io.PipeWriter
}

// atTerminal starts a text at a terminal of 24 rows and 80 columns.
func (p *place) atTerminal(t *testing.T, text string, change ...func(*engine.Command)) typed {
	t.Helper()
	c := p.command(t, text)
	in, keys := io.Pipe()
	t.Cleanup(func() { _ = keys.Close() })
	c.Stdin, c.Terminal = in, &engine.WindowSize{Rows: 24, Columns: 80}
	for _, f := range change {
		f(&c)
	}
	return typed{p.start(t, c), t, keys}
}

// awaits waits until the terminal shows something.
func (p typed) awaits(want string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			out, _ := p.Output()
			p.t.Logf("it shows %q, want %q", out.Text, want)
		}
	}()
	await.True(
		p.t, "it shows something", func() bool { out, _ := p.Output(); return strings.Contains(out.Text, want) })
}

func (p typed) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, keys); err != nil {
		p.t.Error(err)
	}
}

// terminal checks that a command can have a terminal, and that all that holds without one holds with it.
func (s *suite) terminal(t *testing.T) {
	p := s.place(t)
	p.needs(t, "stty")
	t.Run("is one", func(t *testing.T) {
		const text = `for fd in 0 1 2; do test -t $fd && printf "$fd "; done; stty size; echo err >&2; echo named > /dev/stderr; echo own > /dev/tty; : > "$(tty)" && echo open`
		x := p.atTerminal(t, text).Wait()
		if want := "0 1 2 24 80\r\nerr\r\nnamed\r\nown\r\nopen\r\n"; x.Stdout.Text != want || x.Stderr.Text != "" ||
			x.Stderr.SHA256 != digest("") || x.Error != nil {
			t.Errorf("%+v, want %q", x, want)
		}
		if x := p.run(t,
			"test -t 0 || test -t 1 || (: > /dev/tty) 2>/dev/null || echo none"); x.Stdout.Text != "none\n" {
			t.Errorf("without one: %+v", x)
		}
	})
	t.Run("lines and keys", func(t *testing.T) {
		q := p.atTerminal(t, `printf 'name? '; read -r x; echo "hello $x"; cat; exit 4`)
		q.awaits("name? ")
		q.types("you\r")
		q.awaits("you\r\nhello you\r\n") // typed, and shown as it is typed
		q.types("\x04")
		if x := q.Wait(); x.Code != 4 || x.Killed != "" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		q := p.atTerminal(t, `echo up; exec sleep 1200`)
		q.awaits("up")
		q.types("\x03")
		if x := q.Wait(); x.Signal != "SIGINT" || x.Code != 130 || x.Killed != "" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("end of what is typed", func(t *testing.T) {
		q := p.atTerminal(t, `cat; echo over`)
		q.types("line\r")
		q.awaits("line\r\nline")
		_ = q.keys.Close()
		if x := q.Wait(); x.Code != 0 || !strings.HasSuffix(x.Stdout.Text, "over\r\n") {
			t.Errorf("%+v", x)
		}
	})
	t.Run("descriptors closed", func(t *testing.T) {
		if x := p.atTerminal(t, `exec <&- >&- 2>&-; sleep 0.2; echo back > /dev/tty; exit 6`).Wait(); x.Code != 6 ||
			x.Stdout.Text != "back\r\n" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("size", func(t *testing.T) {
		q := p.atTerminal(t, `trap 'echo told' WINCH; echo up; while :; do stty size; sleep 0.05; done`)
		q.awaits("up")
		for _, size := range []engine.WindowSize{{Rows: 50, Columns: 132}, {Rows: 1, Columns: 1},
			{Rows: 65535, Columns: 65535}} {
			if err := q.Resize(size); err != nil {
				t.Error(err)
			}
			q.awaits(fmt.Sprintf("\n%d %d\r\n", size.Rows, size.Columns))
		}
		q.awaits("told\r\n")
		for _, size := range absurd() {
			if err := q.Resize(size); err == nil {
				t.Errorf("%+v was taken", size)
			}
		}
		q.Kill("test")
		if x := q.Wait(); x.Killed != "test" {
			t.Errorf("%+v", x)
		}
		if err := q.Resize(engine.WindowSize{Rows: 24, Columns: 80}); err != nil {
			t.Errorf("after the end: %v", err)
		}
		other := p.start(t, p.command(t, "sleep 0.2"))
		if err := other.Resize(engine.WindowSize{Rows: 24, Columns: 80}); err == nil {
			t.Error("a command without a terminal was given a size")
		}
		if x := other.Wait(); x.Code != 0 {
			t.Errorf("%+v", x)
		}
	})
	t.Run("all of the output", func(t *testing.T) {
		var want strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&want, "line %d\r\n", i)
		}
		const text = `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`
		for range 3 {
			if x := p.atTerminal(t, text).Wait(); x.Stdout.Text != want.String() || x.Error != nil {
				t.Fatalf("%d bytes of %d, code %d, signal %q, killed %q, %v", len(x.Stdout.Text), want.Len(), x.Code,
					x.Signal, x.Killed, x.Error)
			}
		}
		x := p.atTerminal(t, text, func(c *engine.Command) { c.Output = 100 }).Wait()
		if x.Stdout.Bytes != int64(want.Len()) || x.Stdout.SHA256 != digest(want.String()) ||
			len(x.Stdout.Text) > 200 || x.Error != nil {
			t.Errorf("%d bytes of %d, code %d, signal %q, killed %q, %v: %+v", x.Stdout.Bytes, want.Len(), x.Code,
				x.Signal, x.Killed, x.Error, x.Stdout)
		}
	})
	t.Run("one after the other", func(t *testing.T) {
		for i := range 50 {
			if x := p.atTerminal(t, fmt.Sprintf("echo %d", i)).Wait(); x.Stdout.Text != fmt.Sprintf("%d\r\n", i) ||
				x.Error != nil {
				t.Fatalf("%+v", x)
			}
		}
	})
	t.Run("ends", func(t *testing.T) { s.terminalEnds(t, p) })
	t.Run("refusals", func(t *testing.T) {
		for name, change := range map[string]func(*engine.Command){
			"nobody types": func(c *engine.Command) { c.Stdin = nil },
			"no size":      func(c *engine.Command) { c.Terminal = &engine.WindowSize{} },
			"size":         func(c *engine.Command) { c.Terminal = &absurd()[0] },
		} {
			c := p.command(t, "echo started")
			c.Stdin, c.Terminal = strings.NewReader(""), &engine.WindowSize{Rows: 24, Columns: 80}
			change(&c)
			if q, err := p.env.Start(context.Background(), c); err == nil {
				t.Errorf("%s: it started: %+v", name, q.Wait())
			}
		}
	})
}

// absurd are sizes that no terminal has.
func absurd() []engine.WindowSize {
	return []engine.WindowSize{{Rows: 65536, Columns: 80}, {Rows: 24, Columns: 1 << 40}, {Rows: 0, Columns: 80},
		{Rows: 24, Columns: -1}}
}

// terminalEnds checks that a terminal changes nothing of how a command is ended.
func (s *suite) terminalEnds(t *testing.T, p *place) {
	p.needsProc(t)
	t.Run("time limit", func(t *testing.T) {
		q := p.atTerminal(t, "trap '' HUP TERM; echo before; while :; do sleep 1200; done",
			func(c *engine.Command) { c.Timeout = time.Second })
		x := wait(t, q)
		early := x.Stdout.Text == "" && (x.Signal == "SIGKILL" ||
			x.Signal == "SIGTERM") // before it came to the trap
		if !x.TimedOut || x.Error != nil || !early && (x.Signal != "SIGKILL" || x.Stdout.Text != "before\r\n") {
			t.Errorf("%+v", x)
		}
	})
	t.Run("nothing is left", func(t *testing.T) {
		c, tag := p.tagged(
			t, `trap '' HUP; sleep "$TAG" & (trap '' HUP TERM; exec sleep "$TAG") & sleep 0.2; exit 5`)
		x := p.atTerminal(t, c.Text, func(d *engine.Command) { d.ID, d.Env = c.ID, c.Env }).Wait()
		if x.Code != 5 {
			t.Errorf("%+v", x)
		}
		p.noneLeft(t, x, tag)
	})
	t.Run("a flood that nobody reads", func(t *testing.T) {
		q := p.atTerminal(t, "sleep 1200")
		q.types("x\r") // input arrives
		q.awaits("x")
		go func() { _, _ = io.WriteString(q.keys, strings.Repeat("x", 1<<20)) }()
		q.awaits(strings.Repeat("x", 1000))
		q.Kill("test")
		if x := wait(t, q); x.Killed != "test" || x.Survivors != 0 {
			t.Errorf("%+v", x)
		}
	})
}
