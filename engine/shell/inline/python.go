package inline

import "strings"

// pythonGrammar is Python 2 and 3.
func pythonGrammar() *grammar {
	return &grammar{
		operators:   []string{"**=", "//=", ">>=", "<<=", "...", ":=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "->", "==", "!=", "<=", ">=", "**", "//", "<<", ">>"},
		newlineEnds: true,
		indented:    true,
		strings:     pythonString,
		terminators: set("else as"),
		modules:     set("os subprocess shutil builtins __builtins__ sys socket pty"),
		bind:        pythonBind,
		canonical:   pythonName,
		calls:       pythonCalls(),
		constants: map[string]value{
			"sys.executable": textValue("python3"), "os.sep": textValue("/"), "os.curdir": textValue("."), "os.pardir": textValue(".."),
			"tempfile.NamedTemporaryFile().name": prefixValue("/tmp/"), "tempfile.TemporaryDirectory().name": prefixValue("/tmp/"),
			"tempfile.tempdir": textValue("/tmp"),
		},
		values: pythonValues(),
	}
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// pythonString reads a literal with its prefix: r, b, u, f and their combinations, in three or one quotes.
func pythonString(l *lexer) bool {
	from, j := l.i, l.i
	raw, format := false, false
	for j < len(l.src) && j-from < 2 {
		c := l.src[j] | 0x20
		if c != 'r' && c != 'b' && c != 'u' && c != 'f' && c != 't' {
			break
		}
		raw, format = raw || c == 'r', format || c == 'f' || c == 't'
		j++
	}
	if j >= len(l.src) || l.src[j] != '"' && l.src[j] != '\'' {
		return false
	}
	q := literal{closer: l.src[j : j+1], esc: escPython, line: true}
	if t := strings.Repeat(q.closer, 3); strings.HasPrefix(l.src[j:], t) {
		q.closer, q.line = t, false
	}
	if format {
		q.inter = interBraces
	}
	l.i = j + len(q.closer)
	var s string
	var pieces []piece
	if raw && !format {
		s = l.rawString(q)
	} else {
		if raw {
			q.esc = escRaw
		}
		s, pieces = l.read(q)
	}
	l.add(tokString, s, pieces, from)
	return true
}

// rawString reads up to the closer; a backslash before a quote keeps both.
func (l *lexer) rawString(q literal) string {
	from := l.i
	for l.i < len(l.src) {
		switch {
		case l.src[l.i] == '\\':
			l.i++
		case l.has(q.closer):
			s := l.src[from:l.i]
			l.i += len(q.closer)
			return s
		case q.line && l.src[l.i] == '\n':
			return l.src[from:l.i]
		}
		l.i++
	}
	l.i = len(l.src)
	return l.src[from:]
}

// pythonName spells the many names of one function in one way.
func pythonName(name string) string {
	if name == "builtins" || name == "__builtin__" || name == "__builtins__" {
		return "builtins"
	}
	for _, p := range []string{"builtins.", "__builtin__.", "__builtins__."} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "__dict__" {
			name = rest
		}
	}
	for _, p := range []string{"posix.", "nt.", "sys.modules.os.", "shutil.os.", "subprocess.os.", "pathlib.os.", "glob.os."} {
		if strings.HasPrefix(name, p) {
			name = "os." + name[len(p):]
		}
	}
	return strings.Replace(strings.TrimPrefix(name, "sys.modules."), ".__call__", "", 1)
}
