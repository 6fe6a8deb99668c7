package walk

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Programs that run a command which they are handed in an option, a variable or a line of
// their own language. The command is walked as if the shell ran it here; what else the
// program does is not this package's business.

// held walks the commands that an invocation hands to the program it starts.
func (w *walker) held(inv *invocation, name string) {
	w.heldVariables(inv, inv.assigns)
	args := inv.args[min(1, len(inv.args)):]
	for _, r := range command.Held(w.opts.Table, name, args) {
		w.aside(inv, r.Text, r.Via)
	}
	sources := make([]string, 0, len(inv.args))
	for _, a := range args {
		sources = append(sources, a.Prefix)
	}
	if in := w.stdin(); in != nil && in.from != shell.CodeNone {
		sources = append(sources, in.text.Prefix())
	}
	for _, source := range sources {
		for _, r := range command.Escapes(name, source, w.step) {
			if w.budget == "" {
				w.aside(inv, r.Text, r.Via)
			}
		}
	}
	if name == "sed" || name == "gsed" {
		for _, text := range command.SedCommands(args, w.step) {
			w.aside(inv, value.Known(text), "sed e")
		}
	}
}

// heldVariables walks the commands that variables hold for the programs that read them.
func (w *walker) heldVariables(inv *invocation, assigns []value.Assign) {
	for _, a := range assigns {
		switch {
		case strings.HasPrefix(a.Name, "BASH_FUNC_"):
			w.aside(inv, a.Value.Value().After(len("()")), a.Name)
		case a.Name == "BASH_ALIASES":
			w.aside(inv, a.Value.Value(), a.Name)
		}
		if inv.prefix {
			w.prompt(a.Name, a.Value.Value())
		}
		if lang := command.LoadsFiles(a.Name); lang != "" {
			w.heldFiles(inv, a, lang)
		}
		if command.HoldsCommand(a.Name) {
			v := a.Value.Value()
			w.aside(inv, v.After(len(a.Value.Prefix)-len(strings.TrimLeft(a.Value.Prefix, "|-! "))), a.Name)
		}
	}
}

// heldFiles looks through files of this text that the options in a variable name.
func (w *walker) heldFiles(inv *invocation, a value.Assign, lang string) {
	separates := func(r rune) bool { return strings.ContainsRune(" \t=:", r) }
	for _, word := range strings.FieldsFunc(a.Value.Text, separates) {
		abs, ok := absolute(w.ctx.st.here(), strings.TrimPrefix(word, "-r"))
		f := w.look(abs)
		switch {
		case !ok || len(f.content) == 0:
		case lang == "git":
			for _, text := range command.GitCommands(f.content.Text(), nil) {
				w.aside(inv, value.Known(text), a.Name)
			}
		default:
			w.runInline(inv, shell.Code{Language: lang, From: shell.CodeFile}, f.content, a.Name)
		}
	}
}

// aside walks a command that another program runs, as far as it is known. What is not known
// of it stays without a mark: it is an argument like others.
func (w *walker) aside(inv *invocation, v value.Value, via string) {
	if hasCode(v) && strings.TrimSpace(v.Text()) != "" {
		w.perhaps(func() {
			w.reparse(inv.idx, w.holes.Source(v), via, func(c *context) {
				c.st, c.in = w.child("sh"), nil
				c.st.whole = false // the program may have set variables
				if name, _, _ := strings.Cut(via, " "); name == "split" {
					c.st.vars["FILE"] = variable{val: command.SplitName(inv.args[1:])}
				}
			})
		})
	}
}

// A text that writes a build file and starts the build runs the commands in it. Files that the text has
// written are looked through as a whole, others for the tasks that the command line starts.

// build walks the commands in build files of this text that a program would read.
func (w *walker) build(inv *invocation, name string) {
	kinds := command.BuildFiles(name)
	if len(kinds) == 0 {
		return
	}
	dir := w.ctx.st.here()
	var operands []string
	for i, a := range inv.args[1:] {
		if (a.Text == "-C" || a.Text == "--directory" || a.Text == "--prefix") && i+2 < len(inv.args) {
			if dir.Path, dir.Known = w.pathOf(inv.args[i+2]); !dir.Known {
				dir = shell.Dir{Path: unplaced, Known: true}
			}
		}
		operands = append(operands, a.Text)
	}
	for _, recipe := range command.MakeRules(name, operands) {
		w.aside(inv, value.Known(recipe), name+" --eval")
	}
	for i := range operands {
		at, whole := command.StoredScript(name, operands, i)
		if _, exact := inv.args[i+1].Val.Exact(); at >= 0 && (whole || !exact) {
			w.mark(inv.idx, shell.MarkDynamicCode)
		} else if at >= 0 {
			w.aside(inv, inv.args[i+1].Val.After(at), name+" script")
		}
	}
	for _, k := range kinds {
		for _, abs := range w.buildPaths(k, dir, inv.args[1:]) {
			w.buildWith(inv, k, name, abs, operands)
		}
		if k.HasTasks() && !(w.opts.Judged && k.Shells()) {
			w.tasks(inv, k, name)
		}
	}
}

