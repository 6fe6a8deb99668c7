package inline

import "strings"

// grammar is what the scanner knows about one family of languages.
type grammar struct {
	name         string
	lineComments []string
	blockOpen    string
	blockClose   string
	sigils       string               // characters that begin a variable: "$@%"
	identExtra   string               // characters allowed in names besides letters, digits and _
	operators    []string             // those of more than one character, longest first
	spelling     map[string]string    // operators that mean "." (member) or "+" (join)
	keywords     string               // what stands between the name and the value of a keyword argument
	juxtaposed   bool                 // nothing but a new operand shows that a statement ends
	newlineEnds  bool                 // a line ends a statement
	indented     bool                 // blocks are indented
	wordBlocks   bool                 // blocks end with a word
	adjacent     bool                 // literals side by side are joined
	parenless    bool                 // arguments need no brackets
	regexes      bool                 // /…/ is a literal where an operand may stand
	braceList    bool                 // {…} is a list
	functions    bool                 // a text can be called as the function of that name
	terminators  map[string]bool      // words that end an expression
	stops        map[string]bool      // operators that do
	modules      map[string]bool      // modules of which an unknown member may be anything
	globals      map[string]string    // names that stand for something else; "~" for the home directory
	calls        map[string]handler   // what functions do
	values       map[string]evaluator // what functions return
	constants    map[string]value     // members that are known without a call
	strings      func(l *lexer) bool  // reads a string literal, if one begins here
	start        func(l *lexer)       // before the first token
	line         func(l *lexer) bool  // at the start of a line: true when it consumed something
	bind         func(s *scan)        // collects the variables and imports
	walk         func(s *scan)        // replaces the usual walk over the tokens
	canonical    func(string) string  // spells a qualified name as the tables do
}

// lexer cuts a text into tokens.
type lexer struct {
	g       *grammar
	src     string
	i       int
	toks    []token
	newline bool
	space   bool
	col     int
	b       *budget
	pending []heredoc // here-documents whose body begins on the next line
	subs    []sub     // code inside of literals
}

// sub is code that stands inside a literal: an interpolation, a replacement that is evaluated.
type sub struct {
	from, to int
	g        *grammar // nil for the same language
}

func lex(g *grammar, src string, b *budget) ([]token, []sub) {
	l := &lexer{g: g, src: src, newline: true, b: b}
	if strings.HasPrefix(src, "#!") {
		l.skipLine()
	}
	if g.start != nil {
		g.start(l)
	}
	for l.i < len(src) && b.step() {
		l.next()
	}
	return l.toks, l.subs
}

func (l *lexer) skipLine() {
	if n := strings.IndexByte(l.src[l.i:], '\n'); n >= 0 {
		l.i += n
	} else {
		l.i = len(l.src)
	}
}

func (l *lexer) has(s string) bool { return strings.HasPrefix(l.src[l.i:], s) }

// at returns the byte n positions ahead, 0 behind the end.
func (l *lexer) at(n int) byte {
	if l.i+n < len(l.src) {
		return l.src[l.i+n]
	}
	return 0
}

// add appends the token [from, l.i).
func (l *lexer) add(kind tokenKind, text string, pieces []piece, from int) {
	l.toks = append(l.toks, token{kind: kind, newline: l.newline, space: l.space, text: text, pieces: pieces,
		pos: from, end: l.i, col: l.col})
	l.newline, l.space = false, false
}

// operand reports whether an operand may begin here, so that / begins a regular expression.
func (l *lexer) operand() bool {
	if len(l.toks) == 0 {
		return true
	}
	t := &l.toks[len(l.toks)-1]
	if t.kind == tokIdent {
		return beforeOperand[t.text]
	}
	return !t.operandEnd()
}

// beforeOperand are words after which an operand stands although they look like one.
var beforeOperand = map[string]bool{
	"return": true, "and": true, "or": true, "not": true, "if": true, "unless": true, "while": true, "until": true,
	"split": true, "grep": true, "map": true, "join": true, "print": true, "puts": true, "typeof": true, "case": true,
	"when": true, "in": true, "of": true, "x": true, "else": true, "elsif": true, "do": true, "then": true, "push": true,
	"system": true, "exec": true, "unlink": true, "eval": true, "die": true, "spawn": true, "await": true, "yield": true,
	"rm": true, "rm_rf": true, "rm_r": true, "rm_f": true, "open": true, "chmod": true, "p": true, "echo": true,
}

