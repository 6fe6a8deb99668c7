package supervisor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// TestStreamsHeldForAMoment holds the pipe of one stream after the end of the command for longer than the
// least time that a stream gets, as a child of another command does between its fork and its exec.
func TestStreamsHeldForAMoment(t *testing.T) {
	t.Parallel()
	for _, fd := range []int{1, 2} {
		t.Run(fmt.Sprintf("descriptor %d", fd), func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t, Options{})
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
			for err = nil; !errors.Is(err, fs.ErrNotExist); _, err = os.Stat(shell) {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(4 * drainStep)
			holder.Close()
			exit := p.Wait()
			text := exit.Stdout.Text + exit.Stderr.Text
			if exit.Error != nil || exit.Code != 0 || text != "whole\n" {
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
	go func() { whole <- s.finish(time.Minute) }()
	time.Sleep(2 * drainStep)
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
