package shell

import (
	"slices"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// carry walks what a carrier runs: in a process of its own, but for what runs builtins of this shell.
func (w *walker) carry(inv *invocation, name string, c carrier) {
	if name == "builtin" && w.ctx.st.sh { // no command of some shells
		after := w.branch(w.ctx.st, func() { w.carried(inv, name, c) })
		w.settle(w.merge(w.ctx.st, after))
	} else if name == "command" || name == "builtin" {
		w.carried(inv, name, c)
	} else {
		w.subshell(func() { w.carried(inv, name, c) })
	}
}

func (w *walker) carried(inv *invocation, name string, c carrier) {
	switch c.special {
	case xargsLine:
		w.xargs(inv, name, c)
	case parallelLine:
		w.parallel(inv, name, c)
	default:
		for _, r := range c.carries(name, inv.args[1:], w.step) {
			w.hand(inv, r)
		}
	}
	switch c.special {
	case findLine:
		w.changesFiles(inv, name)
	case gitLine:
		if slices.ContainsFunc(inv.args[1:], func(a value.Arg) bool { return gitWrites[a.Text] || a.Certainty != value.Exact }) {
			w.changesFiles(inv, name)
		}
	case scriptLine:
		w.touchNamed(inv, true)
	}
	w.printUnknown(inv)
}

// hand walks one thing that a command runs.
func (w *walker) hand(inv *invocation, r carried) {
	own := &w.commands[inv.idx]
	own.Assigns = append(slices.Clone(own.Assigns), r.assigns...)
	w.heldVariables(inv, r.assigns)
	if r.unsure {
		w.mark(inv.idx, MarkDynamicCode)
	}
	change := w.placed(r)
	switch code := (Code{Language: r.lang, From: CodeArgument}); r.kind {
	case carriedWords:
		w.inner(inv, r.args, r.via, change)
	case carriedText:
		if isShell(r.lang) {
			w.runText(inv, code, r.text, r.via, change)
		} else {
			w.runInline(inv, code, r.text, r.via)
		}
	case carriedInput:
		if r.given && w.stdin() == nil {
			return
		}
		w.stdinProgram(inv, r.lang, r.via, change)
	case carriedFile:
		w.runFile(inv, r.lang, r.args[0], r.args[1:], false)
	case carriedSession:
		w.session(inv, r.lang)
	case carriedName:
		w.ctx.out.text = r.text.With(false, []int{inv.idx})
	}
}

// placed returns what the place of r does to the context of what runs there.
func (w *walker) placed(r carried) func(*context) {
	return func(x *context) {
		x.elevated = x.elevated || r.elevated
		x.background = x.background || r.behind
		if r.socket {
			x.marks = append(slices.Clone(x.marks), MarkSocketShell)
		}
		switch {
		case r.foreign:
			x.st = w.foreign()
		case r.moved:
			x.st = w.fork(x.st)
			x.st.place(Dir{})
		}
		if r.away || r.bare {
			x.st = w.spawn(x.st)
			if r.away {
				x.st.place(Dir{})
				x.st.old = Dir{}
			}
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if r.dir != nil {
			x.st = w.spawn(x.st)
			to, ok := w.pathOf(*r.dir)
			x.st.place(Dir{Path: to, Known: ok})
		}
		if !r.empty && r.unset == nil && len(r.assigns) == 0 {
			return
		}
		x.st = w.spawn(x.st)
		if r.empty {
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if r.unset != nil {
			x.st.vars[r.unset.Text] = variable{unset: true}
		}
		for _, a := range r.assigns {
			x.st.vars[a.Name] = variable{val: a.Value.Value(), exported: true}
		}
	}
}

// foreign is the state on another machine: nothing is known there.
func (w *walker) foreign() *state {
	st := w.child("sh")
	st.base, st.whole, st.vars = nil, false, map[string]variable{}
	st.place(Dir{})
	st.old, st.stack = Dir{}, nil
	st.disk = newDisk()
	st.removed = true
	return st
}
