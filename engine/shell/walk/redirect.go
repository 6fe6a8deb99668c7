package walk

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// redirected walks f with the redirects of the compound command s in place.
func (w *walker) redirected(s *syntax.Stmt, f func()) {
	if len(s.Redirs) == 0 {
		f()
		return
	}
	saved := w.ctx
	r := w.redirects(s.Redirs)
	w.ctx.redirs = append(w.inherited(r.list), w.ctx.redirs...)
	if r.in != nil {
		w.ctx.in = r.in
	}
	redo := w.install(r.fds)
	start := len(w.commands)
	f()
	redo()
	w.ctx = saved
	if r.sockets {
		for i := start; i < len(w.commands); i++ {
			w.mark(i, shell.MarkSocket)
		}
	}
}

// inherited returns redirects for commands that may work in another directory than the shell that opens the
// files. Where that may be one of several, each of the commands counts with its own.
func (w *walker) inherited(list []shell.Redirect) []shell.Redirect {
	dir := w.ctx.st.dir
	if w.ctx.st.dirs != nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].From == nil {
			list[i].From = &dir
		}
	}
	return list
}

// redirectOnly walks a statement that only redirects: >file empties it.
func (w *walker) redirectOnly(s *syntax.Stmt) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.place(idx, s)
	w.within(idx, func() {
		r := w.redirects(s.Redirs)
		w.commands[idx].Redirects = append(r.list, w.ctx.redirs...)
		if r.sockets {
			w.mark(idx, shell.MarkSocket)
		}
	})
	w.grade(idx)
}

// redirects expands a list of redirects.
func (w *walker) redirects(list []*syntax.Redirect) redirection {
	var r redirection
	for _, s := range list {
		if !w.step(1) {
			break
		}
		w.redirect(&r, s)
	}
	return r
}

// childRedirects expands the redirects of a simple command, and returns the variables that they assign. Bash
// expands those of a program in the program's process, so that <<<$((n=1)) may have no effect on the shell.
func (w *walker) childRedirects(list []*syntax.Redirect) (redirection, changes) {
	assigned := changes{names: map[string]bool{}}
	if !slices.ContainsFunc(list, computes) {
		return w.redirects(list), assigned
	}
	before := maps.Clone(w.ctx.st.vars)
	r := w.redirects(list)
	for name, v := range w.ctx.st.vars {
		old := before[name]
		if !v.val.Equal(old.val) || v.unset != old.unset || len(v.list) != len(old.list) {
			assigned.names[name] = true
		}
	}
	return r, assigned
}

// computes reports a redirect with an expansion that may assign.
func computes(s *syntax.Redirect) bool {
	found := false
	for _, word := range []*syntax.Word{s.Word, s.Hdoc} {
		if word == nil {
			continue
		}
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ArithmExp:
				found = true
			case *syntax.ParamExp:
				found = found || n.Exp != nil || n.Index != nil || n.Slice != nil || n.Excl
			}
			return !found
		})
	}
	return found
}

func (w *walker) redirect(r *redirection, s *syntax.Redirect) {
	one := shell.Redirect{FD: descriptor(s)}
	var target value.Arg
	switch s.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		one.Mode = shell.RedirectHere
		body := w.document(s.Hdoc, quotedDelimiter(s.Word), s.Op == syntax.DashHdoc)
		one.Body = value.NewArg(body, w.raw(s.Word)).Word
		w.here(r, one.FD, body)
	case syntax.WordHdoc:
		one.Mode = shell.RedirectHere
		body := append(withoutNames(w.assigned(s.Word)), value.Piece{Text: "\n", Known: true})
		one.Body = value.NewArg(body[:len(body)-1], w.raw(s.Word)).Word
		w.here(r, one.FD, body)
	default:
		target = value.NewArg(w.single(s.Word), w.raw(s.Word))
		one.Target = target.Word
		one.Mode = w.modeOf(s, target)
		w.open(r, one, target, s.Op)
	}
	if s.N != nil && strings.HasPrefix(s.N.Value, "{") {
		w.assignDescriptor(strings.Trim(s.N.Value, "{}"))
	}
	r.list = append(r.list, one)
}

func (w *walker) here(r *redirection, fd int, body value.Value) {
	in := &input{cmds: body.Inputs(), from: shell.CodeHeredoc, text: body, static: body.Known(), via: "heredoc"}
	r.lead(fd, stream{in: in})
}

// quotedDelimiter reports <<'EOF', whose body is taken as it stands.
func quotedDelimiter(word *syntax.Word) bool {
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// descriptor returns the number that a redirect applies to, -1 when a variable gives it.
func descriptor(s *syntax.Redirect) int {
	if s.N != nil {
		n, err := strconv.Atoi(s.N.Value)
		if err != nil {
			return -1
		}
		return n
	}
	switch s.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return 0
	default:
		return 1
	}
}

// assignDescriptor records that the shell puts the number of a descriptor into name.
func (w *walker) assignDescriptor(name string) {
	w.assignUnknown(name, nil)
	v := w.ctx.st.vars[name]
	v.descriptor = true
	w.ctx.st.vars[name] = v
}

// isDescriptor reports a word that is a variable to which the shell has assigned descriptors.
func (w *walker) isDescriptor(word *syntax.Word) bool {
	p, ok := word.Parts[0].(*syntax.ParamExp)
	return ok && len(word.Parts) == 1 && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl &&
		p.Param != nil && w.ctx.st.lookupVar(p.Param.Value).descriptor
}

