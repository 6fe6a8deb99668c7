package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxTurns is how often the body of a loop over numbers is walked. More numbers count as one that is not known;
// a longer list of anything else is walked to its end, or to the limit of commands.
const maxTurns = 64

// eachTurn reports whether the body of a loop is walked once for each item.
func eachTurn(items []string) bool {
	return len(items) <= maxTurns || slices.ContainsFunc(items, func(item string) bool { return strings.Trim(item, "0123456789") != "" })
}

// while walks while and until loops. A loop that reads known lines is walked line by line;
// of any other the body is walked once, with everything that it assigns unknown.
func (w *walker) while(c *syntax.WhileClause) {
	changed := w.changes(c.Cond, c.Do)
	if w.readsKnownLines(c) && w.eachLine(c, changed) {
		return
	}
	before := w.fork(w.ctx.st)
	w.blur(changed)
	cond := w.block(c.Cond)
	loop := w.ctx.loop
	w.ctx.loop = true
	body := w.branch(cond.ok, func() { w.stmts(c.Do) })
	w.ctx.loop = loop
	body.ended = false
	w.settle(w.merge(w.merge(before, body), cond.bad))
	w.ctx.st.ended = false
}

// readsKnownLines reports "while read x" over a here-document or a static pipe.
func (w *walker) readsKnownLines(c *syntax.WhileClause) bool {
	if c.Until || len(c.Cond) != 1 || w.ctx.in == nil || !w.ctx.in.static {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" || len(c.Cond[0].Redirs) > 0 || len(call.Assigns) > 0 {
		return false
	}
	for _, a := range call.Args[1:] {
		if text := a.Lit(); text != "-r" && !syntax.ValidName(text) {
			return false
		}
	}
	text, ok := w.ctx.in.text.exact()
	return ok && eachTurn(strings.Fields(text))
}

// eachLine is false when something else than the loop has read of its input: what is left is not known.
func (w *walker) eachLine(c *syntax.WhileClause, changed changes) bool {
	in := *w.ctx.in // read consumes lines from it
	w.ctx.in = &in
	for {
		text, ok := in.text.exact()
		if text == "" || w.budget != "" {
			call, _ := c.Cond[0].Cmd.(*syntax.CallExpr)
			for _, a := range call.Args[1:] { // the last read sets them, too
				if name := a.Lit(); name != "-r" {
					w.assignUnknown(name, nil)
				}
			}
			return ok
		}
		before := w.fork(w.ctx.st)
		if changed.jumps {
			w.blur(changed)
		}
		w.stmts(c.Cond)
		w.mayStop(changed.jumps, func() { w.stmts(c.Do) })
		w.ctx.st.ended = false
		if changed.jumps {
			w.settle(w.merge(w.ctx.st, before))
		}
		if rest, _ := in.text.exact(); rest == text {
			return true // nothing was read
		}
	}
}

// forClause walks for and select loops.
func (w *walker) forClause(c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		w.cStyle(c, l)
	case *syntax.WordIter:
		w.forWords(c, l)
	default:
		w.unclear = true
	}
}

func (w *walker) cStyle(c *syntax.ForClause, l *syntax.CStyleLoop) {
	changed := w.changes(c.Do)
	for _, x := range []syntax.ArithmExpr{l.Cond, l.Post} {
		if x != nil {
			changed.arithmetic(x)
		}
	}
	if l.Init != nil {
		w.number(l.Init)
	}
	before := w.fork(w.ctx.st)
	w.blur(changed)
	if l.Cond != nil {
		w.number(l.Cond)
	}
	loop := w.ctx.loop
	w.ctx.loop = true
	body := w.branch(w.ctx.st, func() {
		w.stmts(c.Do)
		if l.Post != nil {
			w.number(l.Post)
		}
	})
	w.ctx.loop = loop
	body.ended = false
	w.settle(w.merge(before, body))
}

// forWords walks a loop over words: once per value when the list is known.
func (w *walker) forWords(c *syntax.ForClause, l *syntax.WordIter) {
	items, bound := w.loopItems(l)
	changed := w.changes(c.Do)
	name := l.Name.Value
	static := bound && !c.Select && eachTurn(texts(items)) &&
		slices.ContainsFunc(items, func(a arg) bool { return a.Certainty != Unknown })
	straight := !changed.jumps
	for _, a := range items {
		straight = straight && !a.Glob && a.Certainty != Unknown // these stand for many turns
	}
	if static {
		w.eachItem(c, name, items, changed, straight)
		return
	}
	before := w.fork(w.ctx.st)
	w.blur(changed)
	w.assignUnknown(name, argInputs(items))
	if c.Select {
		w.assignUnknown("REPLY", nil)
	}
	loop := w.ctx.loop
	w.ctx.loop = true
	body := w.branch(w.ctx.st, func() { w.stmts(c.Do) })
	w.ctx.loop = loop
	body.ended = false
	w.settle(w.merge(before, body))
	w.ctx.st.ended = false
}

