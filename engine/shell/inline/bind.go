package inline

import "sort"

// bindKind says how a variable gets its value.
type bindKind uint8

const (
	bindSet     bindKind = iota // name = expr
	bindAppend                  // name += expr
	bindEach                    // for name in expr: one element at a time
	bindUnknown                 // a parameter, or something that is not followed
	bindElement                 // a, b = expr: element index of it
	bindFirst                   // for root, dirs, files in os.walk(…): the first of a tuple
)

// binding is one place at which a variable gets a value.
type binding struct {
	name   string
	kind   bindKind
	expr   int // the token at which the value begins
	tok    int // the token of the name
	index  int
	nested bool // inside of a block
	done   bool
	busy   bool
	v      value
}

// names are the bindings of one name.
type names struct {
	in   map[int][]*binding // by function, 0 for none
	all  []*binding         // the first ones of them
	last *binding
}

// bindAt notes that the variable at token tok gets its value from the expression at token expr.
func (s *scan) bindAt(tok, expr int, kind bindKind, index int) {
	s.bindIn(tok, expr, kind, index, s.scopes[tok], s.nested[tok] > 0)
}

// bindIn is bindAt for a name of the given function.
func (s *scan) bindIn(tok, expr int, kind bindKind, index, scope int, nested bool) {
	s.keep(&binding{name: s.toks[tok].text, kind: kind, expr: expr, tok: tok, index: index, nested: nested}, scope)
}

func (s *scan) keep(b *binding, scope int) {
	name := b.name
	n := s.binds[name]
	if n == nil {
		n = &names{in: map[int][]*binding{}}
		s.binds[name] = n
	}
	n.in[scope] = append(n.in[scope], b)
	if len(n.all) <= maxAlts {
		n.all = append(n.all, b)
	}
	n.last = b
	if b.kind != bindUnknown && b.expr < len(s.toks) && s.at[b.expr] == nil {
		s.at[b.expr] = b
	}
}

// lookup is the value of a name at token i: that of the variable, of the import, or the
// function of that name.
func (s *scan) lookup(name string, i int) value {
	// An import beats a variable of the same name, which may be a decoy that is never set.
	if q, ok := s.aliases[name]; ok {
		return s.imported(q)
	}
	if bs := s.visible(s.binds[name], i); len(bs) > 0 {
		return s.variable(bs, i)
	}
	if s.outer != nil {
		if n := s.outer.binds[name]; n != nil {
			return s.outer.variable(n.all, len(s.outer.toks))
		}
		if q, ok := s.outer.aliases[name]; ok {
			return s.imported(q)
		}
	}
	for _, m := range s.stars {
		if !s.b.step() {
			break
		}
		if q := s.canonical(m + "." + name); s.g.calls[q] != nil || s.g.values[q] != nil {
			return objectValue(q)
		}
	}
	return s.imported(name)
}

// imported is what a qualified name stands for.
func (s *scan) imported(name string) value {
	full := s.canonical(name)
	if c, ok := s.g.constants[full]; ok {
		return c
	}
	return objectValue(full)
}

// variable is what a variable with these bindings may be at token i.
func (s *scan) variable(bs []*binding, i int) value {
	// In code without branches the last value counts.
	straight := i >= len(s.nested) || s.nested[i] == 0
	for k := 0; straight && k < len(bs) && s.b.step(); k++ {
		straight = !bs[k].nested
	}
	if straight {
		n := sort.Search(len(bs), func(k int) bool { return bs[k].tok >= i })
		if n > 1 && bs[n-1].busy { // x = x + "a": the value before
			n--
		}
		if n > 0 {
			return s.bindingValue(bs[n-1])
		}
	}
	out := s.bindingValue(bs[0])
	for k, b := range bs[1:] {
		if k+1 >= maxAlts {
			return union(out, value{})
		}
		out = union(out, s.bindingValue(b))
	}
	return out
}

