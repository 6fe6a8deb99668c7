package inline

import "strings"

// awkGrammar is awk: POSIX and the network of gawk.
func awkGrammar() *grammar {
	return &grammar{
		operators:   []string{"|&", "==", "!=", "<=", ">=", "&&", "||", ">>", "+=", "-=", "++", "--", "**", "!~"},
		newlineEnds: true,
		regexes:     true,
		terminators: set("getline in"),
		stops:       set("| |& > >> <"),
		strings: func(l *lexer) bool {
			from := l.i
			if l.src[from] != '"' {
				return false
			}
			l.i++
			text, pieces := l.read(literal{closer: `"`, esc: escC, line: true})
			l.add(tokString, text, pieces, from)
			return true
		},
		bind:   awkBind,
		walk:   awkWalk,
		calls:  map[string]handler{"system": shellText},
		values: map[string]evaluator{"sprintf": awkSprintf},
	}
}

// awkBind binds what sub, gsub, split and getline change besides what assignments do.
func awkBind(s *scan) {
	for i := 0; i+1 < len(s.toks); i++ {
		t := &s.toks[i]
		switch {
		case t.is("=") && i > 0 && s.toks[i-1].kind == tokIdent:
			s.bindAt(i-1, i+1, bindSet, 0)
		case t.is("+=") && i > 0 && s.toks[i-1].kind == tokIdent, t.word("in") && i > 0 && s.toks[i-1].kind == tokIdent:
			s.bindAt(i-1, 0, bindUnknown, 0)
		case t.word("getline") && s.toks[i+1].kind == tokIdent:
			s.bindAt(i+1, 0, bindUnknown, 0)
		case (t.word("sub") || t.word("gsub") || t.word("split") || t.word("match")) && s.toks[i+1].is("("):
			for j := i + 2; j < min(s.match[i+1], len(s.toks)); j = s.after(j) {
				if s.toks[j].kind == tokIdent && s.toks[j-1].is(",") {
					s.bindAt(j, 0, bindUnknown, 0)
				}
			}
		}
	}
}

func awkSprintf(s *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	return s.format(args[0].v, argList(args[1:]).list, percent)
}

// awkWalk is the usual walk, and the redirections that only awk has.
func awkWalk(s *scan) {
	s.walk()
	printing := false
	depth := 0
	for i := range s.toks {
		if s.b.spent() {
			return
		}
		t := &s.toks[i]
		if t.newline || t.is(";") || t.is("}") || t.is("{") {
			printing, depth = false, 0
		}
		switch {
		case t.word("print") || t.word("printf"):
			printing, depth = true, 0
		case t.is("("):
			depth++
		case t.is(")"):
			depth = max(0, depth-1)
		case t.word("getline"):
			s.awkGetline(i)
		case printing && depth == 0 && (t.is(">") || t.is(">>")):
			s.awkTarget(i, map[string]Kind{">": Write, ">>": Append}[t.text])
		case printing && (t.is("|") || t.is("|&")):
			s.awkTarget(i, Shell)
		}
	}
}

// awkTarget reports where print goes: the expression behind the operator at token i.
func (s *scan) awkTarget(i int, k Kind) {
	v, _ := s.expr(i+1, false)
	s.awkStream(i, v, k)
}

// awkGetline reports what getline reads: "cmd" | getline, getline < "file".
func (s *scan) awkGetline(i int) {
	if i > 0 && (s.toks[i-1].is("|") || s.toks[i-1].is("|&")) {
		// The command is the concatenation in front of the bar.
		start := i - 1
		for n := 0; start > 0 && n < 64; n++ {
			p := &s.toks[start-1]
			if p.kind == tokOp && p.text != ")" && p.text != "]" || p.kind == tokIdent && (p.text == "print" || p.text == "while" || p.text == "if") || s.toks[start].newline {
				break
			}
			start--
			if p.is(")") {
				for start > 0 && s.match[start] < 0 && s.b.step() {
					start--
				}
			}
		}
		v, _ := s.expr(start, false)
		s.awkStream(i, v, Shell)
		if s.toks[i-1].is("|&") {
			s.ev.receives = true
		}
		return
	}
	for j := i + 1; j < len(s.toks) && j < i+4; j++ {
		if s.toks[j].is("<") {
			v, _ := s.expr(j+1, false)
			s.awkStream(i, v, Read)
			return
		}
	}
}

// awkStream reports a file, a command, or one of gawk's network files /inet/tcp/0/host/port.
func (s *scan) awkStream(i int, v value, k Kind) {
	c := &call{s: s, name: "getline", tok: i, pos: s.toks[i].pos}
	if !s.toks[i].word("getline") {
		c.name = "print"
	}
	for _, a := range v.texts() {
		if strings.HasPrefix(a.Text, "/inet") {
			s.ev.socket = true
			parts := strings.Split(a.Text, "/")
			host := a
			if len(parts) > 5 {
				host.Text = parts[4] + ":" + parts[5]
			}
			c.add(Network, host)
			return
		}
	}
	switch {
	case k == Shell:
		c.shell(v)
	case k != Read && standardFile(v):
	default:
		c.add(k, c.paths(v)...)
	}
}

func standardFile(v value) bool {
	t, _ := v.exact()
	return t == "/dev/stderr" || t == "/dev/stdout" || t == "-"
}
