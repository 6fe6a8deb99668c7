package walk

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/source"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// arithmetic walks an arithmetic expression, for its substitutions and assignments, and
// returns its value if that is known.
func (w *walker) arithmetic(x syntax.ArithmExpr, raw string) value.Value {
	n, ok := w.expression(x)
	if !ok {
		w.aborts = true
		return value.Opaque(raw, nil)
	}
	return value.Known(strconv.FormatInt(n, 10))
}

// index returns the value of a subscript. Bash evaluates one once, twice or not at all, so that the variables
// that it assigns are not known afterwards.
func (w *walker) index(x syntax.ArithmExpr, raw string) value.Value {
	v := w.arithmetic(x, raw)
	assigned := changes{names: map[string]bool{}}
	assigned.arithmetic(x)
	if len(assigned.names) == 0 {
		return v
	}
	w.blur(assigned)
	return value.Opaque(raw, nil)
}

// expression expands the words of x, all of them before the first operator, and evaluates it.
func (w *walker) expression(x syntax.ArithmExpr) (int64, bool) {
	defer func(outer map[*syntax.Word]value.Value) { w.expanded = outer }(w.expanded)
	w.expandOperands(x)
	n, ok := w.number(x)
	if assigned := (changes{names: map[string]bool{}}); w.mayBreak() {
		assigned.arithmetic(x)
		w.blur(assigned)
	}
	return n, ok
}

// mayBreak reports an expanded word of the expression that is no number. It is put in as text, and where
// that is no expression bash stops before the assignments behind it.
func (w *walker) mayBreak() bool {
	for _, v := range w.expanded {
		if text, ok := v.Exact(); !ok || text == "" || strings.Trim(text, "0123456789") != "" {
			return true
		}
	}
	return false
}

// expandOperands expands each word of the expressions that number does not read by its name.
func (w *walker) expandOperands(list ...syntax.ArithmExpr) {
	w.expanded = map[*syntax.Word]value.Value{}
	for _, x := range list {
		syntax.Walk(x, func(n syntax.Node) bool {
			word, ok := n.(*syntax.Word)
			if !ok || word.Lit() != "" {
				return true
			}
			if _, ok := nakedElement(word); ok {
				return true
			}
			w.expanded[word] = w.single(word)
			return false
		})
	}
}

// number evaluates x. Both sides of every operator are evaluated, as the substitutions in
// them are to be seen; where only one side would be, nothing assigned in it stays known.
func (w *walker) number(x syntax.ArithmExpr) (int64, bool) {
	if x == nil || !w.step(1) {
		return 0, false
	}
	switch x := x.(type) {
	case *syntax.Word:
		return w.numberWord(x)
	case *syntax.ParenArithm:
		return w.number(x.X)
	case *syntax.UnaryArithm:
		return w.unary(x)
	case *syntax.BinaryArithm:
		return w.binary(x)
	default:
		w.unclear = true
		return 0, false
	}
}

func (w *walker) numberWord(x *syntax.Word) (int64, bool) {
	if name := x.Lit(); syntax.ValidName(name) {
		v := w.ctx.st.lookupVar(name)
		if v.array && len(v.list) > 0 {
			v.val = v.list[0]
		}
		w.ends(v.val)
		return w.operand(v.val)
	}
	if p, ok := nakedElement(x); ok {
		w.index(p.Index, "")
		list, _ := w.base(p, "")
		for _, v := range list {
			w.operand(v)
		}
		return 0, false
	}
	v, ok := w.expanded[x]
	if !ok {
		v = w.single(x)
	}
	n, ok := w.operand(v)
	return n, ok && n >= 0 && v.Text() != "" // -1 is an operator and a number where it is put in as text
}

// nakedElement recognises a[i] inside arithmetic.
func nakedElement(x *syntax.Word) (*syntax.ParamExp, bool) {
	if len(x.Parts) != 1 {
		return nil, false
	}
	p, ok := x.Parts[0].(*syntax.ParamExp)
	return p, ok && p.Short && p.Index != nil && !p.Dollar.IsValid()
}

// operand reads a value as bash evaluates it where it wants a number: as an expression of its own, whose
// subscripts may run commands.
func (w *walker) operand(v value.Value) (int64, bool) {
	if text, ok := v.Exact(); ok {
		return w.numberText(text)
	}
	if strings.Contains(v.Text(), "=") {
		w.forget() // it may assign
	}
	if strings.ContainsAny(v.Prefix(), "[$`") {
		w.mark(w.ctx.current, shell.MarkDynamicCode)
	}
	return 0, false
}

