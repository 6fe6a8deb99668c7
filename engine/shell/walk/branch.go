package walk

import (
	"maps"
	"slices"
	"strings"

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

// caseClause walks every arm, as one that may run and may not.
func (w *walker) caseClause(c *syntax.CaseClause) {
	w.single(c.Word)
	var after *state
	start := w.fork(w.ctx.st) // in which the next patterns are tried
	var falls *state          // in which the next arm is entered without a look at its patterns
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.single(p)
		}
		arm := w.branch(w.merge(w.fork(start), falls), func() { w.stmts(item.Stmts) })
		falls = nil
		switch {
		case item.Op == syntax.Fallthrough:
			falls = arm
		case item.Op != syntax.Break:
			start = w.merge(start, arm)
		}
		after = w.merge(arm, after)
	}
	w.settle(w.merge(start, after))
}

func (w *walker) arithCommand(c *syntax.ArithmCmd) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.fillBare(idx, c, nil)
	w.unclear = w.unclear || w.ctx.st.sh // two subshells to some shells
	w.commands[idx].Name = "(("
	w.within(idx, func() {
		w.expression(c.X)
		w.commands[idx].Words = []value.Word{value.Literal("((").Word, value.Literal(w.raw(c.X)).Word, value.Literal("))").Word}
	})
}

func (w *walker) let(c *syntax.LetClause) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.fillBare(idx, c, nil)
	w.commands[idx].Name = "let"
	list := []value.Word{value.Literal("let").Word}
	w.within(idx, func() {
		w.expandOperands(c.Exprs...)
		for _, x := range c.Exprs {
			if _, ok := w.number(x); !ok {
				w.aborts = true
			}
			list = append(list, value.Literal(w.raw(x)).Word)
		}
	})
	w.commands[idx].Words = list
}

// test walks [[ … ]].
func (w *walker) test(c *syntax.TestClause) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.fillBare(idx, c, nil)
	w.commands[idx].Name = "[["
	list := []value.Word{value.Literal("[[").Word}
	w.within(idx, func() { w.testExpr(c.X, &list) })
	w.commands[idx].Words = append(list, value.Literal("]]").Word)
	w.grade(idx)
}

func (w *walker) testExpr(x syntax.TestExpr, list *[]value.Word) {
	if !w.step(1) {
		return
	}
	operator := func(text string) { *list = append(*list, value.Literal(text).Word) }
	switch x := x.(type) {
	case *syntax.Word:
		*list = append(*list, value.NewArg(w.single(x), w.raw(x)).Word)
	case *syntax.ParenTest:
		operator("(")
		w.testExpr(x.X, list)
		operator(")")
	case *syntax.UnaryTest:
		operator(x.Op.String())
		w.testExpr(x.X, list)
		if x.Op == syntax.TsVarSet {
			w.subscript((*list)[len(*list)-1].Text)
		}
	case *syntax.BinaryTest:
		left := len(*list)
		w.testExpr(x.X, list)
		operator(x.Op.String())
		right := len(*list)
		w.testExpr(x.Y, list)
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			w.operand((*list)[left].Value())
			w.operand((*list)[right].Value())
		case syntax.TsReMatch:
			w.assignUnknown("BASH_REMATCH", nil)
		}
	default:
		w.unclear = true
	}
}

// maxTurns is how often the body of a loop over numbers is walked. More numbers count as one that is not known;
// a longer list of anything else is walked to its end, or to the limit of commands.
const maxTurns = 64

// eachTurn reports whether the body of a loop is walked once for each item.
func eachTurn(items []string) bool {
	return len(items) <= maxTurns || slices.ContainsFunc(items, func(item string) bool { return strings.Trim(item, "0123456789") != "" })
}

// while walks while and until loops: the body once, with everything that it assigns unknown.
func (w *walker) while(c *syntax.WhileClause) {
	changed := w.changes(c.Cond, c.Do)
	w.turns(changed, false, func() {
		cond := w.block(c.Cond)
		body := w.branch(cond.ok, func() { w.stmts(c.Do) })
		body.ended = false
		w.settle(w.merge(body, cond.bad))
	})
	w.ctx.st.ended = false
}

// turns walks one turn of a loop that may be any of them, with everything unknown that the loop assigns. Where
// a turn leaves behind something else, such as a function or a file, one more turn is walked that may find it,
// unless this is the only one.
func (w *walker) turns(changed changes, once bool, turn func()) {
	before := w.fork(w.ctx.st)
	w.blur(changed)
	loop := w.ctx.loop
	w.ctx.loop = true
	body := w.branch(w.ctx.st, turn)
	body.ended = false
	if !once && !loop && body.differs(w.ctx.st) {
		w.settle(w.merge(w.ctx.st, body))
		w.blur(changed)
		body = w.branch(w.ctx.st, turn)
		body.ended = false
	}
	w.ctx.loop = loop
	w.settle(w.merge(before, body))
}

