package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

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
	w.ctx.redirs = append(r.list, w.ctx.redirs...)
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
			w.mark(i, MarkSocket)
		}
	}
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
			w.mark(idx, MarkSocket)
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

func (w *walker) redirect(r *redirection, s *syntax.Redirect) {
	one := Redirect{FD: descriptor(s)}
	var target value.Arg
	switch s.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		one.Mode = RedirectHere
		body := w.document(s.Hdoc, quotedDelimiter(s.Word), s.Op == syntax.DashHdoc)
		one.Body = value.NewArg(body, w.raw(s.Word)).Word
		w.here(r, one.FD, body)
	case syntax.WordHdoc:
		one.Mode = RedirectHere
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
	in := &input{cmds: body.Inputs(), from: CodeHeredoc, text: body, static: body.Known(), via: "heredoc"}
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

func (w *walker) modeOf(s *syntax.Redirect, target value.Arg) RedirectMode {
	switch s.Op {
	case syntax.RdrIn:
		return RedirectRead
	case syntax.RdrInOut:
		return RedirectReadWrite
	case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
		return RedirectAppend
	case syntax.DplIn:
		return RedirectDup
	case syntax.DplOut:
		// >&2 and >&- name descriptors; >&file is &>file.
		text := strings.TrimSuffix(target.Text, "-")
		if w.isDescriptor(s.Word) || target.Certainty == value.Exact && strings.Trim(text, "0123456789") == "" {
			return RedirectDup
		}
		return RedirectWrite
	default:
		return RedirectWrite
	}
}

// open notes what a redirect to a file or a descriptor does.
func (w *walker) open(r *redirection, one Redirect, target value.Arg, op syntax.RedirOperator) {
	if strings.HasPrefix(target.Prefix, "/dev/tcp/") || strings.HasPrefix(target.Prefix, "/dev/udp/") {
		r.sockets = true
	}
	switch one.Mode {
	case RedirectDup:
		n, err := strconv.Atoi(strings.TrimSuffix(target.Text, "-"))
		socket := err == nil && w.ctx.st.sockets[n] || err != nil && target.Certainty != value.Exact && len(w.ctx.st.sockets) > 0
		r.sockets = r.sockets || socket
		w.duplicate(r, one.FD, target)
		if one.FD == 0 && op == syntax.DplIn && (socket || r.in == nil) {
			r.in = &input{from: CodeStdin, text: value.Opaque("", nil), via: "descriptor", socket: socket}
		}
	case RedirectRead, RedirectReadWrite:
		s := stream{in: w.fileInput(target)}
		if s.in.socket = r.sockets; r.sockets {
			s.in.from = CodeStdin
		}
		if file, ok := w.fileHere(target); ok && one.Mode == RedirectReadWrite {
			s.file = file
			w.touch(file, true)
		}
		r.lead(one.FD, s)
	case RedirectWrite, RedirectAppend:
		s := stream{unclear: op == syntax.DplOut && target.Certainty != value.Exact}
		r.sockets = r.sockets || s.unclear && len(w.ctx.st.sockets) > 0
		file, ok := w.fileHere(target)
		if n, own := fileDescriptor(target.Text); own {
			s = w.stream(r, n)
		} else if ok {
			s.file = file
			if one.Mode == RedirectWrite {
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
	in := &input{from: CodeFile, file: target.Word, text: value.Opaque("", target.Inputs), cmds: target.Inputs, via: "<"}
	if abs, ok := w.fileHere(target); ok && w.ctx.st.files[abs].pipe {
		in.from = CodeStdin // who writes to it may stand anywhere
	} else if ok {
		in.edited = w.edited(abs) || !w.ctx.st.files[abs].content.Known()
		in.path = abs
	}
	if text, ok := w.content(target.Val); ok {
		in.text, in.static = text, text.Known()
		in.cmds = value.Set(append(text.Inputs(), target.Inputs...))
	}
	return in
}

// process walks <( ) and >( ). The word is the descriptor that bash makes of it.
func (w *walker) process(p *syntax.ProcSubst) value.Value {
	name := "/dev/fd/" + strconv.Itoa(63-len(w.fds))
	if p.Op != syntax.CmdOut {
		out := w.captured(p.Stmts)
		w.fds[name] = out.text.With(false, out.cmds)
		return value.Value{{Text: name, Known: true, Quoted: true, Inputs: out.cmds}}
	}
	w.fds[name] = value.Opaque("", nil)
	w.subshell(func() {
		w.ctx.in = nil
		delete(w.ctx.st.fds, 1)
		if w.ctx.current >= 0 {
			w.ctx.in = &input{cmds: []int{w.ctx.current}, from: CodeStdin, text: value.Opaque("", nil), via: ">(…)"}
		}
		w.ctx.redirs, w.ctx.pipe, w.ctx.out = nil, Pipeline{}, &sink{}
		w.deeper(func() { w.stmts(p.Stmts) })
	})
	return value.Value{{Text: name, Known: true, Quoted: true}}
}
