package inline

// findLoops notes the bodies of loops that never end by themselves: while True, for(;;), loop.
func (s *scan) findLoops() {
	for i := range s.toks {
		t := &s.toks[i]
		if t.kind != tokIdent || i > 0 && s.toks[i-1].is(".") {
			continue
		}
		body := -1
		switch t.text {
		case "while", "until":
			body = s.whileTrue(i)
		case "for":
			body = s.forEver(i)
		case "loop":
			if i+1 < len(s.toks) && (s.toks[i+1].is("{") || s.toks[i+1].word("do")) {
				body = i + 1
			}
		}
		if body >= 0 && body < len(s.toks) {
			s.loops = append(s.loops, span{body, s.bodyEnd(i, body)})
		}
	}
}

// whileTrue returns the first token of the body of a while with a condition that is always true.
func (s *scan) whileTrue(i int) int {
	cond, body := i+1, i+2
	if cond >= len(s.toks) {
		return -1
	}
	if s.toks[cond].is("(") && s.match[cond] == cond+2 {
		cond, body = cond+1, cond+3
	}
	t := &s.toks[cond]
	until := s.toks[i].text == "until"
	switch {
	case t.word("not") || t.is("!"):
		until, cond, body = !until, cond+1, body+1
		if cond >= len(s.toks) {
			return -1
		}
		t = &s.toks[cond]
	case t.word("fork") && !until: // fork while fork
		return body
	}
	if t.kind != tokNumber && t.kind != tokIdent && t.kind != tokString {
		return -1
	}
	if t.kind == tokIdent && t.text != "True" && t.text != "true" && t.text != "TRUE" && t.text != "False" && t.text != "false" {
		return -1
	}
	yes, known := wordValue(t.text).truth()
	if !known || yes == until {
		return -1
	}
	if body < len(s.toks) && !s.toks[body].newline && s.toks[body].kind == tokOp {
		switch s.toks[body].text {
		case ":", "{", ";", ")":
		default: // a longer condition
			return -1
		}
	}
	return body
}

// forEver returns the first token of the body of for(;;), or of Python's endless iterators.
func (s *scan) forEver(i int) int {
	n := i + 1
	if n+2 < len(s.toks) && s.toks[n].is("(") && s.toks[n+1].is(";") && s.toks[n+2].is(";") && s.match[n] == n+3 {
		return n + 4
	}
	if s.g.name == "go" && n < len(s.toks) && s.toks[n].is("{") {
		return n
	}
	for j := n; j < len(s.toks) && j < n+4; j++ {
		if s.toks[j].word("in") && j+3 < len(s.toks) {
			if s.toks[j+1].word("count") || s.toks[j+1].word("iter") && s.toks[j+2].is("(") && s.toks[j+3].word("int") ||
				s.toks[j+1].word("itertools") && s.toks[j+3].word("count") {
				return j + 1
			}
		}
	}
	return -1
}

// bodyEnd is the token behind the loop at token i, whose body begins at token body.
func (s *scan) bodyEnd(i, body int) int {
	if s.g.indented {
		col := s.lineCol(i)
		for j := body; j < len(s.toks) && s.b.step(); j++ {
			if s.toks[j].newline && s.toks[j].col <= col {
				return j
			}
		}
		return len(s.toks)
	}
	if s.toks[body].is("{") {
		return s.after(body)
	}
	if s.g.wordBlocks { // blocks end with a word that is not matched here
		return len(s.toks)
	}
	for j := body; j < len(s.toks) && s.b.step(); j++ {
		if s.toks[j].is(";") {
			return j
		}
	}
	return len(s.toks)
}

// lineCol is the indentation of the line in which token i stands.
func (s *scan) lineCol(i int) int {
	for ; i > 0 && !s.toks[i].newline && s.b.step(); i-- {
	}
	return s.toks[i].col
}

// endless reports whether token i stands in a loop that has no end and does not wait for
// anything. A server that forks for each connection is not a fork bomb.
func (s *scan) endless(i int) bool {
	for k := len(s.loops) - 1; k >= 0 && s.b.step(); k-- {
		l := s.loops[k]
		if i >= l.from && i < l.to && !s.waits(l) {
			return true
		}
	}
	// fork while 1; fork while fork: the loop stands behind its body.
	for j := i + 1; j < len(s.toks) && j < i+5 && s.g.parenless; j++ {
		if s.toks[j].word("while") || s.toks[j].word("until") {
			return s.whileTrue(j) >= 0
		}
	}
	return false
}

// waits reports whether a loop blocks or can be left.
func (s *scan) waits(l span) bool {
	for i := l.from; i < l.to && s.b.step(); i++ {
		switch t := &s.toks[i]; {
		case t.kind != tokIdent:
		case t.text == "accept", t.text == "wait", t.text == "waitpid", t.text == "break", t.text == "last", t.text == "return":
			return true
		}
	}
	return false
}
