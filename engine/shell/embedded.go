package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// embedded looks through the program text among args.
func (w *walker) embedded(inv *invocation, name string, args []value.Arg) {
	for _, r := range command.Embedded(name, args) {
		if r.Kind == command.Text {
			w.runInline(inv, Code{Language: r.Lang, From: CodeArgument}, r.Text, r.Via)
		} else if in := w.stdin(); in != nil && in.from != CodeNone && hasCode(in.text) {
			w.stdinProgram(inv, r.Lang, r.Via, nil)
		}
	}
}

// runModule looks through a module that this text has written. It reports whether there is one.
func (w *walker) runModule(inv *invocation, lang, name, via string) bool {
	for _, file := range command.ModuleFiles(lang, name) {
		abs, ok := absolute(w.ctx.st.here(), file)
		f, written := w.ctx.st.files[abs]
		running := "module " + abs
		if !ok || !written || len(f.content) == 0 || slices.Contains(w.ctx.running, running) {
			continue
		}
		saved := w.ctx
		w.ctx.running = append(slices.Clone(w.ctx.running), running)
		code := w.commands[inv.idx].Code
		w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, via+" "+file)
		if code.From != CodeNone {
			w.commands[inv.idx].Code = code
		}
		w.ctx = saved
		return true
	}
	return false
}

// imports looks through the modules which program text imports and this text has written.
func (w *walker) imports(inv *invocation, lang, text, via string) {
	if len(w.ctx.st.files) == 0 || command.ModuleFiles(lang, "x") == nil {
		return
	}
	for _, abs := range slices.Sorted(maps.Keys(w.ctx.st.files)) {
		f, running := w.ctx.st.files[abs], "module "+abs
		runs := func(r string) bool { return r == running || strings.HasPrefix(r, "script "+abs+" ") }
		if len(f.content) == 0 || slices.ContainsFunc(w.ctx.running, runs) {
			continue
		}
		loads := func(name string) bool {
			return name != "" && w.step(1+len(text)/bytesPerStep) && command.Mentions(text, name)
		}
		if !slices.ContainsFunc(strings.Split(strings.TrimSuffix(abs, path.Ext(abs)), "/"), loads) {
			continue
		}
		saved, code := w.ctx, w.commands[inv.idx].Code
		w.ctx.running = append(slices.Clone(w.ctx.running), running)
		w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, via+" "+path.Base(abs))
		w.ctx, w.commands[inv.idx].Code = saved, code
	}
}
