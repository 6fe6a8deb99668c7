package walk

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// define records a function. Its definition is a command too, so that one which hides an
// ordinary command can be pointed at.
func (w *walker) define(c *syntax.FuncDecl) {
	if c.Name == nil {
		w.unclear = true
		return
	}
	idx, ok := w.reserve()
	if !ok {
		return
	}
	name := c.Name.Value
	w.place(idx, c)
	w.commands[idx].Name = "function"
	w.commands[idx].Words = []value.Word{value.Literal("function").Word, value.Literal(name).Word}
	fn := &function{name: name, decl: c, ctx: w.ctx, index: idx}
	w.ctx.st.funcs[name] = []*function{fn}
	if strings.Contains(w.ctx.st.trapped, name) {
		w.ctx.st.disturb(w.changes([]*syntax.Stmt{c.Body}))
		w.ctx.st.trapped += w.raw(c)
	}
	w.defs = append(w.defs, fn)
	if ordinary(name) {
		w.mark(idx, shell.MarkShadow)
	}
	if w.replicates(fn) {
		w.mark(idx, shell.MarkForkBomb)
	}
}

// callFunctions walks the bodies that a function's name may stand for.
func (w *walker) callFunctions(inv *invocation, defs []*function) {
	name := inv.args[0].Text
	bomb := false
	defs = slices.DeleteFunc(slices.Clone(defs), func(fn *function) bool { return fn == nil })
	for _, fn := range defs {
		fn.called = true
		bomb = bomb || w.replicates(fn)
	}
	if bomb {
		w.mark(inv.idx, shell.MarkForkBomb)
	}
	again := 0
	for _, r := range w.ctx.running {
		if r == "function "+name {
			again++
		}
	}
	if again > 1 || again > 0 && bomb {
		w.printUnknown(inv)
		return
	}
	before := w.ctx.st
	var after *state
	for _, fn := range defs {
		st := w.fork(before)
		w.callFunction(inv, fn, st, again > 0)
		after = w.merge(st, after)
	}
	if len(defs) > 1 {
		w.ctx.out.text = append(w.ctx.out.text, value.Piece{})
	}
	w.settle(after)
}

// callFunction walks one body with the arguments bound, in the state st. With again set it stands for all calls
// that the function makes of itself: nothing is known of their arguments and variables.
func (w *walker) callFunction(inv *invocation, fn *function, st *state, again bool) {
	saved := w.ctx
	params, bound, ended := st.params, st.bound, st.ended
	st.bindArgs(inv.args[1:])
	if again {
		st.bind(nil, false)
	}
	changed := w.changes([]*syntax.Stmt{fn.decl.Body})
	w.ctx.st, w.ctx.src, w.ctx.breaks = st, fn.ctx.src, false
	if fn.ctx.script != "" {
		w.ctx.script = fn.ctx.script
	}
	if fn.ctx.nested || w.ctx.nested {
		w.ctx.nested = true
		w.ctx.start, w.ctx.end = w.commands[inv.idx].Start, w.commands[inv.idx].End
	}
	w.ctx.running = append(slices.Clone(saved.running), "function "+fn.name)
	w.ctx.redirs = w.inherited(w.commands[inv.idx].Redirects)
	var locals []string
	w.ctx.locals = &locals
	if again {
		w.blur(changes{all: true, dir: changed.dir})
	}
	w.deeper(func() {
		w.mayStop(changed.jumps, func() { w.stmt(fn.decl.Body) })
		if changed.jumps {
			w.blur(changes{names: changed.names, dir: changed.dir, all: changed.all})
		}
	})
	for _, name := range locals {
		st.vars[name] = variable{val: value.Opaque("$"+name, nil)}
	}
	st.bind(params, bound)
	st.ended = ended
	w.ctx = saved
}

