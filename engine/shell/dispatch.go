package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dispatch does what a recorded command does to the rest of the walk. It reports whether
// the command does not fail in practice.
func (w *walker) dispatch(inv *invocation) bool {
	if len(inv.args) == 0 {
		w.held(inv, "")
		return true
	}
	name := w.commands[inv.idx].Name
	w.held(inv, name)
	if raw := strings.Trim(inv.args[0].Raw, `"`); raw == "$0" && w.ctx.script != "" && (w.ctx.background || w.ctx.pipe.Length > 1) {
		w.mark(inv.idx, MarkForkBomb) // a script that starts itself
	}
	if name == "" {
		w.unknownCommand(inv)
		return false
	}
	written := inv.args[0].Text
	if w.ctx.via == nil || !strings.HasSuffix(w.ctx.via[len(w.ctx.via)-1], "command") {
		if defs := w.ctx.st.funcs[written]; len(defs) > 0 {
			w.callFunctions(inv, defs)
			return false
		}
		if body, ok := w.ctx.st.aliases[written]; ok && !slices.Contains(w.ctx.running, "alias "+written) {
			w.callAlias(inv, written, body)
		}
	}
	if name == "sed" || name == "gsed" {
		w.sed(inv)
	}
	w.build(inv, name)
	w.embedded(inv, name, inv.args[1:])
	w.subscripts(inv, name)
	if abs, ok := w.inPath(written); ok {
		w.runPath(inv, abs)
		return false
	}
	if f := builtin(name); f != nil && !strings.Contains(written, "/") {
		f(w, inv)
		return sureCommands[name]
	}
	if c, ok := carrierOf(name); ok {
		w.carry(inv, name, c)
		return false
	}
	if lang, ok := interpreterOf(name); ok {
		w.interpret(inv, lang)
		return false
	}
	if strings.Contains(written, "/") && (w.runCopy(inv) || w.runScript(inv)) {
		return false
	}
	w.print(inv, name)
	return sureCommands[name]
}

// sureCommands do not fail in practice: what follows && runs.
var sureCommands = map[string]bool{
	"echo": true, "printf": true, "true": true, ":": true, "export": true, "set": true, "unset": true, "shopt": true,
	"alias": true, "umask": true, "pwd": true, "mkdir": true, "local": true, "readonly": true, "trap": true,
}

// unknownCommand handles a command word that is not known. What it prints is not known
// either; a word that came over a socket is a shell on that socket.
func (w *walker) unknownCommand(inv *invocation) {
	if w.fromSocket(inv.args[0].Inputs, map[int]bool{}) {
		w.mark(inv.idx, MarkSocketShell)
	}
	w.printUnknown(inv)
}

// fromSocket reports whether some command that these depend on reads a network socket.
func (w *walker) fromSocket(inputs []int, seen map[int]bool) bool {
	for _, i := range inputs {
		if seen[i] || i >= len(w.commands) {
			continue
		}
		seen[i] = true
		if w.hasMark(i, MarkSocket) || w.fromSocket(w.commands[i].Inputs, seen) {
			return true
		}
	}
	return false
}

// inner walks a command that another one carries: sudo, xargs, find -exec.
func (w *walker) inner(inv *invocation, args []arg, via string, change func(*context)) {
	if len(args) == 0 {
		return
	}
	saved := w.ctx
	defer func() { w.ctx = saved }()
	w.enter(inv.idx, via)
	if change != nil {
		change(&w.ctx)
	}
	w.deeper(func() {
		idx, ok := w.reserve()
		if !ok {
			return
		}
		w.place(idx, nil)
		w.within(idx, func() { w.run(&invocation{idx: idx, args: args}) })
	})
}

// enter makes the context that of something carried by the command idx.
func (w *walker) enter(idx int, via string) {
	c := &w.commands[idx]
	w.ctx.start, w.ctx.end, w.ctx.nested = c.Start, c.End, true
	w.ctx.via = append(slices.Clone(w.ctx.via), via)
	if c.Redirects != nil {
		w.ctx.redirs = c.Redirects
	}
}

// reparse walks text that a command hands to a shell. It reports whether all of it could
// be read.
func (w *walker) reparse(idx int, text, via string, change func(*context)) bool {
	if tooDeep(text, w.lim.Nesting) >= 0 || len(text) > 2*w.lim.Bytes || strings.IndexByte(text, 0) >= 0 {
		return false
	}
	w.step(1 + len(text)/bytesPerStep)
	file, err := parseSyntax(text, w.opts.POSIX)
	if err != nil && w.opts.POSIX {
		file, err = parseSyntax(text, false)
	}
	if err != nil {
		return false
	}
	saved := w.ctx
	defer func() { w.ctx = saved }()
	w.enter(idx, via)
	w.ctx.src = text
	if change != nil {
		change(&w.ctx)
	}
	w.deeper(func() { w.stmts(file.Stmts) })
	return w.budget == ""
}

// define records a function. Its definition is a command too, so that one which hides an
// ordinary command can be pointed at.
func (w *walker) define(c *syntax.FuncDecl) {
	if c.Name == nil {
		w.unclear = true
		return
	}
	idx, ok := w.reserve()
	if !ok {
		return
	}
	name := c.Name.Value
	w.place(idx, c)
	w.commands[idx].Name = "function"
	w.commands[idx].Words = []Word{literalArg("function").Word, literalArg(name).Word}
	fn := &function{name: name, decl: c, ctx: w.ctx, index: idx}
	w.ctx.st.funcs[name] = []*function{fn}
	w.defs = append(w.defs, fn)
	if ordinary(name) {
		w.mark(idx, MarkShadow)
	}
	if w.replicates(fn) {
		w.mark(idx, MarkForkBomb)
	}
}

