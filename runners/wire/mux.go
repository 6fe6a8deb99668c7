package wire

import (
	"bufio"
	"encoding/binary"
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// connection is the stream below yamux, with the reader that has seen the greeting. Only one goroutine
// reads it and only one writes.
type connection struct {
	stream io.ReadWriteCloser
	reader *bufio.Reader
	frames frames
	held   []byte // the header of a frame; its body comes with the next Write
}

func newConnection(stream io.ReadWriteCloser) *connection {
	return &connection{stream: stream, reader: bufio.NewReaderSize(stream, maxChunk),
		frames: frames{calls: burst, now: time.Now}}
}

// Read passes on valid frames.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	if bad := c.frames.pass(p[:n]); bad != nil {
		return 0, bad
	}
	return n, err
}

// Write sends header and body of a frame in one piece: yamux writes them apart, and each piece would
// wake the other side.
func (c *connection) Write(p []byte) (int, error) {
	if len(c.held) == 0 && len(p) == headerSize && p[1] == typeData && binary.BigEndian.Uint32(p[8:]) > 0 {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if len(c.held) == 0 {
		return c.stream.Write(p)
	}
	c.held = append(c.held, p...)
	_, err := c.stream.Write(c.held)
	c.held = c.held[:0]
	return len(p), err
}

// Close closes the stream.
func (c *connection) Close() error { return c.stream.Close() }

// mux begins yamux on a stream that has been greeted on.
func mux(c *connection, dialer bool) (*yamux.Session, error) {
	o := yamux.DefaultConfig()
	o.AcceptBacklog = maxStreams
	o.KeepAliveInterval = aliveEvery
	o.ConnectionWriteTimeout = writeTime
	o.StreamCloseTimeout = answerTime
	o.StreamOpenTimeout = answerTime
	o.LogOutput = io.Discard // errors that matter are returned
	if dialer {
		s, err := yamux.Client(c, o)
		if err != nil {
			return nil, err
		}
		return s, s.GoAway() // nobody elsewhere opens a stream to sallyport
	}
	return yamux.Server(c, o)
}

// Frames of yamux (https://github.com/hashicorp/yamux/blob/master/spec.md).
const (
	headerSize = 12
	typeData   = 0
	typePing   = 2
	flagSYN    = 1
)

// burst is the number of pings that may come at once; then one a second. Each is answered by a goroutine of
// its own, so a peer that sends them without end and reads no answer could fill the memory.
const burst = 64

// frames looks at the headers of yamux that pass.
type frames struct {
	head  [headerSize]byte
	have  int   // bytes of head
	skip  int64 // bytes of a body that are still to come
	calls int   // pings that may still come
	last  time.Time
	now   func() time.Time
}

// pass returns an error for a ping too many. yamux itself finds other defects of a frame.
func (f *frames) pass(p []byte) error {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, int64(len(p)))
			f.skip -= n
			p = p[n:]
			continue
		}
		n := copy(f.head[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < headerSize {
			return nil
		}
		f.have = 0
		switch f.head[1] {
		case typeData:
			f.skip = int64(binary.BigEndian.Uint32(f.head[8:]))
		case typePing:
			if binary.BigEndian.Uint16(f.head[2:])&flagSYN != 0 && !f.allow() {
				return violation("pings without end")
			}
		}
	}
	return nil
}

func (f *frames) allow() bool {
	now := f.now()
	if f.last.IsZero() {
		f.last = now
	}
	if whole := int(now.Sub(f.last) / time.Second); whole > 0 {
		f.calls = min(burst, f.calls+min(whole, burst))
		f.last = now
	}
	f.calls--
	return f.calls >= 0
}
