package shell

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// xargs runs its command with words from standard input at the end, or in place of {}.
func (w *walker) xargs(inv *invocation, name string, l command.XargsLine) {
	change := func(x *context) {
		if !l.Reads { // its command reads of /dev/null
			x.in = &input{from: CodeFile, text: value.Known(""), static: !l.Terminal}
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
	if !static {
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

// replaced walks the command of xargs -I, once for each item.
func (w *walker) replaced(inv *invocation, name string, l command.XargsLine, items []value.Arg, static bool, inputs []int, change func(*context)) {
	if !static {
		items = w.foundItems(inputs)
		static = len(items) > 1 || items[0].Prefix != ""
	}
	if static {
		for _, item := range items {
			w.inner(inv, command.SubstituteMark(l.Command, l.Mark, item.Val, w.step), name, change)
		}
		return
	}
	item := value.Value{{Text: l.Mark.Text, Inputs: inputs, Data: w.listsNames(inputs)}}
	w.inner(inv, command.Substitute(l.Command, l.Mark.Text, item, w.step), name, change)
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

// items returns what is on a known standard input, or in a known file, as xargs takes it:
// words, with -I lines, or what separator ends.
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

// parallel joins its words into shell text, once per argument behind ::: .
func (w *walker) parallel(inv *invocation, name string, words, items []value.Arg) {
	code := Code{Language: "sh", From: CodeArgument}
	if len(words) == 0 { // the arguments are commands themselves
		if len(items) == 0 {
			w.stdinProgram(inv, "sh", name, nil)
		}
		for _, item := range items {
			w.runText(inv, code, item.Val, name, nil)
		}
		return
	}
	text := value.Join(words)
	marked := strings.Contains(text.Text(), "{")
	if len(items) == 0 || !eachTurn(value.Texts(items)) {
		var inputs []int
		if in := w.stdin(); in != nil {
			inputs = in.cmds
		}
		items = []value.Arg{value.OpaqueArg("{}", inputs)}
	}
	for _, item := range items {
		var one value.Value
		if marked {
			one = value.Join(command.Substitute(words, "{}", item.Val, w.step))
		} else {
			one = slices.Concat(text, value.Quote([]value.Arg{item}))
		}
		w.argumentText(inv, code, one, name)
	}
}

// argumentText walks text in which only arguments may be unknown: they are data that the
// carrier quotes, and do not make the text unknown code.
func (w *walker) argumentText(inv *invocation, code Code, v value.Value, via string) {
	code.Static = w.reparse(inv.idx, w.holes.Source(v), via, func(c *context) { c.st = w.child(code.Language) })
	code.Truncated = !code.Static
	w.commands[inv.idx].Code = code
}
