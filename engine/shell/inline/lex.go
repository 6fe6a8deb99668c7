package inline

import "strings"

// grammar is what the scanner knows about one family of languages.
type grammar struct {
	operators   []string             // those of more than one character, longest first
	newlineEnds bool                 // a line ends a statement
	indented    bool                 // blocks are indented
	regexes     bool                 // /…/ is a literal where an operand may stand
	terminators map[string]bool      // words that end an expression
	stops       map[string]bool      // operators that do
	modules     map[string]bool      // modules of which an unknown member may be anything
	calls       map[string]handler   // what functions do
	values      map[string]evaluator // what functions return
	constants   map[string]value     // members that are known without a call
	strings     func(l *lexer) bool  // reads a string literal, if one begins here
	bind        func(s *scan)        // collects the variables and imports
	walk        func(s *scan)        // replaces the usual walk over the tokens
	canonical   func(string) string  // spells a qualified name as the tables do
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
	subs    []sub // code inside of literals
}

// sub is code that stands inside a literal: an interpolation.
type sub struct{ from, to int }

func lex(g *grammar, src string, b *budget) ([]token, []sub) {
	l := &lexer{g: g, src: src, newline: true, b: b}
	if strings.HasPrefix(src, "#!") {
		l.skipLine()
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
var beforeOperand = set("return in print printf getline")

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
	}
	if c == '#' {
		l.skipLine()
		return
	}
	if l.g.strings(l) {
		return
	}
	from := l.i
	switch {
	case c == '$': // a field in awk
		l.i++
		l.ident()
		l.add(tokIdent, l.src[from:l.i], nil, from)
	case isIdentStart(c):
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

func (l *lexer) endLine() { l.newline, l.space, l.col = true, true, -1 }

func (l *lexer) ident() {
	for l.i < len(l.src) {
		c := l.src[l.i]
		if !isIdent(c) {
			return
		}
		l.i++
	}
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
			l.add(tokOp, op, nil, from)
			return
		}
	}
	l.i++
	l.add(tokOp, l.src[from:l.i], nil, from)
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

// tokenKind is the kind of a token. The zero value stands for the end of the text.
type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokIdent            // a name, with its sigil where the language has them: "$x"
	tokString           // text: the decoded value
	tokNumber
	tokRegex
	tokOp // text: the operator; "." stands for every way to reach a member, "+" for every way to join texts
)

// token is one lexical unit. Strings with interpolations have pieces, all others text.
type token struct {
	kind     tokenKind
	newline  bool // first of its line
	space    bool // blank before it
	text     string
	pieces   []piece
	pos, end int // bytes [pos, end) of the source
	col      int // with newline: the width of the indentation
}

// piece is a part of a string: literal text, the value of a variable, or something not known.
type piece struct {
	text     string
	name     string // a variable
	gap      bool   // not known; [from, to) of the source is code where from < to
	from, to int
}

func (t *token) is(op string) bool { return t.kind == tokOp && t.text == op }

func (t *token) word(name string) bool { return t.kind == tokIdent && t.text == name }

// operandEnd reports whether a value may end with t, so that what follows is an operator.
func (t *token) operandEnd() bool {
	switch t.kind {
	case tokIdent, tokString, tokNumber, tokRegex:
		return true
	case tokOp:
		return t.text == ")" || t.text == "]" || t.text == "}"
	default:
		return false
	}
}

// brackets returns, for each token, the index of the bracket that closes it: len(toks) for
// one that is never closed, -1 for what is no opening bracket.
func brackets(toks []token) []int {
	match := make([]int, len(toks))
	var stack []int
	for i := range toks {
		match[i] = -1
		if toks[i].kind != tokOp {
			continue
		}
		switch toks[i].text {
		case "(", "[", "{":
			match[i] = len(toks)
			stack = append(stack, i)
		case ")", "]", "}":
			// A stray closing bracket is skipped: only one that fits closes anything.
			if n := len(stack) - 1; n >= 0 && closes(toks[stack[n]].text, toks[i].text) {
				match[stack[n]] = i
				stack = stack[:n]
			}
		}
	}
	return match
}

func closes(open, end string) bool {
	return open == "(" && end == ")" || open == "[" && end == "]" || open == "{" && end == "}"
}
