package walk

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/source"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// fields expands words as the arguments of a command: braces, tilde, parameters,
// substitutions, word splitting and quote removal, in bash's order. File names are not
// expanded; a word that bash would match against files carries Glob.
func (w *walker) fields(list []*syntax.Word) []value.Arg { return w.expand(list, fieldBuilder{w: w}) }

// expand is fields with the settings of a builder.
func (w *walker) expand(list []*syntax.Word, with fieldBuilder) []value.Arg {
	var args []value.Arg
	for _, word := range list {
		raw := w.raw(word)
		list, ok := w.braces(word)
		if !ok {
			w.single(word) // for the substitutions in it
			args = append(args, value.NewArg(value.Opaque(raw, nil), raw))
			continue
		}
		for _, one := range list {
			if !w.step(1) {
				return args
			}
			b := with
			b.parts(one.Parts, false)
			for _, v := range b.finish() {
				if !w.pay(v) {
					return args
				}
				args = append(args, value.NewArg(v, raw))
			}
		}
	}
	return args
}

// single expands a word where bash does not split it: assignments, redirect targets,
// case words, here-strings.
func (w *walker) single(word *syntax.Word) value.Value {
	if word == nil || !w.step(1) {
		return value.Known("")
	}
	b := fieldBuilder{w: w, whole: true}
	b.parts(word.Parts, false)
	w.pay(b.cur)
	return b.cur
}

// document expands the body of a here-document.
// With tabs set the body's lines lose their leading tabs.
func (w *walker) document(word *syntax.Word, quoted, tabs bool) value.Value {
	if word == nil {
		return value.Known("")
	}
	if tabs {
		word = withoutTabs(word)
	}
	b := fieldBuilder{w: w, whole: true}
	if quoted {
		for _, p := range word.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.cur = append(b.cur, w.holes.Fill(lit.Value, true)...)
			}
		}
		return b.cur
	}
	b.heredoc = true
	b.parts(word.Parts, true)
	return withoutNames(b.cur)
}

// withoutNames makes names that a pattern stood for unknown.
func withoutNames(v value.Value) value.Value {
	v = slices.Clone(v)
	for i, p := range v {
		v[i].Known = p.Known && !p.Glob
	}
	return v
}

// withoutTabs copies the body of <<- without the tabs that begin its lines.
func withoutTabs(word *syntax.Word) *syntax.Word {
	out := &syntax.Word{Parts: slices.Clone(word.Parts)}
	for i, p := range out.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		c := *lit
		lines := strings.SplitAfter(c.Value, "\n")
		for k, line := range lines {
			if k > 0 || i == 0 {
				lines[k] = strings.TrimLeft(line, "\t")
			}
		}
		c.Value = strings.Join(lines, "")
		out.Parts[i] = &c
	}
	return out
}

// maxBraces is how many words a brace expansion may make. A longer range of numbers stays unknown; more
// words of any other kind are past the limit of steps.
const maxBraces = 1024

// adjoined finds a name that braces make longer: $x{a,b} is $xa $xb.
var adjoined = lazyregexp.New(`\$\w+(\{|(,[^{}]*)?\}\w)`)

// braces returns the words that brace expansion makes of word, if they are not too many.
func (w *walker) braces(word *syntax.Word) ([]*syntax.Word, bool) {
	brace := func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	}
	if !slices.ContainsFunc(word.Parts, brace) {
		return []*syntax.Word{word}, true
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)} // SplitBraces writes to its argument
	syntax.SplitBraces(split)
	expands := func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.BraceExp)
		return ok
	}
	if w.ctx.st.sh && slices.ContainsFunc(split.Parts, expands) {
		return nil, false // some shells know no braces
	}
	if adjoined.MatchString(w.raw(word)) {
		return nil, false
	}
	lit := word.Lit()
	if i := strings.Index(lit, ".."); i > 0 && i+2 < len(lit) && upper(lit[i-1]) != upper(lit[i+2]) {
		return nil, false // letters of both cases, and the characters between them
	}
	numbers := strings.Trim(lit, "{.}0123456789") == ""
	var all []*syntax.Word
	for one, err := range expand.BracesSeq(nil, split) {
		if len(all) == maxBraces && !numbers {
			w.spend("steps")
		}
		if err != nil || len(all) == maxBraces || !w.step(1) {
			return nil, false
		}
		all = append(all, joinLiterals(one))
	}
	return all, true
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// joinLiterals makes one literal of those that stand together: {~,b}x is ~x.
func joinLiterals(word *syntax.Word) *syntax.Word {
	joined := &syntax.Word{}
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if ok && len(joined.Parts) > 0 {
			if last, follows := joined.Parts[len(joined.Parts)-1].(*syntax.Lit); follows {
				both := *last
				both.Value += lit.Value
				joined.Parts[len(joined.Parts)-1] = &both
				continue
			}
		}
		joined.Parts = append(joined.Parts, p)
	}
	return joined
}

