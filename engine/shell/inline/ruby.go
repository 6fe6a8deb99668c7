package inline

import "strings"

// rubyGrammar is Ruby.
func rubyGrammar() *grammar {
	return &grammar{
		name:         "ruby",
		lineComments: []string{"#"},
		sigils:       "$@",
		operators:    []string{"<=>", "===", "**=", "||=", "&&=", "...", "=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "..", "+=", "-=", "=~", "!~", "**", "<<", ">>", "&."},
		spelling:     map[string]string{"::": ".", "&.": "."},
		keywords:     ":",
		newlineEnds:  true,
		wordBlocks:   true,
		adjacent:     true,
		parenless:    true,
		regexes:      true,
		terminators:  set("if unless while until rescue do and or then end"),
		modules:      set("Kernel Process FileUtils File IO"),
		strings:      rubyString,
		line:         rubyBlockComment,
		bind:         genericBind,
		canonical:    rubyName,
		calls:        rubyCalls(),
		values:       rubyValues(),
	}
}

// rubyName drops the receivers that everything inherits from.
func rubyName(name string) string {
	for _, p := range []string{"Kernel.", "Object.", "self.", "main."} {
		name = strings.TrimPrefix(name, p)
	}
	return strings.TrimSuffix(name, ".call")
}

func rubyBlockComment(l *lexer) bool {
	if l.has("__END__") {
		l.i = len(l.src)
		return true
	}
	if l.col != 0 || !l.has("=begin") {
		return false
	}
	if n := strings.Index(l.src[l.i:], "\n=end"); n >= 0 {
		l.i += n + 1
		l.skipLine()
	} else {
		l.i = len(l.src)
	}
	return true
}

func rubyString(l *lexer) bool {
	c := l.src[l.i]
	from := l.i
	switch c {
	case '"':
		return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escC, inter: interHash}})
	case '\'':
		return l.quoted(map[byte]literal{'\'': {closer: "'", esc: escSingle}})
	case '`':
		return l.backtick(interHash)
	case '<':
		return l.has("<<") && l.hereStart("<<", escC, interHash)
	case '%':
		return l.rubyPercent(from)
	case '?': // ?a is a character
		if l.operandOrCall() && isIdentStart(l.at(1)) && !isIdent(l.at(2)) {
			l.i += 2
			l.add(tokString, l.src[l.i-1:l.i], nil, from)
			return true
		}
		return false
	case ':':
		return l.rubySymbol(from)
	}
	// A method name may end with ! or ?.
	if isIdentStart(c) {
		l.ident()
		if (l.at(0) == '!' || l.at(0) == '?') && l.at(1) != '=' {
			l.i++
		}
		l.add(tokIdent, l.src[from:l.i], nil, from)
		return true
	}
	return false
}

// rubySymbol reads :name and :"name" as text.
func (l *lexer) rubySymbol(from int) bool {
	if l.at(1) == ':' || from > 0 && l.src[from-1] == ':' {
		return false
	}
	if n := len(l.toks); n > 0 && !l.space && l.toks[n-1].operandEnd() {
		return false // name: value, or c ? a :b
	}
	switch n := l.at(1); {
	case n == '"':
		l.i += 2
		text, pieces := l.read(literal{closer: `"`, esc: escC, inter: interHash})
		l.add(tokString, text, pieces, from)
	case isIdentStart(n):
		l.i++
		l.ident()
		l.add(tokString, l.src[from+1:l.i], nil, from)
	default:
		return false
	}
	return true
}

// rubyPercent reads %w[], %q(), %Q(), %x(), %i[] and %().
func (l *lexer) rubyPercent(from int) bool {
	if !l.operandOrCall() {
		return false
	}
	kind, delim := l.at(1), l.at(2)
	if !isIdent(kind) {
		kind, delim = 'Q', kind
		l.i--
	}
	if strings.IndexByte("wWiIqQxrs", kind) < 0 || delim == 0 || isIdent(delim) || delim == ' ' || delim == '\n' || delim == '=' {
		l.i = from
		return false
	}
	l.i += 3
	switch kind {
	case 'w', 'i', 'W', 'I':
		text, _ := l.read(pair(delim, escSingle, interNone))
		l.addOp("[", from)
		for i, w := range strings.Fields(text) {
			if i > 0 {
				l.addOp(",", from)
			}
			l.add(tokString, w, nil, from)
		}
		l.addOp("]", from)
	case 'q', 's':
		text, _ := l.read(pair(delim, escSingle, interNone))
		l.add(tokString, text, nil, from)
	case 'r':
		l.read(pair(delim, escSingle, interNone))
		l.ident()
		l.add(tokRegex, "", nil, from)
	default:
		text, pieces := l.read(pair(delim, escC, interHash))
		k := tokString
		if kind == 'x' {
			k = tokCommand
		}
		l.add(k, text, pieces, from)
	}
	return true
}
