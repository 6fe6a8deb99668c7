package walk

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// builtin returns the effect of one of the shell's own commands on the walk, nil for commands
// that neither change what the walk knows nor run text.
func builtin(name string) func(*walker, *invocation) {
	switch name {
	case "cd":
		return cd
	case "pushd":
		return pushd
	case "popd":
		return popd
	case "dirs":
		return dirs
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
		return sourceFile
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
	case "complete", "compgen":
		return complete
	case "fc":
		return fc
	case "enable":
		return enable
	case "bind":
		return bind
	default:
		return nil
	}
}

// set handles "set -- a b c", which binds the parameters, and the history options.
func set(w *walker, inv *invocation) {
	st := w.ctx.st
	args := inv.args[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Text == "--" || a.Certainty != value.Exact || !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+"):
			if a.Text == "--" && a.Certainty == value.Exact {
				i++
			}
			st.bindArgs(args[i:])
			return
		default:
			st.physical = st.physical || strings.Contains(a.Text, "P")
			st.exports = st.exports || strings.Contains(a.Text, "a")
			st.traced = st.traced || strings.ContainsAny(a.Text, "xv")
			st.nounset = st.nounset || strings.Contains(a.Text, "u")
			st.errexit = st.errexit || strings.Contains(a.Text, "e")
			st.sh = st.sh || strings.Contains(a.Text, "B")
			// assignments behind the command, !words, writes that fail
			w.unclear = w.unclear || strings.ContainsAny(a.Text, "kHC")
			for range strings.Count(a.Text, "o") {
				if i++; i < len(args) {
					w.setOption(inv, a, args[i])
				}
			}
		}
	}
	if len(args) == 0 {
		w.printUnknown(inv)
	}
}

// setOption handles an option of set that has a name: "set -o errexit".
func (w *walker) setOption(inv *invocation, a, name value.Arg) {
	if a.Text[0] == '+' && name.Text == "history" {
		w.mark(inv.idx, shell.MarkHistory)
	}
	option := func(is string) bool { return name.Certainty != value.Exact || name.Text == is }
	st := w.ctx.st
	st.physical = st.physical || option("physical")
	st.exports = st.exports || option("allexport")
	st.traced = st.traced || option("xtrace") || option("verbose")
	st.nounset, st.errexit = st.nounset || option("nounset"), st.errexit || option("errexit")
	st.sh = st.sh || option("posix") || option("braceexpand")
	w.unclear = w.unclear || option("keyword") || option("histexpand") || option("noclobber")
}

func shift(w *walker, inv *invocation) {
	st := w.ctx.st
	n, err := 1, error(nil)
	if len(inv.args) > 1 {
		n, err = strconv.Atoi(inv.args[1].Text)
	}
	if err != nil || n < 0 || n > len(st.params) {
		st.bind(nil, false)
		return
	}
	st.params = st.params[n:]
}

