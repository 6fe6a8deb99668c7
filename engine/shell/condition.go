package shell

import (
	"mvdan.cc/sh/v3/syntax"
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
		w.commands[idx].Words = []Word{literalArg("((").Word, literalArg(w.raw(c.X)).Word, literalArg("))").Word}
	})
}

func (w *walker) let(c *syntax.LetClause) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.fillBare(idx, c, nil)
	w.commands[idx].Name = "let"
	list := []Word{literalArg("let").Word}
	w.within(idx, func() {
		w.expandOperands(c.Exprs...)
		for _, x := range c.Exprs {
			if _, ok := w.number(x); !ok {
				w.aborts = true
			}
			list = append(list, literalArg(w.raw(x)).Word)
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
	list := []Word{literalArg("[[").Word}
	w.within(idx, func() { w.testExpr(c.X, &list) })
	w.commands[idx].Words = append(list, literalArg("]]").Word)
	w.grade(idx)
}

func (w *walker) testExpr(x syntax.TestExpr, list *[]Word) {
	if !w.step(1) {
		return
	}
	operator := func(text string) { *list = append(*list, literalArg(text).Word) }
	switch x := x.(type) {
	case *syntax.Word:
		*list = append(*list, newArg(w.single(x), w.raw(x)).Word)
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
			w.operand(wordValue((*list)[left]))
			w.operand(wordValue((*list)[right]))
		case syntax.TsReMatch:
			w.assignUnknown("BASH_REMATCH", nil)
		}
	default:
		w.unclear = true
	}
}
