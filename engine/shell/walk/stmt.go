package walk

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// outcome holds the states in which a statement may leave the shell.
type outcome struct {
	ok  *state // after success
	bad *state // after failure; nil for a statement that cannot fail
}

// after returns the state after any of the outcomes.
func (w *walker) after(o outcome) *state { return w.merge(o.ok, o.bad) }

// stmts walks statements one after the other.
func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		if w.budget != "" {
			return
		}
		w.stmt(s)
	}
}

// lines walks the statements of a text. Where an expansion may fail, bash drops the rest of the line.
func (w *walker) lines(list []*syntax.Stmt) {
	aborts := w.aborts
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Pos().Line() == list[to-1].End().Line() {
			to++
		}
		w.aborts = false
		w.stmts(list[from:to])
		if w.aborts || w.failglob {
			w.blur(w.changes(list[from:to]))
		}
		from = to
	}
	w.aborts = aborts
}

// stmt walks one statement and leaves the state that holds after it.
func (w *walker) stmt(s *syntax.Stmt) {
	o := w.outcome(s)
	w.settle(w.after(o))
	w.mayEnd = w.mayEnd || o.bad != nil && w.ctx.st.errexit && w.ctx.st.sub && !prints(s)
}

// prints reports a plain echo or printf, which fails only where its output is gone.
func prints(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "echo" || name == "printf"
}

// settle makes st the current state, in place: enclosing contexts hold the same pointer.
func (w *walker) settle(st *state) {
	if st != nil && st != w.ctx.st {
		d := w.ctx.st.disk
		*d = *st.disk
		*w.ctx.st = *st
		w.ctx.st.disk = d // other shells share it
	}
}

// outcome walks one statement.
func (w *walker) outcome(s *syntax.Stmt) outcome {
	st := w.ctx.st
	same := outcome{ok: st, bad: st}
	if !w.step(1) {
		return same
	}
	if w.ctx.nest >= 2*w.lim.Nesting {
		w.spend("depth")
		return same
	}
	saved := w.ctx
	w.ctx.nest++
	defer func() { w.ctx = saved }()
	if s.Background || s.Coprocess || s.Disown {
		w.ctx.background = true
		w.anyTime(func() { w.meanwhile(func() { w.subshell(func() { w.settle(w.after(w.bare(s))) }) }) })
		return outcome{ok: st}
	}
	o := w.bare(s)
	if s.Negated {
		all := w.after(o)
		return outcome{ok: all, bad: all}
	}
	return o
}

// bare walks a statement without regard to ! and &.
func (w *walker) bare(s *syntax.Stmt) outcome {
	st := w.ctx.st
	switch c := s.Cmd.(type) {
	case nil:
		w.redirectOnly(s)
		return outcome{ok: st, bad: st}
	case *syntax.CallExpr:
		sure := w.succeeds(c, s.Redirs)
		outer := w.stay
		w.stay = nil
		w.call(c, s.Redirs)
		stay := w.stay
		w.stay = outer
		switch {
		case stay != nil:
			return outcome{ok: st, bad: stay}
		case sure:
			return outcome{ok: st}
		default:
			return outcome{ok: st, bad: st}
		}
	case *syntax.DeclClause:
		w.declare(c, s.Redirs)
		return outcome{ok: st, bad: st}
	case *syntax.BinaryCmd:
		if len(s.Redirs) == 0 && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) {
			return w.chain(c)
		}
	}
	var o outcome
	w.redirected(s, func() { o = w.compound(s.Cmd) })
	return o
}

// succeeds reports a command that cannot fail: the builtins : and true without a redirect.
func (w *walker) succeeds(c *syntax.CallExpr, redirs []*syntax.Redirect) bool {
	if len(redirs) > 0 || len(c.Args) == 0 {
		return false
	}
	name := c.Args[0].Lit()
	return (name == ":" || name == "true") && len(w.ctx.st.funcs[name]) == 0 && w.ctx.st.aliases[name] == ""
}

