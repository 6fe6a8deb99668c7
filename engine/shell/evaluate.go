package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// eval runs its words as text, in this shell.
func eval(w *walker, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	v := joined(args)
	w.runText(inv, Code{Language: "bash", From: CodeArgument}, v, "eval", nil)
	if !w.commands[inv.idx].Code.Static {
		w.forget()
	}
}

// source runs a file in this shell.
func source(w *walker, inv *invocation) {
	args := inv.args[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	w.runFile(inv, "bash", args[0], args[1:], true)
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
	if len(args) < 2 || args[0].Text == "-" || args[0].Text == "" && args[0].Certainty == Exact {
		return
	}
	still := w.still(inv.idx)
	w.runText(inv, Code{Language: "bash", From: CodeArgument}, args[0].val, "trap", func(c *context) {
		c.st = w.fork(c.st) // c is the walker's own context
		w.blur(still)
		c.out = &sink{}
	})
	if text, ok := args[0].val.exact(); !ok || strings.Contains(text, "=") || strings.Contains(text, "cd ") {
		w.blur(changes{all: true, dir: true}) // it may run at any time from here on
	}
}

// still is what the text may change after the command at idx: what a trap finds when it
// runs.
func (w *walker) still(idx int) changes {
	var later []*syntax.Stmt
	for _, s := range w.file.Stmts {
		if w.ctx.nested || w.ctx.loop || len(w.ctx.running) > 0 || int(s.End().Offset()) > w.commands[idx].End {
			later = append(later, s)
		}
	}
	return w.changes(later)
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
			w.mark(inv.idx, MarkShadow)
		}
		if a.Certainty != Exact {
			continue
		}
		w.ctx.st.aliases[name] = body
		w.reparse(inv.idx, body, "alias "+name, func(c *context) {
			c.marks = append(slices.Clone(c.marks), MarkNeverCalled)
			c.running = append(slices.Clone(c.running), "alias "+name)
			c.st = w.fork(c.st)
			c.out = &sink{}
		})
	}
}

// execBuiltin replaces the shell, or with redirects only changes its descriptors.
func execBuiltin(w *walker, inv *invocation) {
	_, rest := getopt(inv.args[1:], "a", nil)
	if len(rest) > 0 {
		w.inner(inv, rest, "exec", nil)
		return
	}
	st := w.ctx.st
	inv.keeps, w.exec = true, true
	for _, r := range inv.redir.list {
		socket := strings.HasPrefix(r.Target.Prefix, "/dev/tcp/") || strings.HasPrefix(r.Target.Prefix, "/dev/udp/")
		if r.FD >= 0 && r.Mode != RedirectHere {
			st.sockets[r.FD] = socket || r.Mode == RedirectDup && inv.redir.sockets
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
	options, names := getopt(inv.args[1:], "p", nil)
	program, ok := options["-p"]
	for _, a := range names {
		if ok {
			w.ctx.st.aliases[a.Text] = program.Text
			w.mark(inv.idx, MarkShadow)
		}
	}
}

// complete runs text when a key is pressed; it is looked through.
func complete(w *walker, inv *invocation) {
	options, _ := getopt(inv.args[1:], "ACFGoPSWX", nil)
	if a, ok := options["-C"]; ok {
		w.runText(inv, Code{Language: "bash", From: CodeArgument}, a.val, "complete -C", nil)
	}
}
