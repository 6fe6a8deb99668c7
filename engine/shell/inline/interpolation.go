package inline

import "strings"

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