func (w *walker) modeOf(s *syntax.Redirect, target value.Arg) shell.RedirectMode {
	switch s.Op {
	case syntax.RdrIn:
		return shell.RedirectRead
	case syntax.RdrInOut:
		return shell.RedirectReadWrite
	case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
		return shell.RedirectAppend
	case syntax.DplIn:
		return shell.RedirectDup
	case syntax.DplOut:
		// >&2 and >&- name descriptors; >&file is &>file.
		text := strings.TrimSuffix(target.Text, "-")
		if w.isDescriptor(s.Word) || target.Certainty == value.Exact && strings.Trim(text, "0123456789") == "" {
			return shell.RedirectDup
		}
		return shell.RedirectWrite
	default:
		return shell.RedirectWrite
	}
}

// open notes the effect of a redirect to a file or a descriptor.
func (w *walker) open(r *redirection, one shell.Redirect, target value.Arg, op syntax.RedirOperator) {
	if strings.HasPrefix(target.Prefix, "/dev/tcp/") || strings.HasPrefix(target.Prefix, "/dev/udp/") {
		r.sockets = true
	}
	switch one.Mode {
	case shell.RedirectDup:
		n, err := strconv.Atoi(strings.TrimSuffix(target.Text, "-"))
		socket := err == nil && w.ctx.st.sockets[n] || err != nil && target.Certainty != value.Exact && len(w.ctx.st.sockets) > 0
		r.sockets = r.sockets || socket
		w.duplicate(r, one.FD, target)
		if one.FD == 0 && op == syntax.DplIn && (socket || r.in == nil) {
			r.in = &input{from: shell.CodeStdin, text: value.Opaque("", nil), via: "descriptor", socket: socket}
		}
	case shell.RedirectRead, shell.RedirectReadWrite:
		s := stream{in: w.fileInput(target)}
		if s.in.socket = r.sockets; r.sockets {
			s.in.from = shell.CodeStdin
		}
		if file, ok := w.fileHere(target); ok && one.Mode == shell.RedirectReadWrite {
			s.file = file
			w.touch(file, true)
		}
		r.lead(one.FD, s)
	case shell.RedirectWrite, shell.RedirectAppend:
		s := stream{unclear: op == syntax.DplOut && target.Certainty != value.Exact}
		r.sockets = r.sockets || s.unclear && len(w.ctx.st.sockets) > 0
		file, ok := w.fileHere(target)
		if n, own := fileDescriptor(target.Text); own {
			s = w.stream(r, n)
		} else if ok {
			s.file = file
			if one.Mode == shell.RedirectWrite {
				w.write(file, nil, []int{w.ctx.current}, false)
			}
		}
		if ok && one.FD != 1 { // programs write there, too
			w.touch(file, true)
		}
		r.lead(one.FD, s)
		switch op {
		case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob, syntax.DplOut:
			r.lead(2, s)
		}
	}
}

// fileInput is standard input from a file.
func (w *walker) fileInput(target value.Arg) *input {
	in := &input{from: shell.CodeFile, file: target.Word, text: value.Opaque("", target.Inputs), cmds: target.Inputs, via: "<"}
	if abs, ok := w.fileHere(target); ok && w.look(abs).pipe {
		in.from = shell.CodeStdin // who writes to it may stand anywhere
	} else if ok {
		in.edited = w.edited(abs) || !w.look(abs).content.Known()
		in.path = abs
	}
	if text, ok := w.content(target.Val); ok {
		in.text, in.static = text, text.Known()
		in.cmds = value.Set(append(text.Inputs(), target.Inputs...))
		in.edited = in.edited || !in.static && w.opened(target.Text) // the output of <( ), and no file
	}
	return in
}

// process walks <( ) and >( ). The word is the descriptor that bash makes of it.
func (w *walker) process(p *syntax.ProcSubst) value.Value {
	name := "/dev/fd/" + strconv.Itoa(63-len(w.fds))
	if p.Op != syntax.CmdOut {
		var out sink
		w.anyTime(func() { out = w.captured(p.Stmts) })
		w.fds[name] = out.text.With(false, out.cmds)
		return value.Value{{Text: name, Known: true, Quoted: true, Inputs: out.cmds}}
	}
	w.fds[name] = value.Opaque("", nil)
	w.anyTime(func() { w.subshell(func() { w.consume(p) }) })
	return value.Value{{Text: name, Known: true, Quoted: true}}
}

// consume walks the statements of >( ). Their input is the output of the current command.
func (w *walker) consume(p *syntax.ProcSubst) {
	w.ctx.in = nil
	delete(w.ctx.st.fds, 1)
	if w.ctx.current >= 0 {
		w.ctx.in = &input{
			cmds: []int{w.ctx.current}, from: shell.CodeStdin, text: value.Opaque("", nil), via: ">(…)",
		}
	}
	w.pipelines++
	w.ctx.redirs, w.ctx.pipe, w.ctx.out = nil, shell.Pipeline{ID: w.pipelines, Index: 1, Length: 2}, &sink{}
	w.deeper(func() { w.stmts(p.Stmts) })
}

// stream is where a descriptor leads. The zero value is the terminal, or nothing.
type stream struct {
	in      *input // readable from it
	file    string // the file that takes its data
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

// install puts descriptors in place, and returns the function that puts the old ones back.
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

// streamText returns the text that can be read from a path that names a descriptor.
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

// deliver puts the output of a command where its standard output goes, and its messages where those go.
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
	text, whole := w.bounded(append(to.out.text, out.text...), 0)
	if whole && !own { // whether this part of the text runs is not known there
		text = append(text, value.Piece{Inputs: out.cmds})
	}
	to.out.text = text
}
