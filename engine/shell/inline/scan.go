package inline

import "strings"

// scan is the state of looking through one program.
type scan struct {
	g     *grammar
	src   string
	toks  []token
	match []int
	b     *budget
	outer *scan // the program in whose literal this one stands
	level int   // programs around this one

	memo    []*memo // values of operands, by token
	args    map[int][]argument
	depth   int
	capped  bool
	aliases map[string]string // imported names
	stars   []string          // modules of which all names are imported
	binds   map[string]*names
	at      map[int]*binding // bindings by the token of their value
	scopes  []int            // the function in which each token stands, 0 for none
	nested  []int            // the depth of blocks around each token
	dir     *Arg             // the directory after a change of directory
	chooses *bool            // whether it has conditions, once that was asked for
	stop    int              // the token at which a chain is cut short, 0 for none
	params  int              // parameters whose arguments were looked for

	calls []Call
	ev    evidence
}

type memo struct {
	next int
	v    value
}

// argument is one argument of a call.
type argument struct {
	key   string // of keyword arguments
	v     value
	splat bool // stands for any number of arguments
	from  int  // tokens
	to    int
}

// scanProgram looks through src. outer lends its variables to code inside of its literals.
func scanProgram(g *grammar, src string, b *budget, outer *scan, level int) []Call {
	if level > maxNested {
		return []Call{{Kind: Dynamic, Name: "nested"}}
	}
	toks, subs := lex(g, src, b)
	s := &scan{g: g, src: src, toks: toks, match: brackets(toks), b: b, outer: outer, level: level,
		memo: make([]*memo, len(toks)), args: map[int][]argument{}, aliases: map[string]string{},
		binds: map[string]*names{}, at: map[int]*binding{}}
	s.layout()
	if g.bind != nil {
		g.bind(s)
	}
	if g.walk != nil {
		g.walk(s)
	} else {
		s.walk()
	}
	s.runSubs(subs)
	s.conclude()
	return s.calls
}

// walk visits every token once: it settles variables and reports the calls of each chain.
func (s *scan) walk() {
	for i := range s.toks {
		if s.b.spent() {
			return
		}
		if b := s.at[i]; b != nil {
			s.bindingValue(b)
		}
		if s.head(i) {
			if v, _ := s.operand(i, true); v.kind == object && s.handler(v.name) != nil && s.stored(i) {
				s.report(v.name, value{}, []argument{{from: i, to: i}}, i)
			}
		}
	}
}

// stored reports that the operand at token i is an element of a literal, from which it is called later, if at
// all.
func (s *scan) stored(i int) bool {
	if i == 0 || !s.toks[i-1].is(":") && !(s.g.indented &&
		(s.toks[i-1].is(",") || s.toks[i-1].is("[") || s.toks[i-1].is("("))) {
		return false
	}
	open := i - 1
	for open >= 0 && s.match[open] <= i && s.b.step() {
		open--
	}
	if open < 0 || s.after(open) < len(s.toks) && s.toks[s.after(open)].is("=") { // const {exec: e} = …
		return false
	}
	return s.toks[open].is("{") || open == 0 || !s.toks[open-1].operandEnd()
}

// head reports whether a chain of members and calls may begin at i.
func (s *scan) head(i int) bool {
	t := &s.toks[i]
	if i > 0 && s.toks[i-1].is(".") {
		return false
	}
	switch t.kind {
	case tokIdent, tokString:
		return true
	case tokOp:
		return (t.text == "(" || t.text == "[" || t.text == ".") &&
			(i == 0 || t.newline || !s.toks[i-1].operandEnd())
	default:
		return false
	}
}

// runSubs scans the code that stands inside of literals. Its calls stand where the code does.
func (s *scan) runSubs(subs []sub) {
	for _, sub := range subs {
		if s.b.spent() {
			return
		}
		inner := scanProgram(s.g, s.src[sub.from:sub.to], s.b, s, s.level+1)
		for _, c := range inner {
			c.Offset += sub.from
			s.add(c)
		}
	}
}

// runText scans the text of an inner program, such as that of exec. Its calls count as
// standing where the outer call does.
func (s *scan) runText(g *grammar, name string, v value, offset int) {
	for _, a := range v.texts() {
		if !a.Exact {
			s.add(Call{Kind: Dynamic, Name: name, Args: []Arg{a}, Offset: offset})
			continue
		}
		if !s.fold(len(a.Text)) {
			return
		}
		for _, c := range scanProgram(g, a.Text, s.b, s, s.level+1) {
			c.Offset = offset
			s.add(c)
		}
	}
}

func (s *scan) add(c Call) {
	s.b.calls++
	if s.b.calls <= maxCalls {
		s.calls = append(s.calls, c)
	}
}

// pieces is the value of a string token.
func (s *scan) pieces(t *token) value {
	if t.pieces == nil {
		return textValue(t.text)
	}
	out := textValue("")
	for _, p := range t.pieces {
		switch {
		case p.gap && p.to > p.from && homeCode[strings.TrimSpace(s.src[p.from:p.to])]:
			out = s.concat(out, textValue(home))
		case p.gap:
			out = s.concat(out, value{})
		case p.name != "":
			out = s.concat(out, s.lookup(p.name, s.tokenAt(t)))
		default:
			out = s.concat(out, textValue(p.text))
		}
	}
	return out
}

// homeCode are expressions for the home directory as they stand inside of literals.
var homeCode = map[string]bool{
	"Path.home()": true, "pathlib.Path.home()": true,
	`os.environ["HOME"]`: true, `os.environ['HOME']`: true, `os.path.expanduser("~")`: true,
	`os.path.expanduser('~')`: true, `os.getenv("HOME")`: true, `os.getenv('HOME')`: true,
}

// tokenAt returns the index of t.
func (s *scan) tokenAt(t *token) int {
	lo, hi := 0, len(s.toks)
	for lo < hi {
		if mid := (lo + hi) / 2; s.toks[mid].pos < t.pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// report looks a call up in the tables of the language and lets its handler speak.
func (s *scan) report(name string, recv value, args []argument, tok int) {
	h := s.handler(name)
	if h == nil {
		return
	}
	h(&call{s: s, name: name, recv: recv, args: args, tok: tok, pos: s.toks[tok].pos})
}

// handler finds the effect of a function: by its qualified name, or as a member of an unknown value.
func (s *scan) handler(name string) handler {
	if h := s.g.calls[name]; h != nil {
		return h
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return s.g.calls["*"+name[i:]]
	}
	return nil
}
