package inline

import "strings"

// Languages whose statements are commands: a word and its arguments, separated by blanks.
// They have no use for the expressions of the other ones and are read word by word.

// wordGrammar makes a grammar of a walk over the commands of a text.
func wordGrammar(name string, comments []string, strings func(*lexer) bool, command func(*scan, []token)) *grammar {
	return &grammar{
		name:         name,
		lineComments: comments,
		newlineEnds:  true,
		strings:      strings,
		walk: func(s *scan) {
			s.walkCommands(command)
		},
	}
}

// walkCommands cuts the tokens at ends of lines, semicolons and brackets, which begin commands of their own.
func (s *scan) walkCommands(command func(*scan, []token)) {
	start := 0
	for i := range s.toks {
		if s.b.spent() {
			return
		}
		t := &s.toks[i]
		cut := t.kind == tokOp && (t.text == ";" || t.text == "[" || t.text == "]" || t.text == "{" || t.text == "}" || t.text == "|" || t.text == "(" || t.text == ")")
		if t.newline || cut {
			if i > start {
				command(s, s.toks[start:i])
			}
			start = i
			if cut {
				start = i + 1
			}
		}
	}
	if start < len(s.toks) {
		command(s, s.toks[start:])
	}
}

// wordArgs are the words of a command as values.
func wordArgs(s *scan, toks []token) []argument {
	var out []argument
	for i := range toks {
		v := textValue(toks[i].text)
		if toks[i].pieces != nil {
			v = value{kind: text, alts: []Arg{{}}}
			if toks[i].pieces[0].text != "" {
				v = prefixValue(toks[i].pieces[0].text)
			}
		}
		out = append(out, argument{v: v})
	}
	return out
}

// wordCall is a call of the words behind the first n.
func wordCall(s *scan, name string, toks []token, n int) *call {
	c := &call{s: s, name: name, pos: toks[0].pos}
	c.args = wordArgs(s, toks[min(n, len(toks)):])
	return c
}

// blankWord reads a word up to a blank; with sigil, a $ or [ in it makes its rest unknown.
func (l *lexer) blankWord(stop, unknown string) bool {
	from := l.i
	gap := -1
	for l.i < len(l.src) {
		c := l.src[l.i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || strings.IndexByte(stop, c) >= 0 {
			break
		}
		if gap < 0 && strings.IndexByte(unknown, c) >= 0 {
			gap = l.i
		}
		l.i++
	}
	if l.i == from {
		return false
	}
	if gap >= 0 {
		l.add(tokString, "", []piece{{text: l.src[from:gap]}, {gap: true}}, from)
	} else {
		l.add(tokIdent, l.src[from:l.i], nil, from)
	}
	return true
}

// tclGrammar is Tcl and Expect.
func tclGrammar() *grammar {
	return wordGrammar("tcl", []string{"#"}, func(l *lexer) bool {
		from := l.i
		switch l.src[l.i] {
		case '"':
			l.i++
			text, pieces := l.read(literal{closer: `"`, esc: escC, inter: interGroovy})
			l.add(tokString, text, pieces, from)
			return true
		case '[', ']', '{', '}', ';':
			return false
		}
		return l.blankWord("[]{};\"", "$")
	}, tclCommand)
}

func tclCommand(s *scan, toks []token) {
	for len(toks) > 2 && (toks[0].text == "catch" || toks[0].text == "set") {
		toks = toks[min(2, len(toks)):]
	}
	c := wordCall(s, toks[0].text, toks, 1)
	switch toks[0].text {
	case "exec", "spawn":
		for len(c.args) > 0 && strings.HasPrefix(c.args[0].v.texts()[0].Text, "-") {
			c.args = c.args[1:]
		}
		if len(c.args) > 0 {
			argv(c)
		}
	case "system":
		c.shell(s.glue(textValue(" "), argList(c.args)))
	case "open":
		if v, ok := c.arg(0); ok {
			if t := v.texts()[0].Text; strings.HasPrefix(t, "|") {
				c.shell(s.mapText(v, false, func(t string) (string, bool) { return strings.TrimSpace(t[1:]), true }))
				return
			}
			opens(0, 1, "r")(c)
		}
	case "file":
		tclFile(c)
	case "socket":
		if len(c.args) > 1 && c.args[0].v.texts()[0].Text == "-server" {
			s.ev.socket = true
			c.add(Listen)
			return
		}
		if len(c.args) > 1 {
			for i := range c.args {
				if t, ok := c.args[i].v.exact(); ok && t != "" && isDigit(t[0]) {
					c.args[i].v = wordValue(t)
				}
			}
			hostPort(Network, len(c.args)-2, len(c.args)-1)(c)
		}
	case "eval", "uplevel":
		if len(c.args) == 0 || !s.fold(1) {
			return
		}
		v := s.glue(textValue(" "), argList(c.args))
		if !v.known() {
			s.ev.command(c, value{})
		}
		s.runText(s.g, c.name, v, c.pos)
	case "source":
		touch(Read)(c)
		c.add(Dynamic)
	case "gets", "read":
		s.ev.receives = true
	case "interact":
		c.add(Spawn)
	}
}

// tclFile is file delete -force p, file rename a b, file attributes p -permissions m.
func tclFile(c *call) {
	if len(c.args) < 2 {
		return
	}
	sub := c.args[0].v.texts()[0].Text
	c.args = c.args[1:]
	force := false
	for len(c.args) > 0 && strings.HasPrefix(c.args[0].v.texts()[0].Text, "-") {
		force = true
		c.args = c.args[1:]
	}
	switch sub {
	case "delete":
		c.add(Delete, c.paths(c.positional())...).Recursive = force
	case "rename":
		move(c)
	case "copy":
		copied(true)(c)
	case "mkdir":
		touchAll(Mkdir)(c)
	case "attributes":
		touch(Chmod)(c)
	}
}
