package docstring

import (
	"fmt"
	"strings"
)

// kind is what a token is, as far as that matters here.
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

// Bounds of what a source may hold, far above those of real ones. CPython has such bounds, too.
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

// wordOrString reads a name or number, or a string with its prefix.
func (l *lexer) wordOrString() (kind, error) {
	start := l.at
	for l.at < len(l.src) && isWord(l.src[l.at]) {
		l.at++
	}
	if l.at == len(l.src) || l.src[l.at] != '"' && l.src[l.at] != '\'' {
		return word, nil
	}
	switch prefix := strings.ToLower(l.src[start:l.at]); prefix {
	case "", "u", "r":
		return literal, l.str(prefix == "r", false, 0)
	case "b", "br", "rb":
		return other, l.str(prefix != "b", false, 0)
	case "f", "t":
		return other, l.str(false, true, 0)
	case "fr", "rf", "tr", "rt":
		return other, l.str(true, true, 0)
	}
	return word, nil // a keyword right before a string, which comes next
}

// str reads a string from its first quote to behind its last one. In a formatted one each replacement
// field is code, in which strings may use the same quotes again.
func (l *lexer) str(raw, formatted bool, depth int) error {
	line := l.line
	if depth > maxNesting {
		return l.errorf(line, "formatted strings are nested more than %d times", maxNesting)
	}
	quote := l.src[l.at : l.at+1]
	if strings.HasPrefix(l.src[l.at:], quote+quote+quote) {
		quote += quote + quote
	}
	l.at += len(quote)
	for l.at < len(l.src) {
		if strings.HasPrefix(l.src[l.at:], quote) {
			l.at += len(quote)
			return nil
		}
		switch c := l.src[l.at]; {
		case c == '\n' && len(quote) == 1:
			return l.errorf(line, "a string has no closing quote")
		case c == '\n':
			l.newline()
		case c == '\\':
			l.escape(raw, formatted)
		case c == '{' && formatted:
			l.at++
			if l.at < len(l.src) && l.src[l.at] == '{' {
				l.at++
			} else if err := l.field(quote, depth); err != nil {
				return err
			}
		default:
			l.at++
		}
	}
	return l.errorf(line, "a string has no closing quote")
}

// escape skips a backslash and what it takes its meaning from: never the brace of a field.
func (l *lexer) escape(raw, formatted bool) {
	l.at++
	if l.at == len(l.src) {
		return
	}
	rest := l.src[l.at:]
	switch {
	case rest[0] == '\n':
		l.newline()
	case formatted && !raw && strings.HasPrefix(rest, "N{"):
		l.at += 2
		for l.at < len(l.src) && strings.IndexByte("}\n\"'", l.src[l.at]) < 0 {
			l.at++
		}
	case formatted && (rest[0] == '{' || rest[0] == '}'):
	default:
		l.at++
	}
}

// field reads a replacement field of a formatted string, behind its opening brace, to behind the closing one.
func (l *lexer) field(quote string, depth int) error {
	line, brackets := l.line, 0
	for l.at < len(l.src) {
		c := l.src[l.at]
		switch {
		case c == '}' && brackets == 0:
			l.at++
			return nil
		case c == ':' && brackets == 0:
			l.at++
			return l.spec(quote, depth)
		case c == '\n':
			l.newline()
		case c == '#':
			l.toNewline()
		case isWord(c) || c == '"' || c == '\'':
			if err := l.nested(depth); err != nil {
				return err
			}
		default:
			switch c {
			case '(', '[', '{':
				brackets++
			case ')', ']', '}':
				brackets--
			}
			l.at++
		}
	}
	return l.errorf(line, "a field of a formatted string is not closed")
}

// nested reads a word or a string inside a field.
func (l *lexer) nested(depth int) error {
	start := l.at
	for l.at < len(l.src) && isWord(l.src[l.at]) {
		l.at++
	}
	if l.at == len(l.src) || l.src[l.at] != '"' && l.src[l.at] != '\'' {
		return nil
	}
	prefix := strings.ToLower(l.src[start:l.at])
	if len(prefix) > 2 {
		prefix = ""
	}
	return l.str(strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft"), depth+1)
}

// spec reads the format specification of a field to behind its closing brace. It may hold fields again.
func (l *lexer) spec(quote string, depth int) error {
	line := l.line
	if depth > maxNesting {
		return l.errorf(line, "formatted strings are nested more than %d times", maxNesting)
	}
	for l.at < len(l.src) && !strings.HasPrefix(l.src[l.at:], quote) {
		switch c := l.src[l.at]; {
		case c == '}':
			l.at++
			return nil
		case c == '{':
			l.at++
			if err := l.field(quote, depth+1); err != nil {
				return err
			}
		case c == '\n':
			l.newline()
		default:
			l.at++
		}
	}
	return l.errorf(line, "a field of a formatted string is not closed")
}
