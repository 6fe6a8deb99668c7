package walk

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/inline"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// runText walks text that the command inv hands to a shell. Text with unknown parts is
// walked around them: all that is seen is true, but it is not all.
func (w *walker) runText(inv *invocation, code shell.Code, v value.Value, via string, change func(*context)) {
	full := !v.Dynamic()
	if !full {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	if in := v.Inputs(); len(in) > 0 {
		c := &w.commands[inv.idx]
		c.Inputs = value.Set(slices.Concat(c.Inputs, in))
	}
	if !hasCode(v) {
		w.commands[inv.idx].Code = code
		return
	}
	read := w.reparse(inv.idx, w.holes.Source(v), via, func(c *context) {
		if change != nil {
			change(c)
		}
		if lang := code.Language; lang != "bash" && !(c.st.sh && !c.st.whole) {
			c.st = w.fork(c.st)
			c.st.sh, c.st.whole = true, c.st.whole && lang == "sh"
		}
	})
	// The grammar of fish and csh is not bash's: commands that parse are listed, but they are not all.
	read = read && code.Language != "fish" && code.Language != "csh" && !cutOff(code, v)
	code.Static = full && read
	code.Truncated = !read
	if !read && full && (code.From != shell.CodeFile || w.wrote(code.File.Text)) {
		w.unclear = true
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	w.commands[inv.idx].Code = code
}

// wrote reports a script that the text hands over or has written.
func (w *walker) wrote(file string) bool {
	abs, ok := absolute(w.ctx.st.here(), file)
	return w.opened(file) || ok && len(w.look(abs).content) > 0
}

// cutOff reports a program that a shell reads up to a backslash at its end: bash drops it there, and keeps it behind -c.
func cutOff(code shell.Code, v value.Value) bool {
	text := v.Text()
	return code.From != shell.CodeArgument && (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// hasCode reports whether some of a program's text is known, or that all of it is: then
// there is nothing in it.
func hasCode(v value.Value) bool {
	return v.Known() && len(v) > 0 || slices.ContainsFunc(v, func(p value.Piece) bool { return p.Known && strings.TrimSpace(p.Text) != "" })
}

// session records an interpreter that no program was given to.
func (w *walker) session(inv *invocation, lang string) {
	w.commands[inv.idx].Code = shell.Code{Language: lang, From: shell.CodeSession}
}

// stdinProgram walks the program that an interpreter reads from standard input.
func (w *walker) stdinProgram(inv *invocation, lang, name string, change func(*context)) {
	in := w.stdin()
	if in == nil || in.from == shell.CodeFile && command.IsTerminal(in.file.Text) {
		w.session(inv, lang)
		return
	}
	code := shell.Code{Language: lang, From: in.from}
	if in.socket {
		w.mark(inv.idx, shell.MarkSocketShell)
	}
	if in.from == shell.CodeFile {
		code.File = in.file
	}
	if !hasCode(in.text) {
		w.commands[inv.idx].Code = code
		if (in.from != shell.CodeFile || in.edited) && !in.static {
			w.mark(inv.idx, shell.MarkDynamicCode)
		}
		return
	}
	via := name
	switch in.from {
	case shell.CodeHeredoc:
		via = "heredoc"
	case shell.CodeStdin:
		via = in.via + " | " + name
	case shell.CodeFile:
		via = "script " + in.file.Text
	}
	if !command.IsShell(lang) {
		w.runInline(inv, code, in.text, via)
		return
	}
	text := in.text
	w.runText(inv, code, text, via, func(c *context) {
		c.st = w.child(lang)
		c.in = nil
		made := in.edited || w.opened(in.file.Text) || len(w.look(in.path).content) > 0
		if in.from == shell.CodeFile && !made { // a file that the text made is part of it
			c.script = in.path
		}
		if change != nil {
			change(c)
		}
	})
}

// runFile walks a script file that the command runs; with here it runs in this very shell.
func (w *walker) runFile(inv *invocation, lang string, file value.Arg, params []value.Arg, here bool) {
	defer func() {
		if abs, ok := w.pathOf(file); here && !w.commands[inv.idx].Code.Static && !(ok && w.absent(abs)) {
			w.blur(changes{all: true, dir: true})
		}
	}()
	code := shell.Code{Language: lang, From: shell.CodeFile, File: file.Word}
	w.commands[inv.idx].Code = code
	text, _ := file.Val.Place()
	if standardInput(text) || text == "-" {
		st := w.ctx.st
		w.stdinProgram(inv, lang, w.commands[inv.idx].Name, func(x *context) {
			if here {
				x.st = st
			}
		})
		return
	}
	abs, ok := absolute(w.ctx.st.here(), text)
	if w.opened(text) {
		abs = text
	} else if !ok {
		if len(file.Inputs) > 0 {
			w.mark(inv.idx, shell.MarkDynamicCode)
		}
		return
	}
	w.script(inv, code, lang, abs, file, params, here)
}

// runScript follows a command word that is a path: the file's first line names its interpreter.
func (w *walker) runScript(inv *invocation) bool {
	text, ok := inv.args[0].Val.Place()
	if !ok {
		return false
	}
	abs, ok := absolute(w.ctx.st.here(), text)
	unknown := strings.HasPrefix(abs, unplaced) && !w.edited(abs) && w.look(abs).content == nil
	if (!ok || unknown) && strings.Contains(text, "/") {
		w.commands[inv.idx].Code = shell.Code{Language: "sh", From: shell.CodeFile, File: inv.args[0].Word} // for all that is known
		return false
	}
	if !ok || command.SystemProgram(abs) {
		return false
	}
	content, found := w.lastContent(abs)
	w.keep(abs)
	lang := command.Shebang(content.Prefix())
	if lang == "" && (w.edited(abs) || !content.Known()) {
		lang = "sh"
	}
	if lang == "" || !found && !w.edited(abs) {
		return false
	}
	code := shell.Code{Language: lang, From: shell.CodeFile, File: inv.args[0].Word}
	w.script(inv, code, lang, abs, inv.args[0], inv.args[1:], false)
	w.printUnknown(inv)
	return true
}

// keep notes a file that has run as it was before the text.
func (w *walker) keep(abs string) {
	if _, ok := w.lookUp(abs); !ok && !strings.HasPrefix(abs, "/dev/") {
		edited := w.edited(abs)
		w.ctx.st.files[abs] = written{touched: w.ctx.st.stirred || edited, edited: edited}
	}
}

// runCopy follows a command word that this text made a copy of, or a link to, a program.
func (w *walker) runCopy(inv *invocation) bool {
	abs, ok := w.pathOf(inv.args[0])
	if !ok || w.look(abs).program == "" {
		return false
	}
	program := w.look(abs).program
	args := slices.Clone(inv.args)
	args[0] = value.Literal(path.Base(program))
	w.inner(inv, args, "copy of "+program, nil)
	return true
}

// script walks the content of a file that a command runs.
func (w *walker) script(inv *invocation, code shell.Code, lang, abs string, file value.Arg, params []value.Arg, here bool) {
	defer func() {
		if w.commands[inv.idx].Code.From == shell.CodeNone {
			w.commands[inv.idx].Code = code
		}
	}()
	content, found := w.lastContent(abs)
	w.keep(abs)
	f := w.look(abs)
	touched, made := f.touched, len(f.content) > 0 || w.edited(abs) // a file that the text made is part of it
	if w.edited(abs) {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	if !found {
		return
	}
	running := "script " + abs + " " + content.Text() // it may have been written again since it started
	if slices.Contains(w.ctx.running, running) {
		// It starts itself: with & or in a pipe it does so without end.
		if w.ctx.background || w.ctx.pipe.Length > 1 {
			w.mark(inv.idx, shell.MarkForkBomb)
		}
		return
	}
	c := &w.commands[inv.idx]
	c.Inputs = value.Set(slices.Concat(c.Inputs, content.Inputs()))
	via := "script " + file.Text
	enter := func(x *context) {
		x.running = append(slices.Clone(x.running), running)
		if !w.opened(abs) && !made {
			x.script = abs
		}
	}
	if !command.IsShell(lang) {
		saved := w.ctx
		enter(&w.ctx)
		w.runInline(inv, code, content, via)
		w.ctx = saved
		c := &w.commands[inv.idx]
		c.Code.Static = c.Code.Static && !touched
		return
	}
	st := w.ctx.st
	outer, bound := st.params, st.bound
	defer func() { st.bind(outer, bound) }()
	w.runText(inv, code, content, via, func(x *context) {
		enter(x)
		if here {
			if len(params) > 0 {
				zero := x.st.zero
				bindParams(x.st, append([]value.Arg{file}, params...))
				x.st.zero = zero
				x.st.bind(x.st.params, x.st.bound && !x.st.sh)
			}
			return
		}
		x.st = w.child(lang)
		bindParams(x.st, append([]value.Arg{file}, params...))
	})
	if touched {
		w.commands[inv.idx].Code.Static = false
	}
}

// perlCode finds code in patterns of perl, and replacements that it evaluates twice (perlre(1), perlop(1)).
var perlCode = lazyregexp.New(`\(\?\??\{|\bs\W[^\n]*[/})\]>|!#,][gimosxrn]*e[gimosxrn]*e[gimosxrn]*\b`)

// runInline looks through program text of another language.
func (w *walker) runInline(inv *invocation, code shell.Code, v value.Value, via string) {
	full := v.Known()
	c := &w.commands[inv.idx]
	if code.Language == "perl" && perlCode.MatchString(v.Text()) {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	c.Inputs = value.Set(slices.Concat(c.Inputs, v.Inputs()))
	code.Static = full && inline.Supported(code.Language)
	// An awk program with a value put into it is the usual way to pass one.
	if !full && code.Language != "awk" {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	c.Code = code
	text := v.Text()
	if !w.step(1+len(text)/bytesPerStep) || !inline.Supported(code.Language) {
		return
	}
	for _, call := range inline.Scan(code.Language, text) {
		w.inlineCall(inv, code, call, via)
	}
	w.imports(inv, code.Language, text, via)
}

// embedded looks through the program text among args.
func (w *walker) embedded(inv *invocation, name string, args []value.Arg) {
	for _, r := range command.Embedded(name, args) {
		if r.Kind == command.Text {
			w.runInline(inv, shell.Code{Language: r.Lang, From: shell.CodeArgument}, r.Text, r.Via)
		} else if in := w.stdin(); in != nil && in.from != shell.CodeNone && hasCode(in.text) {
			w.stdinProgram(inv, r.Lang, r.Via, nil)
		}
	}
}

// runModule looks through a module that this text has written. It reports whether there is one.
func (w *walker) runModule(inv *invocation, lang, name, via string) bool {
	for _, file := range command.ModuleFiles(lang, name) {
		abs, ok := absolute(w.ctx.st.here(), file)
		f, written := w.lookUp(abs)
		running := "module " + abs
		if !ok || !written || len(f.content) == 0 || slices.Contains(w.ctx.running, running) {
			continue
		}
		saved := w.ctx
		w.ctx.running = append(slices.Clone(w.ctx.running), running)
		code := w.commands[inv.idx].Code
		w.runInline(inv, shell.Code{Language: lang, From: shell.CodeFile}, f.content, via+" "+file)
		if code.From != shell.CodeNone {
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
		f, running := w.look(abs), "module "+abs
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
		w.runInline(inv, shell.Code{Language: lang, From: shell.CodeFile}, f.content, via+" "+path.Base(abs))
		w.ctx, w.commands[inv.idx].Code = saved, code
	}
}
