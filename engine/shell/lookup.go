package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

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
		args[0] = value.Literal(path.Base(f.program))
		w.inner(inv, args, "copy of "+f.program, nil)
		return
	}
	lang := command.Shebang(f.content.Prefix())
	if lang == "" {
		lang = "sh" // what is no script and no program known here
	}
	file := value.Literal(abs)
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
				w.ctx.st.files[abs] = written{pipe: true}
			}
		}
		return
	default:
		return
	}
	if to != "" && command.SystemProgram(path.Clean(from)) {
		w.ctx.st.files[to] = written{program: from}
	}
}

// foundItems are the names that xargs gets from find: entries of the places where find starts.
func (w *walker) foundItems(inputs []int) []value.Arg {
	var items []value.Arg
	for _, i := range inputs {
		if i >= len(w.commands) || w.commands[i].Name != "find" {
			continue
		}
		for _, root := range w.commands[i].Words[1:] {
			if root.Text != "" && strings.ContainsAny(root.Text[:1], "-(!") {
				break
			}
			if root.Certainty == value.Exact {
				items = append(items, value.NewArg(value.Value{
					{Text: strings.TrimSuffix(root.Text, "/") + "/", Known: true, Quoted: true, Inputs: inputs},
					{Text: "{}", Quoted: true, Data: true, Inputs: inputs},
				}, ""))
			}
		}
	}
	if len(items) == 0 {
		items = []value.Arg{value.OpaqueArg("", inputs)}
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

// subscript walks what a name with a subscript evaluates: a[$(rm x)].
func (w *walker) subscript(text string) {
	if _, inner, found := strings.Cut(text, "["); found {
		w.numberText(strings.TrimSuffix(inner, "]"))
	}
}