// buildPaths are the files of the kind that the text has written, or hands over as a descriptor.
func (w *walker) buildPaths(k command.BuildFile, dir shell.Dir, args []value.Arg) []string {
	var out []string
	for _, n := range k.Names {
		if abs, ok := absolute(dir, n); ok && (n[0] != '.' || n == ".envrc" || n == ".justfile") {
			out = append(out, abs)
		}
	}
	for i, a := range args {
		if k.Any {
			break
		}
		text := a.Text
		stdin := text == "-" || text == "-f-" || text == "/dev/stdin"
		named := i > 0 && (args[i-1].Text == "-f" || args[i-1].Text == "-P") || slices.Contains(k.Names, path.Ext(text)) && path.Ext(text) != ""
		switch {
		case stdin:
			out = append(out, "-")
		case w.opened(text):
			out = append(out, text)
		case named:
			if abs, ok := w.pathOf(a); ok {
				out = append(out, abs)
			}
		}
	}
	named := func(a value.Arg, dir string) bool {
		abs, ok := w.pathOf(a)
		return ok && abs == dir
	}
	for abs := range w.ctx.st.files {
		fits := func(name string) bool { return strings.HasSuffix(abs, "/"+name) || path.Ext(abs) == name }
		below := func(a value.Arg) bool { return named(a, path.Dir(abs)) }
		if (k.Any || slices.ContainsFunc(args, below)) && slices.ContainsFunc(k.Names, fits) {
			out = append(out, abs)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// stoodThere reports content that the file had before the text. A command that is not known may change the
// file, but it holds nothing of this text.
func (w *walker) stoodThere(abs string, content value.Value) bool {
	was, ok := w.onDisk(abs)
	return ok && strings.TrimSpace(was.Text()) == strings.TrimSpace(content.Text())
}

// buildWith walks one build file, if the text has written it.
func (w *walker) buildWith(inv *invocation, k command.BuildFile, name, abs string, operands []string) {
	content, _ := w.streamText(abs)
	if f, ok := w.lookUp(abs); ok {
		content = f.content
		if f.program != "" {
			content = value.Known(f.program) // a copy under another name
		}
		if !k.Any && f.edited && !strings.HasPrefix(path.Base(abs), ".") && k.Lang != "c" {
			mark := shell.MarkDynamicCode
			if k.Shells() {
				mark = shell.MarkDynamicProgram
			}
			w.mark(inv.idx, mark)
		}
	}
	if in := w.stdin(); abs == "-" && in != nil {
		if k.Lang == "c" && in.from == shell.CodeFile && !in.edited && !hasCode(in.text) {
			return // as a source file that the text has not written
		}
		content = in.text
	}
	running := "build " + abs
	if len(content) == 0 || slices.Contains(w.ctx.running, running) || k.Any && w.stoodThere(abs, content) {
		return
	}
	saved := w.ctx
	w.ctx.running = append(slices.Clone(w.ctx.running), running)
	defer func() { w.ctx = saved }()
	c := &w.commands[inv.idx]
	c.Inputs = value.Set(slices.Concat(c.Inputs, content.Inputs()))
	via := w.commands[inv.idx].Name + " " + path.Base(abs)
	if k.HasTasks() {
		s := w.taskStart(inv, name, path.Dir(abs))
		s.All = true
		texts, _ := k.Started(content.Text(), s)
		for _, text := range texts {
			if !w.step(text.Cost()) {
				return
			}
			w.aside(inv, text, via)
		}
		return
	}
	if k.Recipes == nil {
		code := w.commands[inv.idx].Code
		w.runInline(inv, shell.Code{Language: k.Lang, From: shell.CodeFile}, content, via)
		w.commands[inv.idx].Code = code
		return
	}
	for _, text := range k.Recipes(content.Text(), operands) {
		if !w.step(1 + len(text)/bytesPerStep) {
			return
		}
		w.aside(inv, value.Known(text), via)
	}
}
