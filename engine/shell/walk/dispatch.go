package walk

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/source"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// dispatch applies the effect of a recorded command to the rest of the walk.
func (w *walker) dispatch(inv *invocation) {
	if len(inv.args) == 0 {
		w.held(inv, "")
		return
	}
	given := w.commands[inv.idx].Name
	name := strings.TrimSuffix(given, ".exe") // a program of Windows, which WSL starts
	w.held(inv, name)
	if raw := strings.Trim(inv.args[0].Raw, `"`); raw == "$0" && w.ctx.script != "" && (w.ctx.background || w.ctx.pipe.Length > 1) {
		w.mark(inv.idx, shell.MarkForkBomb) // a script that starts itself
	}
	if name == "" {
		w.unknownCommand(inv)
		return
	}
	written := inv.args[0].Text
	if w.ctx.via == nil || !strings.HasSuffix(w.ctx.via[len(w.ctx.via)-1], "command") {
		if body, ok := w.ctx.st.aliases[written]; ok && !slices.Contains(w.ctx.running, "alias "+written) {
			w.callAlias(inv, written, body)
		}
		if defs := w.ctx.st.funcs[written]; slices.Contains(defs, nil) {
			after := w.branch(w.ctx.st, func() { w.callFunctions(inv, defs) })
			defer func() { w.settle(w.merge(w.ctx.st, after)) }()
		} else if len(defs) > 0 {
			w.callFunctions(inv, defs)
			return
		}
	}
	w.build(inv, name)
	w.embedded(inv, name, inv.args[1:])
	w.subscripts(inv, name)
	if abs, ok := w.inPath(written); ok {
		w.runPath(inv, abs)
		return
	}
	if len(inv.args) > 1 { // git NAME, cargo NAME and others run a program of that name
		if abs, ok := w.inPath(written + "-" + inv.args[1].Text); ok {
			own := *inv
			own.args = inv.args[1:]
			w.runPath(&own, abs)
			return
		}
	}
	if f := builtin(given); f != nil && !strings.Contains(written, "/") {
		f(w, inv)
		return
	}
	if c, ok := command.CarrierOf(w.opts.Table, name); ok {
		w.carry(inv, name, c)
		return
	}
	if lang, ok := command.InterpreterOf(w.opts.Table, name); ok {
		w.interpret(inv, lang)
		return
	}
	if strings.Contains(written, "/") && (w.runCopy(inv) || w.runScript(inv)) {
		return
	}
	w.print(inv, name)
}

// unknownCommand handles a command word that is not known. What it prints is not known
// either; a word that came over a socket is a shell on that socket.
func (w *walker) unknownCommand(inv *invocation) {
	if w.fromSocket(inv.args[0].Inputs, map[int]bool{}) {
		w.mark(inv.idx, shell.MarkSocketShell)
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
		if w.hasMark(i, shell.MarkSocket) || w.fromSocket(w.commands[i].Inputs, seen) {
			return true
		}
	}
	return false
}

// inner walks a command that another one carries: sudo, xargs, find -exec.
func (w *walker) inner(inv *invocation, args []value.Arg, via string, change func(*context)) {
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
	w.ctx.start, w.ctx.end, w.ctx.nested, w.ctx.breaks = c.Start, c.End, true, false
	w.ctx.via = append(slices.Clone(w.ctx.via), via)
	if c.Redirects != nil {
		w.ctx.redirs = w.inherited(c.Redirects)
	}
}

// reparse walks text that a command hands to a shell. It reports whether all of it could
// be read.
func (w *walker) reparse(idx int, text, via string, change func(*context)) bool {
	if source.TooDeep(text, w.lim.Nesting) >= 0 || len(text) > 2*w.lim.Bytes || strings.IndexByte(text, 0) >= 0 {
		return false
	}
	w.step(1 + len(text)/bytesPerStep)
	saved := w.ctx
	defer func() { w.ctx = saved }()
	w.enter(idx, via)
	w.ctx.src = text
	if change != nil {
		change(&w.ctx)
	}
	posix := w.opts.POSIX && w.ctx.st.sh
	file, err := source.Parse(text, posix)
	if err != nil && posix {
		file, err = source.Parse(text, false)
	}
	if err != nil {
		return false
	}
	w.deeper(func() {
		changed := w.changes(file.Stmts)
		w.mayStop(changed.jumps, func() { w.lines(file.Stmts) })
		if changed.jumps && via != "trap" {
			w.blur(changed) // statements behind a return may not have run
		}
	})
	return w.budget == ""
}