// visible are the bindings that a name at token i may mean: those of the function around it,
// or those of the whole program. A parameter of another function says nothing.
func (s *scan) visible(n *names, i int) []*binding {
	if n == nil {
		return nil
	}
	scope := 0
	if i < len(s.scopes) {
		scope = s.scopes[i]
	}
	if in := n.in[scope]; len(in) > 0 || scope == 0 {
		return in
	}
	if in := n.in[0]; len(in) > 0 {
		return in
	}
	return n.all // of a function around this one
}

func (s *scan) bindingValue(b *binding) value {
	switch {
	case b.done:
		return b.v
	case b.busy || b.kind == bindUnknown:
		return value{}
	case s.depth >= maxDepth:
		s.capped = true
		return value{}
	}
	b.busy = true
	s.depth++
	before := s.capped
	s.capped = false
	var v value
	stop := s.stop
	switch s.stop = 0; b.kind {
	case bindEach, bindFirst:
		s.stop = b.index
		fallthrough
	default:
		v, _ = s.expr(b.expr, false)
	}
	s.stop = stop
	switch b.kind {
	case bindAppend:
		// The value before this place: all earlier bindings, without this one.
		v = s.concat(s.lookup(b.name, b.tok), v)
		if b.nested && v.kind == text { // any number of times
			v = openText(v)
		}
	case bindEach:
		v = element(v)
	case bindElement:
		if v.kind == list && b.index < len(v.list) && !v.open {
			v = v.list[b.index]
		} else {
			v = value{}
		}
	case bindFirst:
		if v.kind != text {
			v = value{}
		}
	}
	s.depth--
	b.busy = false
	if !s.capped {
		b.done, b.v = true, v
	}
	s.capped = s.capped || before
	return v
}

// openText is a text that may go on.
func openText(v value) value {
	out := v
	out.alts = nil
	for _, a := range v.alts {
		out.alts = append(out.alts, Arg{Text: a.Text})
	}
	return out
}

// element is any one element of a list; of a text with wildcards, the text itself.
func element(v value) value {
	switch v.kind {
	case list:
		if len(v.list) == 0 {
			return value{}
		}
		out := v.list[0]
		for i, e := range v.list[1:] {
			if i+2 > maxAlts {
				return union(out, value{})
			}
			out = union(out, e)
		}
		if v.open {
			out = union(out, value{})
		}
		return out
	case text:
		if len(v.alts) > 0 && !v.alts[0].Exact {
			return v // the names that a pattern or a directory gives
		}
	}
	return value{}
}

// layout finds out, for every token, in which function and in how many blocks it stands.
func (s *scan) layout() {
	s.scopes = make([]int, len(s.toks))
	s.nested = make([]int, len(s.toks))
	if s.g.indented {
		s.indentation()
		return
	}
	depth := 0
	for i := range s.toks {
		t := &s.toks[i]
		if t.is("}") && depth > 0 {
			depth--
		}
		s.nested[i] = depth
		if t.is("{") {
			depth++
		}
	}
}

// indentation is the layout of Python: a function's body is what is indented deeper than its def.
func (s *scan) indentation() {
	type level struct{ col, scope int }
	stack := []level{{col: -1}}
	col, brackets := 0, 0
	def := -1
	for i := range s.toks {
		t := &s.toks[i]
		if t.newline && brackets == 0 {
			col = t.col
			def = -1
			for len(stack) > 1 && stack[len(stack)-1].col >= col {
				stack = stack[:len(stack)-1]
			}
		}
		if t.kind == tokOp {
			switch t.text {
			case "(", "[", "{":
				brackets++
			case ")", "]", "}":
				brackets = max(0, brackets-1)
			}
		}
		s.scopes[i] = stack[len(stack)-1].scope
		s.nested[i] = min(max(col, 0), 1)
		if def >= 0 && brackets == 0 && t.is(":") { // the rest of a one-line block
			s.nested[i] = 1
			col = max(col, 1)
		}
		if t.newline && (t.word("def") || t.word("class") || t.word("async")) {
			stack = append(stack, level{col, i + 1})
			def = i
		} else if t.newline && (t.word("if") || t.word("for") || t.word("while") || t.word("try") || t.word("with")) {
			def = i
		}
	}
}
