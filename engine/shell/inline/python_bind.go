package inline

import (
	"slices"
	"strings"
)

// pythonBind collects imports, assignments, loops, with statements, functions and their parameters.
func pythonBind(s *scan) {
	for i := 0; i < len(s.toks); i++ {
		t := &s.toks[i]
		if t.kind == tokOp {
			if (t.text == "=" || t.text == "+=" || t.text == ":=") && i > 0 {
				s.pythonAssign(i)
			}
			continue
		}
		if t.kind != tokIdent || i > 0 && s.toks[i-1].is(".") {
			continue
		}
		switch t.text {
		case "import":
			i = s.pythonImport(i)
		case "from":
			if j, ok := s.pythonFrom(i); ok {
				i = j
			}
		case "for":
			s.pythonFor(i)
		case "with":
			s.pythonWith(i)
		case "as": // except E as e; with binds its own
			if bs := s.binds; i+1 < len(s.toks) && s.toks[i+1].kind == tokIdent {
				if n := bs[s.toks[i+1].text]; n == nil || n.last.tok != i+1 {
					s.bindAt(i+1, 0, bindUnknown, 0)
				}
			}
		case "def":
			s.pythonDef(i)
		}
	}
}

// dotted reads a.b.c and returns the token behind it.
func (s *scan) dotted(i int) (string, int) {
	from := i
	for i < len(s.toks) && (s.toks[i].kind == tokIdent && (i == from || s.toks[i-1].is(".")) ||
		s.toks[i].is(".")) {
		i++
	}
	var name strings.Builder
	for _, t := range s.toks[from:i] {
		if name.Len() > 120 {
			break
		}
		name.WriteString(t.text)
	}
	return name.String(), i
}

func (s *scan) pythonImport(i int) int {
	for i++; i < len(s.toks); i++ {
		name, next := s.dotted(i)
		if next == i {
			break
		}
		i = next
		if i+1 < len(s.toks) && s.toks[i].word("as") {
			s.aliases[s.toks[i+1].text] = name
			i += 2
		} else if root, _, _ := strings.Cut(name, "."); root != "" {
			s.aliases[root] = root
		}
		if i >= len(s.toks) || !s.toks[i].is(",") {
			break
		}
	}
	return i - 1
}

// pythonFrom reads "from m import a as b, c"; false for another use of the word.
func (s *scan) pythonFrom(i int) (int, bool) {
	module, j := s.dotted(i + 1)
	if j == i+1 || j >= len(s.toks) || !s.toks[j].word("import") {
		return i, false
	}
	for j++; j < len(s.toks); j++ {
		t := &s.toks[j]
		switch {
		case t.is("("):
			continue
		case t.is("*"):
			if s.b.work(len(s.stars)); !slices.Contains(s.stars, module) {
				s.stars = append(s.stars, module)
			}
			return j, true
		case t.kind != tokIdent:
			return j, true
		}
		name := t.text
		if j+2 < len(s.toks) && s.toks[j+1].word("as") {
			s.aliases[s.toks[j+2].text] = module + "." + name
			j += 2
		} else {
			s.aliases[name] = module + "." + name
		}
		if j+1 >= len(s.toks) || !s.toks[j+1].is(",") {
			return j, true
		}
		j++
	}
	return j, true
}

// pythonAssign binds the names on the left of the = at token i.
func (s *scan) pythonAssign(i int) {
	name := i - 1
	if s.toks[name].kind == tokIdent {
		prev := name - 1
		kind := bindSet
		if s.toks[i].text == "+=" {
			kind = bindAppend
		}
		switch {
		case s.toks[i].text == ":=", s.toks[name].newline, prev < 0, s.toks[prev].is(";"), s.toks[prev].is("="):
			s.bindAt(name, i+1, kind, 0)
		case s.toks[prev].is(":") && prev > 0:
			// "x: str = …" is an annotation, "if c: x = …" a block.
			if s.toks[prev-1].kind == tokIdent && s.toks[prev-1].newline && s.toks[prev-1].text != "else" &&
				s.toks[prev-1].text != "try" {
				s.bindAt(prev-1, i+1, kind, 0)
			} else {
				s.bindAt(name, i+1, kind, 0)
			}
		case s.toks[prev].is(","):
			s.tuple(name, i)
		}
		return
	}
	if s.toks[name].is("]") || s.toks[name].is(")") {
		return // an element or a member: not followed
	}
}

