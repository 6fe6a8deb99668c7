package inline

import "strings"

// heredoc is a here-document whose body is still to come.
type heredoc struct {
	tag    string
	q      literal
	indent bool // the closing tag may be indented
	tok    int  // the token that gets the text
}

// hereStart reads <<TAG, <<"TAG", <<'TAG', <<~TAG, <<-TAG, and <<<TAG in PHP. PHP's opening is
// the longer one so that a shift is not taken for it.
func (l *lexer) hereStart(open string, esc escapes, inter interpolation) bool {
	if !l.has(open) || open == "<<" && !l.operandOrCall() {
		return false
	}
	j := l.i + len(open)
	h := heredoc{q: literal{esc: esc, inter: inter}, indent: open == "<<<", tok: len(l.toks)}
	if j < len(l.src) && (l.src[j] == '~' || l.src[j] == '-') {
		h.indent = true
		j++
	}
	for open == "<<<" && j < len(l.src) && l.src[j] == ' ' {
		j++
	}
	quote := byte(0)
	if j < len(l.src) && (l.src[j] == '"' || l.src[j] == '\'' || l.src[j] == '`') {
		quote = l.src[j]
		j++
	}
	from := j
	for j < len(l.src) && isIdent(l.src[j]) {
		j++
	}
	h.tag = l.src[from:j]
	if h.tag == "" || isDigit(h.tag[0]) || quote == 0 && open == "<<" && h.tag[0] >= 'a' && h.tag[0] <= 'z' {
		return false
	}
	kind := tokString
	if quote != 0 {
		if j >= len(l.src) || l.src[j] != quote {
			return false
		}
		j++
		switch quote {
		case '\'':
			h.q.esc, h.q.inter = escRaw, interNone
		case '`':
			kind = tokCommand
		}
	}
	start := l.i
	l.i = j
	l.add(kind, "", nil, start)
	l.pending = append(l.pending, h)
	return true
}

// operandOrCall is operand, or a name with a blank behind it: puts <<EOF.
func (l *lexer) operandOrCall() bool {
	return l.operand() || l.space && l.toks[len(l.toks)-1].kind == tokIdent
}

// hereBody reads the lines up to the tag and gives them to the token that stands for them.
func (l *lexer) hereBody(h heredoc) {
	from, end := l.i, len(l.src)
	l.i = len(l.src)
	for j := from; j < len(l.src); {
		e := strings.IndexByte(l.src[j:], '\n')
		if e < 0 {
			e = len(l.src) - j
		}
		line := strings.TrimSuffix(l.src[j:j+e], "\r")
		if h.indent {
			line = strings.TrimLeft(line, " \t")
		}
		if line == h.tag || line == h.tag+";" || l.g.name == "php" && strings.HasPrefix(line, h.tag) && (len(line) == len(h.tag) || !isIdent(line[len(h.tag)])) {
			end = j
			l.i = j + len(l.src[j:j+e]) - len(strings.TrimPrefix(line, h.tag))
			break
		}
		j += e + 1
	}
	// The body is read by a lexer of its own so that nothing in it reaches behind the tag.
	in := &lexer{g: l.g, src: l.src[:end], i: from, b: l.b}
	text, pieces := in.read(literal{closer: "\x00\x00", esc: h.q.esc, inter: h.q.inter})
	l.toks[h.tok].text, l.toks[h.tok].pieces = text, pieces
	l.subs = append(l.subs, in.subs...)
}