// raw returns the source text of a node.
func (w *walker) raw(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(w.ctx.src) || start > end {
		return ""
	}
	raw := w.ctx.src[start:end]
	if strings.ContainsRune(raw, value.HoleOpen) {
		return w.holes.Fill(raw, false).Text()
	}
	return raw
}

// hidden walks the substitutions in text that the parser keeps as one literal.
func (w *walker) hidden(text string) {
	if !strings.ContainsAny(text, "$`") || !w.step(1) {
		return
	}
	word, err := syntax.NewParser().Document(strings.NewReader(text))
	if err != nil || source.TooDeep(text, w.lim.Nesting) >= 0 {
		w.unclear = true
		return
	}
	saved := w.ctx
	w.nestSource(text)
	w.single(word)
	w.ctx = saved
}

// nestSource makes text the source of the nodes that are walked next. Their spans are
// those of the place where text was found.
func (w *walker) nestSource(text string) {
	if !w.ctx.nested && w.ctx.current >= 0 {
		c := &w.commands[w.ctx.current]
		w.ctx.start, w.ctx.end = c.Start, c.End
	}
	w.ctx.src, w.ctx.nested = text, true
}

// substitution walks $( ) and returns its output, without the last line ends.
func (w *walker) substitution(p *syntax.CmdSubst) value.Value {
	raw := w.raw(p)
	if file, ok := readSubstitution(p); ok {
		// $(<file)
		target := w.single(file)
		idx, ok := w.reserve()
		if !ok {
			return value.Opaque(raw, nil)
		}
		w.fillBare(idx, p, []shell.Redirect{{Mode: shell.RedirectRead, Target: value.NewArg(target, w.raw(file)).Word}})
		if text, ok := w.content(target); ok && !w.ctx.st.sh {
			return text.With(false, []int{idx}).TrimNewlines()
		}
		return value.Opaque(raw, []int{idx})
	}
	out := w.captured(p.Stmts)
	v := out.text.TrimNewlines()
	if len(v) == 0 && len(out.cmds) > 0 {
		v = value.Known("")
	}
	if v.Size() > w.lim.Bytes {
		v = value.Opaque(raw, nil)
	}
	v = v.With(false, out.cmds)
	for i := range v {
		if v[i].Known { // the shell drops NUL
			v[i].Text = strings.ReplaceAll(v[i].Text, "\x00", "")
		}
		if !v[i].Known && v[i].Text == "" {
			v[i].Text = raw
		}
	}
	return v
}

// readSubstitution recognises $(<file), which reads a file without a command.
func readSubstitution(p *syntax.CmdSubst) (*syntax.Word, bool) {
	if len(p.Stmts) != 1 || p.Stmts[0].Cmd != nil || len(p.Stmts[0].Redirs) != 1 {
		return nil, false
	}
	r := p.Stmts[0].Redirs[0]
	return r.Word, r.Op == syntax.RdrIn && r.N == nil
}

// captured walks statements in a subshell and returns their output.
func (w *walker) captured(stmts []*syntax.Stmt) sink {
	out := &sink{}
	w.subshell(func() {
		w.ctx.out = out
		w.ctx.st.errexit = w.ctx.st.errexit && (w.ctx.st.handsE || w.ctx.st.sh)
		delete(w.ctx.st.fds, 1)
		w.ctx.redirs, w.ctx.pipe = nil, shell.Pipeline{}
		w.deeper(func() { w.mayStop(w.changes(stmts).jumps, func() { w.stmts(stmts) }) })
	})
	return *out
}

// deeper walks f one level down, or spends the depth budget.
func (w *walker) deeper(f func()) {
	if w.ctx.depth >= w.lim.Depth {
		w.spend("depth")
		return
	}
	w.ctx.depth++
	f()
	w.ctx.depth--
}
