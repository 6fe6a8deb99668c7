package shell

import (
	"slices"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
)

// carry walks what a carrier runs: in a process of its own, but for what runs builtins of this shell.
func (w *walker) carry(inv *invocation, name string, c command.Carrier) {
	if name == "builtin" && w.ctx.st.sh { // no command of some shells
		after := w.branch(w.ctx.st, func() { w.carried(inv, name, c) })
		w.settle(w.merge(w.ctx.st, after))
	} else if name == "command" || name == "builtin" {
		w.carried(inv, name, c)
	} else {
		w.subshell(func() { w.carried(inv, name, c) })
	}
}

func (w *walker) carried(inv *invocation, name string, c command.Carrier) {
	args := inv.args[1:]
	switch {
	case c.Xargs():
		w.xargs(inv, name, c.ReadXargs(args))
	case c.Parallel():
		words, items := c.ReadParallel(args)
		w.parallel(inv, name, words, items)
	default:
		for _, r := range c.Runs(name, args, w.step) {
			w.hand(inv, r)
		}
	}
	switch c.Effect(args) {
	case command.ChangesFiles:
		w.changesFiles(inv, name)
	case command.ChangesNamed:
		w.touchNamed(inv, true)
	}
	w.printUnknown(inv)
}

// hand walks one thing that a command runs.
func (w *walker) hand(inv *invocation, r command.Run) {
	own := &w.commands[inv.idx]
	own.Assigns = append(slices.Clone(own.Assigns), r.Assigns...)
	w.heldVariables(inv, r.Assigns)
	if r.Unsure {
		w.mark(inv.idx, MarkDynamicCode)
	}
	change := w.placed(r)
	switch code := (Code{Language: r.Lang, From: CodeArgument}); r.Kind {
	case command.Words:
		w.inner(inv, r.Args, r.Via, change)
	case command.Text:
		if command.IsShell(r.Lang) {
			w.runText(inv, code, r.Text, r.Via, change)
		} else {
			w.runInline(inv, code, r.Text, r.Via)
		}
	case command.Input:
		if r.Given && w.stdin() == nil {
			return
		}
		w.stdinProgram(inv, r.Lang, r.Via, change)
	case command.File:
		w.runFile(inv, r.Lang, r.Args[0], r.Args[1:], false)
	case command.Session:
		w.session(inv, r.Lang)
	case command.Name:
		w.ctx.out.text = r.Text.With(false, []int{inv.idx})
	}
}

// placed returns what the place of r does to the context of what runs there.
func (w *walker) placed(r command.Run) func(*context) {
	return func(x *context) {
		x.elevated = x.elevated || r.Elevated
		x.background = x.background || r.Behind
		if r.Socket {
			x.marks = append(slices.Clone(x.marks), MarkSocketShell)
		}
		switch {
		case r.Foreign:
			x.st = w.foreign()
		case r.Moved:
			x.st = w.fork(x.st)
			x.st.place(Dir{})
		}
		if r.Away || r.Bare {
			x.st = w.spawn(x.st)
			if r.Away {
				x.st.place(Dir{})
				x.st.old = Dir{}
			}
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if r.Dir != nil {
			x.st = w.spawn(x.st)
			to, ok := w.pathOf(*r.Dir)
			x.st.place(Dir{Path: to, Known: ok})
		}
		if !r.Empty && r.Unset == nil && len(r.Assigns) == 0 {
			return
		}
		x.st = w.spawn(x.st)
		if r.Empty {
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if r.Unset != nil {
			x.st.vars[r.Unset.Text] = variable{unset: true}
		}
		for _, a := range r.Assigns {
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
