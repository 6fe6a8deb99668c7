package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync"
	"time"
	"unicode"
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

// clock calls a function once a time has passed, unless it is stopped before. Limits, grace periods and the
// It keeps the bounds of all waits; tests set their own.
type clock func(d time.Duration, f func()) (stop func() bool)

func realClock(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// within returns a channel that is closed when a time has passed.
func (c clock) within(d time.Duration) (over <-chan struct{}, stop func() bool) {
	done := make(chan struct{})
	return done, c(d, func() { close(done) })
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Tail keeps the end of the data written to it: the last words of a program, for an error about it. It is
// safe for concurrent use.
type Tail struct {
	mu  sync.Mutex
	end []byte
}

// tailBytes is how much it keeps.
const tailBytes = 2 << 10

// Write never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b[max(0, len(b)-tailBytes):]...)
	t.end = t.end[max(0, len(t.end)-tailBytes):]
	return len(b), nil
}

// Text returns it in one line that is safe to print.
func (t *Tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(t.end), "\uFFFD"))
	return strings.Join(strings.Fields(printable), " ")
}
