package supervisor

import (
	"bytes"
	"io"
	"sync"
)

const (
	// viewerRoom is how many bytes of output may wait for a viewer while the command runs. More than that
	// holds the command up, as a full pipe would.
	viewerRoom = 4 * chunk
	// viewerRest is the number of further bytes that may wait after the end of the command: the rest in its
	// pipe.
	viewerRest = 8 * chunk
)

// viewer passes output on to a reader as it comes. A slow reader holds up the command, but after its end the
// whole output is kept, seen or not.
type viewer struct {
	to   io.Writer
	done chan struct{} // closed when all was passed on, or cannot be

	mu      sync.Mutex
	moved   *sync.Cond
	waiting [][]byte
	held    int  // bytes that wait
	room    int  // bytes that may
	over    bool // nothing more comes
	gone    bool // the writer failed: the command is to run on without it
	busy    bool // a call of the writer is under way, or none follows
	left    bool // nobody waits for room any more
	missed  bool // there was no room for a piece that came since
}

// newViewer begins to pass on; nil for no writer.
func newViewer(to io.Writer) *viewer {
	if to == nil {
		return nil
	}
	v := &viewer{to: to, done: make(chan struct{}), room: viewerRoom}
	v.moved = sync.NewCond(&v.mu)
	go v.pass()
	return v
}

func (v *viewer) pass() {
	defer close(v.done)
	for {
		piece, ok := v.next()
		if !ok {
			return
		}
		if _, err := v.to.Write(piece); err != nil {
			v.change(func() { v.gone = true })
			return
		}
	}
}

// next waits for a piece, or for the end.
func (v *viewer) next() ([]byte, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = false
	for len(v.waiting) == 0 && !v.over {
		v.moved.Wait()
	}
	v.busy = true
	v.moved.Broadcast()
	if len(v.waiting) == 0 {
		return nil, false
	}
	piece := v.waiting[0]
	v.waiting = v.waiting[1:]
	v.held -= len(piece)
	return piece, true
}

// show hands over a piece, and waits for room for it unless the writer was left.
func (v *viewer) show(b []byte) {
	if v == nil || len(b) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.held >= v.room && !v.gone && !v.left {
		v.moved.Wait()
	}
	switch {
	case v.gone:
	case v.held >= v.room:
		v.missed = true
	default:
		v.waiting = append(v.waiting, bytes.Clone(b))
		v.held += len(b)
		v.moved.Broadcast()
	}
}

// ending makes room for the rest in the pipe of an ended command.
func (v *viewer) ending() {
	if v != nil {
		v.change(func() { v.room = viewerRoom + viewerRest })
	}
}

// end says that nothing more comes.
func (v *viewer) end() {
	if v != nil {
		v.change(func() { v.over = true })
	}
}

// leave ends the wait for room: output that finds none from here on is dropped.
func (v *viewer) leave() {
	if v != nil {
		v.change(func() { v.left = true })
	}
}

// seen waits until the writer has it all, or the time is over, and reports whether it has. Nothing more
// comes. If no call of the writer is under way when the time is over, the writer is not slow: there was no
// processor to call it. The time begins anew with the next call.
func (v *viewer) seen(over <-chan struct{}, c clock) bool {
	if v == nil {
		return true
	}
	select {
	case <-v.done:
	case <-over:
		if v.called() {
			break
		}
		over, stop := c.within(drainTime)
		defer stop()
		select {
		case <-v.done:
		case <-over:
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return closed(v.done) && !v.missed
}

// called waits until the writer is called, or is not to be called any more. It reports whether that was so
// before.
func (v *viewer) called() (before bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for before = v.busy; !v.busy; {
		v.moved.Wait()
	}
	return before
}

func (v *viewer) change(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
	v.moved.Broadcast()
}
