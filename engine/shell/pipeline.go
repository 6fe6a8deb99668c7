package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// pipeline walks the stages of a | b | c, each in a subshell of its own.
func (w *walker) pipeline(c *syntax.BinaryCmd) {
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
			w.ctx.pipe = Pipeline{ID: id, Index: i, Length: len(stages)}
			w.settle(w.after(w.outcome(s)))
		}
		if last && w.ctx.st.lastpipe { // perhaps: a trap or a loop may have set it
			before := w.fork(w.ctx.st)
			stage()
			w.ctx = outer
			w.settle(w.merge(w.ctx.st, before))
			break
		}
		w.subshell(stage)
		if last || w.budget != "" {
			break
		}
		in = &input{cmds: out.cmds, from: CodeStdin, text: out.text, static: out.text.Known() && len(out.text) > 0, via: w.stageName(start)}
	}
	w.ctx.in, w.ctx.out = outer.in, outer.out
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
