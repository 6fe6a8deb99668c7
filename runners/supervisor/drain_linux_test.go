package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// TestHeldStreams holds the pipe of one stream open after the end of the command, as a child of another command
// does between its fork and its exec. The result mentions a holder only if it outlasts the wait, and keeps the
// output so far. The wait for a child before its exec has no bound.
func TestHeldStreams(t *testing.T) {
	t.Parallel()
	for i, until := range []string{"for a moment", "for a moment", "for ever", "for ever", "until its exec", "until its exec"} {
		fd := 1 + i%2
		t.Run(fmt.Sprintf("descriptor %d %s", fd, until), func(t *testing.T) {
			t.Parallel()
			var clock handClock
			s := newSupervisor(t, Options{clock: clock.clock})
			c := command(fmt.Sprintf("read -r _; echo whole >&%d", fd))
			stdin, told := io.Pipe()
			c.Stdin = stdin
			p := start(t, s, c)
			shell := fmt.Sprintf("/proc/%d", p.PID())
			holder, err := os.OpenFile(fmt.Sprintf("%s/fd/%d", shell, fd), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			told.Close() // it is held: now the command may end
			await.True(t, "the stream is waited for", func() bool { return clock.waits(drainTime) })
			switch until {
			case "for a moment":
				holder.Close()
			case "for ever":
				defer holder.Close()
				clock.pass(t, drainTime)
			case "until its exec":
				syscall.ForkLock.Lock()
				clock.pass(t, drainTime)
				holder.Close()
				syscall.ForkLock.Unlock()
			}
			exit := p.Wait()
			text := exit.Stdout.Text + exit.Stderr.Text
			if (exit.Error != nil) != (until == "for ever") || exit.Code != 0 || text != "whole\n" {
				t.Errorf("%+v", exit)
			}
		})
	}
}

// TestTerminalIsReadBeforeItIsLeft stops the reader of a terminal, and with it what the kernel moves to it: as long
// as that is so, the side of the command is not closed, and what is written to it arrives.
func TestTerminalIsReadBeforeItIsLeft(t *testing.T) {
	t.Parallel()
	stdin, s, stderr, err := atTerminal(engine.Command{Output: 1 << 20, Terminal: &engine.WindowSize{Rows: 24, Columns: 80}})
	if err != nil {
		t.Fatal(err)
	}
	stderr.abandon()
	defer stdin.end()
	s.view = newViewer(io.Discard)
	s.begin()
	s.kept.mu.Lock() // a reader that has something waits here
	var want strings.Builder
	write := func() {
		n, err := fmt.Fprintf(s.w, "%s\n", strings.Repeat("x", 1000))
		if err != nil {
			t.Fatalf("the side of the command is closed: %v", err)
		}
		fmt.Fprintf(&want, "%s\r\n", strings.Repeat("x", n-1))
	}
	write()
	whole := make(chan bool)
	go func() { whole <- s.finish(nil, nil) }()
	await.True(t, "the end is looked for", func() bool {
		s.view.mu.Lock()
		defer s.view.mu.Unlock()
		return s.view.room > viewerRoom
	})
	write()
	s.kept.mu.Unlock()
	if !<-whole {
		t.Error("the end was not reached")
	}
	if got := s.kept.stream().Text; got != want.String() {
		t.Errorf("%d bytes of %d: %q", len(got), want.Len(), got)
	}
	if _, err := s.w.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the side of the command is left open: %v", err)
	}
}
