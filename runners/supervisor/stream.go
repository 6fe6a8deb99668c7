package supervisor

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
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
	cut     bool // the end was not reached; set before drained is closed
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
			case !errors.Is(err, os.ErrDeadlineExceeded):
				return
			case held:
				held = false
				s.rest(buf[:])
				_ = s.w.Close()
				_ = s.r.SetReadDeadline(time.Now().Add(drainTime)) // it has taken one before
			default:
				s.cut = !s.last(buf[:])
				return
			}
		}
	}()
}

func (s *stream) take(b []byte) {
	_, _ = s.kept.Write(b) // as with bytes.Buffer, there is no error
	s.view.show(b)
}

// restMost bounds the output read of a process that could not be ended and writes on: more than any pipe
// holds.
const restMost = 16 * chunk

// rest reads the output that is there, without waiting for more, and reports whether that was the end. A
// terminal is read before its held end is closed: Linux moves written bytes to the reader in the background,
// and a read that was under way when the last writer closed may return the end before all bytes. A read that
// begins after the last write waits for them.
func (s *stream) rest(buf []byte) (ended bool) {
	for sum := 0; sum <= restMost; {
		n, err := readNow(s.r, buf)
		if n <= 0 || err != nil {
			return err == nil || errors.Is(err, syscall.EIO) // EIO is the end of a terminal
		}
		s.take(buf[:n])
		sum += n
	}
	return false
}

// last is rest when the time is over. Our other children have the pipe open between their fork and their
// exec, and close it a moment after that has begun. So no child is forked during a look, and those on their
// way get that moment between two looks. The lock is not held for longer: no command starts meanwhile.
func (s *stream) last(buf []byte) (ended bool) {
	s.view.leave() // nobody waits for a viewer within the lock
	look := func() bool {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		return s.rest(buf)
	}
	for range 50 {
		if look() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// finish waits for the end of the stream until the time is over: somebody else may hold the pipe for ever,
// and a viewer may block. It reports whether the end was reached, by the viewer too.
func (s *stream) finish(over <-chan struct{}, c clock) bool {
	if !s.held || s.r.SetReadDeadline(time.Now()) != nil {
		_ = s.w.Close() // it may be closed already
	}
	s.view.ending()
	select {
	case <-s.drained:
	case <-over:
		s.view.leave()
		if errors.Is(s.r.SetReadDeadline(time.Now()), os.ErrNoDeadline) && !closed(s.drained) {
			return false // such a pipe is left to its reader
		}
		<-s.drained
	}
	return s.view.seen(over, c) && !s.cut
}
