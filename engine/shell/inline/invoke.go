package inline

import (
	"strings"
)

// invoke evaluates a call and reports it.
func (s *scan) invoke(fn, recv value, args []argument, head, tok int, emit bool) value {
	name := fn.name
	if fn.kind == text && fn.name != pathName {
		name = ""
		if s.g.functions {
			if n, ok := fn.exact(); ok {
				name = n
			}
		}
	}
	if s.g.name == "node" {
		name, args = s.applied(name, args, tok)
	}
	if emit {
		if tok >= len(s.toks) {
			tok = len(s.toks) - 1
		}
		if s.g.name == "php" && fn.kind != text && (name == "" || name[0] == '$' && !strings.Contains(name, ".")) && s.toks[head].text != "" && s.toks[head].text[0] == '$' {
			s.add(Call{Kind: Dynamic, Name: s.toks[head].text, Offset: s.toks[head].pos})
		}
		s.report(name, recv, args, s.callToken(head, tok))
		s.passed(name, recv, args, s.callToken(head, tok))
	}
	return s.result(name, recv, args)
}

// applied is a function that is called by its own method: f.call(this, x), f.apply(this, [x]).
func (s *scan) applied(name string, args []argument, tok int) (string, []argument) {
	base, called := strings.CutSuffix(name, ".call")
	if !called {
		base, called = strings.CutSuffix(name, ".apply")
	}
	if !called || s.handler(base) == nil {
		return name, args
	}
	if len(args) < 2 || strings.HasSuffix(name, ".call") {
		return base, args[min(1, len(args)):]
	}
	list := args[1].v
	var in []argument
	for _, e := range list.list {
		in = append(in, argument{v: e, from: tok, to: tok})
	}
	if list.open || len(in) == 0 {
		in = append(in, argument{from: tok, to: tok})
	}
	return base, in
}

// passed reports functions that are handed to another one, which will call them:
// map(os.remove, files), Thread(target=os.system, args=("id",)).
func (s *scan) passed(name string, recv value, args []argument, tok int) {
	if (s.g.values[name] != nil || s.g.calls[name] != nil) && !callsBack[name] { // what they do is known: they call nothing
		return
	}
	for i, a := range args {
		if s.method(recv, a, tok) || a.v.kind != object || a.v.name == name || s.handler(a.v.name) == nil || a.to-a.from > 8 {
			continue
		}
		given := args[i+1:]
		if i == 0 && len(given) == 0 && (recv.kind == list || recv.kind == text) { // files.each(&File.method(:delete))
			given = []argument{{v: recv}}
		}
		for _, b := range args {
			if b.key == "args" {
				given = []argument{b}
			}
		}
		var in []argument
		for _, b := range given {
			switch {
			case b.v.kind == list && b.key == "args":
				for _, e := range b.v.list {
					in = append(in, argument{v: e, from: tok, to: tok})
				}
			case b.v.kind == list:
				in = append(in, argument{v: element(b.v), from: tok, to: tok})
			case b.key == "" && b.v.kind != word:
				in = append(in, argument{v: b.v, from: tok, to: tok})
			}
		}
		if len(in) == 0 {
			in = []argument{{from: tok, to: tok}}
		}
		s.report(a.v.name, value{}, in, tok)
	}
}

// method reports paths.each(&:delete): the method of each element that a symbol names.
func (s *scan) method(recv value, a argument, tok int) bool {
	name, ok := a.v.exact()
	if !ok || s.g.name != "ruby" || recv.kind != text || a.to-a.from > 3 || a.from >= len(s.toks) || !s.toks[max(a.from, 1)-1].is("&") && !s.toks[a.from].is("&") {
		return false
	}
	of := s.member(element(recv), name)
	if of.kind == unknown || s.handler(of.name) == nil {
		return false
	}
	s.report(of.name, element(recv), nil, tok)
	return true
}

// chain is the value of the members and calls from token i up to token end.
func (s *scan) chain(i, end int) value {
	saved := s.stop
	s.stop = end
	v, next := s.primary(i, false)
	v, _ = s.suffixes(v, i, next, false)
	s.stop = saved
	return v
}

// callsBack are functions of the tables that call what they are given.
var callsBack = set("map sorted multiprocessing.Process setTimeout setInterval")

// callToken is the token at which a call counts as standing: its name.
func (s *scan) callToken(head, open int) int {
	if open > head && open <= len(s.toks) {
		return max(head, open-1)
	}
	return head
}

// result is what a call returns.
func (s *scan) result(name string, recv value, args []argument) value {
	if name == "" {
		return value{}
	}
	if f := s.g.values[name]; f != nil {
		return f(s, recv, args)
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		if f := s.g.values["*"+name[i:]]; f != nil {
			return f(s, recv, args)
		}
	}
	return objectValue(name + "()")
}
