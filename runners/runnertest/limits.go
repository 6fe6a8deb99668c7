package runnertest

import (
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// memory checks that a command which takes too much is told of as such, and that the place outlives it.
func (s *suite) memory(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	p := s.place(t)
	p.needs(t, "mkfifo", "mktemp", "tail")
	if x := p.run(t, ":"); x.OOMKills != 0 {
		t.Errorf("%d processes of a command that does nothing were killed for want of memory", x.OOMKills)
	}
	// tail keeps the whole of a line that has no end.
	for text, want := range map[string]int{
		"tail -n 1 /dev/zero >/dev/null; exit 0": 0,
		"exec tail -n 1 /dev/zero":               128 + 9,
		// A process that the shell knows nothing of any more. It waits by a FIFO: to start a program takes memory
		// for which the kernel may kill the shell, too.
		`d=$(mktemp -u); mkfifo "$d"; ( ( tail -n 1 /dev/zero >/dev/null; : >"$d" ) &); ` +
			`read -r _ <"$d"; rm "$d"; exit 3`: 3,
	} {
		if x := p.start(t, p.command(t, text)).Wait(); x.Code != want || x.OOMKills < 1 || x.Error != nil {
			t.Errorf("%s: code %d, %d killed for want of memory, error %v", text, x.Code, x.OOMKills, x.Error)
		}
	}
	if x := p.run(t, "echo here"); x.Stdout.Text != "here\n" {
		t.Errorf("afterwards: %+v", x)
	}
}

// processes checks that a command which starts as many processes as it can ends like any other.
func (s *suite) processes(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	p := s.place(t)
	p.needsBash(t)
	c, tag := p.tagged(t, `bomb() { bomb & bomb & sleep "$TAG"; }; bomb 2>/dev/null; sleep 1200`)
	c.Timeout = 2 * time.Second
	x := wait(t, p.start(t, c))
	if !x.TimedOut || x.Survivors != 0 || x.Error != nil {
		t.Errorf("%+v", x)
	}
	if n := p.count(t, tag); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if x := p.run(t, "(:) | echo here"); x.Stdout.Text != "here\n" {
		t.Errorf("afterwards: %+v", x)
	}
}