// callAlias walks the text of an alias in front of the other words.
func (w *walker) callAlias(inv *invocation, name, body string) {
	rest := inv.args[1:]
	for next := body; strings.TrimRight(next, " \t") != next && len(rest) > 0; rest = rest[1:] {
		more, found := w.ctx.st.aliases[rest[0].Text] // behind a blank the next word may be an alias too
		if !found {
			break
		}
		body, next = body+more, more
	}
	v := append(value.Known(body), value.Quote(rest)...)
	if !w.reparse(inv.idx, w.holes.Source(v), "alias "+name, func(c *context) {
		c.running = append(slices.Clone(c.running), "alias "+name)
	}) {
		w.unclear = true
	}
}

// inPath finds a file that this text has written in a directory which it has put into PATH:
// then a bare name means that file.
func (w *walker) inPath(name string) (string, bool) {
	v, changed := w.ctx.st.vars["PATH"]
	if !changed || strings.Contains(name, "/") {
		return "", false
	}
	for _, dir := range strings.Split(v.val.Text(), ":") {
		to, ok := absolute(w.ctx.st.dir, dir)
		if !ok {
			continue
		}
		abs := path.Join(to, name)
		if f, written := w.lookUp(abs); written && (f.program != "" || len(f.content) > 0) {
			return abs, true
		}
	}
	return "", false
}

// runPath runs the file that inPath found.
func (w *walker) runPath(inv *invocation, abs string) {
	f := w.look(abs)
	if f.program != "" {
		args := slices.Clone(inv.args)
		args[0] = value.Literal(path.Base(f.program))
		w.inner(inv, args, "copy of "+f.program, nil)
		return
	}
	lang := command.Shebang(f.content.Prefix())
	if lang == "" {
		lang = "sh" // neither a script nor a program known here
	}
	file := value.Literal(abs)
	w.script(inv, shell.Code{Language: lang, From: shell.CodeFile, File: file.Word}, lang, abs, file, inv.args[1:], false)
	w.printUnknown(inv)
}

// copies notes files that become copies of programs in other ways than cp: cat PROGRAM >f,
// dd if=PROGRAM of=f. With a known input dd writes that.
func (w *walker) copies(inv *invocation, name string) {
	from, to := "", inv.redir.file
	switch name {
	case "cat":
		if len(inv.args) == 2 {
			from, _ = inv.args[1].Val.Exact()
		}
	case "dd":
		for _, a := range inv.args[1:] {
			if text, ok := strings.CutPrefix(a.Text, "if="); ok {
				from = text
			}
			if _, ok := strings.CutPrefix(a.Text, "of="); ok {
				to, _ = w.pathOf(a.Cut(len("of="), a.Text[len("of="):]))
			}
		}
		if in := inv.redir.in; from == "" && to != "" && in != nil && len(inv.args) == 2 {
			w.write(to, in.text, in.cmds, false)
			return
		}
	case "mkfifo":
		for _, a := range inv.args[1:] {
			if abs, ok := w.pathOf(a); ok {
				w.put(abs, written{pipe: true})
			}
		}
		return
	default:
		return
	}
	if to != "" && command.SystemProgram(path.Clean(from)) {
		w.put(to, written{program: from})
	}
}

// foundItems are the names that xargs gets from find: entries of the places where find starts.
func (w *walker) foundItems(inputs []int) []value.Arg {
	unknown := []value.Arg{value.OpaqueArg("", inputs)}
	var items []value.Arg
	for _, i := range inputs {
		if i >= len(w.commands) || w.commands[i].Name != "find" {
			continue
		}
		if !command.FindLists(w.commands[i].Words) {
			return unknown
		}
		for _, root := range w.commands[i].Words[1:] {
			if root.Text != "" && strings.ContainsAny(root.Text[:1], "-(!") {
				break
			}
			if root.Certainty != value.Exact {
				return unknown
			}
			items = append(items, value.NewArg(value.Value{
				{Text: strings.TrimSuffix(root.Text, "/") + "/", Known: true, Quoted: true, Inputs: inputs},
				{Text: "{}", Quoted: true, Data: true, Inputs: inputs},
			}, ""))
		}
	}
	if len(items) == 0 {
		return unknown
	}
	return items
}

// subscripts walks what a subscript in the name of a variable runs: read 'a[$(cmd)]',
// printf -v, unset, test -v. Bash evaluates it even where it stands in quotes.
func (w *walker) subscripts(inv *invocation, name string) {
	switch name {
	case "read", "unset", "mapfile", "readarray", "getopts", "wait", "declare", "typeset", "local", "export", "readonly", "let":
		for _, a := range inv.args[1:] {
			w.subscript(a.Text)
		}
	case "test", "[":
		for i, a := range inv.args[1:] {
			if inv.args[i].Text == "-v" && i > 0 {
				w.subscript(a.Text)
			}
		}
	}
}

// subscript walks the code that a name with a subscript evaluates: a[$(rm x)].
func (w *walker) subscript(text string) {
	if _, inner, found := strings.Cut(text, "["); found {
		w.numberText(strings.TrimSuffix(inner, "]"))
	}
}
