package walk

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/source"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// changes are the possible changes of a part of the text in the shell that runs it.
type changes struct {
	names   map[string]bool // variables
	params  bool            // $1, $2, …
	dir     bool
	streams bool // descriptors, by exec: bash's own too, such as the ends of a pipe
	all     bool // it runs text that is not known
	jumps   bool // break, continue, return: the way through is not straight
}

// anything is the possible changes of unknown text.
var anything = changes{params: true, dir: true, streams: true, all: true}

// plus returns the possible changes of either.
func (c changes) plus(o changes) changes {
	sum := changes{
		names: maps.Clone(c.names), params: c.params || o.params, dir: c.dir || o.dir, all: c.all || o.all,
		jumps: c.jumps || o.jumps, streams: c.streams || o.streams,
	}
	if sum.names == nil {
		sum.names = map[string]bool{}
	}
	maps.Copy(sum.names, o.names)
	return sum
}

// changes collects the possible changes of statements, without walking them.
func (w *walker) changes(lists ...[]*syntax.Stmt) changes {
	c := changes{names: map[string]bool{}}
	seen := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			w.collect(&c, s, seen)
		}
	}
	return c
}

// textChanges adds the possible changes of a text that the shell runs. Each text and each function is looked
// at once.
func (w *walker) textChanges(c *changes, text string, known bool, seen map[string]bool) {
	if seen["text "+text] && known {
		return
	}
	seen["text "+text] = true
	file, err := source.Parse(text, false)
	if !known || err != nil || source.TooDeep(text, w.lim.Nesting) >= 0 || !w.step(1+len(text)/bytesPerStep) {
		*c = c.plus(anything)
		return
	}
	for _, s := range file.Stmts {
		w.collect(c, s, seen)
	}
}

func (w *walker) collect(c *changes, root syntax.Node, seen map[string]bool) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if n != nil {
			w.step(1)
		}
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				c.names[n.Name.Value] = true
				if w.ctx.st.lookupVar(n.Name.Value).converts && n.Value != nil {
					c.evaluated(n.Value)
				}
			}
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Naked && a.Value != nil && hasOption(a.Value.Lit(), "n") { // assignments change another variable
					c.all = true
				}
			}
			if slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Value != nil && hasOption(a.Value.Lit(), "i") }) {
				c.evaluated(n)
			}
		case *syntax.LetClause:
			c.evaluated(n)
		case *syntax.WordIter:
			c.names[n.Name.Value] = true
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				c.names[n.Param.Value] = true
			}
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			c.arithmetic(n)
		case *syntax.FuncDecl:
			params := c.params
			w.collect(c, n.Body, seen)
			c.params = params // a function has its own
			return false
		case *syntax.CallExpr:
			w.collectCall(c, n.Args, seen)
		}
		return w.budget == ""
	})
}

// hasOption reports whether a word of declare holds an option.
func hasOption(word, letter string) bool {
	return strings.HasPrefix(word, "-") && strings.Contains(word, letter)
}

// evaluated adds all names in a text that is arithmetic, such as the argument of let.
func (c *changes) evaluated(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		text := ""
		switch n := n.(type) {
		case *syntax.Lit:
			text = n.Value
		case *syntax.SglQuoted:
			text = n.Value
		case *syntax.ParamExp, *syntax.CmdSubst:
			c.all = true
		}
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			c.names[name] = true
		}
		return true
	})
}

func (c *changes) arithmetic(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if _, assigns := compound[n.Op]; assigns || n.Op == syntax.Assgn {
				c.target(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				c.target(n.X)
			}
		}
		return true
	})
}

func (c *changes) target(x syntax.ArithmExpr) {
	if word, ok := x.(*syntax.Word); ok {
		name := word.Lit()
		if p, isElement := nakedElement(word); isElement {
			name = p.Param.Value
		}
		c.names[name] = true
	}
}

// begins reports whether the plain beginning of a word, such as that of X="$y", holds a text.
func begins(word *syntax.Word, text string) bool {
	lit, ok := word.Parts[0].(*syntax.Lit)
	return ok && strings.Contains(lit.Value, text)
}

