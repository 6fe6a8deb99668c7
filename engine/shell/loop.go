package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// maxTurns is how often the body of a loop over numbers is walked. More numbers count as one that is not known;
// a longer list of anything else is walked to its end, or to the limit of commands.
const maxTurns = 64

// eachTurn reports whether the body of a loop is walked once for each item.
func eachTurn(items []string) bool {
	return len(items) <= maxTurns || slices.ContainsFunc(items, func(item string) bool { return strings.Trim(item, "0123456789") != "" })
}

// while walks while and until loops. A loop that reads known lines is walked line by line;
// of any other the body is walked once, with everything that it assigns unknown.
func (w *walker) while(c *syntax.WhileClause) {
	changed := w.changes(c.Cond, c.Do)
	if w.readsKnownLines(c) && w.eachLine(c, changed) {
		return
	}
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

// readsKnownLines reports "while read x" over a here-document or a static pipe.
func (w *walker) readsKnownLines(c *syntax.WhileClause) bool {
	if c.Until || len(c.Cond) != 1 || w.ctx.in == nil || !w.ctx.in.static {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" || len(c.Cond[0].Redirs) > 0 || len(call.Assigns) > 0 {
		return false
	}
	for _, a := range call.Args[1:] {
		if text := a.Lit(); text != "-r" && !syntax.ValidName(text) {
			return false
		}
	}
	text, ok := w.ctx.in.text.Exact()
	return ok && eachTurn(strings.Fields(text))
}

// eachLine is false when something else than the loop has read of its input: what is left is not known.
func (w *walker) eachLine(c *syntax.WhileClause, changed changes) bool {
	in := *w.ctx.in // read consumes lines from it
	w.ctx.in = &in
	for {
		text, ok := in.text.Exact()
		if text == "" || w.budget != "" {
			call, _ := c.Cond[0].Cmd.(*syntax.CallExpr)
			for _, a := range call.Args[1:] { // the last read sets them, too
				if name := a.Lit(); name != "-r" {
					w.assignUnknown(name, nil)
				}
			}
			return ok
		}
		before := w.fork(w.ctx.st)
		if changed.jumps {
			w.blur(changed)
		}
		w.stmts(c.Cond)
		w.mayStop(changed.jumps, func() { w.stmts(c.Do) })
		w.ctx.st.ended = false
		if changed.jumps {
			w.settle(w.merge(w.ctx.st, before))
		}
		if rest, _ := in.text.Exact(); rest == text {
			return true // nothing was read
		}
	}
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
		w.assign(name, value.Opaque("$"+name, value.Inputs(items)))
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
