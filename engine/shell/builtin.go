package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin returns what one of the shell's own commands does to the walk, nil for commands
// that neither change what the walk knows nor run text.
func builtin(name string) func(*walker, *invocation) {
	switch name {
	case "cd":
		return cd
	case "pushd":
		return pushd
	case "popd":
		return popd
	case "export", "declare", "typeset", "local", "readonly":
		return exportWords
	case "unset":
		return unset
	case "set":
		return set
	case "shift":
		return shift
	case "read":
		return read
	case "mapfile", "readarray", "getopts", "wait":
		return assignsNames
	case "eval":
		return eval
	case "source", ".":
		return source
	case "trap":
		return trap
	case "alias":
		return alias
	case "exec":
		return execBuiltin
	case "exit", "return", "break", "continue":
		return ends
	case "hash":
		return hash
	case "shopt":
		return shopt
	case "history":
		return history
	case "ztcp":
		return ztcp
	case "complete":
		return complete
	default:
		return nil
	}
}

func cd(w *walker, inv *invocation) {
	st := w.ctx.st
	operands := inv.args[1:]
	for len(operands) > 0 && len(operands[0].Text) > 1 && operands[0].Text[0] == '-' && operands[0].Certainty == Exact {
		stop := operands[0].Text == "--"
		operands = operands[1:]
		if stop {
			break
		}
	}
	target := st.old
	switch {
	case len(operands) == 0:
		home, ok := st.lookupVar("HOME").val.exact()
		target = Dir{Path: home, Known: ok && home != ""}
	case operands[0].Text == "-":
	default:
		target = w.dirOf(operands[0])
		// CDPATH sends a plain name elsewhere.
		_, inEnv := st.base["CDPATH"]
		if _, set := st.vars["CDPATH"]; (set || inEnv) && !strings.HasPrefix(operands[0].Text, "/") && !strings.HasPrefix(operands[0].Text, ".") {
			target = Dir{}
		}
	}
	st.dir, st.old = target, st.dir
}

// dirOf resolves a directory operand.
func (w *walker) dirOf(a arg) Dir {
	p, ok := w.pathOf(a)
	return Dir{Path: p, Known: ok}
}

func pushd(w *walker, inv *invocation) {
	st := w.ctx.st
	operands := slices.DeleteFunc(slices.Clone(inv.args[1:]), func(a arg) bool { return a.Text == "-n" || a.Text == "--" })
	switch {
	case len(operands) == 0 && len(st.stack) > 0:
		top := len(st.stack) - 1
		stack := slices.Clone(st.stack)
		st.dir, stack[top] = stack[top], st.dir
		st.stack = stack
	case len(operands) == 0 || strings.HasPrefix(operands[0].Text, "+") || strings.HasPrefix(operands[0].Text, "-"):
		st.dir, st.stack = Dir{}, nil
	default:
		st.stack = append(slices.Clone(st.stack), st.dir)
		st.old, st.dir = st.dir, w.dirOf(operands[0])
	}
	w.printUnknown(inv)
}

func popd(w *walker, inv *invocation) {
	st := w.ctx.st
	if len(st.stack) == 0 || len(inv.args) > 1 {
		st.dir, st.stack = Dir{}, nil
		return
	}
	top := len(st.stack) - 1
	st.old, st.dir = st.dir, st.stack[top]
	st.stack = slices.Clone(st.stack[:top])
	w.printUnknown(inv)
}