// numberText evaluates a known operand. A text that is no number is walked as an expression.
func (w *walker) numberText(text string) (n int64, ok bool) {
	text = strings.Trim(text, " \t\n")
	if text == "" {
		return 0, true
	}
	if text[0] >= '0' && text[0] <= '9' && strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ#@_") == "" {
		return value.Number(text)
	}
	w.step(10 + len(text)/bytesPerStep)
	x, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
	if err != nil || source.TooDeep(text, w.lim.Nesting) >= 0 {
		w.hidden(text)
		return 0, false
	}
	if word, ok := x.(*syntax.Word); ok && word.Lit() != "" && !syntax.ValidName(word.Lit()) {
		return 0, false
	}
	saved := w.ctx
	w.nestSource(text)
	w.deeper(func() { n, ok = w.number(x) })
	w.ctx = saved
	if _, single := x.(*syntax.Word); !single && !syntax.ValidName(text) {
		ok = false // where it was put in as text, its neighbours bind to parts of it
	}
	return n, ok
}

func (w *walker) unary(x *syntax.UnaryArithm) (int64, bool) {
	n, ok := w.number(x.X)
	switch x.Op {
	case syntax.Inc, syntax.Dec:
		ok = ok && !w.ctx.st.sh // dash reads two signs: --i is -(-i)
		after := n + 1
		if x.Op == syntax.Dec {
			after = n - 1
		}
		w.setNumber(x.X, after, ok)
		if x.Post {
			return n, ok
		}
		return after, ok
	case syntax.Not:
		return value.Truth(n == 0), ok
	case syntax.BitNegation:
		return ^n, ok
	case syntax.Minus:
		return -n, ok
	default:
		return n, ok
	}
}

// setNumber assigns to the variable that x names.
func (w *walker) setNumber(x syntax.ArithmExpr, n int64, ok bool) {
	word, isWord := x.(*syntax.Word)
	if !isWord {
		return
	}
	name := word.Lit()
	if p, isElement := nakedElement(word); isElement {
		name, ok = p.Param.Value, false
	}
	switch {
	case !syntax.ValidName(name):
	case ok && !w.ctx.st.sh:
		w.assign(name, value.Known(strconv.FormatInt(n, 10)))
	default:
		w.assignUnknown(name, nil)
	}
}

func (w *walker) binary(x *syntax.BinaryArithm) (int64, bool) {
	switch x.Op {
	case syntax.AndArit, syntax.OrArit, syntax.TernQuest:
		return w.conditional(x)
	case syntax.Assgn:
		n, ok := w.number(x.Y)
		if word, isWord := x.X.(*syntax.Word); isWord {
			if p, isElement := nakedElement(word); isElement {
				w.index(p.Index, "")
			}
		}
		w.setNumber(x.X, n, ok)
		return n, ok
	}
	a, okA := w.number(x.X)
	b, okB := w.number(x.Y)
	if op, assigns := compound[x.Op]; assigns {
		n, ok := value.Calculate(op, a, b)
		ok = ok && okA && okB
		w.setNumber(x.X, n, ok)
		return n, ok
	}
	n, ok := value.Calculate(x.Op, a, b)
	return n, ok && okA && okB
}

// conditional handles && || ?: where one side may not be evaluated.
func (w *walker) conditional(x *syntax.BinaryArithm) (int64, bool) {
	a, okA := w.number(x.X)
	before := w.fork(w.ctx.st)
	if x.Op != syntax.TernQuest {
		b, okB := w.number(x.Y)
		*w.ctx.st = *w.merge(w.ctx.st, before)
		if x.Op == syntax.AndArit {
			return value.Truth(a != 0 && b != 0), okA && okB
		}
		return value.Truth(a != 0 || b != 0), okA && okB
	}
	arms, ok := x.Y.(*syntax.BinaryArithm)
	if !ok {
		return 0, false
	}
	b, okB := w.number(arms.X)
	*w.ctx.st = *w.merge(w.ctx.st, before) // the other arm finds what either holds
	c, okC := w.number(arms.Y)
	*w.ctx.st = *w.merge(w.ctx.st, before)
	ok = okA && okB && okC // text that is put into an arm may be no expression
	if a != 0 {
		return b, ok
	}
	return c, ok
}

// compound are the operators that calculate and assign.
var compound = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo,
	syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor,
	syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
	// Never known, but assigned to:
	syntax.PowAssgn: syntax.Pow, syntax.AndBoolAssgn: syntax.Pow, syntax.OrBoolAssgn: syntax.Pow, syntax.XorBoolAssgn: syntax.Pow,
}
