package shell

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/pattern"
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
	pat, ok := w.patternOf(p.Exp.Word)
	if !ok {
		return unknownTo
	}
	switch p.Exp.Op {
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if pat != "" && pat != "?" {
			return unknownTo
		}
		op := p.Exp.Op
		return func(s string) (string, bool) { return changeCase(s, op), true }
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
	default:
		return unknownTo
	}
	re, ok := compile(pat)
	if !ok {
		return unknownTo
	}
	op := p.Exp.Op
	return func(s string) (string, bool) {
		if !w.step(1 + len(s)*len(s)/4096) {
			return raw, false
		}
		return remove(s, re, op), true
	}
}

// remove takes the shortest or longest match of re off one end of s.
func remove(s string, re *regexp.Regexp, op syntax.ParExpOperator) string {
	for k := 0; k <= len(s); k++ {
		n := k // how much of s to take
		if op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix {
			n = len(s) - k
		}
		switch op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix:
			if re.MatchString(s[:n]) {
				return s[n:]
			}
		default:
			if re.MatchString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
		}
	}
	return s
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
		return func(s string) (string, bool) { return strings.ToUpper(s), true }
	case "L":
		return func(s string) (string, bool) { return strings.ToLower(s), true }
	case "u":
		return func(s string) (string, bool) { return changeCase(s, syntax.UpperFirst), true }
	case "E":
		return func(s string) (string, bool) { return ansiC(s), true }
	case "P":
		list, _ := w.base(p, "")
		if text, ok := starJoin(list).exact(); ok {
			w.hidden(text)
		} else {
			w.mark(w.ctx.current, MarkDynamicCode)
		}
	}
	return unknownTo
}

// patternOf expands word as a pattern: what was quoted in it matches itself.
func (w *walker) patternOf(word *syntax.Word) (string, bool) {
	if word == nil {
		return "", true
	}
	return patternText(w.single(word))
}

func patternText(v value) (string, bool) {
	var b strings.Builder
	for _, p := range v {
		switch {
		case !p.known:
			return "", false
		case p.quoted:
			b.WriteString(pattern.QuoteMeta(p.text, pattern.ExtendedOperators))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String(), true
}

// compile makes a regular expression that matches whole strings.
func compile(pat string) (*regexp.Regexp, bool) {
	expr, err := pattern.Regexp(pat, pattern.EntireString|pattern.NoGlobStar|pattern.ExtendedOperators|pattern.GlobLeadingDot)
	if err != nil || len(expr) > 1000 {
		return nil, false
	}
	re, err := regexp.Compile(expr)
	return re, err == nil
}

// replacer returns what ${x/pattern/with} does to a known value.
func (w *walker) replacer(p *syntax.ParamExp, raw string) func(string) (string, bool) {
	pat, okPat := w.patternOf(p.Repl.Orig)
	with, okWith := "", true
	if p.Repl.With != nil {
		with, okWith = w.single(p.Repl.With).exact()
	}
	unknownTo := func(string) (string, bool) { return raw, false }
	if !okPat || !okWith || pat == "" {
		return unknownTo
	}
	anchor := byte(0)
	if !p.Repl.All && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	expr, err := pattern.Regexp(pat, pattern.NoGlobStar|pattern.ExtendedOperators|pattern.GlobLeadingDot)
	if err != nil || len(expr) > 1000 {
		return unknownTo
	}
	switch anchor {
	case '#':
		expr = "^(?:" + expr + ")"
	case '%':
		expr = "(?:" + expr + ")$"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return unknownTo
	}
	re.Longest()
	plain := anchor == 0 && !pattern.HasMeta(pat, pattern.ExtendedOperators) && !strings.Contains(pat, `\`)
	count := 1
	if p.Repl.All {
		count = -1
	}
	return func(s string) (string, bool) {
		if len(with)*(len(s)+1) > 16*w.lim.Bytes || !w.step(1+len(s)*(1+len(pat))/4) {
			return raw, false
		}
		if plain {
			return strings.Replace(s, pat, with, count), true
		}
		if p.Repl.All {
			return re.ReplaceAllLiteralString(s, with), true
		}
		if m := re.FindStringIndex(s); m != nil {
			return s[:m[0]] + with + s[m[1]:], true
		}
		return s, true
	}
}
