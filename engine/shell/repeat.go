package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// xargs runs its command with words from standard input at the end, or in place of {}.
func (w *walker) xargs(inv *invocation, name string, c carrier) {
	args, clear := longOptions(inv.args[1:], xargsOptions)
	options, rest := getopt(args, c.short, c.long)
	if len(rest) == 0 {
		rest = []value.Arg{value.Literal("echo")}
	}
	mark, replace := option(options, "-I", "--replace")
	if i, ok := options["-i"]; ok {
		mark, replace = i, true
	}
	if replace && mark.Text == "" {
		mark = value.Literal("{}")
	}
	file, reads := option(options, "-a", "--arg-file")
	_, terminal := option(options, "-o", "--open-tty")
	change := func(x *context) {
		if !reads { // its command reads of /dev/null
			x.in = &input{from: CodeFile, text: value.Known(""), static: !terminal}
		}
		if terminal {
			x.in = nil
		}
	}
	var inputs []int
	if in := w.stdin(); in != nil && !reads {
		inputs = in.cmds
	}
	_, null := option(options, "-0", "--null")
	d, delimiter := option(options, "-d", "--delimiter")
	_, eof := option(options, "-E", "-e", "--eof")
	split, known := "", !eof && clear
	if null {
		split = "\x00"
	} else if delimiter {
		split, known = value.Unescape(d.Text, value.Escapes{Octal: true})
	}
	var items []value.Arg
	static := false
	if known {
		items, static = w.items(replace, split, file)
	}
	if replace {
		if static {
			for _, item := range items {
				w.inner(inv, substituteMark(rest, mark, item.Val, w.step), name, change)
			}
			return
		}
		if found := w.foundItems(inputs); len(found) > 1 || found[0].Prefix != "" {
			for _, item := range found {
				w.inner(inv, substituteMark(rest, mark, item.Val, w.step), name, change)
			}
			return
		}
		item := value.Value{{Text: mark.Text, Inputs: inputs, Data: w.listsNames(inputs)}}
		w.inner(inv, substitute(rest, mark.Text, item, w.step), name, change)
		return
	}
	if !static {
		items = w.foundItems(inputs)
		for i := range items { // a name with a blank is several words, and there may be none
			items[i] = value.NewArg(items[i].Val.With(false, nil), items[i].Raw)
		}
	}
	n, each := option(options, "-n", "--max-args")
	size, err := strconv.Atoi(n.Text)
	if _, lines := option(options, "-L", "-l", "--max-lines"); static && (lines || each && (err != nil || size < 1)) {
		items, each = []value.Arg{value.OpaqueArg("{}", value.Inputs(items))}, false
	}
	for each && static && len(items) > size {
		w.inner(inv, slices.Concat(rest, items[:size]), name, change)
		items = items[size:]
	}
	w.inner(inv, slices.Concat(rest, items), name, change)
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
func (w *walker) parallel(inv *invocation, name string, c carrier) {
	_, rest := getopt(inv.args[1:], c.short, c.long)
	command := rest
	var items []value.Arg
	for i, a := range rest {
		if strings.HasPrefix(a.Text, ":::") {
			command = rest[:i]
			if a.Text == ":::" || a.Text == ":::+" {
				items = rest[i+1:]
			}
			break
		}
	}
	code := Code{Language: "sh", From: CodeArgument}
	if len(command) == 0 { // the arguments are commands themselves
		if len(items) == 0 {
			w.stdinProgram(inv, "sh", name, nil)
		}
		for _, item := range items {
			w.runText(inv, code, item.Val, name, nil)
		}
		return
	}
	text := value.Join(command)
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
			one = value.Join(substitute(command, "{}", item.Val, w.step))
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