// spelledOut returns a word of plain letters and quotes.
func spelledOut(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if len(p.Parts) != 1 {
				return "", len(p.Parts) == 0
			}
			lit, ok := p.Parts[0].(*syntax.Lit)
			if !ok || strings.Contains(lit.Value, `\`) {
				return "", false
			}
			b.WriteString(lit.Value)
		default:
			return "", false
		}
	}
	text := b.String()
	return text, !strings.ContainsRune(text, value.HoleOpen)
}

// collectCall adds the changes of a builtin or a function of the text.
func (w *walker) collectCall(c *changes, words []*syntax.Word, seen map[string]bool) {
	if len(words) == 0 {
		return
	}
	name, known := spelledOut(words[0])
	rest := words[1:]
	if !known {
		*c = c.plus(anything)
		return
	}
	for _, fn := range w.ctx.st.funcs[name] {
		if key := "function " + name; fn != nil && !seen[key] {
			seen[key] = true
			params := c.params
			w.collect(c, fn.decl.Body, seen)
			c.params = params
		}
	}
	if body, ok := w.ctx.st.aliases[name]; ok {
		w.textChanges(c, body, true, seen)
	}
	switch name {
	case "command", "builtin":
		for len(rest) > 0 && strings.HasPrefix(rest[0].Lit(), "-") {
			rest = rest[1:]
		}
		w.collectCall(c, rest, seen)
	case "cd", "pushd", "popd":
		c.dir = true
	case "break", "continue", "return", "exit":
		c.jumps = true
	case "exec":
		c.jumps, c.streams = c.jumps || len(rest) > 0, c.streams || len(rest) == 0
	case "eval":
		texts := make([]string, len(rest))
		for i, word := range rest {
			text, ok := spelledOut(word)
			texts[i], known = text, known && ok
		}
		w.textChanges(c, strings.Join(texts, " "), known, seen)
	case "trap":
		if len(rest) > 0 {
			text, ok := spelledOut(rest[0])
			w.textChanges(c, text, ok && !strings.HasPrefix(text, "-"), seen)
		}
	case ".", "source":
		*c = c.plus(anything)
	case "shift":
		c.params = true
	case "shopt":
		c.all = true
	case "set":
		for i := 0; i < len(rest); i++ {
			option := rest[i].Lit()
			c.params = c.params || option == "" || option == "--" || option[0] != '-' && option[0] != '+'
			if strings.HasSuffix(option, "o") {
				i++
			}
		}
	case "read", "printf", "mapfile", "readarray", "getopts", "unset", "let", "declare", "typeset", "readonly", "export",
		"local", "wait":
		for _, a := range rest {
			text, ok := spelledOut(a)
			lit, _, _ := strings.Cut(text, "=")
			c.names[strings.TrimPrefix(lit, "-v")] = true
			c.all = c.all || !ok && name != "printf" && name != "wait" && !begins(a, "=")
			if name == "let" {
				c.evaluated(a)
			}
		}
		if i := slices.IndexFunc(rest, func(a *syntax.Word) bool { return strings.HasPrefix(a.Lit(), "-v") }); name == "printf" && i >= 0 {
			_, ok := spelledOut(rest[min(i+1, len(rest)-1)])
			c.all = c.all || !ok
		}
		for _, name := range []string{"REPLY", "MAPFILE", "OPTARG", "OPTIND"} {
			c.names[name] = true
		}
	}
}

// blur makes the things that c names unknown.
func (w *walker) blur(c changes) {
	st := w.ctx.st
	if c.all {
		w.forget()
		st.lastpipe = true
	}
	for name := range c.names {
		if syntax.ValidName(name) {
			w.assignUnknown(name, st.vars[name].inputs())
		}
	}
	if c.params {
		st.bind(nil, false)
	}
	if c.dir {
		st.place(shell.Dir{})
		st.old, st.stack = shell.Dir{}, nil
	}
}
