package docstring

import (
	"fmt"
	"strings"
)

// kind is the kind of a token, as far as that matters here.
type kind byte

const (
	word    kind = iota // a name, keyword or number
	literal             // a string that can be part of a docstring
	other               // a string that cannot: bytes, formatted
	mark                // one character of an operator
)

// token is a piece of the source.
type token struct {
	kind       kind
	start, end int
	line       int  // counted from 1
	fresh      bool // it is the first on its line of the file
}

// lexer cuts a source into logical lines. Newlines in it are \n.
type lexer struct {
	src  string
	at   int
	line int
}

// Bounds of a source, far above those of real ones. CPython has such bounds, too.
const (
	maxNesting  = 100     // strings inside formatted strings
	maxBrackets = 1000    // brackets inside each other
	maxTokens   = 100_000 // tokens of a logical line that is looked at; of longer ones only the end is found
)

func (l *lexer) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// next returns the tokens of the next logical line and the column of its first, or no tokens at the end.
func (l *lexer) next(tokens []token) (_ []token, column int, _ error) {
	tokens = tokens[:0]
	for l.at < len(l.src) {
		if column = l.indent(); l.at == len(l.src) || l.src[l.at] == '#' || l.src[l.at] == '\n' {
			l.toNewline()
			l.newline() // a line of blanks or of a comment has no indentation
			continue
		}
		tokens, err := l.logical(tokens)
		if len(tokens) >= maxTokens {
			tokens = append(tokens[:0], token{kind: mark, line: tokens[0].line})
		}
		return tokens, column, err
	}
	return tokens, 0, nil
}

// indent skips the blanks at the start of a line and returns their width, with tab stops at eight.
func (l *lexer) indent() (column int) {
	for ; l.at < len(l.src); l.at++ {
		switch l.src[l.at] {
		case ' ':
			column++
		case '\t':
			column = column/8*8 + 8
		case '\f':
			column = 0
		default:
			return column
		}
	}
	return column
}

func (l *lexer) toNewline() {
	if i := strings.IndexByte(l.src[l.at:], '\n'); i >= 0 {
		l.at += i
	} else {
		l.at = len(l.src)
	}
}

func (l *lexer) newline() {
	if l.at < len(l.src) {
		l.at++
		l.line++
	}
}

// logical reads tokens to the end of a logical line: newlines inside brackets and after a backslash do
// not count.
func (l *lexer) logical(tokens []token) ([]token, error) {
	var open []int // lines of the brackets that are open
	fresh := true
	for l.at < len(l.src) {
		c := l.src[l.at]
		switch {
		case c == '\n':
			l.newline()
			if len(open) == 0 {
				return tokens, nil
			}
			fresh = true
			continue
		case c == ' ' || c == '\t' || c == '\f':
			l.at++
			continue
		case c == '#':
			l.toNewline()
			continue
		case c == '\\' && l.at+1 < len(l.src) && l.src[l.at+1] == '\n':
			l.at++
			l.newline()
			fresh = true
			continue
		}
		t := token{kind: mark, start: l.at, line: l.line, fresh: fresh}
		fresh = false
		switch {
		case isWord(c) || c == '"' || c == '\'':
			var err error
			if t.kind, err = l.wordOrString(); err != nil {
				return nil, err
			}
		case c == '(' || c == '[' || c == '{':
			if open = append(open, l.line); len(open) > maxBrackets {
				return nil, l.errorf(l.line, "more than %d brackets inside each other", maxBrackets)
			}
			l.at++
		default:
			if (c == ')' || c == ']' || c == '}') && len(open) > 0 {
				open = open[:len(open)-1]
			}
			l.at++
		}
		if t.end = l.at; len(tokens) < maxTokens {
			tokens = append(tokens, t)
		}
	}
	if len(open) > 0 {
		return nil, l.errorf(open[0], "a bracket is opened and never closed")
	}
	return tokens, nil
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