// declare handles declare, export, local, readonly and typeset.
func (w *walker) declare(c *syntax.DeclClause, redirs []*syntax.Redirect) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.place(idx, c)
	w.within(idx, func() {
		inv := invocation{idx: idx, args: []arg{literalArg(c.Variant.Value)}}
		flags := c.Variant.Value
		for _, a := range c.Args {
			switch {
			case a.Naked && a.Name == nil:
				for _, f := range w.fields([]*syntax.Word{a.Value}) {
					inv.args = append(inv.args, f)
					if strings.HasPrefix(f.Text, "-") {
						flags += f.Text
					} else {
						inv.assigns = append(inv.assigns, w.declareWord(f, flags)...)
					}
				}
			case a.Naked:
				inv.args = append(inv.args, literalArg(a.Name.Value))
				w.attributes(a.Name.Value, flags)
			default:
				set := w.assignment(a, true)
				for _, one := range set {
					text := one.Name + "=" + one.Value.Text
					word := one.Value
					word.Text, word.Prefix, word.Raw = text, one.Name+"="+one.Value.Prefix, w.raw(a)
					if word.Certainty == Unknown {
						word.Certainty = Partial
					}
					inv.args = append(inv.args, arg{Word: word, val: append(known(one.Name+"="), wordValue(one.Value)...)})
				}
				inv.assigns = append(inv.assigns, set...)
				w.attributes(a.Name.Value, flags)
			}
		}
		inv.redir = w.redirects(redirs)
		w.run(&inv)
	})
}

// declareWord handles a word that becomes an assignment only after expansion.
func (w *walker) declareWord(f arg, flags string) []Assign {
	name, text, found := strings.Cut(f.Text, "=")
	if f.Certainty != Exact && !strings.Contains(f.Prefix, "=") {
		w.forget() // it may name any variable
		return nil
	}
	if !syntax.ValidName(name) {
		return nil
	}
	if !found {
		w.attributes(name, flags)
		return nil
	}
	v := known(text)
	if f.Certainty != Exact {
		v = unknown("$"+name, f.Inputs)
	}
	w.assign(name, v)
	w.attributes(name, flags)
	return []Assign{{Name: name, Value: newArg(v, f.Raw).Word}}
}

// attributes applies what flags such as -x, -r, -n and -i mean.
func (w *walker) attributes(name, flags string) {
	st := w.ctx.st
	v := st.lookupVar(name)
	variant, opts, _ := strings.Cut(flags, "-")
	if variant == "local" {
		if _, set := st.vars[name]; !set {
			v = variable{val: v.val}
		}
	}
	switch {
	case strings.Contains(opts, "n"):
		target, ok := v.val.exact()
		if !ok || !syntax.ValidName(target) {
			w.forget()
			target = anyVariable
		}
		st.vars[name] = variable{ref: target}
		return
	case strings.ContainsAny(opts, "iluA"):
		v.val, v.list, v.array, v.converts = unknown("$"+name, v.inputs()), nil, false, true
	}
	if strings.Contains(opts, "f") && (variant == "export" || strings.Contains(opts, "x")) {
		st.handsOn = true
		return
	}
	v.exported = v.exported || variant == "export" || strings.Contains(opts, "x")
	v.readonly = v.readonly || variant == "readonly" || strings.Contains(opts, "r")
	st.vars[name] = v
}

// exportWords handles export and declare where the parser saw a plain command: command
// export X=1, "export" X=1.
func exportWords(w *walker, inv *invocation) {
	flags := inv.args[0].Text
	for _, a := range inv.args[1:] {
		if strings.HasPrefix(a.Text, "-") {
			flags += a.Text
			continue
		}
		w.commands[inv.idx].Assigns = append(w.commands[inv.idx].Assigns, w.declareWord(a, flags)...)
	}
	if len(inv.args) == 1 || strings.Contains(flags, "-p") {
		w.printUnknown(inv)
	}
}

func unset(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if a.Certainty != Exact {
			w.forget()
			continue
		}
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		w.historyVariable(a.Text, nil)
		w.ctx.st.vars[a.Text] = variable{unset: true}
		delete(w.ctx.st.funcs, a.Text)
	}
}

// set handles "set -- a b c", which binds the parameters, and the history options.
func set(w *walker, inv *invocation) {
	st := w.ctx.st
	args := inv.args[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Text == "--" || a.Certainty != Exact || !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+"):
			if a.Text == "--" && a.Certainty == Exact {
				i++
			}
			st.params, st.bound = nil, true
			for _, p := range args[i:] {
				st.params = append(st.params, p.val)
				st.bound = st.bound && spelled(p)
			}
			if !st.bound {
				st.params = nil
			}
			return
		case strings.HasSuffix(a.Text, "o"):
			i++
			if i < len(args) && a.Text[0] == '+' && args[i].Text == "history" {
				w.mark(inv.idx, MarkHistory)
			}
		}
	}
	if len(args) == 0 {
		w.printUnknown(inv)
	}
}

