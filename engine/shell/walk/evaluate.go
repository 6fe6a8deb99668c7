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

// eval runs its words as text, in this shell.
func eval(w *walker, inv *invocation) {
	args := inv.args[1:]
	dashes := len(args) > 0 && args[0].Text == "--"
	if dashes {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	v := value.Join(args)
	w.runText(inv, shell.Code{Language: "bash", From: shell.CodeArgument}, v, "eval", nil)
	// Some shells take the dashes for a command.
	if !w.commands[inv.idx].Code.Static || dashes && w.ctx.st.sh {
		w.forget()
	}
}

// sourceFile runs a file in this shell.
func sourceFile(w *walker, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	w.runFile(inv, "bash", args[0], args[1:], true)
	if w.ctx.st.sh && inv.args[0].Text == "source" { // no command of some shells
		w.forget()
	}
}

// trap runs its first operand as text, later.
func trap(w *walker, inv *invocation) {
	args := inv.args[1:]
	for len(args) > 0 && len(args[0].Text) == 2 && args[0].Text[0] == '-' {
		if args[0].Text != "--" {
			w.printUnknown(inv)
			return // -l, -p
		}
		args = args[1:]
	}
	if len(args) < 2 || args[0].Text == "-" || args[0].Text == "" && args[0].Certainty == value.Exact {
		return
	}
	last := !slices.ContainsFunc(args[1:], func(a value.Arg) bool { return a.Text != "EXIT" && a.Text != "0" })
	text, known := args[0].Val.Exact()
	changed := w.changes()
	w.textChanges(&changed, text, known, map[string]bool{})
	still, out := w.still(inv.idx), &sink{}
	if last {
		w.exiting = w.exiting.plus(changed)
	} else {
		w.ctx.st.disturb(changed)
		w.ctx.st.trapped += text + "\n"
		still = still.plus(w.exiting) // it runs between the commands of the others, too
	}
	walk := func() {
		w.runText(inv, shell.Code{Language: "bash", From: shell.CodeArgument}, args[0].Val, "trap", func(c *context) {
			c.st = w.spawn(c.st) // c is the walker's own context
			w.blur(still)
			c.out = out
			c.redirs = slices.DeleteFunc(slices.Clone(c.redirs), func(r shell.Redirect) bool { return r.Mode == shell.RedirectHere }) // it reads where it runs
		})
	}
	w.anyTime(func() {
		if last && !w.ctx.st.sub {
			w.branch(w.ctx.st, walk)
		} else {
			w.meanwhile(walk)
		}
	})
	if c := w.commands[inv.idx].Code; len(out.text) > 0 || !c.Static {
		w.speaks = max(w.speaks, atEnd)
		if slices.ContainsFunc(args[1:], func(a value.Arg) bool { return !plainSignals[a.Text] }) {
			w.speaks = always
		}
	}
}

// plainSignals are the conditions of which subshells do not inherit the trap, under any options.
var plainSignals = command.Names("EXIT 0 INT TERM HUP QUIT PIPE ALRM USR1 USR2 CHLD SIGINT SIGTERM SIGHUP SIGQUIT SIGPIPE 1 2 3 13 14 15")

// still is what the text may change after the command at idx: what a trap finds when it
// runs.
func (w *walker) still(idx int) changes {
	if w.ctx.nested {
		return anything
	}
	var later []*syntax.Stmt
	for _, s := range links(w.file.Stmts) {
		_, simple := s.Cmd.(*syntax.CallExpr)
		at, end := int(s.Pos().Offset()), int(s.End().Offset())
		follows := end > w.commands[idx].End && !(simple && at <= w.commands[idx].Start) // End counts a ;
		if w.ctx.nested || w.ctx.loop || len(w.ctx.running) > 0 || follows {
			later = append(later, s)
		}
	}
	changed := w.changes(later)
	changed.params = changed.params || len(w.ctx.running) > 0
	return changed
}

// links takes lists of commands with && and || apart: each of these runs when the one before it has ended.
func links(list []*syntax.Stmt) (out []*syntax.Stmt) {
	for _, s := range list {
		c, ok := s.Cmd.(*syntax.BinaryCmd)
		if ok && !s.Background && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) {
			out = append(out, links([]*syntax.Stmt{c.X, c.Y})...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// alias records NAME=text.
func alias(w *walker, inv *invocation) {
	if len(inv.args) == 1 {
		w.printUnknown(inv)
	}
	for _, a := range inv.args[1:] {
		name, body, found := strings.Cut(a.Text, "=")
		if !found || strings.HasPrefix(name, "-") {
			continue
		}
		if ordinary(name) {
			w.mark(inv.idx, shell.MarkShadow)
		}
		if a.Certainty != value.Exact {
			continue
		}
		w.ctx.st.aliases[name] = body
		w.reparse(inv.idx, body, "alias "+name, func(c *context) {
			c.marks = append(slices.Clone(c.marks), shell.MarkNeverCalled)
			c.running = append(slices.Clone(c.running), "alias "+name)
			c.st = w.fork(c.st)
			c.out = &sink{}
		})
	}
}

// execBuiltin replaces the shell, or with redirects only changes its descriptors.
func execBuiltin(w *walker, inv *invocation) {
	options, rest := command.Getopt(inv.args[1:], "a", nil)
	if len(rest) > 0 {
		if _, login := options["-l"]; login || strings.HasPrefix(options["-a"].Text, "-") {
			rest = slices.Insert(slices.Clone(rest), 1, value.Literal("-l"))
			if p, ok := command.InterpreterOf(w.opts.Table, command.Base(rest[0].Text)); !ok || !p.Shell() {
				rest = slices.Delete(rest, 1, 2)
			}
		}
		w.inner(inv, rest, "exec", nil)
		return
	}
	st := w.ctx.st
	inv.keeps, w.exec = true, true
	for _, r := range inv.redir.list {
		socket := strings.HasPrefix(r.Target.Prefix, "/dev/tcp/") || strings.HasPrefix(r.Target.Prefix, "/dev/udp/")
		if r.FD >= 0 && r.Mode != shell.RedirectHere {
			st.sockets[r.FD] = socket || r.Mode == shell.RedirectDup && inv.redir.sockets
		} else if socket {
			st.sockets[-1] = true
		}
	}
	if inv.redir.in != nil {
		st.in = inv.redir.in
	}
}

// hash -p makes a name stand for another program.
func hash(w *walker, inv *invocation) {
	options, names := command.Getopt(inv.args[1:], "p", nil)
	program, ok := options["-p"]
	for _, a := range names {
		if ok {
			if program.Certainty != value.Exact {
				w.mark(inv.idx, shell.MarkDynamicCode)
			}
			w.ctx.st.aliases[a.Text] = program.Text
			w.mark(inv.idx, shell.MarkShadow)
		}
	}
}

// complete runs text when a key is pressed, and compgen at once; it is looked through.
func complete(w *walker, inv *invocation) {
	options, _ := command.Getopt(inv.args[1:], "ACFGoPSWX", nil)
	if a, ok := options["-C"]; ok {
		w.runText(inv, shell.Code{Language: "bash", From: shell.CodeArgument}, withMore(a.Val), "complete -C", nil)
	}
	if a, ok := options["-W"]; ok {
		if text, exact := a.Val.Exact(); exact {
			w.hidden(text)
		} else {
			w.mark(inv.idx, shell.MarkDynamicCode)
		}
	}
	if a, ok := options["-F"]; ok {
		w.inner(inv, []value.Arg{a, value.OpaqueArg("word", nil)}, "complete -F", nil)
	}
	w.printUnknown(inv)
}

// withMore is the text of a command to which more arguments are added.
func withMore(v value.Value) value.Value {
	return slices.Concat(v, value.Value{{Text: " ", Known: true}, {Text: "…", Data: true, Quoted: true}})
}

// fc edits commands of the history and runs them: text that is not known.
func fc(w *walker, inv *invocation) {
	options, _ := command.Getopt(inv.args[1:], "e", nil)
	if a, ok := options["-e"]; ok {
		w.aside(inv, withMore(a.Val), "fc -e")
	}
	if _, lists := options["-l"]; !lists {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
	w.printUnknown(inv)
}

// enable -f loads a builtin out of a library.
func enable(w *walker, inv *invocation) {
	if options, _ := command.Getopt(inv.args[1:], "f", nil); options["-f"].Text != "" {
		w.mark(inv.idx, shell.MarkDynamicCode)
	}
}

// bind -x runs a command when a key is pressed.
func bind(w *walker, inv *invocation) {
	options, _ := command.Getopt(inv.args[1:], "fmqrux", nil)
	if a, ok := options["-x"]; ok {
		at := strings.IndexByte(a.Prefix, ':') + 1
		w.aside(inv, a.Val.After(at), "bind -x")
	}
}

// prompts are the variables whose value the shell expands as a prompt.
var prompts = command.Names("PS0 PS1 PS2 PS4")

// prompt walks the commands in a variable that an interactive shell, or one with -x, expands or runs.
func (w *walker) prompt(name string, v value.Value) {
	if name == "BASH_XTRACEFD" {
		w.speaks = always
	}
	if prompts[name] {
		w.hidden(promptText(v.Prefix()))
	}
}

// promptText decodes the octal escapes of a prompt, which come before its expansion.
func promptText(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		if n, err := strconv.ParseUint(text[1:min(4, len(text))], 8, 16); text[0] == '\\' && len(text) > 3 && err == nil {
			b.WriteByte(byte(n))
			text = text[4:]
			continue
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}
