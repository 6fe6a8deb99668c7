package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
)

// capture keeps the first and the last bytes of a stream in one buffer of a fixed size, counts
// all and hashes all. The front half of the buffer is the head; the rest is a ring with the tail.
type capture struct {
	mu    sync.Mutex
	limit int
	buf   []byte
	next  int // where the ring goes on, once the buffer is full
	total int64
	hash  hash.Hash
}

func newCapture(limit int) *capture {
	return &capture{limit: limit, hash: sha256.New()}
}

// Write never fails and never waits for anything but another reader of the capture.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	c.hash.Write(p)
	if room := c.limit - len(c.buf); room > 0 {
		room = min(room, len(p))
		c.buf = append(c.buf, p[:room]...)
		p = p[room:]
		c.next = c.limit / 2
	}
	head := c.limit / 2
	if ring := c.limit - head; len(p) > ring {
		// Only the last bytes can stay, and where in the ring they begin does not matter.
		p = p[len(p)-ring:]
		c.next = head
	}
	for len(p) > 0 {
		k := copy(c.buf[c.next:], p)
		p = p[k:]
		if c.next += k; c.next == c.limit {
			c.next = head
		}
	}
	return n, nil
}

// stream returns the kept output as text. A character that the cut went through is dropped; a run of bytes
// that are no UTF-8 is shown as one U+FFFD.
func (c *capture) stream() engine.Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := engine.Stream{Bytes: c.total, SHA256: hex.EncodeToString(c.hash.Sum(nil))}
	if c.total <= int64(len(c.buf)) {
		s.Text = clean(c.buf)
		return s
	}
	half := c.limit / 2
	head := trimEnd(c.buf[:half])
	ring := make([]byte, 0, c.limit-half)
	ring = append(append(ring, c.buf[c.next:]...), c.buf[half:c.next]...)
	tail := trimStart(ring)
	s.Dropped = c.total - int64(len(head)+len(tail))
	note := fmt.Sprintf("[... %d bytes left out ...]\n", s.Dropped)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		note = "\n" + note
	}
	s.Text = clean(head) + note + clean(tail)
	return s
}

func clean(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// trimEnd cuts an unfinished character off the end of b.
func trimEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// trimStart cuts the rest of a character off the start of b.
func trimStart(b []byte) []byte {
	for i := 0; i < min(utf8.UTFMax, len(b)); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b // not UTF-8 at all
}
