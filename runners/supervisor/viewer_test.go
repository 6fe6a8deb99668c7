package supervisor

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

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
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := stuck{make(chan struct{})}
	defer close(v.open)
	const size = viewerRoom + chunk // as much as nobody waits for: what may wait, and a full pipe
	c := command("exec " + head + " -c 327680 /dev/zero")
	c.Stdout, c.Output = v, 1<<20
	p, err := s.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
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
	if !v.seen(10 * time.Second) {
		t.Error("it does not end")
	}
	// A writer that fails is left behind, and nobody waits for it.
	r, w = io.Pipe()
	r.CloseWithError(errors.New("gone"))
	v = newViewer(w)
	for range 100 {
		v.show([]byte("x"))
	}
	if !v.seen(10 * time.Second) {
		t.Error("a writer that failed is waited for")
	}
	var none *viewer
	none.show([]byte("x"))
	none.ending()
	none.end()
	if newViewer(nil) != none || !none.seen(0) {
		t.Error("no writer is waited for")
	}
}
