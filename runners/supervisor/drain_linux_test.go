package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"
)

// TestStreamsHeldForAMoment holds the pipe of one stream after the end of the command for longer than the
// least time that a stream gets, as a child of another command does between its fork and its exec.
func TestStreamsHeldForAMoment(t *testing.T) {
	t.Parallel()
	for _, fd := range []int{1, 2} {
		t.Run(fmt.Sprintf("descriptor %d", fd), func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t, Options{})
			p := start(t, s, command(fmt.Sprintf("sleep 0.2; echo whole >&%d", fd)))
			shell := fmt.Sprintf("/proc/%d", p.PID())
			holder, err := os.OpenFile(fmt.Sprintf("%s/fd/%d", shell, fd), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
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
