package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

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
		w.mark(idx, MarkShadow)
	}
	if w.replicates(fn) {
		w.mark(idx, MarkForkBomb)
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
		w.mark(inv.idx, MarkForkBomb)
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
	w.ctx.redirs = w.commands[inv.idx].Redirects
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
	mayCall := slices.ContainsFunc(w.commands, func(c Command) bool {
		return len(c.Words) > 0 && c.Name == "" || slices.Contains(c.Marks, MarkDynamicCode)
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
			w.ctx.marks = append(slices.Clone(w.ctx.marks), MarkNeverCalled)
		}
		w.ctx.out, w.ctx.locals = &sink{}, &[]string{}
		w.deeper(func() { w.stmt(fn.decl.Body) })
		w.ctx = saved
	}
}
