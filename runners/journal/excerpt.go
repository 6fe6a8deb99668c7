package journal

import (
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
)

const (
	maxText     = 8 << 10  // of the text of a command
	excerptSize = 4 << 10  // of the head and of the tail of a stream, at the end of a command
	glimpseSize = 1 << 10  // the same while it runs
	margin      = 16 << 10 // around an excerpt that is looked at for secrets: one may begin before it
)

// Output is the logged part of a stream.
type Output struct {
	Bytes int64  `json:"bytes"` // that were written
	Head  string `json:"head"`
	Tail  string `json:"tail,omitempty"` // when not all is in head
}

// wide is the head and the tail of a text, with a margin behind the one and before the other.
type wide struct {
	head, tail string
	whole      bool // head is all
}

// widen returns the part of a text that redaction must read to show size bytes of its head and of its tail.
func widen(text string, size int) wide {
	if len(text) <= 2*size {
		return wide{head: text, whole: true}
	}
	return wide{head: cut(text, size+margin), tail: cutFront(text, size+margin)}
}

// output makes the excerpt, of texts without secrets.
func (w wide) output(s engine.Stream, head, tail string, size int) *Output {
	if s.Bytes == 0 {
		return nil
	}
	if w.whole {
		return &Output{Bytes: s.Bytes, Head: head}
	}
	return &Output{Bytes: s.Bytes, Head: cut(head, size), Tail: cutFront(tail, size)}
}

// cut keeps the first n bytes of a text, and no broken character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutFront keeps the last n bytes of a text.
func cutFront(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
