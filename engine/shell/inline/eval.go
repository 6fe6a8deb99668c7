package inline

import (
	"slices"
)

// evaluator computes what a function returns from its receiver and arguments.
type evaluator func(s *scan, recv value, args []argument) value

// operand evaluates the chain of members, calls and indexes that begins at token i and
// returns the token behind it. With emit it also reports the calls of the chain itself;
// those inside of its arguments are reported when the walk reaches them.
func (s *scan) operand(i int, emit bool) (value, int) {
	if i >= len(s.toks) || !s.b.step() {
		return value{}, i + 1
	}
	if m := s.memo[i]; m != nil && !emit {
		return m.v, m.next
	}
	if s.depth >= maxDepth {
		s.capped = true
		return value{}, s.after(i)
	}
	s.depth++
	before := s.capped
	s.capped = false
	v, next := s.primary(i, emit)
	v, next = s.suffixes(v, i, next, emit)
	if !emit && !s.capped {
		s.memo[i] = &memo{next: next, v: v}
	}
	s.capped = s.capped || before
	s.depth--
	return v, next
}

// after is the token behind token i, or behind the bracket that it opens.
func (s *scan) after(i int) int {
	if m := s.match[i]; m >= 0 {
		return min(m+1, len(s.toks))
	}
	return i + 1
}

func (s *scan) primary(i int, emit bool) (value, int) {
	t := &s.toks[i]
	switch t.kind {
	case tokString:
		return s.pieces(t), i + 1
	case tokNumber:
		return wordValue(t.text), i + 1
	case tokIdent:
		return s.name(i, emit)
	case tokOp:
		return s.prefixed(i)
	default:
		return value{}, i + 1
	}
}

// name resolves an identifier: a constant, an import, a variable, or a function of the language.
func (s *scan) name(i int, emit bool) (value, int) {
	t := &s.toks[i]
	switch t.text {
	case "True", "False", "None":
		return wordValue(t.text), i + 1
	case "await", "not", "return", "yield":
		if i+1 < len(s.toks) && !s.toks[i+1].newline && !s.toks[i+1].is("(") && !s.toks[i+1].is("=") && !s.toks[i+1].is(".") && !emit {
			return s.operand(i+1, false)
		}
		return value{}, i + 1
	}
	v := s.lookup(t.text, i)
	return v, i + 1
}

// prefixed evaluates brackets and prefix operators.
func (s *scan) prefixed(i int) (value, int) {
	t := &s.toks[i]
	switch t.text {
	case "(":
		args := s.arguments(i)
		if len(args) == 1 && args[0].key == "" && !s.trailingComma(i) {
			return args[0].v, s.after(i)
		}
		return argList(args), s.after(i)
	case "[":
		return argList(s.arguments(i)), s.after(i)
	case "{":
		return value{}, s.after(i)
	case "-":
		if v, next := s.operand(i+1, false); v.kind == word {
			return wordValue("-" + v.alts[0].Text), next
		}
		return value{}, i + 1
	case "@", "*", "**", "!":
		if i+1 < len(s.toks) && !s.toks[i+1].newline {
			v, next := s.operand(i+1, false)
			if t.text == "!" {
				return value{}, next
			}
			return v, next
		}
	}
	return value{}, s.after(i)
}

func (s *scan) trailingComma(open int) bool {
	m := s.match[open]
	return m > 0 && m <= len(s.toks) && s.toks[m-1].is(",")
}

// argList is the list that the elements between brackets make.
func argList(args []argument) value {
	out := value{kind: list}
	for _, a := range args {
		switch {
		case a.splat && a.v.kind == text && slices.ContainsFunc(a.v.alts, func(a Arg) bool { return a.Glob }):
			out.list = append(out.list, a.v) // *Dir["*"]
		case a.splat && a.v.kind == list:
			out.list = append(out.list, a.v.list...)
			out.open = out.open || a.v.open
		case a.splat:
			out.open = true
			out.list = append(out.list, value{})
		default:
			out.list = append(out.list, a.v)
		}
	}
	return out
}

// suffixes follows members, calls and indexes behind a value.
func (s *scan) suffixes(v value, head, i int, emit bool) (value, int) {
	recv := value{}
	for i < len(s.toks) && i != s.stop && s.b.step() {
		t := &s.toks[i]
		switch {
		case t.is(".") && i+1 < len(s.toks) && s.toks[i+1].kind == tokIdent:
			recv = v
			v = s.member(v, s.toks[i+1].text)
			i += 2
			continue
		case t.is("(") && (!t.newline || !s.g.newlineEnds) && !s.keywordBefore(i):
			v, recv = s.invoke(v, recv, s.arguments(i), head, i, emit), value{}
			i = s.after(i)
			continue
		case t.is("[") && (!t.newline || !s.g.newlineEnds) && s.toks[i-1].operandEnd():
			recv = v
			v = s.index(v, i)
			i = s.after(i)
			continue
		}
		break
	}
	return v, i
}

// keywordBefore keeps "if (…)" and "return (…)" from being read as calls.
func (s *scan) keywordBefore(i int) bool {
	return i > 0 && s.toks[i-1].kind == tokIdent && statementWords[s.toks[i-1].text] && !(i > 1 && s.toks[i-2].is("."))
}

var statementWords = set("if elif else while for return and or not in is yield await do import")