// read binds variables to a line of standard input.
func read(w *walker, inv *invocation) {
	options, names := command.Getopt(inv.args[1:], "adinNptu", nil)
	in := w.stdin()
	inputs := []int{inv.idx}
	made := in != nil && (in.static || slices.ContainsFunc(in.text, func(p value.Piece) bool { return p.Made }))
	limited := slices.ContainsFunc(inv.assigns, func(a value.Assign) bool { return a.Name == "IFS" })
	cut := in.parts() || !w.splitsAtBlanks(inv.assigns) || !endsLines(options["-d"].Text)
	if a, ok := options["-a"]; ok {
		w.assign(a.Text, value.Value{{Text: "$" + a.Text, Inputs: inputs, Made: made, Cut: cut}})
		return
	}
	for o := range options {
		limited = limited || o != "-r" && o != "-p" && o != "-s"
	}
	line, ok := "", false
	if in != nil && !limited && !w.ctx.st.sh && !w.ctx.loop {
		line, ok = w.nextLine(in)
	}
	if ok {
		inputs = value.Set(append(inputs, in.cmds...))
	} else if in != nil {
		in.drain()
	}
	whole := len(names) == 0
	if whole { // with its blanks
		names = []value.Arg{value.Literal("REPLY")}
	}
	_, rawMode := options["-r"]
	if !rawMode && strings.Contains(line, `\`) {
		ok = false
	}
	for i, n := range names {
		name, exact := n.Val.Exact()
		if !exact {
			w.forget()
			continue
		}
		if !ok {
			w.assign(name, value.Value{{Text: "$" + name, Inputs: inputs, Made: made, Cut: cut}})
			continue
		}
		field := line
		if !whole {
			line = strings.TrimLeft(line, " \t")
			field = strings.TrimRight(line, " \t")
		}
		if end := strings.IndexAny(line, " \t"); end >= 0 && i < len(names)-1 {
			field, line = line[:end], line[end:]
		} else if i < len(names)-1 {
			line = ""
		}
		w.assign(name, value.Value{{Text: field, Known: true, Inputs: inputs}})
	}
}

// drain notes that something was read of an input: what is left is not known.
func (in *input) drain() {
	in.static, in.text = false, value.Opaque("", in.cmds)
}

// nextLine takes a line off a known standard input.
func (w *walker) nextLine(in *input) (string, bool) {
	text, ok := in.text.Exact()
	if ifs, known := w.ctx.st.lookupVar("IFS").val.Exact(); !ok || !known || ifs != " \t\n" || strings.ContainsRune(text, 0) {
		in.drain()
		return "", false
	}
	line, rest, _ := strings.Cut(text, "\n")
	in.text = value.Value{{Text: rest, Known: true, Inputs: in.cmds}}
	return line, true
}

// endsLines reports an end of items that parts no names: a null byte, a newline, or none that was given.
func endsLines(end string) bool { return end == "" || slices.Contains(lineEnds, end) }

// lineEnds are the ends of the items of a list of names, as $'\0' and xargs -d '\n' give them.
var lineEnds = []string{"\x00", "\n", `\0`, `$'\0'`}

// blank reports an IFS of blanks and nothing else.
func blank(ifs string) bool { return strings.Trim(ifs, " \t\n") == "" }

// splitsAtBlanks reports that IFS, and each value of it in front of a command, is blank.
func (w *walker) splitsAtBlanks(assigns []value.Assign) bool {
	ifs, ok := w.ctx.st.lookupVar("IFS").val.Exact()
	return ok && blank(ifs) && !slices.ContainsFunc(assigns, func(a value.Assign) bool {
		return a.Name == "IFS" && (a.Value.Certainty != value.Exact || !blank(a.Value.Text))
	})
}

// assignsNames handles builtins whose operands are names of variables that get values
// which are not known: mapfile, getopts, wait -p.
func assignsNames(w *walker, inv *invocation) {
	lines := value.Opaque("", []int{inv.idx})
	if options, _ := command.Getopt(inv.args[1:], "dnOsuCcp", nil); w.stdin().parts() ||
		!endsLines(options["-d"].Text) || options["-O"].Text != "" {
		lines = value.PartOf("", lines.Inputs())
	}
	for _, a := range inv.args[1:] {
		if syntax.ValidName(a.Text) {
			if w.ctx.st.vars[a.Text].converts { // each line is evaluated
				w.mark(inv.idx, shell.MarkDynamicCode)
			}
			w.assign(a.Text, value.OpaqueOf("$"+a.Text, lines))
		} else if a.Certainty != value.Exact {
			w.forget()
		} else if base, _, element := strings.Cut(a.Text, "["); element && syntax.ValidName(base) {
			w.assignUnknown(base, nil)
		}
	}
	if inv.args[0].Text == "getopts" {
		w.assignUnknown("OPTARG", []int{inv.idx})
		w.assignUnknown("OPTIND", []int{inv.idx})
	}
	if options, _ := command.Getopt(inv.args[1:], "dnOsuCcp", nil); options["-C"].Text != "" {
		w.aside(inv, withMore(options["-C"].Val), "mapfile -C")
	}
	if n := inv.args[0].Text; n == "mapfile" || n == "readarray" {
		w.assign("MAPFILE", value.OpaqueOf("$MAPFILE", lines))
	}
}

// shopt matters for the options that change what the walk relies on.
func shopt(w *walker, inv *invocation) {
	st := w.ctx.st
	for _, a := range inv.args[1:] {
		option := func(name string) bool { return a.Text == name || a.Certainty != value.Exact }
		st.lastpipe = st.lastpipe || option("lastpipe")
		st.physical = st.physical || option("cdable_vars") || option("cdspell")
		st.decodes = st.decodes || option("xpg_echo")
		st.sh = st.sh || option("posix") || option("braceexpand")
		w.unclear = w.unclear || option("histexpand") || option("keyword") || option("nocaseglob") ||
			option("noclobber") || strings.HasPrefix(a.Text, "compat")
		w.failglob = w.failglob || option("failglob")
		st.nocase = st.nocase || option("nocasematch")
		st.handsE = st.handsE || option("inherit_errexit")
		st.traced = st.traced || option("xtrace") || option("verbose")
		st.nounset, st.errexit = st.nounset || option("nounset"), st.errexit || option("errexit")
	}
	w.printUnknown(inv)
}

// ends notes that this way through the text stops here. Outside of functions and loops only exit ends it.
func ends(w *walker, inv *invocation) {
	switch w.commands[inv.idx].Name {
	case "exit":
		w.ctx.st.ended = true
	case "return":
		w.ctx.st.ended = w.ctx.locals != nil
	default:
		w.ctx.st.ended = w.ctx.breaks
	}
}

// history -c and its like.
func history(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "cd") {
			w.mark(inv.idx, shell.MarkHistory)
		}
	}
	w.printUnknown(inv)
}

// ztcp opens a socket in zsh and leaves its descriptor in REPLY.
func ztcp(w *walker, inv *invocation) {
	w.mark(inv.idx, shell.MarkSocket)
	w.ctx.st.sockets[-1] = true
	w.assignUnknown("REPLY", nil)
}

// printf formats known arguments. With -v it assigns instead of printing.
func (w *walker) printf(args []value.Arg) (value.Value, bool) {
	options, rest := command.Getopt(args, "v", nil)
	target, assigns := options["-v"]
	variable := target.Text
	if len(rest) == 0 || len(options) > 1 || !assigns && len(options) > 0 {
		return nil, false
	}
	v, ok := value.Format(rest[0], rest[1:], w.ctx.st.sh)
	if !assigns {
		return v, ok
	}
	if !ok || w.ctx.st.sh { // -v is an error to some shells
		v = value.PartOf("$"+variable, value.Inputs(args))
	}
	w.subscript(variable)
	if target.Certainty != value.Exact {
		w.forget()
		return value.Known(""), true
	}
	w.assign(variable, v)
	return value.Known(""), true
}

// sedInPlace works out what sed -i makes of files whose content is known, by substitutions that need no more
// than plain text, the dot, and the anchors. It reports whether all is known.
func (w *walker) sedInPlace(inv *invocation) bool {
	var scripts []string
	var files []value.Arg
	args := inv.args[1:]
	inPlace := false
	for i := 0; i < len(args); i++ {
		text, ok := args[i].Val.Exact()
		switch {
		case !ok || args[i].Glob:
			return false
		case text == "-i":
			inPlace = true
		case text == "-e" && i+1 < len(args):
			i++
			scripts = append(scripts, args[i].Text)
		case strings.HasPrefix(text, "-"):
			return false
		default:
			files = append(files, args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = []string{files[0].Text}, files[1:]
	}
	if !inPlace {
		return false
	}
	for _, f := range files {
		abs, ok := w.pathOf(f)
		if ok && w.absent(abs) {
			continue
		}
		content, found := w.contentOf(abs)
		text, exact := content.Exact()
		if !ok || !found || !exact || !w.step(1+len(scripts)*len(text)/bytesPerStep) {
			return false
		}
		for _, s := range scripts {
			if text, ok = value.Substituted(s, text); !ok {
				return false
			}
		}
		w.write(abs, value.Value{{Text: text, Known: true, Inputs: content.Inputs()}}, []int{inv.idx}, false)
	}
	return true
}
