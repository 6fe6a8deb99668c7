package supervisor

import (
	"strings"
	"sync"
	"unicode"
)

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
