package boundary

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestSameTick: two versions of a file differ by their content, even within one tick of the clock of files.
func TestSameTick(t *testing.T) {
	t.Parallel()
	one := image{content: []byte("one"), size: 3, time: time.Now()}
	two := image{content: []byte("two"), size: 3, time: one.time}
	long := image{size: 3, time: one.time}
	if one.same(two) || !one.same(one) || !one.same(long) {
		t.Errorf("other content %v, itself %v, content that is not kept %v", one.same(two), one.same(one),
			one.same(long))
	}
}

// TestPool: the next session goes on with the watch of the former one, which tells the changes of a command
// from those that somebody else makes in between; a watch that would miss changes is not used again.
func TestPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.b.o
	o.Once = true
	var p Pool
	defer p.Close()
	next := func(text string, kept bool, want ...string) {
		t.Helper()
		var before *Boundary
		if len(p.idle) > 0 {
			before = p.idle[0]
		}
		b := p.New(o).(*pooled)
		if (b.Boundary == before) != kept {
			t.Errorf("%s: kept is %v, want %v", text, !kept, kept)
		}
		b.Enter()
		w.sh(text)
		got := w.relative(b.Leave())
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s: found %q, and not %s", text, got, name)
			}
		}
		if kept && len(got) > len(want) {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
		b.Hold("d", nil)
		if got := b.Close(); len(got) > 0 {
			t.Errorf("%s: at the end %q", text, got)
		}
	}
	w.sh(`echo mine >.autoenv; ln .autoenv "$PWD.link"`)
	next(`true`, false)
	next(`echo 'by a command' >.envrc`, true, ".envrc")
	next(`touch .envrc`, true) // it was allowed
	w.sh(`echo 'by the user' >.envrc; mkdir new; echo mine >new/.envrc
		echo elsewhere >"$PWD.link"; rm "$PWD.link"`)
	next(`touch .envrc new/.envrc; echo 'by a command' >new/.autoenv`, true, "new/.autoenv")

	first, second := p.New(o).(*pooled), p.New(o).(*pooled)
	if first.Boundary == second.Boundary {
		t.Error("two sessions have one boundary at a time")
	}
	other := o
	other.Layout.Home = "/elsewhere"
	if third := p.New(other).(*pooled); third.Boundary == first.Boundary || third.Boundary == second.Boundary {
		t.Error("another layout has the same boundary")
	}
	second.Close()
	first.Close()
	idle := len(p.idle)
	if first.Close(); len(p.idle) != idle {
		t.Error("two sessions would have one boundary, which was given back twice")
	}

	killed := New(o)
	killed.Enter()
	w.sh(`echo 'by a killed session' >kept.envrc; echo 'by a killed session' >.envrc`)
	if err := killed.noted.file.Close(); err != nil { // its lock ends as with its process
		t.Fatal(err)
	}
	defer killed.Close()
	next(`true`, false, ".envrc")

	if err := os.Rename(w.ws, w.ws+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.ws, 0o700); err != nil {
		t.Fatal(err)
	}
	next(`echo 'by a command' >.envrc`, false, ".envrc")
	for range 2 * mostIdle {
		b := New(o)
		b.Enter()
		b.Leave()
		p.keep(b)
	}
	if n := len(p.idle); n != mostIdle {
		t.Errorf("%d boundaries without a session, want %d", n, mostIdle)
	}
}
