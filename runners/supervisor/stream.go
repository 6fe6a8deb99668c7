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
	kept    *capture
	tee     io.Writer
	drained chan struct{}
}

func newStream(limit int, tee io.Writer) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{r: r, w: w, kept: newCapture(limit), tee: tee, drained: make(chan struct{})}, nil
}

// abandon frees the pipe of a command that did not start.
func (s *stream) abandon() {
	s.r.Close()
	s.w.Close()
}

// begin closes our copy of the writing end, which the process has now, and reads until all
// copies are closed.
func (s *stream) begin() {
	s.w.Close()
	go func() {
		defer close(s.drained)
		defer s.r.Close()
		buf := chunks.Get().(*[chunk]byte)
		defer chunks.Put(buf)
		for {
			n, err := s.r.Read(buf[:])
			_, _ = s.kept.Write(buf[:n]) // as with bytes.Buffer, there is no error
			if s.tee != nil && n > 0 {
				// The reader behind the tee may have gone; the command is to run on without it.
				if _, err := s.tee.Write(buf[:n]); err != nil {
					s.tee = nil
				}
			}
			if err != nil {
				return
			}
		}
	}()
}

// finish waits for the end of the stream, but not longer than the given time: a process that
// could not be ended may hold the pipe for ever, and a tee may block. It reports whether the
// end was reached.
func (s *stream) finish(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-s.drained:
		return true
	case <-t.C:
	}
	_ = s.r.SetReadDeadline(time.Now()) // a pipe that takes none is left to its reader
	select {
	case <-s.drained:
	case <-time.After(drainStep):
	}
	return false
}
