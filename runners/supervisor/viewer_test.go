package supervisor

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// stuck is a writer that lets nothing through until it is opened.
type stuck struct{ open chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.open
	return len(p), nil
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
	if newViewer(nil) != none || !none.seen(nil) {
		t.Error("no writer is waited for")
	}
}
