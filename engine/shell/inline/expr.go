package inline

// expr evaluates the expression that begins at token i and returns the token behind it. In
// brackets a new line does not end it.
func (s *scan) expr(i int, inBrackets bool) (value, int) {
	if i >= len(s.toks) || s.ends(i, inBrackets, true) {
		return value{}, i
	}
	if s.depth >= maxDepth {
		s.capped = true
		return value{}, s.after(i)
	}
	s.depth++
	defer func() { s.depth-- }()
	v, i := s.operand(i, false)
	for i < len(s.toks) && s.b.step() && !s.ends(i, inBrackets, false) {
		v, i = s.operator(v, i, inBrackets)
	}
	return v, min(i, len(s.toks))
}

// ends reports whether the expression before token i ends there.
func (s *scan) ends(i int, inBrackets, first bool) bool {
	t := &s.toks[i]
	if s.stop > 0 && i >= s.stop {
		return true
	}
	if t.newline && !inBrackets && !first && s.g.newlineEnds && !s.continues(i) {
		return true
	}
	switch t.kind {
	case tokOp:
		switch t.text {
		case ",", ")", "]", "}", ";", "=>", ":":
			return true
		case "{":
			return !first
		default:
			return s.g.stops[t.text]
		}
	case tokIdent:
		if first {
			return false
		}
		return s.g.terminators[t.text]
	}
	return false
}

// continues reports whether the line that begins at token i goes on with the expression before it, as an operator at
// either end of the line says.
func (s *scan) continues(i int) bool {
	if s.g.indented {
		return false
	}
	t, p := &s.toks[i], &s.toks[i-1]
	return t.is("||") || t.is("&&") || t.is("?") || p.kind == tokOp && !p.operandEnd() && p.text != ";"
}

// conditional is Python's "v if condition else other".
func (s *scan) conditional(v value, i int, inBrackets bool) (value, int) {
	for i++; i < len(s.toks) && !s.ends(i, inBrackets, false) && !s.toks[i].word("else") && s.b.step(); {
		i = s.after(i)
	}
	if i >= len(s.toks) || !s.toks[i].word("else") {
		return v, i
	}
	r, n := s.expr(i+1, inBrackets)
	return union(v, r), n
}

// repeat is a text or list times a number.
func (s *scan) repeat(v, times value) value {
	n, ok := times.number()
	if !ok || n < 0 || n > 256 || v.kind != text {
		if v.kind == list {
			v.open = true
			return v
		}
		return value{}
	}
	out := textValue("")
	for range n {
		out = s.concat(out, v)
	}
	return out
}

// arguments evaluates what stands between the brackets that open at token i.
func (s *scan) arguments(open int) []argument {
	if a, ok := s.args[open]; ok {
		return a
	}
	end := s.match[open]
	before := s.capped
	s.capped = false
	a := s.list(open+1, min(end, len(s.toks)))
	if !s.capped {
		s.args[open] = a
	}
	s.capped = s.capped || before
	return a
}

// list evaluates expressions separated by commas in [i, end).
func (s *scan) list(i, end int) []argument {
	var out []argument
	for i < end && s.b.step() {
		if s.toks[i].is(",") || s.toks[i].is(";") {
			i++
			continue
		}
		a := argument{from: i}
		if key, skip := s.keyword(i); skip > 0 && i+skip < end {
			a.key = key
			i += skip
		}
		a.splat = s.toks[i].is("*") || s.toks[i].is("**")
		var n int
		a.v, n = s.expr(i, true)
		for n < end && !s.toks[n].is(",") && s.b.step() {
			n = s.after(n)
		}
		i = min(max(n, i+1), end)
		a.to = i
		out = append(out, a)
	}
	return out
}

// keyword recognises name=value, and returns the tokens before the value.
func (s *scan) keyword(i int) (string, int) {
	if s.g.indented && s.toks[i].kind == tokIdent && i+1 < len(s.toks) && s.toks[i+1].is("=") {
		return s.toks[i].text, 2
	}
	return "", 0
}
