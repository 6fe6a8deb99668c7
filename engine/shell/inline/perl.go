package inline

import "strings"

// perlGrammar is Perl 5.
func perlGrammar() *grammar {
	return &grammar{
		name:         "perl",
		lineComments: []string{"#"},
		sigils:       "$@%&",
		operators:    []string{"<=>", "**=", "||=", "//=", "&&=", "...", "=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "//", "..", ".=", "+=", "-=", "=~", "!~", "++", "--", "**", "<<", ">>"},
		spelling:     map[string]string{"->": ".", "::": ".", ".": "+"},
		keywords:     "=>",
		parenless:    true,
		regexes:      true,
		terminators:  set("if unless while until for foreach or and xor x"),
		functions:    true,
		strings:      perlString,
		line:         perlPod,
		bind:         perlVariables,
		canonical:    perlName,
		calls:        perlCalls(),
		values:       perlValues(),
	}
}

// perlName drops the package that every function of the language is in.
func perlName(name string) string {
	name = strings.TrimPrefix(name, "&")
	for _, p := range []string{"CORE.", "GLOBAL.", "CORE::GLOBAL::", "CORE::"} {
		name = strings.TrimPrefix(name, p)
	}
	return strings.ReplaceAll(name, "::", ".")
}

// perlPod skips documentation, and everything behind __END__.
func perlPod(l *lexer) bool {
	if l.has("__END__") || l.has("__DATA__") {
		l.i = len(l.src)
		return true
	}
	if l.src[l.i] != '=' || l.col != 0 || !isIdentStart(l.at(1)) {
		return false
	}
	if n := strings.Index(l.src[l.i:], "\n=cut"); n >= 0 {
		l.i += n + 1
		l.skipLine()
	} else {
		l.i = len(l.src)
	}
	return true
}

func perlString(l *lexer) bool {
	c := l.src[l.i]
	from := l.i
	switch c {
	case '"':
		return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escC, inter: interSigil}})
	case '\'':
		return l.quoted(map[byte]literal{'\'': {closer: "'", esc: escSingle}})
	case '`':
		return l.backtick(interSigil)
	case '<':
		if l.has("<<") && l.hereStart("<<", escC, interSigil) {
			return true
		}
		return l.angle()
	}
	if !isIdentStart(c) || l.afterArrow() {
		return false
	}
	op, delim, ok := l.quoteLike()
	if !ok {
		return false
	}
	inter, esc := interSigil, escC
	if delim == '\'' {
		inter, esc = interNone, escSingle
	}
	l.i += 1
	switch op {
	case "q":
		text, _ := l.read(pair(delim, escSingle, interNone))
		l.add(tokString, text, nil, from)
	case "qq":
		text, pieces := l.read(pair(delim, esc, inter))
		l.add(tokString, text, pieces, from)
	case "qx":
		text, pieces := l.read(pair(delim, esc, inter))
		l.add(tokCommand, text, pieces, from)
	case "qw":
		text, _ := l.read(pair(delim, escSingle, interNone))
		l.wordList(text, from)
	case "m", "qr":
		l.read(pair(delim, escSingle, interNone))
		l.ident()
		l.add(tokRegex, "", nil, from)
	default:
		l.substitution(op, delim, from)
	}
	return true
}

// angle reads <*.txt>, which is glob; <STDIN> and <$file> read lines.
func (l *lexer) angle() bool {
	end := strings.IndexByte(l.src[l.i:], '>')
	if l.b.work(end); end < 0 {
		l.b.work(len(l.src) - l.i)
	}
	if n := len(l.toks); n > 0 && l.toks[n-1].operandEnd() && !l.toks[n-1].takesList() {
		// A block may stand in front: map { … } <*>.
		if !l.toks[n-1].is("}") || end < 0 || strings.ContainsAny(l.src[l.i:l.i+end], " \t") {
			return false
		}
	}
	if end < 0 || !strings.ContainsAny(l.src[l.i:l.i+end], "*?~/[{") || strings.ContainsAny(l.src[l.i:l.i+end], ";=\n") {
		return false
	}
	from := l.i
	l.i++
	text, pieces := l.read(pair('<', escC, interSigil))
	l.add(tokIdent, "glob", nil, from)
	l.addOp("(", from)
	l.add(tokString, text, pieces, from)
	l.addOp(")", from)
	return true
}

// takesList reports the names of functions and words after which an operand stands.
func (t *token) takesList() bool {
	return t.kind == tokIdent && !strings.ContainsAny(t.text[:1], "$@%&")
}

// substitution reads s/…/…/ and tr/…/…/. With the flag e the replacement is code.
func (l *lexer) substitution(op string, delim byte, from int) {
	l.read(pair(delim, escSingle, interNone))
	second := pair(delim, escSingle, interNone)
	if second.opener != 0 {
		for l.i < len(l.src) && l.src[l.i] != delim {
			l.i++
		}
		l.i = min(l.i+1, len(l.src))
	}
	start := l.i
	l.read(second)
	end := max(start, l.i-1)
	flags := l.i
	l.ident()
	if op == "s" && strings.Contains(l.src[flags:l.i], "e") {
		l.subs = append(l.subs, sub{from: start, to: end})
	}
	l.add(tokRegex, op, nil, from)
}

// wordList adds qw(a b) as the list ("a", "b").
func (l *lexer) wordList(text string, from int) {
	l.addOp("(", from)
	for i, w := range strings.Fields(text) {
		if i > 0 {
			l.addOp(",", from)
		}
		l.add(tokString, w, nil, from)
	}
	l.addOp(")", from)
}

// afterArrow reports whether the name that begins here is a member or a hash key, and no operator.
func (l *lexer) afterArrow() bool {
	if n := len(l.toks); n > 0 && (l.toks[n-1].is(".") || l.toks[n-1].is("{") && !l.space) {
		return true
	}
	return false
}

// quoteLike recognises q, qq, qx, qw, m, qr, s, tr and y with their delimiter, and stops at it.
func (l *lexer) quoteLike() (op string, delim byte, ok bool) {
	for _, op := range []string{"qq", "qx", "qw", "qr", "tr", "q", "m", "s", "y"} {
		if !l.has(op) || isIdent(l.at(len(op))) {
			continue
		}
		j := l.i + len(op)
		blank := false
		for j < len(l.src) && (l.src[j] == ' ' || l.src[j] == '\t' || l.src[j] == '\n') {
			j++
			blank = true
		}
		if j >= len(l.src) {
			return "", 0, false
		}
		switch d := l.src[j]; {
		case d == '=' || d == ',' || d == ';' || d == ')' || d == '}' || isIdent(d) || blank && d == '#' || d == '-' && j+1 < len(l.src) && l.src[j+1] == '>':
			return "", 0, false
		default:
			l.i = j
			return op, d, true
		}
	}
	return "", 0, false
}

// pair is the literal that a delimiter opens.
func pair(delim byte, esc escapes, inter interpolation) literal {
	if n := strings.IndexByte("([{<", delim); n >= 0 {
		return literal{closer: ")]}>"[n : n+1], opener: delim, esc: esc, inter: inter}
	}
	return literal{closer: string(delim), esc: esc, inter: inter}
}