// callFunctions walks the bodies that a function's name may stand for.
func (w *walker) callFunctions(inv *invocation, defs []*function) {
	name := inv.args[0].Text
	bomb := false
	for _, fn := range defs {
		fn.called = true
		bomb = bomb || w.replicates(fn)
	}
	if bomb {
		w.mark(inv.idx, MarkForkBomb)
	}
	if slices.Contains(w.ctx.running, "function "+name) {
		w.printUnknown(inv)
		return
	}
	before := w.ctx.st
	var after *state
	for _, fn := range defs {
		st := w.fork(before)
		w.callFunction(inv, fn, st)
		after = w.merge(st, after)
	}
	if len(defs) > 1 {
		w.ctx.out.text = append(w.ctx.out.text, piece{})
	}
	w.settle(after)
}

// callFunction walks one body with the arguments bound, in the state st.
func (w *walker) callFunction(inv *invocation, fn *function, st *state) {
	saved := w.ctx
	params, bound, ended := st.params, st.bound, st.ended
	st.params, st.bound = nil, true
	for _, a := range inv.args[1:] {
		st.params = append(st.params, a.val)
		st.bound = st.bound && spelled(a)
	}
	if !st.bound {
		st.params = nil
	}
	changed := w.changes([]*syntax.Stmt{fn.decl.Body})
	w.ctx.st, w.ctx.src = st, fn.ctx.src
	if fn.ctx.script != "" {
		w.ctx.script = fn.ctx.script
	}
	if fn.ctx.nested || w.ctx.nested {
		w.ctx.nested = true
		w.ctx.start, w.ctx.end = w.commands[inv.idx].Start, w.commands[inv.idx].End
	}
	w.ctx.running = append(slices.Clone(saved.running), "function "+fn.name)
	w.ctx.redirs = w.commands[inv.idx].Redirects
	w.deeper(func() {
		w.stmt(fn.decl.Body)
		if changed.jumps {
			w.blur(changes{names: changed.names, dir: changed.dir, all: changed.all})
		}
	})
	w.forgetLocals(fn)
	st.params, st.bound, st.ended = params, bound, ended
	w.ctx = saved
}

// spelled reports an argument that is known to be one word.
func spelled(a arg) bool { return a.Quoted || a.Certainty == Exact && !a.Glob }

// wordValue turns a Word back into a value.
func wordValue(word Word) value {
	if word.Certainty == Exact {
		return value{{text: word.Text, known: true, inputs: word.Inputs}}
	}
	v := value{{text: word.Text[len(word.Prefix):], inputs: word.Inputs}}
	if word.Prefix != "" {
		v = append(value{{text: word.Prefix, known: true}}, v...)
	}
	return v
}

// forgetLocals forgets what local variables of fn held: the caller's of the same name are
// not told apart from them.
func (w *walker) forgetLocals(fn *function) {
	syntax.Walk(fn.decl.Body, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DeclClause); ok && d.Variant.Value == "local" {
			for _, a := range d.Args {
				if a.Name != nil {
					w.assignUnknown(a.Name.Value, nil)
				}
			}
		}
		return w.step(1)
	})
}

// callAlias walks the text of an alias in front of the other words.
func (w *walker) callAlias(inv *invocation, name, body string) {
	rest := joinQuoted(inv.args[1:])
	v := append(known(body), rest...)
	w.reparse(inv.idx, w.source(v), "alias "+name, func(c *context) {
		c.running = append(slices.Clone(c.running), "alias "+name)
	})
}

// joinQuoted writes words so that they read back as they are.
func joinQuoted(args []arg) value {
	var v value
	for _, a := range args {
		v = append(v, piece{text: " ", known: true})
		for _, p := range a.val {
			if p.known && !p.glob {
				if q, err := syntax.Quote(p.text, syntax.LangBash); err == nil && p.text != "" {
					p.text = q
				}
			}
			v = append(v, p)
		}
	}
	return v
}

// uncalled walks the bodies of functions that nothing called, once, so that what stands in
// them is seen.
func (w *walker) uncalled() {
	// A command word or code that is not known may call any of them.
	mayCall := slices.ContainsFunc(w.commands, func(c Command) bool {
		return len(c.Words) > 0 && c.Name == "" || slices.Contains(c.Marks, MarkDynamicCode)
	})
	for i := 0; i < len(w.defs) && w.budget == ""; i++ {
		fn := w.defs[i]
		if fn.called {
			continue
		}
		saved := w.ctx
		w.ctx = fn.ctx
		w.ctx.st = w.fork(fn.ctx.st)
		w.blur(changes{dir: true, all: true})
		w.ctx.st.params, w.ctx.st.bound = nil, false
		w.ctx.running = append(slices.Clone(w.ctx.running), "function "+fn.name)
		if !mayCall && fn.name != "command_not_found_handle" {
			w.ctx.marks = append(slices.Clone(w.ctx.marks), MarkNeverCalled)
		}
		w.ctx.out = &sink{}
		w.deeper(func() { w.stmt(fn.decl.Body) })
		w.ctx = saved
	}
}
