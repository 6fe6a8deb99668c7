package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

func isDefaultOp(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	default:
		return false
	}
}

// trimmer returns what ${x%p}, ${x^p} or ${x@Q} does to a known value.
func (w *walker) trimmer(p *syntax.ParamExp, raw string) func(string) (string, bool) {
	unknownTo := func(string) (string, bool) { return raw, false }
	if p.Exp.Op == syntax.OtherParamOps {
		return w.transformer(p, unknownTo)
	}
	word := w.single(p.Exp.Word)
	op := p.Exp.Op
	switch op {
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if text, ok := word.Exact(); !ok || text != "" && text != "?" {
			return unknownTo
		}
		return func(s string) (string, bool) { return value.ChangeCase(s, op), value.ASCII(s) }
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
	default:
		return unknownTo
	}
	g, ok := value.PatternOf(word)
	if !ok || w.ctx.st.nocase {
		return unknownTo
	}
	return func(s string) (string, bool) {
		if s, ok := g.Trim(op, s, w.step); ok {
			return s, true
		}
		return raw, false
	}
}

// transformer returns what ${x@op} does. ${x@P} expands the value as a prompt, which runs
// the substitutions in it.
func (w *walker) transformer(p *syntax.ParamExp, unknownTo func(string) (string, bool)) func(string) (string, bool) {
	op := ""
	if p.Exp.Word != nil {
		op = p.Exp.Word.Lit()
	}
	switch op {
	case "U":
		return func(s string) (string, bool) { return strings.ToUpper(s), value.ASCII(s) }
	case "L":
		return func(s string) (string, bool) { return strings.ToLower(s), value.ASCII(s) }
	case "u":
		return func(s string) (string, bool) { return value.ChangeCase(s, syntax.UpperFirst), value.ASCII(s) }
	case "P":
		list, _ := w.base(p, "")
		if text, ok := w.starJoin(list).Exact(); ok && !p.Excl {
			w.hidden(promptText(text))
		} else {
			w.mark(w.ctx.current, MarkDynamicCode)
		}
	}
	return unknownTo
}

// replacer returns what ${x/pattern/with} does to a known value.
func (w *walker) replacer(p *syntax.ParamExp, raw string) func(string) (string, bool) {
	orig, with := w.single(p.Repl.Orig), w.single(p.Repl.With)
	unknownTo := func(string) (string, bool) { return raw, false }
	for _, piece := range with { // & is what matched, to some versions
		if !piece.Known || !piece.Quoted && strings.ContainsAny(piece.Text, `&\`) {
			return unknownTo
		}
	}
	anchor := byte(0)
	if len(orig) > 0 && !p.Repl.All && !orig[0].Quoted && orig[0].Text != "" && (orig[0].Text[0] == '#' || orig[0].Text[0] == '%') {
		anchor, orig = orig[0].Text[0], orig.After(1)
	}
	g, ok := value.PatternOf(orig)
	if !ok || w.ctx.st.nocase || len(g) == 0 {
		return unknownTo
	}
	return func(s string) (string, bool) {
		if len(with.Text())*(len(s)+1) > 16*w.lim.Bytes {
			return raw, false
		}
		return g.Replace(s, with.Text(), anchor, p.Repl.All, w.step)
	}
}