// tuple binds a, b = expr.
func (s *scan) tuple(last, eq int) {
	first := last
	for first >= 2 && s.toks[first-1].is(",") && s.toks[first-2].kind == tokIdent && !s.toks[first].newline {
		first -= 2
	}
	if first > 0 && !s.toks[first].newline && !s.toks[first-1].is(";") && !s.toks[first-1].is(":") {
		return // keyword arguments of a call
	}
	// The right side is a tuple without brackets: each name gets the expression at its place.
	at := eq + 1
	for k := first; k <= last; k += 2 {
		if at > 0 && at < len(s.toks) {
			s.bindAt(k, at, bindSet, 0)
		} else {
			s.bindAt(k, eq+1, bindElement, (k-first)/2)
		}
		at = s.nextComma(at)
	}
	if s.nextComma(eq+1) < 0 { // one value for all: take it apart
		for k := first; k <= last; k += 2 {
			b := s.binds[s.toks[k].text].last
			b.kind, b.expr, b.index = bindElement, eq+1, (k-first)/2
		}
	}
}

// nextComma is the token behind the next comma of the same statement, -1 when there is none.
func (s *scan) nextComma(i int) int {
	if i < 0 {
		return -1
	}
	for from := i; i < len(s.toks) && i-from < 64; i = s.after(i) {
		t := &s.toks[i]
		if t.is(",") {
			return i + 1
		}
		if t.newline && i > from || t.is(";") {
			return -1
		}
	}
	return -1
}

// pythonFor binds the loop variables of "for a, b in expr".
func (s *scan) pythonFor(i int) {
	var names []int
	j := i + 1
	for ; j < len(s.toks) && !s.toks[j].word("in") && j-i < 16; j++ {
		if s.toks[j].kind == tokIdent {
			names = append(names, j)
		}
	}
	if j+1 >= len(s.toks) || !s.toks[j].word("in") {
		return
	}
	end := s.clauseEnd(j + 1)
	if len(names) == 1 {
		s.bindAt(names[0], j+1, bindEach, end)
		return
	}
	for k, n := range names {
		if k == 0 {
			s.bindAt(n, j+1, bindFirst, end)
		} else {
			s.bindAt(n, 0, bindUnknown, 0)
		}
	}
}

// clauseEnd is the token at which the next clause of a comprehension begins, 0 for none.
func (s *scan) clauseEnd(i int) int {
	for ; i < len(s.toks) && !s.ends(i, true, false) && s.b.step(); i = s.after(i) {
		if t := &s.toks[i]; t.word("for") || t.word("if") || t.word("async") {
			return i
		}
	}
	return 0
}

// pythonWith binds the names of "with a as x, b as y:".
func (s *scan) pythonWith(i int) {
	start := i + 1
	if start < len(s.toks) && s.toks[start].is("(") && s.after(start) < len(s.toks) &&
		s.toks[s.after(start)].is(":") {
		start++
	}
	for j := start; j+1 < len(s.toks) && j < i+256; j = s.after(j) {
		switch t := &s.toks[j]; {
		case t.is(":"), t.newline && j > i && start == i+1:
			return
		case t.is(","):
			start = j + 1
		case t.word("as") && s.toks[j+1].kind == tokIdent:
			s.bindAt(j+1, start, bindSet, 0)
		}
	}
}

// pythonDef makes a function and its parameters unknown, except those with a constant default and those to
// which all calls give constant texts.
func (s *scan) pythonDef(i int) {
	if i+2 >= len(s.toks) || !s.toks[i+2].is("(") {
		return
	}
	if s.toks[i+1].kind == tokIdent {
		s.bindAt(i+1, 0, bindUnknown, 0)
	}
	end := min(s.match[i+2], len(s.toks))
	scope := s.scopes[i]
	if i+1 < len(s.toks) {
		scope = i + 1
	}
	place, plain := 0, true
	for j := i + 3; j < end; j = s.after(j) {
		switch before := &s.toks[j-1]; {
		case s.toks[j].is(","):
			place++
		case s.toks[j].is("*"), s.toks[j].is("**"), s.toks[j].is("/"):
			plain = false
		case s.toks[j].kind != tokIdent:
		case before.is("*"), before.is("**"):
			s.bindIn(j, 0, bindUnknown, 0, scope, true)
		case before.is("("), before.is(","):
			s.pythonParameter(j, scope, i+1, place, plain)
		}
	}
}
