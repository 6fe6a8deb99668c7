package docstring

import "strings"

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

// escape skips a backslash and the escaped characters: never the brace of a field.
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
