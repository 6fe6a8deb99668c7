package shell

import (
	"maps"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// stream is where a descriptor leads. The zero value is the terminal, or nothing.
type stream struct {
	in      *input // what can be read from it
	file    string // the file that takes what is written to it
	out     *sink  // the enclosing command that takes it
	unclear bool   // it leads somewhere else, nobody knows where
}

// fileDescriptor returns the descriptor that a path names.
func fileDescriptor(text string) (int, bool) {
	switch text {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	n, ok := strings.CutPrefix(text, "/dev/fd/")
	if !ok {
		n, ok = strings.CutPrefix(text, "/proc/self/fd/")
	}
	fd, err := strconv.Atoi(n)
	return fd, ok && err == nil && fd >= 0
}

// stream returns where a descriptor leads behind the redirects that r holds so far.
func (w *walker) stream(r *redirection, n int) stream {
	if s, ok := r.fds[n]; ok {
		return s
	}
	if s, ok := w.ctx.st.fds[n]; ok {
		if s.in != nil && s.in.path != "" { // the file may have another content by now
			if now, ok := w.contentOf(s.in.path); !ok || !now.Equal(s.in.text) {
				in := *s.in
				in.text, in.static, in.edited = value.Opaque("", s.in.cmds), false, true
				s.in = &in
			}
		}
		return s
	}
	switch n {
	case 0:
		return stream{in: w.stdin()}
	case 1:
		return stream{out: w.ctx.out}
	default:
		return stream{}
	}
}

// lead makes a descriptor lead somewhere.
func (r *redirection) lead(n int, s stream) {
	if r.fds == nil {
		r.fds = map[int]stream{}
	}
	r.fds[n] = s
	switch n {
	case 0:
		r.in = s.in
	case 1:
		r.file = s.file
	}
}

// duplicate does N>&M and N<&M, with which descriptors are closed and moved, too.
func (w *walker) duplicate(r *redirection, n int, target value.Arg) {
	text, moves := strings.CutSuffix(target.Text, "-")
	from, err := strconv.Atoi(text)
	switch {
	case target.Certainty != value.Exact || err != nil && text != "":
		r.lead(n, stream{unclear: true})
	case text == "":
		r.lead(n, stream{})
	default:
		r.lead(n, w.stream(r, from))
		if moves && from != n {
			r.lead(from, stream{})
		}
	}
}

// install puts descriptors in place, and returns what puts the old ones back.
func (w *walker) install(fds map[int]stream) (restore func()) {
	st := w.ctx.st
	old := maps.Clone(st.fds)
	for n, s := range fds {
		if n > 0 { // standard input has its own place
			st.fds[n] = s
		}
	}
	return func() {
		for n := range fds {
			if s, ok := old[n]; ok {
				st.fds[n] = s
			} else {
				delete(st.fds, n)
			}
		}
	}
}

// streamText returns what can be read from a path that names a descriptor.
func (w *walker) streamText(text string) (value.Value, bool) {
	if v, ok := w.fds[text]; ok {
		return v, true
	}
	n, ok := fileDescriptor(text)
	_, open := w.ctx.st.fds[n]
	s := w.stream(&redirection{}, n)
	switch {
	case !ok || n == 0 || !open:
		return nil, false
	case s.in != nil:
		return s.in.text, true
	default:
		return value.Opaque("", nil), true
	}
}

// opened reports a path that names a descriptor from which something can be read.
func (w *walker) opened(text string) bool { _, ok := w.streamText(text); return ok }

// mergeStreams returns where descriptors lead after either a or b.
func mergeStreams(a, b map[int]stream) map[int]stream {
	m := maps.Clone(a)
	for n, s := range b {
		if t, ok := a[n]; !ok || s != t {
			m[n] = stream{unclear: true}
		}
	}
	for n := range a {
		if _, ok := b[n]; !ok {
			m[n] = stream{unclear: true}
		}
	}
	return m
}

// wordless commands print no messages.
var wordless = command.Names("echo printf : true false pwd")

// deliver puts what a command printed where its standard output goes, and its messages where those go.
func (w *walker) deliver(inv *invocation, out *sink) {
	to, messages := w.stream(&inv.redir, 1), w.stream(&inv.redir, 2)
	if wordless[w.commands[inv.idx].Name] && !w.ctx.st.traced {
		messages = stream{}
	}
	switch {
	case messages == to && to != stream{}, w.mayEnd && w.ctx.st.sub:
		out.text = value.Value{{Inputs: out.cmds}}
	case messages.file != "":
		w.write(messages.file, value.Opaque("", out.cmds), out.cmds, true)
	case messages.out != nil:
		messages.out.text = append(messages.out.text, value.Piece{Inputs: out.cmds})
	}
	if to.file != "" {
		w.write(to.file, out.text, out.cmds, true)
	}
	own := to.out == w.ctx.out
	switch {
	case to.unclear:
		to.out = w.ctx.out
		out.text = value.Opaque("", out.cmds)
	case to.out == nil:
		return
	}
	text := append(to.out.text, out.text...)
	if len(text) > maxOutput || text.Size() > w.lim.Bytes {
		text = value.Blurred("", text)
	} else if !own { // whether this part of the text runs is not known there
		text = append(text, value.Piece{Inputs: out.cmds})
	}
	to.out.text = text
}
