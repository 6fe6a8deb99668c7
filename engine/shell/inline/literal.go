package inline

import (
	"strings"
	"unicode/utf8"
)

// escapes says how a backslash in a literal is read.
type escapes uint8

const (
	escRaw    escapes = iota // it is an ordinary character
	escC                     // as in C; an unknown one stands for the character behind it
	escPython                // as in C; an unknown one keeps its backslash
)

// interpolation says what in a literal is replaced by values.
type interpolation uint8

const (
	interNone   interpolation = iota
	interBraces               // {expr}, with {{ and }} for braces
)

// literal describes how to read one string.
type literal struct {
	closer string
	opener byte // counts nested pairs; 0 for none
	esc    escapes
	inter  interpolation
	line   bool // ends at the end of the line even without its quote
}

// reader collects the parts of a string.
type reader struct {
	buf    strings.Builder
	pieces []piece
}

func (r *reader) flush() {
	if r.buf.Len() > 0 {
		r.pieces = append(r.pieces, piece{text: r.buf.String()})
		r.buf.Reset()
	}
}

func (r *reader) name(name string) {
	r.flush()
	r.pieces = append(r.pieces, piece{name: name})
}

func (r *reader) gap(from, to int) {
	r.flush()
	r.pieces = append(r.pieces, piece{gap: true, from: from, to: to})
}

// result returns plain text when there is nothing but text.
func (r *reader) result() (string, []piece) {
	if len(r.pieces) == 0 {
		return r.buf.String(), nil
	}
	r.flush()
	return "", r.pieces
}

// read reads a string whose opening quote has been consumed, up to and including its closer.
func (l *lexer) read(q literal) (string, []piece) {
	var r reader
	depth := 0
	for l.i < len(l.src) {
		c := l.src[l.i]
		switch {
		case c == '\\' && q.esc != escRaw:
			l.escape(&r, q)
		case depth == 0 && strings.HasPrefix(l.src[l.i:], q.closer):
			l.i += len(q.closer)
			return r.result()
		case q.line && c == '\n':
			return r.result()
		case q.opener != 0 && c == q.opener:
			depth++
			r.buf.WriteByte(c)
			l.i++
		case q.opener != 0 && c == q.closer[0]:
			depth--
			r.buf.WriteByte(c)
			l.i++
		case q.inter != interNone && l.interpolate(&r, q):
		default:
			r.buf.WriteByte(c)
			l.i++
		}
	}
	return r.result()
}

// escape reads one escape sequence.
func (l *lexer) escape(r *reader, q literal) {
	c := l.at(1)
	if l.i+1 >= len(l.src) {
		r.buf.WriteByte('\\')
		l.i++
		return
	}
	l.i += 2
	switch {
	case c == '\n':
	case c == '\r' && l.at(0) == '\n':
		l.i++
	case c == 'x':
		l.hex(r, 2, true)
	case c == 'u':
		l.hex(r, 4, false)
	case c == 'U':
		l.hex(r, 8, false)
	case c == 'N' && l.at(0) == '{':
		// A character by its Unicode name: the names are not known here.
		n := strings.IndexByte(l.src[l.i:], '}')
		if n < 0 {
			l.b.work(len(l.src) - l.i)
		}
		l.i += n + 1
		r.gap(0, 0)
	case isDigit(c):
		l.i--
		l.digits(r)
	default:
		if n := strings.IndexByte("abfnrtve", c); n >= 0 && !(q.esc == escPython && c == 'e') {
			r.buf.WriteByte("\a\b\f\n\r\t\v\x1b"[n])
			return
		}
		if q.esc == escPython && c != '\\' && c != '\'' && c != '"' {
			r.buf.WriteByte('\\')
		}
		r.buf.WriteByte(c)
	}
}

// hex reads up to n hexadecimal digits, or any number of them in braces.
func (l *lexer) hex(r *reader, n int, raw bool) {
	braces := l.at(0) == '{'
	if braces {
		l.i++
		n, raw = 8, false
	}
	v := 0
	for ; n > 0 && hexValue(l.at(0)) >= 0; n-- {
		v = v<<4 | hexValue(l.at(0))
		l.i++
	}
	if braces && l.at(0) == '}' {
		l.i++
	}
	l.char(r, v, raw)
}

// digits reads up to three octal digits.
func (l *lexer) digits(r *reader) {
	v := 0
	start := l.i
	for l.i-start < 3 && l.at(0) >= '0' && l.at(0) < '8' {
		v = v*8 + int(l.at(0)-'0')
		l.i++
	}
	if l.i == start { // \8 and \9 are no octal digits
		l.i++
		v = int(l.src[start])
	}
	l.char(r, v, true)
}

func (l *lexer) char(r *reader, v int, raw bool) {
	if raw && v < 256 {
		r.buf.WriteByte(byte(v))
		return
	}
	if v > utf8.MaxRune {
		v = utf8.RuneError
	}
	r.buf.WriteRune(rune(v))
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// interpolate reads an interpolation; false when there is none here.
func (l *lexer) interpolate(r *reader, q literal) bool {
	c, n := l.src[l.i], l.at(1)
	switch q.inter {
	case interBraces:
		if (c == '{' || c == '}') && n == c {
			r.buf.WriteByte(c)
			l.i += 2
			return true
		}
		return c == '{' && l.code(r, 1)
	}
	return false
}

// code reads an interpolated expression of which skip bytes are its opening. A plain name is
// a variable; anything else is not known and is scanned as code of its own.
func (l *lexer) code(r *reader, skip int) bool {
	from := l.i + skip
	end := l.codeEnd(from)
	inner := strings.TrimSpace(l.src[from:end])
	l.i = min(end+1, len(l.src))
	// f"{x!r:>10}" shows x in another form, which is not known then.
	if isName(inner) && !strings.ContainsAny(inner, "!:") {
		r.name(inner)
		return true
	}
	r.gap(from, end)
	l.subs = append(l.subs, sub{from: from, to: end})
	return true
}

// codeEnd finds the brace that closes an interpolation, past strings and nested braces.
func (l *lexer) codeEnd(i int) int {
	depth := 0
	var quote byte
	for ; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(l.src)
}

func isName(s string) bool {
	if s == "" || !isIdentStart(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isIdent(s[i]) {
			return false
		}
	}
	return true
}
