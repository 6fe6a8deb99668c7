package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

// A terminal is part of a judged request: that somebody types, and the variable that names its kind.
func TestTerminalIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	size := engine.WindowSize{Rows: 24, Columns: 80}
	out := w.do(t, engine.Request{Command: "echo $TERM", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Name: "vt220", Size: size}})
	if !out.Ran || !out.Input.Request.Stdin {
		t.Errorf("%+v", out)
	}
	got := w.runner.last
	if terms := slices.DeleteFunc(slices.Clone(got.Env), func(kv string) bool { return !strings.HasPrefix(kv, "TERM=") }); !slices.Equal(terms, []string{"TERM=vt220"}) {
		t.Errorf("TERM of the command: %q", terms)
	}
	if got.Stdin == nil || !cmp.Equal(got.Terminal, &size) {
		t.Errorf("%+v", got)
	}
	words := out.Input.Commands[0].Argv
	if i := slices.Index(words, "vt220"); i < 0 {
		t.Errorf("the name is not among the facts: %+v", words)
	}
}

// An invalid terminal makes an invalid request, which runs nothing.
func TestTerminalRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := engine.WindowSize{Rows: 24, Columns: 80}
	for name, r := range map[string]engine.Request{
		"nobody types":   {Command: "true", Terminal: &engine.Terminal{Name: "vt220", Size: good}},
		"no name":        {Command: "true", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Size: good}},
		"name of a file": {Command: "true", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Name: "../x", Size: good}},
		"another line":   {Command: "true", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Name: "vt220\nX=1", Size: good}},
		"no size":        {Command: "true", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Name: "vt220"}},
		"absurd size":    {Command: "true", Stdin: strings.NewReader(""), Terminal: &engine.Terminal{Name: "vt220", Size: engine.WindowSize{Rows: 1 << 16, Columns: 80}}},
	} {
		if _, err := w.gate(t).Start(context.Background(), r); !errors.Is(err, engine.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
