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
				w.inner(inv, w.substituteMark(rest, mark, item.Val), name, change)
			}
			return
		}
		if found := w.foundItems(inputs); len(found) > 1 || found[0].Prefix != "" {
			for _, item := range found {
				w.inner(inv, w.substituteMark(rest, mark, item.Val), name, change)
			}
			return
		}
		item := value.Value{{Text: mark.Text, Inputs: inputs, Data: w.listsNames(inputs)}}
		w.inner(inv, w.substitute(rest, mark.Text, item), name, change)
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

// xargsOptions are the long options of xargs.
var xargsOptions = strings.Fields("--null --arg-file --delimiter --eof --replace --max-lines --max-args --interactive --open-tty" +
	" --max-procs --process-slot-var --no-run-if-empty --max-chars --verbose --show-limits --exit")

// longOptions spells out long options that are shortened. It is false where one is not known, or stands for several.
func longOptions(args []value.Arg, names []string) ([]value.Arg, bool) {
	out, clear := slices.Clone(args), true
	for i, a := range out {
		if a.Text == "--" || !strings.HasPrefix(a.Text, "-") {
			break
		}
		name, val, glued := strings.Cut(a.Text, "=")
		if !strings.HasPrefix(name, "--") || slices.Contains(names, name) {
			continue
		}
		long := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
		if clear = clear && len(long) == 1; len(long) != 1 {
			continue
		}
		out[i] = value.Literal(long[0])
		if glued {
			out[i] = value.Literal(long[0] + "=" + val)
		}
	}
	return out, clear
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

// substituteMark is substitute for a mark of which a part may not be known: what reads the
// same is the same then.
func (w *walker) substituteMark(args []value.Arg, mark value.Arg, v value.Value) []value.Arg {
	if mark.Certainty == value.Exact {
		return w.substitute(args, mark.Text, v)
	}
	out := slices.Clone(args)
	for i, a := range out {
		if mark.Text != "" && strings.Contains(a.Text, mark.Text) {
			out[i] = value.NewArg(value.Known(strings.ReplaceAll(a.Text, mark.Text, v.Text())), a.Raw)
		}
	}
	return out
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

// substitute replaces mark in args by v.
func (w *walker) substitute(args []value.Arg, mark string, v value.Value) []value.Arg {
	out := make([]value.Arg, len(args))
	w.step(2 * len(args))
	for i, a := range args {
		out[i] = a
		if mark == "" || !strings.Contains(a.Text, mark) {
			continue
		}
		var made value.Value
		for _, p := range a.Val {
			for p.Known && strings.Contains(p.Text, mark) {
				before, rest, _ := strings.Cut(p.Text, mark)
				if before != "" {
					head := p
					head.Text = before
					made = append(made, head)
				}
				made = append(made, v.With(true, nil)...)
				p.Text = rest
			}
			if p.Text != "" {
				made = append(made, p)
			}
		}
		if !w.pay(made) {
			break
		}
		out[i] = value.NewArg(made, a.Raw)
	}
	return out
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
			one = value.Join(w.substitute(command, "{}", item.Val))
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

// find walks what -exec and its like run for each file found.
func (w *walker) find(inv *invocation, name string) {
	args := inv.args[1:]
	var roots []value.Arg
	for _, a := range args {
		if a.Text != "" && strings.ContainsAny(a.Text[:1], "-(!") {
			break
		}
		roots = append(roots, a)
	}
	if strings.HasPrefix(name, "fd") {
		roots = fdRoots(args)
	}
	found := w.findResult(roots)
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		default:
			continue
		}
		option := args[i].Text
		start := i + 1
		for i++; i < len(args); i++ {
			if args[i].Text == ";" || args[i].Text == "+" && args[i-1].Text == "{}" {
				break
			}
		}
		command := args[start:min(i, len(args))]
		many := i < len(args) && args[i].Text == "+" || option == "-X" || option == "--exec-batch"
		var change func(*context)
		if option == "-execdir" || option == "-okdir" {
			change = func(x *context) {
				x.st = w.fork(x.st)
				x.st.place(Dir{})
			}
		}
		if strings.HasPrefix(name, "fd") && !slices.ContainsFunc(command, func(a value.Arg) bool { return strings.Contains(a.Text, "{") }) {
			command = append(slices.Clone(command), value.OpaqueArg("{}", nil))
		}
		command = w.substitute(command, "{}", found)
		for i, a := range command {
			if many && strings.Contains(a.Text, "{}") {
				command[i] = value.NewArg(a.Val.With(false, nil), a.Raw)
			}
		}
		w.inner(inv, command, name+" "+option, change)
	}
}

// fdRoots are the places where fd searches: the operands behind the pattern.
func fdRoots(args []value.Arg) []value.Arg {
	var operands []value.Arg
	for i := 0; i < len(args); i++ {
		switch text := args[i].Text; {
		case text == "-x" || text == "-X" || text == "--exec" || text == "--exec-batch":
			i = len(args)
		case len(text) > 1 && text[0] == '-':
			if len(text) == 2 && strings.Contains("tedESojc", text[1:]) || text == "--type" || text == "--extension" || text == "--max-depth" || text == "--exclude" {
				i++
			}
		default:
			operands = append(operands, args[i])
		}
	}
	return operands[min(1, len(operands)):]
}

// findResult is the value that {} takes: something below the places where find starts.
func (w *walker) findResult(roots []value.Arg) value.Value {
	if len(roots) == 0 {
		roots = []value.Arg{value.Literal(".")}
	}
	if len(roots) > 1 || roots[0].Certainty == value.Unknown {
		return value.Value{{Text: "{}", Data: true, Inputs: value.Inputs(roots)}}
	}
	text := roots[0].Prefix
	if !strings.HasSuffix(text, "/") {
		text += "/"
	}
	return value.Value{{Text: text, Known: true, Quoted: true, Inputs: roots[0].Inputs}, {Text: "{}", Quoted: true, Data: true}}
}

func (w *walker) entr(inv *invocation, args []value.Arg) {
	options, rest := getopt(args, "", nil)
	if _, ok := options["-s"]; ok && len(rest) > 0 {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, rest[0].Val, "entr -s", nil)
		return
	}
	w.inner(inv, w.substitute(rest, "/_", value.Opaque("/_", nil)), "entr", nil)
}