// compound walks a compound command whose redirects are in place.
func (w *walker) compound(cmd syntax.Command) outcome {
	st := w.ctx.st
	either := outcome{ok: st, bad: st}
	switch c := cmd.(type) {
	case *syntax.Block:
		return w.block(c.Stmts)
	case *syntax.Subshell:
		w.subshell(func() { w.stmts(c.Stmts) })
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return w.chain(c)
		}
		w.pipeline(c)
	case *syntax.IfClause:
		w.ifClause(c)
	case *syntax.WhileClause, *syntax.ForClause:
		breaks := w.ctx.breaks
		w.ctx.breaks = true
		w.loop(c)
		w.ctx.breaks = breaks
	case *syntax.CaseClause:
		w.caseClause(c)
	case *syntax.FuncDecl:
		w.define(c)
		return outcome{ok: st}
	case *syntax.TimeClause:
		return w.timed(c)
	case *syntax.CoprocClause:
		w.coproc(c)
	case *syntax.ArithmCmd:
		w.arithCommand(c)
	case *syntax.LetClause:
		w.let(c)
	case *syntax.TestClause:
		w.test(c)
	default:
		// A node this package does not know is one it cannot see through.
		w.unclear = true
	}
	return either
}

// block walks { …; }: its last statement decides how it ends.
func (w *walker) block(list []*syntax.Stmt) outcome {
	if len(list) == 0 {
		return outcome{ok: w.ctx.st, bad: w.ctx.st}
	}
	w.stmts(list[:len(list)-1])
	if w.budget != "" {
		return outcome{ok: w.ctx.st, bad: w.ctx.st}
	}
	return w.outcome(list[len(list)-1])
}

// chain walks a && b || c …, which the parser nests to the left.
func (w *walker) chain(c *syntax.BinaryCmd) outcome {
	type link struct {
		op syntax.BinCmdOperator
		y  *syntax.Stmt
	}
	links := []link{{c.Op, c.Y}}
	for {
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || x.Op != syntax.AndStmt && x.Op != syntax.OrStmt || c.X.Negated || c.X.Background || len(c.X.Redirs) > 0 {
			break
		}
		c = x
		links = append(links, link{c.Op, c.Y})
	}
	saved := w.ctx
	o := w.outcome(c.X)
	for _, l := range slices.Backward(links) {
		if w.budget != "" {
			break
		}
		if l.op == syntax.AndStmt {
			o = w.and(o, l.y)
		} else {
			o = w.or(o, l.y)
		}
	}
	w.ctx = saved
	return o
}

// and walks y, which runs only after success.
func (w *walker) and(x outcome, y *syntax.Stmt) outcome {
	sure := x.bad == nil
	r := w.from(x.ok, y, sure)
	return outcome{ok: r.ok, bad: w.merge(x.bad, r.bad)}
}

// or walks y, which runs only after failure.
func (w *walker) or(x outcome, y *syntax.Stmt) outcome {
	if x.bad == nil {
		w.from(x.ok, y, false) // it does not run, but its commands are listed all the same
		return x
	}
	r := w.from(x.bad, y, false)
	return outcome{ok: w.merge(x.ok, r.ok), bad: r.bad}
}

// from walks s in a copy of the state st.
func (w *walker) from(st *state, s *syntax.Stmt, sure bool) outcome {
	saved := w.ctx
	defer func() { w.ctx = saved }()
	w.ctx.st = w.fork(st)
	if sure {
		return w.outcome(s)
	}
	var o outcome
	w.uncertain(func() { o = w.outcome(s) })
	return o
}

func (w *walker) coproc(c *syntax.CoprocClause) {
	name := "COPROC"
	if c.Name != nil {
		if text, ok := w.single(c.Name).Exact(); ok {
			name = text
		}
	}
	saved := w.ctx
	w.ctx.background = true
	stmt := *c.Stmt
	if stmt.Cmd == nil && c.Name != nil { // coproc COMMAND >file: only a compound command has a name
		name, stmt.Cmd = "COPROC", &syntax.CallExpr{Args: []*syntax.Word{c.Name}}
	}
	w.anyTime(func() { w.meanwhile(func() { w.subshell(func() { w.stmt(&stmt) }) }) })
	w.ctx = saved
	w.assignDescriptor(name)
}

// pipeline walks the stages of a | b | c, each in a subshell of its own. They run at the same time.
func (w *walker) pipeline(c *syntax.BinaryCmd) {
	if w.again {
		w.stages(c)
		return
	}
	d := deferred{ctx: w.snapshot(), pipeline: true, walk: func() { w.stages(c) }}
	if d.spans = w.stages(c); len(w.looks) > d.spans[0].looks {
		w.deferred = append(w.deferred, d)
	}
}

