package inline

import "strings"

// genericBind collects the assignments, loops and imports of the languages with braces or end.
func genericBind(s *scan) {
	for i := range s.toks {
		t := &s.toks[i]
		switch {
		case t.kind == tokOp:
			s.genericAssign(i)
		case t.kind != tokIdent || i > 0 && s.toks[i-1].is("."):
		case t.text == "for" || t.text == "foreach":
			s.genericFor(i)
		case t.text == "function" || t.text == "def" || t.text == "sub" || t.text == "func" || t.text == "fn" && s.g.name == "php":
			s.parameters(i)
		case t.text == "import" && s.g.name == "node":
			s.nodeImport(i)
		}
	}
}

// genericAssign binds what the assignment at token i sets.
func (s *scan) genericAssign(i int) {
	kind := bindSet
	switch s.toks[i].text {
	case "=>":
		if s.g.name == "node" {
			s.nodeArrow(i)
		}
		return
	case "=", ":=", "<-", "<<-", "||=", "??=", "//=":
	case ".=", "+=", "<<":
		kind = bindAppend
		if s.toks[i].text == "<<" && s.g.name != "ruby" {
			return
		}
	case "|": // a block's parameters: list.each { |x| … }
		if s.g.name == "ruby" {
			s.rubyBlock(i)
		}
		return
	default:
		return
	}
	if i == 0 {
		return
	}
	last := &s.toks[i-1]
	switch {
	case last.is("}") && s.g.name == "node":
		s.nodePattern(i)
	case last.is("]") && s.g.name == "node": // const [a, b] = …
		for j := i - 2; j > 0 && j > i-24 && !s.toks[j].is("["); j-- {
			if s.toks[j].kind == tokIdent {
				s.bindAt(j, 0, bindUnknown, 0)
			}
		}
	case last.is(")") && s.g.sigils != "":
		s.listAssign(i)
	case last.kind != tokIdent:
	case i >= 2 && (s.toks[i-2].is(".") || s.toks[i-2].is("(") && s.g.keywords == "=" && !s.toks[i-2].newline):
		// a member, or a keyword argument
	case i >= 3 && s.g.name == "node" && s.toks[i-2].is(":"):
		// const x: string = …
		s.bindAt(i-3, i+1, kind, 0)
	case i >= 2 && s.toks[i-2].is(",") && (s.g.name == "lua" || s.g.name == "ruby" || s.g.name == "native"):
		s.tuple(i-1, i)
	case i >= 2 && s.toks[i-2].is(",") && s.g.keywords == "=":
	default:
		s.bindAt(i-1, i+1, kind, 0)
	}
}

// listAssign binds my ($a, $b) = (…).
func (s *scan) listAssign(eq int) {
	open := eq - 2
	for n := 0; open > 0 && !s.toks[open].is("(") && n < 64; n++ {
		open--
	}
	if open < 0 || !s.toks[open].is("(") || s.match[open] != eq-1 {
		return
	}
	k := 0
	for j := open + 1; j < eq-1; j++ {
		if s.toks[j].kind == tokIdent {
			s.bindAt(j, eq+1, bindElement, k)
			k++
		}
	}
}

// genericFor binds the variable of a loop over a list.
func (s *scan) genericFor(i int) {
	j := i + 1
	var names []int
	for ; j < len(s.toks) && j < i+12; j++ {
		t := &s.toks[j]
		switch {
		case t.word("in") || t.word("of"):
			s.loopVariable(names, j+1)
			return
		case t.word("as"): // foreach ($list as $k => $v)
			for k := j + 1; k < len(s.toks) && k < j+5 && !s.toks[k].is(")"); k++ {
				if s.toks[k].kind == tokIdent {
					names = append(names, k)
				}
			}
			if len(names) > 0 && s.toks[i+1].is("(") {
				s.loopVariable(names[len(names)-1:], i+2)
			}
			return
		case t.is(";"), t.is("{"):
			return
		case t.is("(") && s.g.name == "perl" && len(names) > 0: // for my $x (list)
			s.bindAt(names[len(names)-1], j, bindEach, 0)
			return
		case t.kind == tokIdent && s.g.name == "perl" && !strings.HasPrefix(t.text, "$"):
		case t.kind == tokIdent && t.text != "my" && t.text != "our" && t.text != "const" && t.text != "let" && t.text != "var" && t.text != "auto" && t.text != "await":
			names = append(names, j)
		}
	}
}

