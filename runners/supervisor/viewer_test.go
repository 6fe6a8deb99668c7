package supervisor

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// stuck is a writer that lets nothing through until it is opened.
type stuck struct{ open chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.open
	return len(p), nil
}

// called waits until the writer of a viewer is called.
func called(t *testing.T, v *viewer) {
	t.Helper()
	await.True(t, "the writer is called", func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.busy
	})
}

// What is kept is whole however slow a viewer is, and the error says that the viewer lacks the end.
func TestSlowViewer(t *testing.T) {
	t.Parallel()
	head := leftout.Command(t, "head")
	var clock handClock
	s := newSupervisor(t, Options{clock: clock.clock})
	v := stuck{make(chan struct{})}
	defer close(v.open)
	const size = viewerRoom + chunk // as much as nobody waits for: what may wait, and a full pipe
	c := command("exec " + head + " -c 327680 /dev/zero")
	c.Stdout, c.Output = v, 1<<20
	p := start(t, s, c)
	called(t, p.stdout.view)
	clock.pass(t, drainTime)
	x := p.Wait()
	if x.Stdout.Bytes != size || x.Code != 0 || x.Error == nil || !strings.Contains(x.Error.Error(), "the end may be missing") {
		t.Errorf("%d bytes are kept of %d, status %d, %v", x.Stdout.Bytes, size, x.Code, x.Error)
	}
}

func TestViewer(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	v := newViewer(w)
	go func() {
		for range 100 {
			v.show([]byte("0123456789"))
		}
		v.end()
	}()
	got := make([]byte, 1000)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != strings.Repeat("0123456789", 100) {
		t.Errorf("got %q, %v", got, err)
	}
	await.Receive(t, "end", v.done)
	// A writer that fails is left behind, and nobody waits for it.
	r, w = io.Pipe()
	r.CloseWithError(errors.New("gone"))
	v = newViewer(w)
	for range 100 {
		v.show([]byte("x"))
	}
	await.Receive(t, "end after a writer that failed", v.done)
	var none *viewer
	none.show([]byte("x"))
	none.ending()
	none.end()
	if newViewer(nil) != none || !none.seen(nil, nil) {
		t.Error("no writer is waited for")
	}
}

// TestLeftViewer: when nobody waits for the writer any more, output for which there is room still reaches
// it. It has not seen all when there was none, even if it reads on and finishes.
func TestLeftViewer(t *testing.T) {
	t.Parallel()
	for pieces, whole := range map[int]bool{viewerRoom / chunk: true, viewerRoom/chunk + 1: false} {
		w := stuck{make(chan struct{})}
		v := newViewer(w)
		v.show([]byte("first"))
		called(t, v)
		v.leave()
		for range pieces {
			v.show(make([]byte, chunk))
		}
		v.end()
		close(w.open)
		await.Receive(t, "end", v.done)
		if v.seen(nil, nil) != whole {
			t.Errorf("%d pieces: whole is %t", pieces, !whole)
		}
	}
}

// TestUncalledViewer: a writer that was not called before the time was over gets the time anew, and not more.
func TestUncalledViewer(t *testing.T) {
	t.Parallel()
	for _, blocks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var clock handClock
			w := stuck{make(chan struct{})}
			v := &viewer{to: w, done: make(chan struct{}), room: viewerRoom}
			v.moved = sync.NewCond(&v.mu)
			v.show([]byte("all"))
			v.end()
			over, seen := make(chan struct{}), make(chan bool, 1)
			close(over)
			go func() { seen <- v.seen(over, clock.clock) }()
			synctest.Wait() // the time is over, and the writer was not called
			go v.pass()
			synctest.Wait()
			if !clock.waits(drainTime) {
				t.Fatal("the time does not begin anew")
			}
			if blocks {
				clock.pass(t, drainTime)
				defer close(w.open)
			} else {
				close(w.open)
			}
			if <-seen == blocks {
				t.Errorf("blocks is %t, seen is %t", blocks, blocks)
			}
		})
	}
}
