package walk

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// invocation is one command that is about to run: its words are expanded.
type invocation struct {
	idx      int
	args     []value.Arg
	assigns  []value.Assign
	prefix   bool // assigns hold for this command only
	declared bool // the declarations of its words are done
	redir    redirection
	keeps    bool // exec: the redirects stay
}

// redirection is the effect of the redirects of one command or compound command.
type redirection struct {
	list    []shell.Redirect
	in      *input // nil when standard input is not redirected
	file    string // absolute path that standard output goes to, "" for none that is known
	fds     map[int]stream
	sockets bool // some descriptor is a network socket
}

// call walks a simple command.
func (w *walker) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.place(idx, c)
	w.within(idx, func() {
		inv := invocation{idx: idx, args: w.fields(c.Args)}
		var assigned changes
		inv.redir, assigned = w.childRedirects(redirs)
		w.prefix(c, &inv)
		w.run(&inv)
		w.blur(assigned)
	})
}

// prefix expands the assignments of a command. Those in front of words hold for the command only, but each sees
// the ones before it.
func (w *walker) prefix(c *syntax.CallExpr, inv *invocation) {
	inv.prefix = len(inv.args) > 0
	st := w.ctx.st
	if inv.prefix && len(c.Assigns) > 1 {
		w.ctx.st = w.fork(st)
		defer func() {
			st.files, st.made, st.removed = w.ctx.st.files, w.ctx.st.made, w.ctx.st.removed
			w.ctx.st = st
		}()
	}
	for _, a := range c.Assigns {
		inv.assigns = append(inv.assigns, w.assignment(a, !inv.prefix || len(c.Assigns) > 1)...)
	}
}

// place records the place of a command, and the constructs around it.
func (w *walker) place(idx int, n syntax.Node) {
	c := &w.commands[idx]
	c.Start, c.End = w.ctx.start, w.ctx.end
	if !w.ctx.nested {
		c.Start, c.End = int(n.Pos().Offset()), int(n.End().Offset())
	}
	c.Via, c.Elevated, c.Script = w.ctx.via, w.ctx.elevated, w.ctx.script
	c.Pipeline, c.Background = w.ctx.pipe, w.ctx.background
	c.Dir = w.ctx.st.dir
	if dirs := w.ctx.st.dirs; dirs != nil {
		w.dirs[idx] = dirs
	}
	if c.Pipeline.Length == 0 {
		w.pipelines++
		c.Pipeline = shell.Pipeline{ID: w.pipelines, Length: 1}
	}
	c.Marks = slices.Clone(w.ctx.marks)
	c.Certainty = value.Exact
	if in := w.stdin(); in != nil {
		c.Inputs = slices.Clone(in.cmds)
	}
	w.ctx.out.cmds = append(w.ctx.out.cmds, idx)
}

// fillBare records a command that has no words, such as >file.
func (w *walker) fillBare(idx int, n syntax.Node, redirs []shell.Redirect) {
	w.place(idx, n)
	w.commands[idx].Redirects = slices.Concat(redirs, w.ctx.redirs)
	w.grade(idx)
}

// within walks f with idx as the command that is being built.
func (w *walker) within(idx int, f func()) {
	current := w.ctx.current
	w.ctx.current = idx
	f()
	w.ctx.current = current
}

func (w *walker) stdin() *input {
	if w.ctx.in == nil {
		return w.ctx.st.in
	}
	return w.ctx.in
}

// run records an invocation and does what it does: to the shell's state, to what is nested
// in it, to its output.
func (w *walker) run(inv *invocation) {
	c := &w.commands[inv.idx]
	c.Words, c.Assigns, c.Handed = value.Words(inv.args), inv.assigns, w.steered()
	c.Redirects = slices.Concat(inv.redir.list, w.ctx.redirs)
	if inv.redir.in != nil {
		c.Inputs = slices.Clone(inv.redir.in.cmds)
	}
	inputs := slices.Concat(c.Inputs, value.Inputs(inv.args))
	for _, a := range inv.assigns {
		inputs = append(inputs, a.Value.Inputs...)
	}
	for _, r := range inv.redir.list {
		inputs = slices.Concat(inputs, r.Target.Inputs, r.Body.Inputs)
	}
	c.Inputs = slices.DeleteFunc(value.Set(inputs), func(i int) bool { return i == inv.idx })
	c.Name = w.nameOf(inv)
	w.grade(inv.idx)
	if inv.redir.sockets {
		w.mark(inv.idx, shell.MarkSocket)
	}
	saved := w.ctx
	if inv.redir.in != nil {
		w.ctx.in = inv.redir.in
	}
	out := &sink{}
	outer := w.ctx.out
	w.ctx.out = out
	restore, redo := w.lend(inv), w.install(inv.redir.fds)
	speaks := w.speaks
	w.exec, w.speaks = false, inherited(speaks)
	run := func() {
		w.dispatch(inv)
		w.codeChanges(inv)
	}
	if w.mayEnd && w.ctx.st.sub {
		w.perhaps(run)
	} else {
		run()
	}
	if w.speaks > silent {
		out.text = value.Opaque("", out.cmds)
	}
	w.speaks = max(w.speaks, speaks)
	restore()
	if in := w.stdin(); in != nil && inv.redir.in == nil && drains(inv, c.Name) {
		in.drain()
	}
	if !inv.keeps && !(w.exec && (c.Name == "command" || c.Name == "builtin")) {
		redo()
	}
	w.ctx.out = outer
	w.ctx.in = saved.in
	outer.cmds = append(outer.cmds, out.cmds...)
	w.deliver(inv, out)
	w.copies(inv, c.Name)
}