// loopVariable binds the last name to the elements of the list, past Lua's ipairs.
func (s *scan) loopVariable(names []int, list int) {
	if len(names) == 0 {
		return
	}
	if list+1 < len(s.toks) && (s.toks[list].word("ipairs") || s.toks[list].word("pairs")) && s.toks[list+1].is("(") {
		list += 2
	}
	s.bindAt(names[len(names)-1], list, bindEach, 0)
	for _, n := range names[:len(names)-1] {
		s.bindAt(n, 0, bindUnknown, 0)
	}
}

// parameters makes what a function is given unknown.
func (s *scan) parameters(i int) {
	j := i + 1
	for j < len(s.toks) && j < i+4 && !s.toks[j].is("(") {
		j++
	}
	if j >= len(s.toks) || !s.toks[j].is("(") {
		return
	}
	for k := j + 1; k < min(s.match[j], len(s.toks)); k = s.after(k) {
		switch {
		case s.toks[k].kind != tokIdent || !s.toks[k-1].is("(") && !s.toks[k-1].is(","):
		case k == i+2 && s.g.name == "node":
			s.callback(k, i-1)
		case k == i+2 && s.g.name == "php" && s.phpCallback(i, k):
		default:
			s.bindAt(k, 0, bindUnknown, 0)
		}
	}
}

// nodeImport reads import d, {a as b} from "m" and import * as n from "m".
func (s *scan) nodeImport(i int) {
	end := i + 1
	for end < len(s.toks) && end < i+256 && s.toks[end].kind != tokString && !s.toks[end].is(";") && !s.toks[end].is("(") {
		end++
	}
	if end >= len(s.toks) || s.toks[end].kind != tokString {
		return
	}
	module := nodeName(s.toks[end].text)
	braces := false
	for j := i + 1; j < end; j++ {
		t := &s.toks[j]
		switch {
		case t.is("{"):
			braces = true
		case t.is("}"):
			braces = false
		case t.kind != tokIdent || t.text == "from" || t.text == "as" || t.text == "type":
		case braces && j+2 < end && s.toks[j+1].word("as"):
			s.aliases[s.toks[j+2].text] = module + "." + t.text
			j += 2
		case braces:
			s.aliases[t.text] = module + "." + t.text
		default:
			s.aliases[t.text] = module
		}
	}
}

// nodePattern reads const {a, b: c} = require("m").
func (s *scan) nodePattern(eq int) {
	open := eq - 1
	for n := 0; open > 0 && n < 256 && s.match[open] != eq-1; n++ {
		open--
	}
	if s.match[open] != eq-1 {
		return
	}
	v, _ := s.expr(eq+1, false)
	if v.kind != object {
		for j := open + 1; j < eq-1; j++ {
			if s.toks[j].kind == tokIdent {
				s.bindAt(j, 0, bindUnknown, 0)
			}
		}
		return
	}
	for j := open + 1; j < eq-1; j++ {
		if s.toks[j].kind != tokIdent {
			continue
		}
		name := s.toks[j].text
		if j+2 < eq && s.toks[j+1].is(":") && s.toks[j+2].kind == tokIdent {
			j += 2
		}
		s.aliases[s.toks[j].text] = v.name + "." + name
	}
}

// quoted reads plain quoted strings: each quote with its reading.
func (l *lexer) quoted(quotes map[byte]literal) bool {
	q, ok := quotes[l.src[l.i]]
	if !ok {
		return false
	}
	from := l.i
	l.i++
	text, pieces := l.read(q)
	l.add(tokString, text, pieces, from)
	return true
}

// backtick reads `…` as text that a shell runs.
func (l *lexer) backtick(inter interpolation) bool {
	if l.src[l.i] != '`' {
		return false
	}
	from := l.i
	l.i++
	text, pieces := l.read(literal{closer: "`", esc: escC, inter: inter})
	l.add(tokCommand, text, pieces, from)
	return true
}

// addAll copies a handler under several names, each below a prefix.
func addAll(m map[string]handler, h handler, prefix, names string) {
	for _, n := range strings.Fields(names) {
		m[prefix+n] = h
	}
}
