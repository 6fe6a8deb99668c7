package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

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
