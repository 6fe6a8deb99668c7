package supervisor

import (
	"errors"
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
		for held := s.held; ; {
			n, err := s.r.Read(buf[:])
			s.take(buf[:n])
			switch {
			case err == nil:
			case held && errors.Is(err, os.ErrDeadlineExceeded):
				held = false
				s.rest(buf[:])
			default:
				return
			}
		}
	}()
}

func (s *stream) take(b []byte) {
	_, _ = s.kept.Write(b) // as with bytes.Buffer, there is no error
	s.view.show(b)
}

// rest reads what there is, and then lets go of the end that was held. The order matters with a terminal: Linux
// moves what is written to where it is read in the background, and a read that was on its way when the last
// writer closed may be told the end before all of it. One that begins after the last write waits for it.
func (s *stream) rest(buf []byte) {
	end := time.Now().Add(drainTime) // of a process that could not be ended, and writes on
	for time.Now().Before(end) {
		n, err := readNow(s.r, buf)
		if n <= 0 || err != nil {
			break
		}
		s.take(buf[:n])
	}
	_ = s.w.Close()
	_ = s.r.SetReadDeadline(time.Now().Add(drainTime)) // it has taken one before
}

// finish waits for the end of the stream, but not longer than the given time: a process that
// could not be ended may hold the pipe for ever, and a viewer may block. It reports whether the
// end was reached, by the viewer too.
func (s *stream) finish(limit time.Duration) bool {
	if !s.held || s.r.SetReadDeadline(time.Now()) != nil {
		_ = s.w.Close() // it may be closed already
	}
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
