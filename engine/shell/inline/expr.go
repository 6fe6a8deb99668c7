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
		return s.g.terminators[t.text] || s.g.juxtaposed && t.text != "and" && t.text != "or" && s.toks[i-1].operandEnd()
	}
	return false
}

// continues reports whether the line that begins at token i goes on with the expression
// before it, as an operator at either end of the line says.
func (s *scan) continues(i int) bool {
	if t := &s.toks[i]; t.kind == tokOp && (t.text == "." || t.text == "+" || t.text == "||" || t.text == "&&" || t.text == "?") && s.g.name != "python" {
		return true
	}
	p := &s.toks[i-1]
	return p.kind == tokOp && !p.operandEnd() && p.text != ";" && s.g.name != "python"
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
		if s.toks[i].is(",") || s.toks[i].is(";") || s.toks[i].is("=>") {
			i++
			continue
		}
		a := argument{from: i}
		if key, skip := s.keyword(i); skip > 0 && i+skip < end {
			a.key = key
			i += skip
		}
		a.splat = s.toks[i].is("*") || s.toks[i].is("**") || s.toks[i].is("...") || s.toks[i].kind == tokIdent && s.toks[i].text[0] == '@' && s.g.name == "perl"
		var n int
		a.v, n = s.expr(i, true)
		for n < end && !s.toks[n].is(",") && !(s.toks[n].is("=>") && a.key == "") && s.b.step() {
			n = s.after(n)
		}
		i = min(max(n, i+1), end)
		a.to = i
		out = append(out, a)
	}
	return out
}

// keyword recognises name=value, name: value and name => value, and returns the tokens before the value.
func (s *scan) keyword(i int) (string, int) {
	t := &s.toks[i]
	if t.kind != tokIdent && t.kind != tokString || i+1 >= len(s.toks) {
		return "", 0
	}
	switch n := &s.toks[i+1]; {
	case n.is("=") && t.kind == tokIdent && s.g.keywords == "=",
		n.is(":") && s.g.keywords == ":",
		n.is("=>"):
		return t.text, 2
	}
	return "", 0
}

// command evaluates the arguments of a call without brackets: all up to the end of the statement.
func (s *scan) command(i int) ([]argument, int, bool) {
	if i >= len(s.toks) {
		return nil, i, true
	}
	t := &s.toks[i]
	switch {
	case t.newline && s.g.newlineEnds, t.kind == tokIdent && s.g.terminators[t.text]:
		return nil, i, true
	case t.kind == tokOp:
		switch t.text {
		case ";", ")", "]", "}", ",", "||", "&&", "?", ":", ".", "==", "!=", "=>", "|":
			return nil, i, true
		case "{":
			if s.g.name == "ruby" { // a block
				return nil, i, true
			}
		case "[", "(":
			if !t.space {
				return nil, i, false
			}
		case "=":
			return nil, i, false
		}
	}
	var out []argument
	for i < len(s.toks) && s.b.step() {
		a := argument{from: i}
		if key, skip := s.keyword(i); skip > 0 && i+skip < len(s.toks) {
			a.key = key
			i += skip
		}
		if s.toks[i].is("{") && len(out) == 0 && s.g.name == "perl" && s.match[i] < len(s.toks) { // exec {program} @argv
			a.v, _ = s.expr(i+1, true)
			i = s.after(i)
			a.key, a.to = "{}", i
			out = append(out, a)
			continue
		}
		a.splat = s.toks[i].is("*") || s.toks[i].kind == tokIdent && s.toks[i].text[0] == '@' && s.g.name == "perl"
		var n int
		a.v, n = s.expr(i, false)
		i = max(n, i+1)
		a.to = min(i, len(s.toks))
		out = append(out, a)
		if i >= len(s.toks) || !s.toks[i].is(",") && !s.toks[i].is("=>") {
			break
		}
		i++
	}
	return out, min(i, len(s.toks)), true
}
