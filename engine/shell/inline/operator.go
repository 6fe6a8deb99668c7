package inline

// operator applies the operator at token i to v.
func (s *scan) operator(v value, i int, inBrackets bool) (value, int) {
	t := &s.toks[i]
	switch t.kind {
	case tokOp:
		return s.symbol(v, i, inBrackets)
	case tokIdent:
		if r, n, ok := s.wordOperator(v, i, inBrackets); ok {
			return r, n
		}
	}
	if t.kind == tokString || !s.g.indented && t.kind != tokRegex { // literals side by side, and in awk all values, are joined
		r, n := s.operand(i, false)
		return s.concat(v, r), n
	}
	_, n := s.operand(i, false)
	return value{}, n
}

// right is the operand behind the operator at token i.
func (s *scan) right(i int, inBrackets bool) (value, int) {
	if i+1 >= len(s.toks) || s.ends(i+1, inBrackets, true) {
		return value{}, i + 1
	}
	return s.operand(i+1, false)
}

// symbol applies an operator that is a sign.
func (s *scan) symbol(v value, i int, inBrackets bool) (value, int) {
	switch s.toks[i].text {
	case "+":
		r, n := s.right(i, inBrackets)
		for n < len(s.toks) && !s.ends(n, inBrackets, true) && s.tighter(n) && s.b.step() {
			r, n = s.operator(r, n, inBrackets)
		}
		return s.concat(v, r), n
	case "/":
		r, n := s.right(i, inBrackets)
		if v.name == pathName && v.kind == text {
			return pathValue(s.join(true, v, r)), n
		}
		return value{}, n
	case "%":
		r, n := s.right(i, inBrackets)
		args := []value{r}
		if r.kind == list {
			args = r.list
		}
		if v.kind != text {
			return value{}, n
		}
		return s.format(v, args, percent), n
	case "*":
		r, n := s.right(i, inBrackets)
		return s.repeat(v, r), n
	case "||":
		r, n := s.right(i, inBrackets)
		return union(v, r), n
	case "?":
		a, n := s.expr(i+1, inBrackets)
		if n < len(s.toks) && s.toks[n].is(":") {
			b, n := s.expr(n+1, inBrackets)
			return union(a, b), n
		}
		return value{}, n
	case "&&":
		return s.right(i, inBrackets)
	case "=", ":=", "+=": // an assignment has the value of its right side
		return s.expr(i+1, inBrackets)
	}
	_, n := s.right(i, inBrackets)
	return value{}, n
}

// wordOperator applies an operator that is a word, and reports whether token i is one.
func (s *scan) wordOperator(v value, i int, inBrackets bool) (value, int, bool) {
	switch s.toks[i].text {
	case "or":
		r, n := s.right(i, inBrackets)
		return union(v, r), n, true
	case "and":
		r, n := s.right(i, inBrackets)
		return r, n, true
	case "if":
		r, n := s.conditional(v, i, inBrackets)
		return r, n, true
	case "for", "async":
		// A comprehension: any number of elements, none of them known.
		for i < len(s.toks) && !s.ends(i, inBrackets, false) && s.b.step() {
			i = s.after(i)
		}
		return value{kind: list, open: true, list: []value{v}}, i, true
	case "in", "is", "not", "lambda":
		_, n := s.right(i, inBrackets)
		return value{}, n, true
	}
	return value{}, i, false
}

// tighter reports an operator that binds its operands tighter than + does.
func (s *scan) tighter(i int) bool {
	t := &s.toks[i]
	return t.is("*") || t.is("%")
}
