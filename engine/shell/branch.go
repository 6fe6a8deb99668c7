package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

func (w *walker) ifClause(c *syntax.IfClause) {
	if len(c.Cond) == 0 { // else
		w.stmts(c.Then)
		return
	}
	cond := w.block(c.Cond)
	yes := w.branch(cond.ok, func() { w.stmts(c.Then) })
	no := cond.bad
	switch {
	case c.Else != nil && no == nil:
		w.branch(cond.ok, func() { w.deepElse(c.Else) }) // it does not run, but its commands are listed all the same
	case c.Else != nil:
		no = w.branch(no, func() { w.deepElse(c.Else) })
	case no == w.ctx.st:
		no = w.fork(no)
	}
	w.settle(w.merge(yes, no))
}

// deepElse counts elif chains as nesting: they recurse.
func (w *walker) deepElse(c *syntax.IfClause) {
	if w.ctx.nest >= 20*w.lim.Nesting {
		w.spend("depth")
		return
	}
	w.ctx.nest++
	w.ifClause(c)
	w.ctx.nest--
}

func (w *walker) caseClause(c *syntax.CaseClause) {
	subject := w.single(c.Word)
	text, exact := subject.Exact()
	var after *state
	taken := false            // an arm is known to be the one
	start := w.fork(w.ctx.st) // in which the next patterns are tried
	var falls *state          // in which the next arm is entered without a look at its patterns
	for _, item := range c.Items {
		hit, sure := false, exact
		for _, p := range item.Patterns {
			g, ok := value.PatternOf(w.single(p))
			if !ok || !exact || w.ctx.st.nocase {
				sure = false
				continue
			}
			one, ok := g.Matches(text, w.step)
			hit, sure = hit || one, sure && ok
		}
		fell := falls != nil
		arm := w.branch(w.merge(w.fork(start), falls), func() { w.stmts(item.Stmts) })
		falls = nil
		switch {
		case item.Op == syntax.Fallthrough:
			falls = arm
		case item.Op != syntax.Break:
			start = w.merge(start, arm)
		}
		switch {
		case taken || sure && !hit && !fell && item.Op == syntax.Break:
			// looked through, but not the way it goes
		case sure && hit && after == nil && item.Op == syntax.Break:
			after, taken = arm, true
		default:
			after = w.merge(arm, after)
		}
	}
	if !taken {
		after = w.merge(start, after)
	}
	w.settle(after)
}
