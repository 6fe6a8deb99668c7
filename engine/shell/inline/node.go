package inline

import "strings"

// nodeGrammar is JavaScript and TypeScript, with the modules of Node, Deno and Bun.
func nodeGrammar() *grammar {
	return &grammar{
		name:         "node",
		lineComments: []string{"//"},
		blockOpen:    "/*",
		blockClose:   "*/",
		identExtra:   "$",
		operators:    []string{"===", "!==", ">>>", "...", "??=", "||=", "**", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "++", "--", "<<", ">>"},
		spelling:     map[string]string{"?.": "."},
		keywords:     ":",
		newlineEnds:  true,
		regexes:      true,
		terminators:  set("of"),
		modules:      set("child_process fs process"),
		globals:      map[string]string{"globalThis": "globalThis", "window": "globalThis", "global": "globalThis"},
		strings:      nodeString,
		bind:         genericBind,
		canonical:    nodeName,
		calls:        nodeCalls(),
		values:       nodeValues(),
	}
}

func nodeString(l *lexer) bool {
	q := literal{esc: escC}
	switch c := l.src[l.i]; c {
	case '"', '\'':
		q.closer, q.line = string(c), true
	case '`':
		q.closer, q.inter = "`", interTemplate
		if n := len(l.toks); n > 0 && l.toks[n-1].word("$") && !l.space { // Bun's shell: $`ls`
			from := l.i
			l.i++
			text, pieces := l.read(q)
			l.add(tokCommand, text, pieces, from)
			return true
		}
	default:
		return false
	}
	from := l.i
	l.i++
	text, pieces := l.read(q)
	l.add(tokString, text, pieces, from)
	return true
}

// nodeName spells module members in one way: node:fs/promises.rm is fs.rm.
func nodeName(name string) string {
	name = strings.TrimPrefix(name, "node:")
	name = strings.TrimPrefix(name, "globalThis.")
	name = strings.Replace(name, "process.mainModule.require", "require", 1)
	name = strings.Replace(name, "module.require", "require", 1)
	for _, m := range []string{"fs/promises", "fs.promises", "fs-extra", "graceful-fs"} {
		if strings.HasPrefix(name, m) {
			name = "fs" + name[len(m):]
		}
	}
	name = javaName(name)
	if rest, ok := strings.CutSuffix(name, ".default"); ok {
		name = rest
	}
	if rest, ok := strings.CutSuffix(name, ".bind()"); ok && (strings.HasPrefix(name, "child_process.") || strings.HasPrefix(name, "fs.")) {
		return rest
	}
	return name
}
