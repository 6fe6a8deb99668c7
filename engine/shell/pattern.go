package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
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
		if text, ok := word.exact(); !ok || text != "" && text != "?" {
			return unknownTo
		}
		return func(s string) (string, bool) { return changeCase(s, op), ascii(s) }
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
	default:
		return unknownTo
	}
	g, ok := globOf(word)
	if !ok || w.ctx.st.nocase {
		return unknownTo
	}
	return func(s string) (string, bool) {
		if s, ok := g.trim(op, s, w.step); ok {
			return s, true
		}
		return raw, false
	}
}

// trim removes from s what ${s#g}, ${s##g}, ${s%g} or ${s%%g} removes.
func (g glob) trim(op syntax.ParExpOperator, s string, step spend) (string, bool) {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	shortest, longest, ok := g.lengths(s, suffix, step)
	if op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix {
		longest = shortest
	}
	switch {
	case !ok || longest < 0:
		return s, ok
	case suffix:
		return s[:len(s)-longest], true
	default:
		return s[longest:], true
	}
}

func changeCase(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	if op == syntax.UpperFirst {
		return string(unicode.ToUpper(r)) + s[size:]
	}
	return string(unicode.ToLower(r)) + s[size:]
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
		return func(s string) (string, bool) { return strings.ToUpper(s), ascii(s) }
	case "L":
		return func(s string) (string, bool) { return strings.ToLower(s), ascii(s) }
	case "u":
		return func(s string) (string, bool) { return changeCase(s, syntax.UpperFirst), ascii(s) }
	case "P":
		list, _ := w.base(p, "")
		if text, ok := w.starJoin(list).exact(); ok && !p.Excl {
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
		if !piece.known || !piece.quoted && strings.ContainsAny(piece.text, `&\`) {
			return unknownTo
		}
	}
	anchor := byte(0)
	if len(orig) > 0 && !p.Repl.All && !orig[0].quoted && orig[0].text != "" && (orig[0].text[0] == '#' || orig[0].text[0] == '%') {
		anchor, orig = orig[0].text[0], orig.after(1)
	}
	g, ok := globOf(orig)
	if !ok || w.ctx.st.nocase || len(g) == 0 {
		return unknownTo
	}
	return func(s string) (string, bool) {
		if len(with.text())*(len(s)+1) > 16*w.lim.Bytes {
			return raw, false
		}
		return g.replace(s, with.text(), anchor, p.Repl.All, w.step)
	}
}
