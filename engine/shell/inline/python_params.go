package inline

import (
	"slices"
	"strings"
	"unicode"
)

// maxParams bounds the parameters of which the scan looks for the arguments.
const maxParams = 32

// reaching are words by which code reaches a function or a parameter without its name.
var reaching = []string{
	"globals", "locals", "vars", "__", "getattr", "modules", "exec", "eval", "inspect", "frame", "nonlocal", "@",
}

// pythonParameter binds the parameter at token j to the arguments of the calls of its function.
func (s *scan) pythonParameter(j, scope, function, place int, plain bool) {
	var texts []string
	if plain {
		texts = s.pythonArguments(function, place)
	}
	if len(texts) == 0 {
		s.bindIn(j, 0, bindUnknown, 0, scope, true)
	}
	for _, text := range texts {
		b := &binding{name: s.toks[j].text, kind: bindUnknown, tok: j, nested: true, done: true, v: textValue(text)}
		s.keep(b, scope)
	}
}

// pythonArguments are the texts that the calls of the function at a token give to its parameter at a place.
// None unless each mention of the function is a call, and each call gives a constant text.
func (s *scan) pythonArguments(function, place int) []string {
	if s.params++; s.outer != nil || s.params > maxParams || s.toks[function].kind != tokIdent {
		return nil
	}
	s.b.work(len(s.src) + len(s.toks))
	wide := func(r rune) bool { return r > unicode.MaxASCII } // which spells names in other ways
	if slices.ContainsFunc(reaching, func(w string) bool { return strings.Contains(s.src, w) }) ||
		strings.ContainsFunc(s.src, wide) {
		return nil
	}
	name, mentions := s.toks[function].text, 0
	var out []string
	for i := range s.toks {
		if s.toks[i].kind != tokIdent || s.toks[i].text != name {
			continue
		}
		if mentions++; i == function {
			continue
		}
		text, ok := s.argument(i, place)
		if !ok || len(out) >= maxAlts {
			return nil
		}
		out = append(out, text)
	}
	if mentions != words(s.src, name) { // in texts and comments, too
		return nil
	}
	return out
}

// words counts a word in a text.
func words(text, word string) (n int) {
	for i := 0; ; i += len(word) {
		at := strings.Index(text[i:], word)
		if at < 0 {
			return n
		}
		i += at
		if end := i + len(word); (i == 0 || !isIdent(text[i-1])) && (end == len(text) || !isIdent(text[end])) {
			n++
		}
	}
}

// argument is the constant text at a place of a call by a plain name.
func (s *scan) argument(i, place int) (string, bool) {
	if i+1 >= len(s.toks) || !s.toks[i+1].is("(") {
		return "", false
	}
	if before := &s.toks[max(i-1, 0)]; before.is(".") || before.word("def") || before.word("class") {
		return "", false
	}
	for j, end := i+2, min(s.match[i+1], len(s.toks)); j < end; j = s.after(j) {
		switch t := &s.toks[j]; {
		case t.is("*"), t.is("**"):
			return "", false
		case t.is(","):
			place--
		case place == 0:
			last := j+1 == end || s.toks[j+1].is(",")
			return t.text, t.kind == tokString && len(t.pieces) == 0 && last && s.toks[j-1].kind == tokOp
		}
	}
	return "", false
}
