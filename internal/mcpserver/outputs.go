package mcpserver

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/internal/filetools"
)

const (
	usualResult = 24 << 10 // bytes of output in a result: hosts cut results at some 30,000 characters
	keptOutput  = 32 << 20 // bytes of whole outputs that a server keeps; the oldest go first
	outputName  = "output:"
)

// outputs keeps the output of recent commands whose results carry a part of it. The names are random, so that
// a client reads its own outputs alone.
type outputs struct {
	mu    sync.Mutex
	names []string // the oldest first
	texts map[string]string
	bytes int
}

// keep stores a text and returns the name by which read_file pages through it; "" for one that is too long.
func (o *outputs) keep(text string) string {
	if len(text) > keptOutput {
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.texts == nil {
		o.texts = map[string]string{}
	}
	name := outputName + rand.Text()
	o.names, o.texts[name] = append(o.names, name), text
	for o.bytes += len(text); o.bytes > keptOutput; o.names = o.names[1:] {
		o.bytes -= len(o.texts[o.names[0]])
		delete(o.texts, o.names[0])
	}
	return name
}

func (o *outputs) text(name string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, ok := o.texts[name]
	return text, ok
}

// shares divides the room of a result between two texts: one that is short leaves its rest to the other.
func shares(room, a, b int) (int, int) {
	half := room / 2
	switch {
	case a <= half:
		return a, room - a
	case b <= half:
		return room - b, b
	}
	return half, room - half
}

// shown cuts a stream to a number of bytes, half of them its head and half its tail, and keeps it whole. left
// is the number of bytes between head and tail.
func (o *outputs) shown(text string, most int) (shown, name string, left int64) {
	if len(text) <= most {
		return text, "", 0
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	for len(head) > 0 && !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left = int64(len(text) - len(head) - len(tail))
	name = o.keep(text)
	note := fmt.Sprintf("[... %d bytes left out: read_file %s ...]\n", left, name)
	if name == "" {
		note = fmt.Sprintf("[... %d bytes left out ...]\n", left)
	}
	if !strings.HasSuffix(head, "\n") {
		note = "\n" + note
	}
	return head + note + tail, name, left
}

// readOutput serves read_file for the name of an output. The decision about the command covered it.
func (s *Server) readOutput(in filetools.ReadFileInput) result {
	r := fileResult[filetools.ReadFileDetails]{Operation: "read_file", verdict: undecided()}
	text, ok := s.outputs.text(in.Path)
	if !ok {
		r.Error = "No output of that name is kept: the oldest go first. Run the command again."
		return r
	}
	details, err := filetools.Page(in, text)
	if err != nil {
		r.Error = upperFirst(err.Error()) + "."
		return r
	}
	r.Success, r.Details = true, &details
	return r
}