func (l *lexer) next() {
	c := l.src[l.i]
	switch {
	case c == '\n':
		l.i++
		l.endLine()
		return
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		l.i++
		l.space = true
		return
	case c == '\\' && (l.at(1) == '\n' || l.at(1) == '\r' && l.at(2) == '\n'):
		l.i += 2
		l.space = true
		return
	}
	if l.newline && l.col < 0 {
		l.col = l.i - strings.LastIndexByte(l.src[:l.i], '\n') - 1
		if l.g.line != nil && l.g.line(l) {
			return
		}
	}
	if l.comment() || l.g.strings(l) {
		return
	}
	from := l.i
	switch {
	case l.variable():
	case isIdentStart(c) || strings.IndexByte(l.g.identExtra, c) >= 0 && c != '.' && c != '-':
		l.ident()
		l.add(tokIdent, l.src[from:l.i], nil, from)
	case isDigit(c) || c == '.' && isDigit(l.at(1)) && l.operand():
		l.number()
		l.add(tokNumber, l.src[from:l.i], nil, from)
	case c == '/' && l.g.regexes && l.operand() && l.regex():
		l.add(tokRegex, "", nil, from)
	default:
		l.operator()
	}
}

// endLine is called behind a newline: it reads the bodies of here-documents.
func (l *lexer) endLine() {
	l.newline, l.space, l.col = true, true, -1
	pending := l.pending
	l.pending = nil
	for _, h := range pending {
		l.hereBody(h)
	}
}

func (l *lexer) comment() bool {
	for _, s := range l.g.lineComments {
		if l.has(s) {
			l.skipLine()
			return true
		}
	}
	if l.g.blockOpen == "" || !l.has(l.g.blockOpen) {
		return false
	}
	n := strings.Index(l.src[l.i+len(l.g.blockOpen):], l.g.blockClose)
	if n < 0 {
		l.i = len(l.src)
		return true
	}
	end := l.i + len(l.g.blockOpen) + n + len(l.g.blockClose)
	l.newline = l.newline || strings.Contains(l.src[l.i:end], "\n")
	l.space = true
	l.i = end
	return true
}

func (l *lexer) ident() {
	for l.i < len(l.src) {
		c := l.src[l.i]
		if !isIdent(c) && (c == 0 || strings.IndexByte(l.g.identExtra, c) < 0) {
			return
		}
		l.i++
	}
}

// variable reads a name with a sigil: $x, @x, ${x}, $_, $0.
func (l *lexer) variable() bool {
	c := l.src[l.i]
	if strings.IndexByte(l.g.sigils, c) < 0 {
		return false
	}
	n := l.at(1)
	// % and & are operators where no operand can begin.
	if (c == '%' || c == '&') && !l.operand() || c == '@' && !isIdentStart(n) && n != '@' {
		return false
	}
	from := l.i
	switch {
	case isIdentStart(n) || n == ':' && l.at(2) == ':':
		l.i++
		l.ident()
		for l.has("::") && isIdentStart(l.at(2)) {
			l.i += 2
			l.ident()
		}
	case n == '@' && c == '@':
		l.i += 2
		l.ident()
	case n == '{' && c == '$' && isIdentStart(l.at(2)):
		end := l.i + 2
		for end < len(l.src) && isIdent(l.src[end]) {
			end++
		}
		if end >= len(l.src) || l.src[end] != '}' {
			return false
		}
		name := "$" + l.src[l.i+2:end]
		l.i = end + 1
		l.add(tokIdent, name, nil, from)
		return true
	case c == '$' && isDigit(n):
		l.i++
		l.ident()
	case c == '$' && n != 0 && strings.IndexByte("_!@&/\\,;.0<>()[]^", n) >= 0 && l.g.name != "php":
		l.i += 2
	case c == '$' && n == '$' && !isIdentStart(l.at(2)):
		l.i += 2
	default:
		return false
	}
	l.add(tokIdent, l.src[from:l.i], nil, from)
	return true
}

func (l *lexer) number() {
	for l.i < len(l.src) {
		c := l.src[l.i]
		if !isIdent(c) && !(c == '.' && isDigit(l.at(1))) || c >= 0x80 {
			return
		}
		l.i++
	}
}

func (l *lexer) operator() {
	from := l.i
	for _, op := range l.g.operators {
		if l.has(op) {
			l.i += len(op)
			l.addOp(op, from)
			return
		}
	}
	l.i++
	l.addOp(l.src[from:l.i], from)
}

func (l *lexer) addOp(op string, from int) {
	if other, ok := l.g.spelling[op]; ok {
		op = other
	}
	l.add(tokOp, op, nil, from)
}

// regex skips a regular expression literal with its flags; false when the line ends before it does.
func (l *lexer) regex() bool {
	class := false
	for j := l.i + 1; j < len(l.src) && l.b.step(); j++ {
		switch c := l.src[j]; {
		case c == '\n':
			return false
		case c == '\\':
			j++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.i = j + 1
			l.ident()
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdentStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isIdent(c byte) bool { return isIdentStart(c) || isDigit(c) }