// drainers read standard input to its end, or to a place that is not known, unless they have more operands than this.
var drainers = map[string]int{"tr": 99, "tee": 99, "xargs": 99, "ssh": 99, "cat": 0, "tac": 0, "rev": 0, "base64": 0, "base32": 0, "xxd": 0, "head": 0,
	"tail": 0, "sort": 0, "uniq": 0, "wc": 0, "cut": 0, "bash": 0, "sh": 0, "dash": 0, "python": 0, "python3": 0, "perl": 0, "node": 0, "sed": 1, "awk": 1, "grep": 1}

// drains reports that the command reads of the standard input which it shares with others.
func drains(inv *invocation, name string) bool {
	limit, reads := drainers[name]
	operands := 0
	for _, a := range inv.args[min(1, len(inv.args)):] {
		if !strings.HasPrefix(a.Text, "-") {
			operands++
		}
	}
	return reads && operands <= limit
}

// lend sets the variables in front of a command while it runs, and returns what puts the
// old ones back. A variable that the command itself set is not known afterwards.
func (w *walker) lend(inv *invocation) (restore func()) {
	if !inv.prefix || len(inv.assigns) == 0 {
		return func() {}
	}
	st := w.ctx.st
	old := maps.Clone(st.vars)
	for _, a := range inv.assigns {
		st.vars[a.Name] = variable{val: a.Value.Value(), exported: true}
	}
	keeps := keepsPrefix[w.commands[inv.idx].Name] || st.sh && len(st.funcs[inv.args[0].Text]) > 0
	return func() {
		for _, a := range inv.assigns {
			now := st.vars[a.Name]
			before, had := old[a.Name]
			switch {
			case keeps: // in some shells and modes, or for what the command declares
				now.val = now.blurred("$" + a.Name)
				st.vars[a.Name] = variable{val: now.val, exported: now.exported, perhaps: now.perhaps}
			case !now.val.Equal(a.Value.Value()) && now.val.Known():
				w.assignUnknown(a.Name, now.inputs())
			case had:
				st.vars[a.Name] = before
			default:
				delete(st.vars, a.Name)
			}
		}
	}
}

// keepsPrefix are the builtins after which the variables in front of them may stay set.
var keepsPrefix = command.Names(": . source break continue eval exec exit export readonly return set shift times trap unset" +
	" declare typeset local command builtin")

// maxOutput is how many known and unknown parts an output may hold.
const maxOutput = 1000

// nameOf returns the base name of the command word, "" when it is not known.
func (w *walker) nameOf(inv *invocation) string {
	if len(inv.args) == 0 {
		return ""
	}
	first := inv.args[0]
	if text, ok := first.Val.Exact(); ok && !first.Glob {
		if strings.HasSuffix(text, "/") {
			return ""
		}
		if strings.HasPrefix(text, "/proc/") && path.Base(text) == "exe" {
			return "bash" // this very shell
		}
		return command.Base(text)
	}
	if first.Raw == "$SHELL" || first.Raw == "${SHELL}" || first.Raw == `"$SHELL"` || first.Raw == `"${SHELL}"` || first.Raw == "$BASH" {
		return "sh" // with any value it is a shell
	}
	if strings.HasPrefix(first.Prefix, "/proc/") && strings.HasSuffix(first.Val.Tail(), "/exe") {
		return "bash"
	}
	// "$VENV/bin/python", $(which python): the directory is not known, the program is.
	tail := first.Val.Tail()
	slash := strings.LastIndexByte(tail, '/')
	if slash < 0 || first.Glob || !first.Quoted && !plainVariable(first.Raw) && first.Val.Dynamic() {
		return ""
	}
	return tail[slash+1:]
}

// plainVariable reports a word that begins with one named variable, whose value is taken
// to hold no blanks.
func plainVariable(raw string) bool {
	name, _, found := strings.Cut(raw, "/")
	if !found || !strings.HasPrefix(name, "$") {
		return false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name[1:], "{"), "}")
	return syntax.ValidName(name)
}

// grade sets the certainty of a command from its words.
func (w *walker) grade(idx int) {
	c := &w.commands[idx]
	c.Certainty = value.Exact
	partial := func(word value.Word) {
		if word.Certainty != value.Exact {
			c.Certainty = min(c.Certainty, value.Partial)
		}
	}
	for _, word := range c.Words {
		partial(word)
	}
	for _, r := range c.Redirects {
		if r.Mode != shell.RedirectHere {
			partial(r.Target)
		}
	}
	if len(c.Words) > 0 && c.Name == "" {
		c.Certainty = value.Unknown
	}
}
