package walk

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// carry walks the command of a carrier: in a process of its own, but for carriers that run builtins of this
// shell.
func (w *walker) carry(inv *invocation, name string, c command.Carrier) {
	if name == "builtin" && w.ctx.st.sh { // no command of some shells
		after := w.branch(w.ctx.st, func() { w.carried(inv, name, c) })
		w.settle(w.merge(w.ctx.st, after))
	} else if name == "command" || name == "builtin" {
		w.carried(inv, name, c)
	} else {
		w.subshell(func() { w.carried(inv, name, c) })
	}
}

func (w *walker) carried(inv *invocation, name string, c command.Carrier) {
	args := inv.args[1:]
	switch {
	case c.Xargs():
		w.xargs(inv, name, c.ReadXargs(args))
	case c.Parallel():
		w.parallel(inv, name, c.ReadParallel(args))
	default:
		for _, r := range c.Runs(name, args, w.step) {
			w.hand(inv, r)
		}
	}
	switch c.Effect(args) {
	case command.ChangesFiles:
		w.changesFiles(inv, name)
	case command.ChangesNamed:
		w.touchNamed(inv, true)
	}
	w.printUnknown(inv)
}

// hand walks one thing that a command runs.
func (w *walker) hand(inv *invocation, r command.Run) {
	own := &w.commands[inv.idx]
	own.Assigns = append(slices.Clone(own.Assigns), r.Assigns...)
	w.heldVariables(inv, r.Assigns)
	if r.Unsure {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	change := w.placed(r)
	switch code := (shell.Code{Language: r.Lang, From: shell.CodeArgument}); r.Kind {
	case command.Words:
		w.inner(inv, r.Args, r.Via, change)
	case command.Text:
		if command.IsShell(r.Lang) {
			w.runText(inv, code, r.Text, r.Via, change)
		} else {
			w.runInline(inv, code, r.Text, r.Via)
		}
	case command.Input:
		if r.Given && w.stdin() == nil {
			return
		}
		w.stdinProgram(inv, r.Lang, r.Via, change)
	case command.File:
		w.runFile(inv, r.Lang, r.Args[0], r.Args[1:], false)
	case command.Session:
		w.session(inv, r.Lang)
	case command.Name:
		w.ctx.out.text = r.Text.With(false, []int{inv.idx})
	}
}

// placed returns the context of a command at the place of r.
func (w *walker) placed(r command.Run) func(*context) {
	return func(x *context) {
		x.elevated = x.elevated || r.Elevated
		x.background = x.background || r.Behind
		if r.Socket {
			x.marks = append(slices.Clone(x.marks), shell.MarkSocketShell)
		}
		switch {
		case r.Foreign:
			x.st = w.foreign()
		case r.Moved:
			x.st = w.fork(x.st)
			x.st.place(shell.Dir{})
		}
		if r.Away || r.Bare {
			x.st = w.spawn(x.st)
			if r.Away {
				x.st.place(shell.Dir{})
				x.st.old = shell.Dir{}
			}
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if r.Dir != nil {
			x.st = w.spawn(x.st)
			to, ok := w.pathOf(*r.Dir)
			x.st.place(shell.Dir{Path: to, Known: ok})
		}
		if !r.Empty && r.Unset == nil && len(r.Assigns) == 0 {
			return
		}
		x.st = w.spawn(x.st)
		if r.Empty {
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{"HOME": {unset: true}}
		}
		if r.Unset != nil {
			x.st.vars[r.Unset.Text] = variable{unset: true}
		}
		for _, a := range r.Assigns {
			x.st.vars[a.Name] = variable{val: a.Value.Value(), exported: true}
		}
	}
}

// steers reports one of the variables of shell.Steering.
func steers(name string) bool {
	return strings.HasPrefix(name, "SALLYPORT_") || strings.Contains(" "+shell.Steering+" ", " "+name+" ")
}

// steered lists the variables of shell.Steering that programs get with another value than the text got.
func (w *walker) steered() (list []value.Assign) {
	st := w.ctx.st
	for name, v := range st.vars {
		if !steers(name) {
			continue
		}
		before, was := w.opts.Env[name]
		always := name == "HOME" || name == "PATH"
		text, exact := v.val.Exact()
		switch {
		case v.unset && !was && !always, !v.unset && was && exact && text == before:
		case v.unset || v.exported || v.perhaps || st.exports || always:
			list = append(list, value.Assign{Name: name, Value: value.NewArg(v.val, "$"+name).Word})
		}
	}
	slices.SortFunc(list, func(a, b value.Assign) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// foreign is the state on another machine: nothing is known there.
func (w *walker) foreign() *state {
	st := w.child("sh")
	st.base, st.whole, st.vars = nil, false, map[string]variable{}
	st.place(shell.Dir{})
	st.old, st.stack = shell.Dir{}, nil
	st.disk = newDisk()
	st.removed = true
	return st
}

// xargs runs its command with words from standard input at the end, or in place of {}.
func (w *walker) xargs(inv *invocation, name string, l command.XargsLine) {
	change := func(x *context) {
		if !l.Reads { // its command reads of /dev/null
			x.in = &input{from: shell.CodeFile, text: value.Known(""), static: !l.Terminal}
		}
		if l.Terminal {
			x.in = nil
		}
	}
	var inputs []int
	if in := w.stdin(); in != nil && !l.Reads {
		inputs = in.cmds
	}
	var items []value.Arg
	static := false
	if l.Known {
		items, static = w.items(l.Replace, l.Split, l.File)
	}
	if l.Replace {
		w.replaced(inv, name, l, items, static, inputs, change)
		return
	}
	if !static && w.partsItems(l) {
		items = []value.Arg{value.NewArg(value.PartOf("", inputs), "")}
	} else if !static {
		items = w.foundItems(inputs)
		for i := range items { // a name with a blank is several words, and there may be none
			items[i] = value.NewArg(items[i].Val.With(false, nil), items[i].Raw)
		}
	}
	if static && l.Each < 0 {
		items = []value.Arg{value.OpaqueArg("{}", value.Inputs(items))}
	}
	for static && l.Each > 0 && len(items) > l.Each {
		w.inner(inv, slices.Concat(l.Command, items[:l.Each]), name, change)
		items = items[l.Each:]
	}
	w.inner(inv, slices.Concat(l.Command, items), name, change)
}

// partsItems reports that the items of xargs need not be lines that the commands in front of it print.
func (w *walker) partsItems(l command.XargsLine) bool {
	return l.Reads || w.stdin().parts() || !endsLines(l.Split)
}

// replaced walks the command of xargs -I, once for each item.
func (w *walker) replaced(inv *invocation, name string, l command.XargsLine, items []value.Arg, static bool, inputs []int, change func(*context)) {
	cut := w.partsItems(l)
	if !static && !cut {
		items = w.foundItems(inputs)
		static = len(items) > 1 || items[0].Prefix != ""
	}
	if static {
		for _, item := range items {
			w.inner(inv, command.SubstituteMark(l.Command, l.Mark, item.Val, w.step), name, change)
		}
		return
	}
	item := value.Value{{Text: l.Mark.Text, Inputs: inputs, Data: w.listsNames(inputs), Cut: cut}}
	w.inner(inv, command.SubstituteMark(l.Command, l.Mark, item, w.step), name, change)
}

// listsNames reports whether all of these commands print names of files and the like, which
// are data to those who read them.
func (w *walker) listsNames(cmds []int) bool {
	for _, i := range cmds {
		switch w.commands[i].Name {
		case "find", "fd", "fdfind", "ls", "git", "seq", "sort", "uniq", "head", "tail", "grep", "egrep", "rg", "basename", "dirname", "locate", "nproc", "jobs", "pgrep":
		default:
			return false
		}
	}
	return len(cmds) > 0
}

// items splits a known standard input, or a known file, as xargs does: into words, with -I into lines, or at
// a separator.
func (w *walker) items(lines bool, separator string, file value.Arg) ([]value.Arg, bool) {
	in := w.stdin()
	if file.Text != "" {
		content, ok := w.content(file.Val)
		if !ok {
			return nil, false
		}
		in = &input{text: content, cmds: content.Inputs(), static: content.Known()}
	}
	if in == nil || !in.static {
		return nil, false
	}
	text, ok := in.text.Exact()
	if !ok || separator == "" && strings.ContainsAny(text, "'\"\\\v\f\r") {
		return nil, false
	}
	split := strings.Fields
	if separator != "" {
		split = func(s string) []string { return strings.Split(strings.TrimSuffix(s, separator), separator) }
	} else if lines {
		split = func(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
	}
	var items []value.Arg
	words := split(text)
	if !eachTurn(words) {
		return nil, false
	}
	for _, f := range words {
		if !w.step(1) {
			return nil, false
		}
		a := value.Literal(strings.TrimLeft(f, " \t"))
		a.Inputs = in.cmds
		a.Val[0].Inputs = in.cmds
		items = append(items, a)
	}
	return items, true
}

// parallel joins its words into shell text, once per argument behind ::: or line of its input.
func (w *walker) parallel(inv *invocation, name string, l command.ParallelLine) {
	code := shell.Code{Language: "sh", From: shell.CodeArgument}
	items, join := l.Items, value.Join
	if l.Quoted {
		join = value.Quote
	}
	if len(l.Command) == 0 { // the arguments are commands themselves
		if len(items) == 0 {
			w.stdinProgram(inv, "sh", name, nil)
		}
		for _, item := range items {
			w.runText(inv, code, item.Val, name, nil)
		}
		return
	}
	text := join(l.Command)
	marked := strings.Contains(text.Text(), "{")
	if l.Lines {
		items, _ = w.items(true, "\n", value.Arg{})
	}
	if len(items) == 0 || !eachTurn(value.Texts(items)) {
		var inputs []int
		if in := w.stdin(); in != nil {
			inputs = in.cmds
		}
		items = []value.Arg{value.OpaqueArg("{}", inputs)}
	}
	for _, item := range items {
		if w.budget != "" {
			return
		}
		var one value.Value
		if marked {
			put, words := item.Val, l.Command
			if !l.Quoted {
				put = value.Quote([]value.Arg{item})[1:]
			}
			for _, mark := range []string{"{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}"} {
				words = command.Substitute(words, mark, value.Opaque(mark, item.Val.Inputs()), w.step)
			}
			one = join(command.Substitute(words, "{}", put, w.step))
		} else {
			one = slices.Concat(text, value.Quote([]value.Arg{item}))
		}
		w.argumentText(inv, code, one, name)
	}
}

// argumentText walks text in which only arguments may be unknown: they are data that the
// carrier quotes, and do not make the text unknown code.
func (w *walker) argumentText(inv *invocation, code shell.Code, v value.Value, via string) {
	code.Static = w.reparse(inv.idx, w.holes.Source(v), via, func(c *context) { c.st = w.child(code.Language) })
	code.Truncated = !code.Static
	w.commands[inv.idx].Code = code
}
