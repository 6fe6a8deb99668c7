package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// A text that writes a build file and starts the build runs what it wrote. Only files that
// the text itself has written are looked through here: what stands in the project already is
// the project's own.

// build walks what stands in the build files of this text that a program would read.
func (w *walker) build(inv *invocation, name string) {
	kinds := command.BuildFiles(name)
	if len(kinds) == 0 {
		return
	}
	dir := w.ctx.st.dir
	var operands []string
	for i, a := range inv.args[1:] {
		if (a.Text == "-C" || a.Text == "--directory" || a.Text == "--prefix") && i+2 < len(inv.args) {
			to, ok := w.pathOf(inv.args[i+2])
			dir = Dir{Path: to, Known: ok}
		}
		operands = append(operands, a.Text)
	}
	for _, recipe := range command.MakeRules(name, operands) {
		w.aside(inv, value.Known(recipe), name+" --eval")
	}
	for _, k := range kinds {
		for _, abs := range w.buildPaths(k, dir, inv.args[1:]) {
			w.buildWith(inv, k, abs, operands)
		}
	}
}

// buildPaths are the files of the kind that the text has written, or hands over as a descriptor.
func (w *walker) buildPaths(k command.BuildFile, dir Dir, args []value.Arg) []string {
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
	for abs := range w.ctx.st.files {
		named := func(name string) bool { return strings.HasSuffix(abs, "/"+name) || path.Ext(abs) == name }
		if k.Any && slices.ContainsFunc(k.Names, named) {
			out = append(out, abs)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// buildWith walks one build file, if the text has written it.
func (w *walker) buildWith(inv *invocation, k command.BuildFile, abs string, operands []string) {
	content, _ := w.streamText(abs)
	if f, ok := w.ctx.st.files[abs]; ok {
		content = f.content
		if !k.Any && f.edited && !strings.HasPrefix(path.Base(abs), ".") && k.Lang != "c" {
			w.mark(inv.idx, MarkDynamicCode)
		}
	}
	if in := w.stdin(); abs == "-" && in != nil {
		content = in.text
	}
	running := "build " + abs
	if len(content) == 0 || slices.Contains(w.ctx.running, running) {
		return
	}
	saved := w.ctx
	w.ctx.running = append(slices.Clone(w.ctx.running), running)
	defer func() { w.ctx = saved }()
	c := &w.commands[inv.idx]
	c.Inputs = value.Set(slices.Concat(c.Inputs, content.Inputs()))
	via := w.commands[inv.idx].Name + " " + path.Base(abs)
	if k.Recipes == nil {
		code := w.commands[inv.idx].Code
		w.runInline(inv, Code{Language: k.Lang, From: CodeFile}, content, via)
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
