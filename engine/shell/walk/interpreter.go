package walk

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// interpret finds the program of an interpreter, and walks it where its text is known.
func (w *walker) interpret(inv *invocation, p command.Interpreter) {
	l := p.Read(w.commands[inv.idx].Name, inv.args[1:])
	var unseen []shell.Code
	if p.Shell() {
		for _, r := range l.Before {
			w.childShell(inv, r)
		}
		for _, file := range w.startupFiles(l.Options) {
			unseen = append(unseen, w.runBefore(inv, l.Lang, file))
		}
		w.unclear = w.unclear || l.Options.Unclear
		w.optioned(l.Options, func() { w.shell(inv, l) })
	} else {
		for _, r := range l.Before {
			unseen = append(unseen, w.preload(inv, r))
		}
		w.program(inv, l)
		if l.Inspects && w.stdin() != nil {
			w.inspected(inv, l.Lang, w.commands[inv.idx].Name)
		}
	}
	for _, code := range slices.Backward(unseen) { // code that could not be read is the code of the command
		if code.From != shell.CodeNone {
			w.commands[inv.idx].Code = code
		}
	}
	w.printUnknown(inv)
}

// optioned walks f in a shell with options.
func (w *walker) optioned(o command.Options, f func()) {
	st, was := w.ctx.st, *w.ctx.st
	st.traced, st.nounset, st.errexit = was.traced || o.Traced, was.nounset || o.Nounset, was.errexit || o.Errexit
	f()
	st.traced, st.nounset, st.errexit = was.traced, was.nounset, was.errexit
}

// shell walks the program of a shell.
func (w *walker) shell(inv *invocation, l command.Interpretation) {
	switch l.Kind {
	case command.Text:
		w.childShell(inv, l.Run)
	case command.File:
		w.runFile(inv, l.Lang, l.Args[0], l.Args[1:], false)
	case command.Input:
		w.stdinProgram(inv, l.Lang, l.Via, func(c *context) { bindParams(c.st, l.Args) })
	}
}

// startupFiles are the files that a shell runs first, as far as the text has written them or set the variables that
// name them.
func (w *walker) startupFiles(o command.Options) []value.Arg {
	st := w.ctx.st
	var files []value.Arg
	if o.RC != nil && o.RC.Text != "" {
		files = append(files, *o.RC)
	}
	for _, name := range []string{"BASH_ENV", "ENV"} {
		if v := st.vars[name]; v.exported && !v.unset && o.Interactive == (name == "ENV") {
			if _, found := w.content(v.val); found {
				files = append(files, value.NewArg(v.val, "$"+name))
			}
		}
	}
	var names []string
	if o.Interactive {
		names = []string{".bashrc"}
	}
	if o.Login {
		names = append(names, ".bash_profile", ".bash_login", ".profile")
	}
	home, _ := st.lookupVar("HOME").val.Exact()
	for _, name := range names {
		if abs, ok := absolute(st.dir, home+"/"+name); ok && len(w.look(abs).content) > 0 {
			files = append(files, value.Literal(abs))
		}
	}
	return files
}

// childShell walks the text of sh -c, with $0, $1, … bound to the words behind it.
func (w *walker) childShell(inv *invocation, r command.Run) {
	w.runText(inv, shell.Code{Language: r.Lang, From: shell.CodeArgument}, r.Text, r.Via, func(c *context) {
		c.st = w.child(r.Lang)
		bindParams(c.st, r.Args)
	})
}

// bindParams sets $0, $1, … to the words behind a program.
func bindParams(st *state, rest []value.Arg) {
	if len(rest) == 0 {
		return
	}
	st.zero = rest[0].Val
	st.bindArgs(rest[1:])
	st.bind(st.params, st.bound && rest[0].Spelled())
}

// program walks the program of an interpreter that is no shell.
func (w *walker) program(inv *invocation, l command.Interpretation) {
	switch l.Kind {
	case command.Text:
		w.runInline(inv, shell.Code{Language: l.Lang, From: shell.CodeArgument}, l.Text, l.Via)
	case command.File:
		w.runFile(inv, l.Lang, l.Args[0], l.Args[1:], false)
		if !w.commands[inv.idx].Code.Static {
			w.runModule(inv, l.Lang, l.Args[0].Text, w.commands[inv.idx].Name)
		}
		w.embedded(inv, command.Base(l.Args[0].Text), l.Args[1:])
	case command.Module:
		w.runModule(inv, l.Lang, l.Args[0].Text, l.Via)
		w.build(inv, l.Args[0].Text)
	case command.Input:
		if l.Given && w.stdin() == nil {
			return
		}
		w.stdinProgram(inv, l.Lang, l.Via, nil)
	case command.Session:
		w.session(inv, l.Lang)
	}
}

// inspected walks the code that an interpreter reads from standard input when its program has ended.
func (w *walker) inspected(inv *invocation, lang, name string) {
	before := w.commands[inv.idx].Code
	w.stdinProgram(inv, lang, name, nil)
	if code := &w.commands[inv.idx].Code; before.From != shell.CodeNone && (code.Static || !before.Static) {
		*code = before
	}
}

