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
	case interTemplate:
		return c == '$' && n == '{' && l.code(r, 2)
	case interHash:
		return c == '#' && n == '{' && l.code(r, 2)
	case interGroovy:
		return c == '$' && (n == '{' && l.code(r, 2) || isIdentStart(n) && l.simple(r, ""))
	case interSigil:
		switch {
		case c == '{' && n == '$' && l.g.name == "php":
			return l.code(r, 1)
		case c == '@' && n == '{':
			return l.code(r, 2)
		case c == '$' && n == '{':
			return l.code(r, 2)
		case (c == '$' || c == '@' && l.g.name == "perl") && isIdentStart(n):
			return l.simple(r, string(c))
		case c == '$' && (isDigit(n) || n == '_' || n == '!' || n == '@' || n == '&'):
			r.gap(0, 0)
			l.i += 2
			return true
		}
	}
	return false
}

// simple reads $name, which may be followed by an index or a member.
func (l *lexer) simple(r *reader, sigil string) bool {
	l.i++
	from := l.i
	for l.i < len(l.src) && isIdent(l.src[l.i]) {
		l.i++
	}
	name := l.src[from:l.i]
	switch {
	case sigil == "$" && name == "ENV" && l.has("{HOME}"):
		l.i += len("{HOME}")
		r.buf.WriteString(home)
	case l.at(0) == '[' || l.at(0) == '{' || l.at(0) == '-' && l.at(1) == '>':
		r.gap(0, 0)
	default:
		r.name(sigil + name)
	}
	return true
}

// code reads an interpolated expression of which skip bytes are its opening. A plain name is
// a variable; anything else is not known and is scanned as code of its own.
func (l *lexer) code(r *reader, skip int) bool {
	opening := l.src[l.i : l.i+skip]
	from := l.i + skip
	end := l.codeEnd(from)
	inner := strings.TrimSpace(l.src[from:end])
	l.i = min(end+1, len(l.src))
	if l.g.name == "perl" || l.g.name == "php" && opening == "${" {
		inner = opening[:1] + inner
	}
	// f"{x!r:>10}" shows x in another form, which is not known then.
	if isName(strings.TrimLeft(inner, "$@")) && !strings.ContainsAny(inner, "!:") {
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
