package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// pipeline walks the stages of a | b | c, each in a subshell of its own.
func (w *walker) pipeline(c *syntax.BinaryCmd) {
	stages := stagesOf(c)
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
		if last && w.ctx.st.lastpipe {
			stage()
			w.ctx = outer
			break
		}
		w.subshell(stage)
		if last || w.budget != "" {
			break
		}
		in = &input{cmds: out.cmds, from: CodeStdin, text: out.text, static: allKnown(out.text) && len(out.text) > 0, via: w.stageName(start)}
	}
	w.ctx.in, w.ctx.out = outer.in, outer.out
}

func stagesOf(c *syntax.BinaryCmd) []*syntax.Stmt {
	pipe := func(s *syntax.Stmt) (*syntax.BinaryCmd, bool) {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		return b, ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && !s.Negated && !s.Background && len(s.Redirs) == 0
	}
	var left, right []*syntax.Stmt
	for {
		left = append(left, c.Y)
		x, ok := pipe(c.X)
		if !ok {
			left = append(left, c.X)
			break
		}
		c = x
	}
	slices.Reverse(left)
	for { // in case the parser nests to the right
		last := left[len(left)-1]
		y, ok := pipe(last)
		if !ok {
			return slices.Concat(left, right)
		}
		left = append(left[:len(left)-1], y.X, y.Y)
	}
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
