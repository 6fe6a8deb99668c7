package inline

// Blocks and functions that are called once for each element of a list bind their parameter
// to the elements, as a loop does: list.each { |x| … }, list.forEach(x => …), map { … } list.

// eachElement are methods that hand each element of their receiver to a block.
var eachElement = set("each each_entry each_with_index map flat_map collect select filter reject find_all sort_by forEach some every")

// yieldsResults are functions that hand what they find to a block.
var yieldsResults = set("glob each_child foreach children entries")

// opener is the token that opens the bracket which token closer closes, or -1.
func (s *scan) opener(closer int) int {
	for i := closer - 1; i >= 0 && i > closer-512 && s.b.step(); i-- {
		if s.match[i] == closer {
			return i
		}
	}
	return -1
}

// chainStart is the first token of the chain of members and calls that ends before token
// end, or -1.
func (s *scan) chainStart(end int) int {
	for i := end - 1; i >= 0 && s.b.step(); {
		t := &s.toks[i]
		switch {
		case t.is(")") || t.is("]"):
			if i = s.opener(i); i <= 0 || !s.toks[i-1].operandEnd() || s.toks[i].space {
				return i
			}
			i--
		case t.kind == tokIdent || t.kind == tokString:
			if i < 2 || !s.toks[i-1].is(".") {
				return i
			}
			i -= 2
		default:
			return -1
		}
	}
	return -1
}

// blockParameter binds the name at token tok to what the call that ends before token end
// hands to its block.
func (s *scan) blockParameter(tok, end int) {
	head, method := s.chainStart(end), end-1
	if method > 0 && s.toks[method].is(")") {
		method = s.opener(method) - 1
	}
	switch {
	case head < 0 || method < 0:
		s.bindAt(tok, 0, bindUnknown, 0)
	case method > head && eachElement[s.toks[method].text] && s.toks[method-1].is("."):
		s.bindAt(tok, head, bindEachOf, method-1)
	case yieldsResults[s.toks[method].text]:
		s.bindAt(tok, head, bindEachOf, end)
	default:
		s.bindAt(tok, 0, bindUnknown, 0)
	}
}

// rubyBlock binds the parameter between the bars that begin at token i.
func (s *scan) rubyBlock(i int) {
	if i+2 >= len(s.toks) || i < 2 || s.toks[i+1].kind != tokIdent || !s.toks[i+2].is("|") {
		return
	}
	s.blockParameter(i+1, i-1)
}

// nodeArrow binds the parameter of the arrow function at token i: f => …, (f) => ….
func (s *scan) nodeArrow(i int) {
	name := i - 1
	if name > 1 && s.toks[name].is(")") && s.toks[name-2].is("(") {
		name--
	}
	if name < 0 || s.toks[name].kind != tokIdent {
		return
	}
	open := name - 1
	if name == i-2 {
		open--
	}
	s.callback(name, open)
}

// callback binds the parameter of a function that is the first argument of the call whose
// bracket opens at token open.
func (s *scan) callback(name, open int) {
	if open < 3 || !s.toks[open].is("(") || !eachElement[s.toks[open-1].text] || !s.toks[open-2].is(".") {
		s.bindAt(name, 0, bindUnknown, 0)
		return
	}
	if head := s.chainStart(open - 2); head >= 0 {
		s.bindAt(name, head, bindEachOf, open-2)
	}
}

// phpCallback binds the parameter of array_map(function ($x) {…}, list) and of
// array_walk(list, function ($x) {…}); fn is the token of the function.
func (s *scan) phpCallback(fn, name int) bool {
	if fn >= 2 && s.toks[fn-1].is("(") && s.toks[fn-2].word("array_map") {
		for j := fn; j+1 < min(s.match[fn-1], len(s.toks)); j = s.after(j) {
			if s.toks[j].is(",") {
				s.bindAt(name, j+1, bindEach, 0)
				return true
			}
		}
	}
	if fn < 4 || !s.toks[fn-1].is(",") {
		return false
	}
	head := s.chainStart(fn - 1)
	if head < 2 || !s.toks[head-1].is("(") || !s.toks[head-2].word("array_walk") {
		return false
	}
	s.bindAt(name, head, bindEach, 0)
	return true
}

// topic is Perl's variable for the element at hand.
const topic = "$_"

// perlVariables is genericBind, and what sets $_.
func perlVariables(s *scan) {
	genericBind(s)
	for i := range s.toks {
		t := &s.toks[i]
		if t.kind == tokRegex && t.text != "" && (i == 0 || !s.toks[i-1].is("=~")) {
			s.bindName(topic, i, 0, bindUnknown) // s/…/…/ and tr/…/…/ change it
		} else if t.kind == tokRegex && t.text != "" && i > 1 && s.toks[i-2].kind == tokIdent {
			s.bindName(s.toks[i-2].text, i, 0, bindUnknown)
		}
		if t.kind == tokIdent && i+1 < len(s.toks) && (i == 0 || !s.toks[i-1].is(".")) {
			s.perlTopic(i)
		}
	}
}

// perlTopic binds $_ to the list of the loop, map or find at token i.
func (s *scan) perlTopic(i int) {
	next := i + 1
	switch s.toks[i].text {
	case "for", "foreach", "while", "until":
		if s.toks[next].is("(") || !s.toks[next].is("{") && !s.toks[next].word("my") && !s.toks[next].word("our") {
			s.bindName(topic, i, next, bindEach)
		}
	case "map", "grep":
		if s.toks[next].is("(") {
			next++
		}
		list := s.after(min(next, len(s.toks)-1))
		if list < len(s.toks) && s.toks[list].is(",") {
			list++
		}
		s.bindName(topic, i, list, bindEach)
	case "find", "finddepth":
		if !s.toks[next].is("(") {
			return
		}
		dir := 0
		for j := next + 1; j+1 < min(s.match[next], len(s.toks)); j = s.after(j) {
			if s.toks[j].is(",") {
				dir = j + 1
			}
		}
		if dir > 0 {
			s.bindName(topic, i, dir, bindBelow)
			s.bindName("$File::Find::name", i, dir, bindBelow)
		}
	}
}
