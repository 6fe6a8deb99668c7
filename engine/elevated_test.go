package engine_test

import (
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// A command may gain rights only where that stays inside, and only if the judged request asks for it.
func TestElevated(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text   string
		inside bool // the runner says that elevated commands stay there
		want   bool
	}{
		{"sudo id", true, true},
		{"cd /tmp && { sudo -n id; }", true, true},
		{"bash -c 'sudo id'", true, true},
		{"doas id | cat", true, true},
		{"'su'do id", true, true},
		{"sudo id", false, false},
		{"id", true, false},
		{"echo sudo id", true, false},
		{"echo 'sudo id' # sudo id", true, false},
		{"sudo (", true, false}, // is not understood, so nothing of it is known
		{"x=sudo", true, false},
	} {
		for _, forward := range []bool{false, true} {
			for _, mode := range []engine.Mode{engine.Enforce, engine.Monitor} {
				w := newWorld(t)
				w.options.Mode, w.runner.elevated, w.runner.forward = mode, tc.inside, forward
				w.do(t, engine.Request{Tool: "execute_command", Command: tc.text})
				if w.runner.last.Text != tc.text {
					t.Errorf("%q: %q ran", tc.text, w.runner.last.Text)
				}
				if got := w.runner.last.Elevated; got != tc.want {
					t.Errorf("%q, inside %v, forward %v, mode %v: elevated %v", tc.text, tc.inside, forward, mode, got)
				}
				if w.runner.last.Stdin != nil {
					t.Errorf("%q: something to read was slipped in", tc.text)
				}
			}
		}
	}
}

// Piped input reaches the command, and policies are told.
func TestStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := strings.NewReader("text")
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "cat", Stdin: in})
	if !out.Ran || w.runner.last.Stdin != in || !out.Input.Request.Stdin {
		t.Errorf("%+v, stdin %v, told %v", out.Decision, w.runner.last.Stdin, out.Input.Request.Stdin)
	}
	if out := w.do(t, engine.Request{Tool: "execute_command", Command: "cat"}); out.Input.Request.Stdin || w.runner.last.Stdin != nil {
		t.Error("the next command reads, too")
	}
}
