package supervisor

import (
	"io"
	"os"
	"sync"
	"time"
)

// chunk is how much is read at once: the size of a pipe on Linux.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// stream carries one output stream from the pipe to the capture and to the caller's writer.
type stream struct {
	r, w    *os.File
	held    bool // w stays open until the command has ended
	kept    *capture
	view    *viewer
	drained chan struct{}
}

func newStream(limit int, tee io.Writer) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{r: r, w: w, kept: newCapture(limit), view: newViewer(tee), drained: make(chan struct{})}, nil
}

// abandon frees the pipe of a command that did not start.
func (s *stream) abandon() {
	s.r.Close()
	s.w.Close()
	s.view.end()
}

// begin closes our copy of the writing end, which the process has now, and reads until all
// copies are closed. One that is held has no end before finish.
func (s *stream) begin() {
	if !s.held {
		s.w.Close()
	}
	go func() {
		defer close(s.drained)
		defer s.r.Close()
		defer s.view.end()
		buf := chunks.Get().(*[chunk]byte)
		defer chunks.Put(buf)
		for {
			n, err := s.r.Read(buf[:])
			_, _ = s.kept.Write(buf[:n]) // as with bytes.Buffer, there is no error
			s.view.show(buf[:n])
			if err != nil {
				return
			}
		}
	}()
}

// finish waits for the end of the stream, but not longer than the given time: a process that
// could not be ended may hold the pipe for ever, and a viewer may block. It reports whether the
// end was reached, by the viewer too.
func (s *stream) finish(limit time.Duration) bool {
	_ = s.w.Close() // it may be closed already
	s.view.ending()
	deadline := time.Now().Add(limit)
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-s.drained:
		return s.view.seen(time.Until(deadline))
	case <-t.C:
	}
	_ = s.r.SetReadDeadline(time.Now()) // a pipe that takes none is left to its reader
	select {
	case <-s.drained:
	case <-time.After(drainStep):
	}
	return false
}
