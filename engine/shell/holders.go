package shell

import (
	"strings"

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
	for _, r := range command.Held(name, args) {
		w.aside(inv, r.Text, r.Via)
	}
	sources := make([]string, 0, len(inv.args))
	for _, a := range args {
		sources = append(sources, a.Prefix)
	}
	if in := w.stdin(); in != nil && in.from != CodeNone {
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
		f := w.ctx.st.files[abs]
		switch {
		case !ok || len(f.content) == 0:
		case lang == "git":
			for _, text := range command.GitCommands(f.content.Text(), nil) {
				w.aside(inv, value.Known(text), a.Name)
			}
		default:
			w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, a.Name)
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
