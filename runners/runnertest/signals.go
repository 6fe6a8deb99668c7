package runnertest

import (
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// signals checks that a signal reaches the process group of a command, and nothing else.
func (s *suite) signals(t *testing.T) {
	p := s.place(t)
	up := func(t *testing.T, text string) engine.Process {
		t.Helper()
		proc := p.start(t, p.command(t, text))
		shows(t, proc, "up\n")
		return proc
	}
	send := func(t *testing.T, proc engine.Process, sig engine.Signal) {
		t.Helper()
		if err := proc.Signal(sig); err != nil {
			t.Error(err)
		}
	}
	for _, sig := range engine.Signals() {
		t.Run(string(sig), func(t *testing.T) {
			other := up(t, "echo up; sleep 1200")
			proc := up(t, "ulimit -c 0; echo up; exec sleep 1200")
			// Again and again: bash never dies of a SIGQUIT, so that must find sleep.
			ended := make(chan engine.Exit, 1)
			go func() { ended <- proc.Wait() }()
			var x engine.Exit
			await.True(t, "it ends", func() bool {
				send(t, proc, sig)
				select {
				case x = <-ended:
					return true
				default:
					return false
				}
			})
			// It is the command's end and not one of ours.
			if x.Code <= 128 || x.Signal != string(sig) || x.Killed != "" || x.TimedOut || x.Error != nil {
				t.Errorf("%+v", x)
			}
			send(t, proc, sig) // to an ended command: nothing
			other.Kill("test")
			if x := other.Wait(); x.Signal != "SIGTERM" {
				t.Errorf("another command: %+v", x)
			}
		})
	}
	t.Run("it reaches what the shell waits for", func(t *testing.T) {
		x := up(t,
			`trap 'echo shell' INT; echo up; sh -c 'trap "echo child; exit 3" INT; while :; do sleep 0.1; done'; echo "child $?"`)
		// Between the two lines the child has no trap yet: then it dies of the signal.
		await.True(t, "the child heeds it", func() bool {
			send(t, x, engine.SignalInterrupt)
			out, _ := x.Output()
			return strings.Contains(out.Text, "child 3\n") || strings.Contains(out.Text, "child 130\n")
		})
		if e := x.Wait(); e.Code != 0 || !strings.Contains(e.Stdout.Text, "shell\n") {
			t.Errorf("%+v", e)
		}
	})
	t.Run("what is handled", func(t *testing.T) {
		proc := up(t, `trap 'echo hello' USR1; trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done`)
		send(t, proc, engine.SignalUser1)
		shows(t, proc, "up\nhello\n")
		send(t, proc, engine.SignalTerminate)
		if x := proc.Wait(); x.Code != 9 || x.Killed != "" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("what is ignored", func(t *testing.T) {
		proc := up(t, `trap '' INT; echo up; sleep 1200`)
		send(t, proc, engine.SignalInterrupt)
		proc.Kill("test")
		if x := proc.Wait(); x.Signal != "SIGTERM" || x.Killed != "test" {
			t.Errorf("%+v", x)
		}
	})
	t.Run("none of the list", func(t *testing.T) {
		proc := up(t, "echo up; sleep 0.2")
		for _, sig := range []engine.Signal{"", "SIGKILL", "SIGSTOP", "INT", "sigint", "2", "SIGINT "} {
			if err := proc.Signal(sig); err == nil {
				t.Errorf("%q was sent", sig)
			}
		}
		if x := proc.Wait(); x.Code != 0 {
			t.Errorf("%+v", x)
		}
	})
}
