package shell

import (
	"path"
	"slices"
	"strings"
)

// inPath finds a file that this text has written in a directory which it has put into PATH:
// then a bare name means that file.
func (w *walker) inPath(name string) (string, bool) {
	v, changed := w.ctx.st.vars["PATH"]
	if !changed || strings.Contains(name, "/") {
		return "", false
	}
	for _, dir := range strings.Split(v.val.text(), ":") {
		to, ok := absolute(w.ctx.st.dir, dir)
		if !ok {
			continue
		}
		abs := path.Join(to, name)
		if f, written := w.ctx.st.files[abs]; written && (f.program != "" || len(f.content) > 0) {
			return abs, true
		}
	}
	return "", false
}

// runPath runs the file that inPath found.
func (w *walker) runPath(inv *invocation, abs string) {
	f := w.ctx.st.files[abs]
	if f.program != "" {
		args := slices.Clone(inv.args)
		args[0] = literalArg(path.Base(f.program))
		w.inner(inv, args, "copy of "+f.program, nil)
		return
	}
	lang := shebang(f.content.prefix())
	if lang == "" {
		lang = "sh" // what is no script and no program known here
	}
	file := literalArg(abs)
	w.script(inv, Code{Language: lang, From: CodeFile, File: file.Word}, lang, abs, file, inv.args[1:], false)
	w.printUnknown(inv)
}

// copies notes files that become copies of programs in other ways than cp: cat PROGRAM >f,
// dd if=PROGRAM of=f. With a known input dd writes that.
func (w *walker) copies(inv *invocation, name string) {
	from, to := "", inv.redir.file
	switch name {
	case "cat":
		if len(inv.args) == 2 {
			from, _ = inv.args[1].val.exact()
		}
	case "dd":
		for _, a := range inv.args[1:] {
			if text, ok := strings.CutPrefix(a.Text, "if="); ok {
				from = text
			}
			if _, ok := strings.CutPrefix(a.Text, "of="); ok {
				to, _ = w.pathOf(a.cutAt(len("of="), a.Text[len("of="):]))
			}
		}
		if in := inv.redir.in; from == "" && to != "" && in != nil {
			w.write(to, in.text, in.cmds, false)
			return
		}
	case "mkfifo":
		for _, a := range inv.args[1:] {
			if abs, ok := w.pathOf(a); ok {
				w.ctx.st.files[abs] = written{pipe: true}
			}
		}
		return
	default:
		return
	}
	if to != "" && systemProgram(path.Clean(from)) {
		w.ctx.st.files[to] = written{program: from}
	}
}

// foundItems are what xargs gets from find where that is not filtered: the places where find
// starts, or all below them. Filtered results are names below those places.
//
// Only for programs that take files away the difference between all and some is told: what
// reads all the files that find lists does not read each of them by name.
func (w *walker) foundItems(inputs []int, command string) []arg {
	var items []arg
	for _, i := range inputs {
		if i >= len(w.commands) || w.commands[i].Name != "find" {
			continue
		}
		words := w.commands[i].Words[1:]
		end := slices.IndexFunc(words, func(word Word) bool { return word.Text != "" && strings.ContainsAny(word.Text[:1], "-(!") })
		if end < 0 {
			end = len(words)
		}
		for _, root := range words[:end] {
			if root.Certainty != Exact {
				continue
			}
			v := value{{text: root.Text, known: true, quoted: true, inputs: inputs}}
			below := piece{text: strings.TrimSuffix(root.Text, "/") + "/", known: true, quoted: true, inputs: inputs}
			some := value{below, {text: "{}", quoted: true, data: true, inputs: inputs}}
			every := value{below, {text: "*", known: true, glob: true, inputs: inputs}}
			switch {
			case filtered(words[end:]) || len(inputs) > 1 || !removes[command]:
				items = append(items, newArg(some, ""))
			case onlyBelow(words[end:]):
				items = append(items, newArg(every, ""))
			default:
				items = append(items, newArg(v, ""), newArg(every, ""))
			}
		}
	}
	if len(items) == 0 {
		items = []arg{unknownArg("", inputs)}
	}
	return items
}

// removes are programs after which a file, or what it held, is gone.
var removes = nameSet("rm unlink shred srm rmdir truncate mv")

// filtered reports whether the expression of find picks some of the files.
func filtered(expression []Word) bool {
	for i, word := range expression {
		switch word.Text {
		case "-print", "-print0", "-type", "-maxdepth", "-mindepth", "-xdev", "-mount", "-depth", "-d", "-f", "-L", "-H", "-P", "f", "d", "l", "f,l", "f,d":
		default:
			if i == 0 || expression[i-1].Text != "-maxdepth" && expression[i-1].Text != "-mindepth" {
				return true
			}
		}
	}
	return false
}

// onlyBelow reports whether find leaves its starting places out.
func onlyBelow(expression []Word) bool {
	for i, word := range expression {
		if i > 0 && (expression[i-1].Text == "-type" && word.Text != "d" || expression[i-1].Text == "-mindepth" && word.Text != "0") {
			return true
		}
	}
	return false
}

// subscripts walks what a subscript in the name of a variable runs: read 'a[$(cmd)]',
// printf -v, unset, test -v. Bash evaluates it even where it stands in quotes.
func (w *walker) subscripts(inv *invocation, name string) {
	switch name {
	case "read", "unset", "mapfile", "readarray", "getopts", "wait", "declare", "typeset", "local", "export", "readonly", "let":
		for _, a := range inv.args[1:] {
			w.subscript(a.Text)
		}
	case "printf", "test", "[":
		for i, a := range inv.args[1:] {
			if inv.args[i].Text == "-v" && i > 0 {
				w.subscript(a.Text)
			}
		}
	}
}

func (w *walker) subscript(text string) {
	if open := strings.IndexByte(text, '['); open > 0 && strings.ContainsAny(text[open:], "$`") {
		w.hidden(text)
	}
}
