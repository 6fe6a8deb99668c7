package inline

import (
	"strings"
)

// invoke evaluates a call and reports it.
func (s *scan) invoke(fn, recv value, args []argument, head, tok int, emit bool) value {
	name := fn.name
	if fn.kind == text && fn.name != pathName {
		name = ""
	}
	if emit {
		if tok >= len(s.toks) {
			tok = len(s.toks) - 1
		}
		s.report(name, recv, args, s.callToken(head, tok))
		s.passed(name, recv, args, s.callToken(head, tok))
	}
	return s.result(name, recv, args)
}

// passed reports functions that are handed to another one, which will call them:
// map(os.remove, files), Thread(target=os.system, args=("id",)).
func (s *scan) passed(name string, recv value, args []argument, tok int) {
	if (s.g.values[name] != nil || s.g.calls[name] != nil) && !callsBack[name] { // what they do is known: they call nothing
		return
	}
	for i, a := range args {
		if a.v.kind != object || a.v.name == name || s.handler(a.v.name) == nil || a.to-a.from > 8 {
			continue
		}
		given := args[i+1:]
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

// callsBack are functions of the tables that call what they are given.
var callsBack = set("map sorted multiprocessing.Process")

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