// differs reports that something else than variables and the directory is not the same in both states.
func (st *state) differs(o *state) bool {
	return !maps.Equal(st.fds, o.fds) || !maps.Equal(st.aliases, o.aliases) || st.in != o.in ||
		st.sh != o.sh || st.decodes != o.decodes || st.exports != o.exports || st.nocase != o.nocase ||
		st.physical != o.physical || st.fed != o.fed || st.removed != o.removed || !maps.Equal(st.made, o.made) ||
		!slices.Equal(st.moved, o.moved) || !maps.EqualFunc(st.funcs, o.funcs, slices.Equal[[]*function]) ||
		st.writtenBeside(o) || o.writtenBeside(st)
}

// writtenBeside reports a file of which st knows something else than o.
func (st *state) writtenBeside(o *state) bool {
	for abs, f := range st.files {
		other := o.files[abs]
		if !f.content.Equal(other.content) || f.program != other.program || f.edited != other.edited ||
			f.pipe != other.pipe {
			return true
		}
	}
	return false
}

// loop walks a loop.
func (w *walker) loop(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.WhileClause:
		w.while(c)
	case *syntax.ForClause:
		switch l := c.Loop.(type) {
		case *syntax.CStyleLoop:
			w.cStyle(c, l)
		case *syntax.WordIter:
			w.forWords(c, l)
		default:
			w.unclear = true
		}
	}
}

func (w *walker) cStyle(c *syntax.ForClause, l *syntax.CStyleLoop) {
	changed := w.changes(c.Do)
	for _, x := range []syntax.ArithmExpr{l.Cond, l.Post} {
		if x != nil {
			changed.arithmetic(x)
		}
	}
	if l.Init != nil {
		w.expression(l.Init)
	}
	w.turns(changed, false, func() {
		if l.Cond != nil {
			w.expression(l.Cond)
		}
		w.stmts(c.Do)
		if l.Post != nil {
			w.expression(l.Post)
		}
	})
}

// forWords walks a loop over words: once per value when the list is known.
func (w *walker) forWords(c *syntax.ForClause, l *syntax.WordIter) {
	items, bound := w.loopItems(l)
	changed := w.changes(c.Do)
	name := l.Name.Value
	static := bound && !c.Select && eachTurn(value.Texts(items)) &&
		slices.ContainsFunc(items, func(a value.Arg) bool { return a.Certainty != value.Unknown })
	straight := !changed.jumps
	for _, a := range items {
		straight = straight && !a.Glob && a.Certainty != value.Unknown // these stand for many turns
	}
	if static {
		w.eachItem(c, name, items, changed, straight)
		return
	}
	changed.names[name] = true
	w.turns(changed, false, func() {
		w.assign(name, value.OpaqueOf("$"+name, value.Values(items)...))
		if c.Select {
			w.assignUnknown("REPLY", nil)
		}
		w.stmts(c.Do)
	})
	w.ctx.st.ended = false
}

func (w *walker) loopItems(l *syntax.WordIter) ([]value.Arg, bool) {
	if l.InPos.IsValid() {
		return w.fields(l.Items), true
	}
	if !w.ctx.st.bound {
		return nil, false
	}
	var items []value.Arg
	for _, v := range w.ctx.st.params {
		items = append(items, value.NewArg(v, `"$@"`))
	}
	return items, true
}

// eachItem walks the body once per item. A pattern stays one item: its matches go the same way.
func (w *walker) eachItem(c *syntax.ForClause, name string, items []value.Arg, changed changes, straight bool) {
	for _, a := range items {
		if w.budget != "" {
			return
		}
		v := a.Val.With(false, nil)
		if text := v.Text(); a.Glob && v.Known() {
			v = value.Value{{Text: text, Known: true, Glob: true, Inputs: v.Inputs()}}
		}
		turn := func() {
			if w.ctx.st.vars[name].ref != "" { // it refers to another variable in each turn
				w.forget()
				w.ctx.st.vars[name] = variable{ref: anyVariable}
			}
			w.assign(name, v)
			w.mayStop(changed.jumps, func() { w.stmts(c.Do) })
		}
		if straight {
			turn()
		} else {
			w.turns(changed, !a.Glob && a.Certainty != value.Unknown, turn)
		}
		w.ctx.st.ended = false
	}
}