// preload looks through the code that an interpreter runs before its program, and returns the Code of a file that
// could not be read.
func (w *walker) preload(inv *invocation, r command.Run) shell.Code {
	if r.Kind == command.Text {
		w.runInline(inv, shell.Code{Language: r.Lang, From: shell.CodeArgument}, r.Text, r.Via)
		return shell.Code{}
	}
	if w.runModule(inv, r.Lang, r.Args[0].Text, r.Via) || r.Kind == command.Module {
		return shell.Code{}
	}
	return w.runBefore(inv, r.Lang, r.Args[0])
}

// runBefore looks through a file that runs before the program, and returns its Code where that is not known.
func (w *walker) runBefore(inv *invocation, lang string, file value.Arg) shell.Code {
	w.runFile(inv, lang, file, nil, false)
	code := w.commands[inv.idx].Code
	w.commands[inv.idx].Code = shell.Code{}
	if code.Static {
		return shell.Code{}
	}
	return code
}

// tasks walks the tasks that a command starts in a file of the project, as those of a script. Files that they
// change are not followed: a build changes any.
func (w *walker) tasks(inv *invocation, k command.BuildFile, name string) {
	s := w.taskStart(inv, name, "")
	abs, content, known := w.taskFile(k, s)
	running := "tasks " + abs + " " + value.Join(inv.args).Text()
	if c := &w.commands[inv.idx]; abs == "" && !known && c.Code.From == shell.CodeNone {
		// It is a file under any name: a name that is not known would count as code that the text makes.
		c.Code = shell.Code{Language: name, From: shell.CodeFile, File: value.Literal("").Word}
	}
	if abs == "" || slices.Contains(w.ctx.running, running) {
		return
	}
	s = w.taskStart(inv, name, path.Dir(abs))
	texts, whole := k.Started(content, s)
	saved, lim := w.ctx, w.lim
	defer func() { w.ctx, w.lim = saved, lim }()
	w.ctx.st, w.ctx.script = w.fork(w.ctx.st), abs
	w.ctx.running = append(slices.Clone(w.ctx.running), running)
	w.ctx.st.place(shell.Dir{Path: s.Dir, Known: true})
	// A project with many tasks is no text that tries to exhaust the reader.
	w.lim.Steps, w.lim.Commands = (w.steps+lim.Steps)/2, (len(w.commands)+lim.Commands)/2
	within := w.budget == ""
	for _, text := range texts {
		w.step(text.Cost())
		w.aside(inv, text, name+" "+path.Base(abs))
	}
	if within && w.budget != "" {
		w.budget, whole = "", false
	}
	if c := &w.commands[inv.idx]; !(whole && known) && c.Code.From == shell.CodeNone {
		c.Code = shell.Code{Language: name, From: shell.CodeFile, File: value.Literal(abs).Word}
	}
}

// taskStart is the command line of a program that starts tasks of a file in dir.
func (w *walker) taskStart(inv *invocation, name, dir string) command.Start {
	return command.Start{
		Table: w.opts.Table, Name: name, Args: inv.args[1:], Dir: dir, Env: w.ctx.st.inherits,
		Read: func(name string) (string, bool) {
			file, _ := absolute(shell.Dir{Path: dir, Known: true}, name)
			v, ok := w.contentOf(file)
			if !ok && w.opts.IsFile != nil && w.opts.IsFile(w.origin(file)) {
				return command.Unread, false
			}
			return v.Text(), ok
		},
	}
}

// taskFile finds the file of tasks that a command reads, where the text has not written it. The path is ""
// where there is none. Not known are a file whose place is not, and the content of one that cannot be read.
func (w *walker) taskFile(k command.BuildFile, s command.Start) (abs, content string, known bool) {
	dir, names := w.ctx.st.here(), k.Names
	in, file := s.Place()
	if in.Text != "" {
		dir.Path, dir.Known = w.pathOf(in)
	}
	if file.Text != "" {
		names = []string{file.Text}
	}
	if !dir.Known || file.Text != "" && file.Certainty != value.Exact && !w.opened(file.Text) {
		return "", "", false
	}
	for range maxAbove {
		for _, name := range names {
			if name[0] == '.' && path.Ext(name) == name && !strings.HasSuffix(name, "file") {
				continue // an ending
			}
			abs, ok := absolute(dir, name)
			if _, written := w.lookUp(abs); !ok || written || name == "-" || w.opened(name) {
				continue
			}
			if v, ok := w.onDisk(abs); ok {
				return abs, v.Text(), true
			}
			if w.opts.IsFile != nil && w.opts.IsFile(w.origin(abs)) {
				return abs, "", false
			}
		}
		if dir.Path = path.Dir(dir.Path); !k.Above() || file.Text != "" || dir.Path == "/" {
			break
		}
	}
	return "", "", true
}

// maxAbove bounds the directories in which a file of tasks is looked for, from that of the command upwards.
const maxAbove = 8