// texts returns the text of each word.
func texts(args []arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.Text
	}
	return out
}

func (w *walker) loopItems(l *syntax.WordIter) ([]arg, bool) {
	if l.InPos.IsValid() {
		return w.fields(l.Items), true
	}
	if !w.ctx.st.bound {
		return nil, false
	}
	var items []arg
	for _, v := range w.ctx.st.params {
		items = append(items, newArg(v, `"$@"`))
	}
	return items, true
}

// eachItem walks the body once per item. A pattern stays one item: its matches go the same way.
func (w *walker) eachItem(c *syntax.ForClause, name string, items []arg, changed changes, straight bool) {
	loop := w.ctx.loop
	defer func() { w.ctx.loop = loop }()
	w.ctx.loop = loop || !straight
	for _, a := range items {
		if w.budget != "" {
			return
		}
		before := w.fork(w.ctx.st)
		if !straight {
			w.blur(changed)
		}
		v := a.val.with(false, nil)
		if text := v.text(); a.Glob && allKnown(v) {
			v = value{{text: text, known: true, glob: true, inputs: v.inputs()}}
		}
		if w.ctx.st.vars[name].ref != "" { // it refers to another variable in each turn
			w.forget()
			w.ctx.st.vars[name] = variable{ref: anyVariable}
		}
		w.assign(name, v)
		w.mayStop(changed.jumps, func() { w.stmts(c.Do) })
		w.ctx.st.ended = false
		if !straight {
			w.settle(w.merge(w.ctx.st, before))
		}
	}
}

// changes is what statements may change in the shell that runs them.
type changes struct {
	names map[string]bool
	dir   bool // cd, pushd, popd
	all   bool // eval or source: any variable
	jumps bool // break, continue, return: the way through is not straight
}

// changes collects what the statements assign, without walking them.
func (w *walker) changes(lists ...[]*syntax.Stmt) changes {
	c := changes{names: map[string]bool{}}
	seen := map[*syntax.FuncDecl]bool{}
	for _, list := range lists {
		for _, s := range list {
			w.collect(&c, s, seen)
		}
	}
	return c
}

func (w *walker) collect(c *changes, root syntax.Node, seen map[*syntax.FuncDecl]bool) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if n != nil {
			w.step(1)
		}
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				c.names[n.Name.Value] = true
			}
		case *syntax.WordIter:
			c.names[n.Name.Value] = true
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				c.names[n.Param.Value] = true
			}
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			c.arithmetic(n)
		case *syntax.CallExpr:
			w.collectCall(c, n, seen)
		}
		return w.budget == ""
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

// collectCall adds what a builtin or a function of the text assigns.
func (w *walker) collectCall(c *changes, n *syntax.CallExpr, seen map[*syntax.FuncDecl]bool) {
	if len(n.Args) == 0 {
		return
	}
	name := n.Args[0].Lit()
	for _, fn := range w.ctx.st.funcs[name] {
		if !seen[fn.decl] {
			seen[fn.decl] = true
			w.collect(c, fn.decl.Body, seen)
		}
	}
	switch name {
	case "cd", "pushd", "popd":
		c.dir = true
	case "break", "continue", "return", "exit":
		c.jumps = true
	case "eval", ".", "source", "":
		c.all = true
	case "read", "printf", "mapfile", "readarray", "getopts", "unset", "let", "declare", "typeset", "readonly", "export", "local", "wait", "set", "command", "builtin":
		for _, a := range n.Args[1:] {
			lit, _, _ := strings.Cut(a.Lit(), "=")
			c.names[strings.TrimPrefix(lit, "-v")] = true
		}
		for _, name := range []string{"REPLY", "MAPFILE", "OPTARG", "OPTIND"} {
			c.names[name] = true
		}
	}
}

// blur makes what c names unknown.
func (w *walker) blur(c changes) {
	if c.all {
		w.forget()
	}
	for name := range c.names {
		if syntax.ValidName(name) {
			w.assignUnknown(name, w.ctx.st.vars[name].inputs())
		}
	}
	if c.dir {
		w.ctx.st.place(Dir{})
		w.ctx.st.old, w.ctx.st.stack = Dir{}, nil
	}
}