// uncalled walks the bodies of functions that nothing called, once, so that what stands in
// them is seen.
func (w *walker) uncalled() {
	// A command word or code that is not known may call any of them.
	mayCall := slices.ContainsFunc(w.commands, func(c shell.Command) bool {
		return len(c.Words) > 0 && c.Name == "" || slices.Contains(c.Marks, shell.MarkDynamicCode) ||
			slices.Contains(c.Marks, shell.MarkDynamicProgram)
	})
	for i := 0; i < len(w.defs) && w.budget == ""; i++ {
		fn := w.defs[i]
		if fn.called {
			continue
		}
		saved := w.ctx
		w.ctx = fn.ctx
		w.ctx.st = w.fork(fn.ctx.st)
		w.blur(anything)
		w.ctx.running = append(slices.Clone(w.ctx.running), "function "+fn.name)
		if !mayCall && fn.name != "command_not_found_handle" {
			w.ctx.marks = append(slices.Clone(w.ctx.marks), shell.MarkNeverCalled)
		}
		w.ctx.out, w.ctx.locals = &sink{}, &[]string{}
		w.deeper(func() { w.stmt(fn.decl.Body) })
		w.ctx = saved
	}
}

// replicates reports whether a function starts itself more than once, or in the background
// or a pipe: then each call leaves more processes than it found. Other functions of the
// text that lead back to it count as it does. Plain recursion does not.
func (w *walker) replicates(fn *function) bool {
	starts, spawned := 0, 0
	var visit func(n syntax.Node, spawn bool)
	visit = func(n syntax.Node, spawn bool) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if n == nil || !w.step(1) {
				return false
			}
			switch n := n.(type) {
			case *syntax.Stmt:
				if n.Background && !spawn {
					visit(n.Cmd, true)
					return false
				}
			case *syntax.BinaryCmd:
				if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !spawn {
					visit(n.X, true)
					visit(n.Y, true)
					return false
				}
			case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.CoprocClause:
				if !spawn {
					spawn = true
				}
			case *syntax.FuncDecl:
				return false
			case *syntax.CallExpr:
				if len(n.Args) > 0 && w.leadsTo(n.Args[0].Lit(), fn.name, map[string]bool{}) {
					starts++
					if spawn {
						spawned++
					}
				}
			}
			return true
		})
	}
	visit(fn.decl.Body, false)
	return spawned > 0 && (starts > 1 || w.background(fn))
}

// background reports a body that puts itself into the background without a condition.
func (w *walker) background(fn *function) bool {
	block, ok := fn.decl.Body.Cmd.(*syntax.Block)
	return ok && slices.ContainsFunc(block.Stmts, func(s *syntax.Stmt) bool {
		call, plain := s.Cmd.(*syntax.CallExpr)
		return s.Background && plain && len(call.Args) > 0 && call.Args[0].Lit() == fn.name
	})
}

// leadsTo reports whether calling name ends up in target.
func (w *walker) leadsTo(name, target string, seen map[string]bool) bool {
	if name == target {
		return true
	}
	if name == "" || seen[name] {
		return false
	}
	seen[name] = true
	for _, fn := range w.defs {
		if fn.name != name {
			continue
		}
		found := false
		syntax.Walk(fn.decl.Body, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				found = found || w.leadsTo(call.Args[0].Lit(), target, seen)
			}
			return !found && w.step(1)
		})
		if found {
			return true
		}
	}
	return false
}

// socketShells marks shells whose input or output is a connection: a shell that takes its
// program from a pipe in which a talker stands too, and one with a socket in its redirects.
func (w *walker) socketShells() {
	talks := map[int]bool{}
	for i := range w.commands {
		c := &w.commands[i]
		openssl := c.Name == "openssl" && len(c.Words) > 1 && c.Words[1].Text == "s_client"
		if (command.Listed("talkers", c.Name) || openssl) && c.Pipeline.Length > 1 {
			talks[c.Pipeline.ID] = true
		}
	}
	for i := range w.commands {
		c := &w.commands[i]
		reads := c.Code.From == shell.CodeSession || c.Code.From == shell.CodeStdin
		if reads && (talks[c.Pipeline.ID] || slices.Contains(c.Marks, shell.MarkSocket)) {
			w.mark(i, shell.MarkSocketShell)
		}
	}
}

// ordinary reports names of programs that a text has no good reason to redefine.
func ordinary(name string) bool {
	return builtin(name) != nil || command.Wraps(name) || command.Listed("quiet", name) || command.Listed("ordinary", name)
}
