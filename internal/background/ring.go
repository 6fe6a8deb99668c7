package background

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Chunk is a part of an output stream. Offsets count the bytes of the process's output, from the first: they
// do not change when older output is dropped, or when invalid text is replaced.
type Chunk struct {
	Text    string // valid UTF-8: each byte that is none is one U+FFFD
	Offset  int64  // of the first byte of Text
	Next    int64  // offset of the next read
	Dropped int64  // bytes between the requested offset and Offset, which are no longer there
	Total   int64  // bytes written so far
}

// ring keeps the end of an output stream: the longest one that has no more than the given lines and no
// more than the given bytes. A last line without its line feed counts as a line. It is safe for
// concurrent use.
type ring struct {
	maxLines, maxBytes int

	mu    sync.Mutex
	buf   []byte // a circle; grows up to maxBytes
	first int    // where in buf the oldest byte is
	size  int    // bytes kept
	feeds int    // line feeds among them
	total int64  // bytes ever written
}

// Write never fails and waits for no one but a reader that copies.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	r.total += int64(n)
	if len(p) > r.maxBytes {
		p = p[len(p)-r.maxBytes:]
	}
	r.drop(max(0, r.size+len(p)-r.maxBytes))
	r.reserve(r.size + len(p))
	r.push(p)
	if excess := r.lines() - r.maxLines; excess > 0 {
		r.drop(r.length(excess))
	}
	return n, nil
}

// spans returns the kept bytes from the i-th to before the j-th, in two parts.
func (r *ring) spans(i, j int) (a, b []byte) {
	if i == j {
		return nil, nil
	}
	i, j = r.first+i, r.first+j
	switch n := len(r.buf); {
	case j <= n:
		return r.buf[i:j], nil
	case i >= n:
		return r.buf[i-n : j-n], nil
	default:
		return r.buf[i:], r.buf[:j-n]
	}
}

// drop forgets the n oldest bytes.
func (r *ring) drop(n int) {
	if n == 0 {
		return
	}
	a, b := r.spans(0, n)
	r.feeds -= feeds(a) + feeds(b)
	r.size -= n
	if r.first += n; r.first >= len(r.buf) {
		r.first -= len(r.buf)
	}
}

// push adds p, for which there is room.
func (r *ring) push(p []byte) {
	if len(p) == 0 {
		return
	}
	at := r.size
	r.size += len(p)
	r.feeds += feeds(p)
	a, b := r.spans(at, r.size)
	copy(b, p[copy(a, p):])
}

// reserve makes room for n bytes in all. It doubles, so that a small output takes little memory and
// a large one is not copied often.
func (r *ring) reserve(n int) {
	if n <= len(r.buf) {
		return
	}
	r.resize(min(r.maxBytes, max(n, 2*len(r.buf), 1<<10)))
}

func (r *ring) resize(n int) {
	buf := make([]byte, n)
	a, b := r.spans(0, r.size)
	copy(buf[copy(buf, a):], b)
	r.buf, r.first = buf, 0
}

// fit gives back the memory that is not in use and returns how much is.
func (r *ring) fit() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size < len(r.buf) {
		r.resize(r.size)
	}
	return r.size
}

// clear forgets the text and keeps the count.
func (r *ring) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf, r.first, r.size, r.feeds = nil, 0, 0, 0
}

// lines counts the kept lines.
func (r *ring) lines() int {
	if r.size == 0 {
		return 0
	}
	if last, _ := r.spans(r.size-1, r.size); last[0] == '\n' {
		return r.feeds
	}
	return r.feeds + 1
}

// length returns how many bytes the n oldest lines have, each of which ends with a line feed.
func (r *ring) length(n int) int {
	sum := 0
	a, b := r.spans(0, r.size)
	for _, part := range [2][]byte{a, b} {
		for at := 0; n > 0; n-- {
			i := bytes.IndexByte(part[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			if n == 1 {
				return sum + at
			}
		}
		sum += len(part)
	}
	return sum
}

func feeds(p []byte) int { return bytes.Count(p, []byte{'\n'}) }

// read returns the output from the given offset on, up to limit bytes, or all of it if limit is 0. A
// character is given whole or not at all: one that is cut at the end waits for its rest, unless the stream
// has ended.
func (r *ring) read(from int64, limit int, ended bool) Chunk {
	r.mu.Lock()
	oldest := r.total - int64(r.size)
	c := Chunk{Offset: min(max(from, oldest), r.total), Total: r.total}
	i := int(c.Offset - oldest)
	n := r.size - i
	if limit <= 0 || limit > n {
		limit = n
	}
	// The last character may reach beyond the limit.
	a, b := r.spans(i, i+min(n, limit+utf8.UTFMax-1))
	raw := append(append(make([]byte, 0, len(a)+len(b)), a...), b...)
	r.mu.Unlock()

	if c.Offset > from { // the dropped part may have ended within a character
		cut := continued(raw)
		raw, limit = raw[cut:], max(0, limit-cut)
		c.Offset += int64(cut)
		c.Dropped = c.Offset - from
	}
	text, used := decode(raw, limit, ended)
	c.Text, c.Next = text, c.Offset+int64(used)
	return c
}

// continued counts the bytes at the beginning of b that go on with a character before it.
func continued(b []byte) int {
	n := 0
	for n < min(utf8.UTFMax-1, len(b)) && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

// decode makes text of the characters of b that begin before the limit, and says how many bytes those
// are. Where b ends within a character and more may come, that is left out.
func decode(b []byte, limit int, ended bool) (text string, used int) {
	var s strings.Builder
	s.Grow(limit)
	for used < limit {
		rest := b[used:]
		if !ended && !utf8.FullRune(rest) {
			break
		}
		c, n := utf8.DecodeRune(rest)
		s.WriteRune(c)
		used += n
	}
	return s.String(), used
}