func (w *walker) stages(c *syntax.BinaryCmd) (spans []span) {
	stages := w.stagesOf(&syntax.Stmt{Cmd: c}, true)
	w.pipelines++
	id := w.pipelines
	outer := w.ctx
	in := outer.in
	for i, s := range stages {
		last := i == len(stages)-1
		out := &sink{}
		if last {
			out = outer.out
		}
		start := len(w.commands)
		stage := func() {
			w.ctx.in, w.ctx.out = in, out
			if !last {
				delete(w.ctx.st.fds, 1)
			}
			w.ctx.pipe = shell.Pipeline{ID: id, Index: i, Length: len(stages)}
			w.settle(w.after(w.outcome(s)))
		}
		if last && w.ctx.st.lastpipe { // perhaps: a trap or a loop may have set it
			before := w.fork(w.ctx.st)
			spans = append(spans, w.span(stage))
			w.ctx = outer
			w.settle(w.merge(w.ctx.st, before))
			break
		}
		spans = append(spans, w.span(func() { w.subshell(stage) }))
		if last || w.budget != "" {
			break
		}
		text := out.text
		if w.ctx.st.restless.streams { // a trap may close the pipe, or lead it elsewhere
			text = value.Opaque("", out.cmds)
		}
		static := text.Known() && len(text) > 0
		in = &input{cmds: out.cmds, from: shell.CodeStdin, text: text, static: static}
		in.via = w.stageName(start)
	}
	w.ctx.in, w.ctx.out = outer.in, outer.out
	return spans
}

// stagesOf returns the stages of a pipeline. The word time is a keyword only in front of the first.
func (w *walker) stagesOf(s *syntax.Stmt, first bool) []*syntax.Stmt {
	if s.Negated || s.Background || len(s.Redirs) > 0 {
		return []*syntax.Stmt{s}
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return append(w.stagesOf(c.X, first), w.stagesOf(c.Y, false)...)
		}
	case *syntax.TimeClause:
		if !first {
			return w.stagesOf(w.timeCommand(c, c.Stmt), true)
		}
	}
	return []*syntax.Stmt{s}
}

// timed walks time …, which bash takes for a keyword and other shells for a program.
func (w *walker) timed(c *syntax.TimeClause) outcome {
	st := w.ctx.st
	switch {
	case st.sh:
		w.stmt(w.timeCommand(c, c.Stmt))
		if c.Stmt != nil {
			w.blur(w.changes([]*syntax.Stmt{c.Stmt}))
		}
	case c.Stmt != nil:
		return w.outcome(c.Stmt)
	}
	return outcome{ok: st, bad: st}
}

// timeCommand returns s, the command behind time, as one that the program time runs.
func (w *walker) timeCommand(c *syntax.TimeClause, s *syntax.Stmt) *syntax.Stmt {
	call := &syntax.CallExpr{}
	made := syntax.Stmt{Position: c.Pos()}
	if s != nil {
		made = *s
		switch cmd := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			pipe := *cmd
			pipe.X = w.timeCommand(c, cmd.X)
			made.Cmd = &pipe
			return &made
		case *syntax.CallExpr:
			*call = *cmd
			w.unclear = w.unclear || len(cmd.Assigns) > 0 // their values are names of programs then
		case nil:
		default:
			w.unclear = w.unclear || !w.ctx.st.sh // no program takes a compound command
			return s
		}
	}
	words := []*syntax.Word{timeWord(c.Time, "time")}
	if c.PosixFormat {
		words = append(words, timeWord(c.Time, "-p"))
	}
	call.Args = append(words, call.Args...)
	made.Cmd = call
	return &made
}

func timeWord(at syntax.Pos, text string) *syntax.Word {
	end := syntax.NewPos(at.Offset()+uint(len(text)), at.Line(), at.Col()+uint(len(text)))
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: at, ValueEnd: end, Value: text}}}
}

// stageName names the command at index start, as it would be shown in Via: a decoder with
// the option that makes it one.
func (w *walker) stageName(start int) string {
	if start >= len(w.commands) {
		return "pipe"
	}
	c := &w.commands[start]
	name := c.Name
	if name == "" {
		return "pipe"
	}
	for _, word := range c.Words[min(1, len(c.Words)):] {
		switch word.Text {
		case "-d", "-D", "--decode", "-r", "-e":
			return name + " " + word.Text
		}
	}
	return name
}