func shift(w *walker, inv *invocation) {
	st := w.ctx.st
	n := 1
	if len(inv.args) > 1 {
		n = digit((inv.args[1].Text + "x")[0])
	}
	if n > len(st.params) {
		st.params, st.bound = nil, false
		return
	}
	st.params = st.params[n:]
}

// read binds variables to a line of standard input.
func read(w *walker, inv *invocation) {
	options, names := getopt(inv.args[1:], "adinNptu", nil)
	in := w.stdin()
	inputs := []int{inv.idx}
	if a, ok := options["-a"]; ok {
		w.assignUnknown(a.Text, inputs)
		return
	}
	_, limited := options["-n"]
	_, fd := options["-u"]
	_, delimiter := options["-d"]
	limited = limited || slices.ContainsFunc(inv.assigns, func(a Assign) bool { return a.Name == "IFS" })
	line, ok := "", false
	if in != nil && !limited && !fd && !delimiter && !w.ctx.loop {
		line, ok = w.nextLine(in)
	}
	if ok {
		inputs = sortedSet(append(inputs, in.cmds...))
	}
	if len(names) == 0 {
		names = []arg{literalArg("REPLY")}
	}
	_, rawMode := options["-r"]
	if !rawMode && strings.Contains(line, `\`) {
		ok = false
	}
	for i, n := range names {
		name, exact := n.val.exact()
		if !exact {
			w.forget()
			continue
		}
		if !ok {
			w.assignUnknown(name, inputs)
			continue
		}
		field := ""
		line = strings.TrimLeft(line, " \t")
		if i == len(names)-1 {
			field = strings.TrimRight(line, " \t")
		} else {
			field, line, _ = strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		}
		w.assign(name, value{{text: field, known: true, inputs: inputs}})
	}
}

// nextLine takes a line off a known standard input.
func (w *walker) nextLine(in *input) (string, bool) {
	text, ok := in.text.exact()
	if ifs, known := w.ctx.st.lookupVar("IFS").val.exact(); !ok || !known || strings.Trim(ifs, " \t\n") != "" {
		in.static = false
		in.text = unknown("", in.cmds)
		return "", false
	}
	line, rest, _ := strings.Cut(text, "\n")
	in.text = value{{text: rest, known: true, inputs: in.cmds}}
	return line, true
}

// assignsNames handles builtins whose operands are names of variables that get values
// which are not known: mapfile, getopts, wait -p.
func assignsNames(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if syntax.ValidName(a.Text) {
			w.assignUnknown(a.Text, []int{inv.idx})
		} else if a.Certainty != Exact {
			w.forget()
		}
	}
	if n := inv.args[0].Text; n == "mapfile" || n == "readarray" {
		w.assignUnknown("MAPFILE", []int{inv.idx})
	}
}

// eval runs its words as text, in this shell.
func eval(w *walker, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	v := joined(args)
	w.runText(inv, Code{Language: "bash", From: CodeArgument}, v, "eval", nil)
	if !w.commands[inv.idx].Code.Static {
		w.forget()
	}
}

// source runs a file in this shell.
func source(w *walker, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	w.runFile(inv, "bash", args[0], args[1:], true)
}

// trap runs its first operand as text, later.
func trap(w *walker, inv *invocation) {
	args := inv.args[1:]
	for len(args) > 0 && len(args[0].Text) == 2 && args[0].Text[0] == '-' {
		if args[0].Text != "--" {
			w.printUnknown(inv)
			return // -l, -p
		}
		args = args[1:]
	}
	if len(args) < 2 || args[0].Text == "-" || args[0].Text == "" && args[0].Certainty == Exact {
		return
	}
	still := w.still(inv.idx)
	w.runText(inv, Code{Language: "bash", From: CodeArgument}, args[0].val, "trap", func(c *context) {
		c.st = w.fork(c.st) // c is the walker's own context
		w.blur(still)
		c.out = &sink{}
	})
	if text, ok := args[0].val.exact(); !ok || strings.Contains(text, "=") || strings.Contains(text, "cd ") {
		w.blur(changes{all: true, dir: true}) // it may run at any time from here on
	}
}

// still is what the text may change after the command at idx: what a trap finds when it
// runs.
func (w *walker) still(idx int) changes {
	var later []*syntax.Stmt
	for _, s := range w.file.Stmts {
		if w.ctx.nested || w.ctx.loop || len(w.ctx.running) > 0 || int(s.End().Offset()) > w.commands[idx].End {
			later = append(later, s)
		}
	}
	return w.changes(later)
}

// alias records NAME=text.
func alias(w *walker, inv *invocation) {
	if len(inv.args) == 1 {
		w.printUnknown(inv)
	}
	for _, a := range inv.args[1:] {
		name, body, found := strings.Cut(a.Text, "=")
		if !found || strings.HasPrefix(name, "-") {
			continue
		}
		if ordinary(name) {
			w.mark(inv.idx, MarkShadow)
		}
		if a.Certainty != Exact {
			continue
		}
		w.ctx.st.aliases[name] = body
		w.reparse(inv.idx, body, "alias "+name, func(c *context) {
			c.marks = append(slices.Clone(c.marks), MarkNeverCalled)
			c.running = append(slices.Clone(c.running), "alias "+name)
			c.st = w.fork(c.st)
			c.out = &sink{}
		})
	}
}

// execBuiltin replaces the shell, or with redirects only changes its descriptors.
func execBuiltin(w *walker, inv *invocation) {
	_, rest := getopt(inv.args[1:], "a", nil)
	if len(rest) > 0 {
		w.inner(inv, rest, "exec", nil)
		return
	}
	st := w.ctx.st
	for _, r := range inv.redir.list {
		socket := strings.HasPrefix(r.Target.Prefix, "/dev/tcp/") || strings.HasPrefix(r.Target.Prefix, "/dev/udp/")
		if r.FD >= 0 && r.Mode != RedirectHere {
			st.sockets[r.FD] = socket || r.Mode == RedirectDup && inv.redir.sockets
		} else if socket {
			st.sockets[-1] = true
		}
	}
	if inv.redir.in != nil {
		st.in = inv.redir.in
	}
}

// hash -p makes a name stand for another program.
func hash(w *walker, inv *invocation) {
	options, names := getopt(inv.args[1:], "p", nil)
	program, ok := options["-p"]
	for _, a := range names {
		if ok {
			w.ctx.st.aliases[a.Text] = program.Text
			w.mark(inv.idx, MarkShadow)
		}
	}
}

// shopt matters for the one option that changes which shell a pipe's last stage runs in.
func shopt(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if a.Text == "lastpipe" || a.Certainty != Exact {
			w.ctx.st.lastpipe = true
		}
	}
	w.printUnknown(inv)
}

// ends notes that this way through the text stops here.
func ends(w *walker, _ *invocation) { w.ctx.st.ended = true }

// history -c and its like.
func history(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "cdw") {
			w.mark(inv.idx, MarkHistory)
		}
	}
	w.printUnknown(inv)
}

// historyVariable marks assignments that keep the shell from writing its history.
func (w *walker) historyVariable(name string, v value) {
	text, _ := v.exact()
	switch name {
	case "HISTFILE":
		if text == "" || text == "/dev/null" {
			w.mark(w.ctx.current, MarkHistory)
		}
	case "HISTSIZE", "HISTFILESIZE":
		if text == "" || text == "0" {
			w.mark(w.ctx.current, MarkHistory)
		}
	}
}

// ztcp opens a socket in zsh and leaves its descriptor in REPLY.
func ztcp(w *walker, inv *invocation) {
	w.mark(inv.idx, MarkSocket)
	w.ctx.st.sockets[-1] = true
	w.assignUnknown("REPLY", nil)
}

// complete runs text when a key is pressed; it is looked through.
func complete(w *walker, inv *invocation) {
	options, _ := getopt(inv.args[1:], "ACFGoPSWX", nil)
	if a, ok := options["-C"]; ok {
		w.runText(inv, Code{Language: "bash", From: CodeArgument}, a.val, "complete -C", nil)
	}
}
