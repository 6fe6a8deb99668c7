package inline

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
