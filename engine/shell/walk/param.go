package walk

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// parameter expands $name and ${name…}. With all set the list holds one value per element
// ($@, ${a[@]}); otherwise it holds exactly one value.
func (w *walker) parameter(p *syntax.ParamExp, quoted bool) (list []value.Value, all bool) {
	raw := w.raw(p)
	if word := indexWord(p.Index); p.Index != nil && word != "@" && word != "*" {
		w.index(p.Index, raw)
	}
	if p.Param == nil {
		w.unclear = true
		return []value.Value{value.Opaque(raw, nil)}, false
	}
	list, all = w.base(p, raw)
	if len(list) == 1 && (p.Exp == nil || !isDefaultOp(p.Exp.Op)) {
		w.ends(list[0])
	}
	if p.Excl && !all {
		list = []value.Value{w.indirect(p, list[0], raw)}
	}
	foreign := p.Excl || p.Repl != nil || p.Slice != nil || p.Exp != nil && p.Exp.Op >= syntax.UpperFirst
	switch {
	case foreign && w.ctx.st.sh, p.Excl && all: // which some shells refuse; the subscripts
		w.aborts = true
		return []value.Value{value.Opaque(raw, nil)}, false
	case p.Names != 0, p.Width, p.Flags != nil, len(p.Modifiers) > 0:
		return []value.Value{value.Opaque(raw, nil)}, false
	case p.Length:
		return []value.Value{w.length(list, all, raw)}, false
	case p.Exp != nil && p.Exp.Op <= syntax.AssignUnsetOrNull && p.Exp.Op != syntax.OtherParamOps && isDefaultOp(p.Exp.Op):
		list, all = w.defaulted(p, list, all, raw)
		if quoted && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, singleQuoted) {
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				w.assignUnknown(p.Param.Value, nil)
			}
			return []value.Value{value.Opaque(raw, nil)}, false // in double quotes they are characters
		}
		return list, all
	case p.Exp != nil && len(list) == 1 && w.ofMatches(p.Exp, list[0]) != nil:
		return []value.Value{w.ofMatches(p.Exp, list[0])}, all
	case p.Exp != nil:
		return w.each(list, !extends(p.Exp), w.trimmer(p, raw)), all
	case p.Repl != nil:
		return w.each(list, true, w.replacer(p, raw)), all
	case p.Slice != nil:
		return w.sliced(p, list, all, raw)
	}
	return list, all
}

// ofMatches returns ${x%text} and ${x##*/} of a value that stands for the matches of a pattern: a pattern, too. It
// is nil where that is not known, and below hidden directories, where new names mean something to programs.
func (w *walker) ofMatches(e *syntax.Expansion, v value.Value) value.Value {
	if len(v) != 1 || !v[0].Glob || !v[0].Known || e.Word == nil || strings.Contains(v[0].Text, `\`) ||
		!w.ctx.st.dir.Known || strings.Contains(w.ctx.st.dir.Path+"/"+v[0].Text, "/.") {
		return nil
	}
	out, cut := v[0], e.Word.Lit()
	switch {
	case e.Op == syntax.RemLargePrefix && cut == "*/":
		out.Text = out.Text[strings.LastIndexByte(out.Text, '/')+1:]
	case e.Op == syntax.RemSmallSuffix && cut == ".*":
		at := strings.LastIndexByte(out.Text, '.')
		if at < 0 || strings.ContainsAny(out.Text[at:], "*?[]()|/") {
			return nil
		}
		out.Text = out.Text[:at]
	case e.Op != syntax.RemSmallSuffix && e.Op != syntax.RemLargeSuffix, cut == "", strings.ContainsAny(cut, "*?[]()|\\/"):
		return nil
	default:
		out.Text = strings.TrimSuffix(out.Text, cut)
	}
	if out.Text == v[0].Text && e.Op != syntax.RemLargePrefix || !value.HasGlob(out.Text) {
		return nil
	}
	return value.Value{out}
}

// ends notes that with set -u a subshell ends where a variable is not set.
func (w *walker) ends(v value.Value) {
	if text, ok := v.Exact(); w.ctx.st.nounset && w.ctx.st.sub && (!ok || text == "") {
		w.mayEnd = true
	}
}

func singleQuoted(p syntax.WordPart) bool {
	_, ok := p.(*syntax.SglQuoted)
	return ok
}

// starJoin joins the elements as "$*" does: with the first character of IFS between them.
func (w *walker) starJoin(list []value.Value) value.Value {
	v := value.Value{}
	ifs, ok := w.ctx.st.lookupVar("IFS").val.Exact()
	if !w.step(1 + 2*len(list)) {
		return value.Opaque("", nil)
	}
	for i, e := range list {
		if i > 0 && (!ok || ifs != "") {
			v = append(v, value.Piece{Text: (ifs + " ")[:1], Known: ok && ifs[0] < 0x80})
		}
		v = append(v, e...)
	}
	if len(v) > 0 && !slices.ContainsFunc(v, func(p value.Piece) bool { return !v[0].Joins(p) }) {
		one := v[0]
		one.Text = v.Text()
		return value.Value{one}
	}
	return v
}

// indexWord returns the text of a subscript that is a plain word.
func indexWord(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok {
		return word.Lit()
	}
	return ""
}

// base returns the value of the parameter itself, before any operator.
func (w *walker) base(p *syntax.ParamExp, raw string) (list []value.Value, all bool) {
	st, name := w.ctx.st, p.Param.Value
	switch name {
	case "@", "*":
		if !st.bound {
			return []value.Value{value.Opaque(raw, nil)}, false
		}
		return st.params, true
	case "#":
		if st.bound {
			return []value.Value{value.Known(strconv.Itoa(len(st.params)))}, false
		}
		return []value.Value{value.Opaque(raw, nil)}, false
	case "0":
		if st.zero != nil {
			return []value.Value{st.zero}, false
		}
		return []value.Value{value.Opaque(raw, nil)}, false
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case !st.bound || n < 1:
			return []value.Value{value.Opaque(raw, nil)}, false
		case n > len(st.params):
			return []value.Value{value.Known("")}, false
		default:
			return []value.Value{st.params[n-1]}, false
		}
	}
	v := st.lookupVar(name)
	if v.array {
		return w.element(v, p.Index, raw)
	}
	if idx := indexWord(p.Index); p.Index != nil && idx != "0" && idx != "@" && idx != "*" {
		return []value.Value{v.blurred(raw)}, false
	}
	if v.unset {
		if word := indexWord(p.Index); word == "@" || word == "*" {
			return nil, true
		}
		return []value.Value{value.Known("")}, false
	}
	return []value.Value{rewritten(v.val, name, raw)}, false
}

// rewritten shows an unknown variable as it was written at this place.
func rewritten(v value.Value, name, raw string) value.Value {
	if len(v) == 1 && !v[0].Known && v[0].Text == "$"+name {
		return value.Blurred(raw, v)
	}
	return v
}

// element returns ${a[i]}, ${a[@]} or ${a}.
func (w *walker) element(v variable, index syntax.ArithmExpr, raw string) (list []value.Value, all bool) {
	if word := indexWord(index); word == "@" || word == "*" {
		return v.list, true
	}
	n := 0
	if index != nil {
		text, ok := w.index(index, raw).Exact()
		if !ok {
			return []value.Value{v.blurred(raw)}, false
		}
		n, _ = strconv.Atoi(text)
	}
	if n < 0 {
		n += len(v.list)
	}
	if n < 0 || n >= len(v.list) || w.ctx.st.sh { // some shells count from 1
		return []value.Value{v.blurred(raw)}, false
	}
	return []value.Value{v.list[n]}, false
}

// indirect returns ${!name}: the value of the variable whose name is in name.
func (w *walker) indirect(p *syntax.ParamExp, v value.Value, raw string) value.Value {
	name, ok := v.Exact()
	w.subscript(name)
	if !ok || !syntax.ValidName(name) || p.Index != nil {
		w.aborts = true
		return value.Blurred(raw, v)
	}
	target := w.ctx.st.lookupVar(name)
	if target.array || target.unset {
		return target.blurred(raw)
	}
	return rewritten(target.val, name, raw)
}

func (w *walker) length(list []value.Value, all bool, raw string) value.Value {
	if all {
		return value.Known(strconv.Itoa(len(list)))
	}
	text, ok := list[0].Exact()
	if !ok || !value.ASCII(text) {
		return value.Blurred(raw, list[0])
	}
	return value.Known(strconv.Itoa(len(text)))
}

// defaulted handles ${x:-word}, ${x:=word}, ${x:+word} and ${x:?word}. The word is always
// expanded, for the commands of its substitutions.
func (w *walker) defaulted(p *syntax.ParamExp, list []value.Value, all bool, raw string) ([]value.Value, bool) {
	word := w.single(p.Exp.Word)
	text, exact := "x", len(list) > 0
	if !all || len(list) == 1 {
		text, exact = list[0].Exact()
	}
	null := false
	switch p.Exp.Op {
	case syntax.AlternateUnsetOrNull, syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull:
		null = text == ""
	}
	dead := !all && p.Index == nil && w.ctx.st.lookupVar(p.Param.Value).unset || all && len(list) == 0
	if n, err := strconv.Atoi(p.Param.Value); err == nil && n > 0 {
		dead = w.ctx.st.bound && n > len(w.ctx.st.params)
	}
	exact = exact && !dead
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case dead && p.Param.Value == "@":
			return nil, true
		case dead, exact && null:
			return []value.Value{value.Known("")}, false
		case exact:
			return []value.Value{word}, false
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return list, all
	default:
		if exact && !null {
			return list, all
		}
		if exact || dead {
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				w.assign(p.Param.Value, word)
				if v := w.ctx.st.lookupVar(p.Param.Value).val; !v.Known() { // declare -i
					word = v
				}
			}
			return []value.Value{word}, false
		}
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			if w.ctx.st.vars[p.Param.Value].converts {
				w.operand(word)
			}
			w.assign(p.Param.Value, value.Blurred("$"+p.Param.Value, word, list[0]))
		}
	}
	return []value.Value{value.Blurred(raw, word, list[0])}, false
}

// extends reports ${x%.c} and ${x%/}: at most an extension or a slash is removed from the value.
func extends(e *syntax.Expansion) bool {
	if e.Word == nil {
		return false
	}
	end := e.Word.Lit()
	return (e.Op == syntax.RemSmallSuffix || e.Op == syntax.RemLargeSuffix) &&
		(end == "/" || end != "" && !strings.ContainsAny(end, `*?[]()|\/`))
}

// each applies f to the known values of list. cut says that f leaves any part of the others.
func (w *walker) each(list []value.Value, cut bool, f func(string) (string, bool)) []value.Value {
	out := make([]value.Value, len(list))
	for i, v := range list {
		text, ok := v.Exact()
		if !ok {
			out[i] = value.Blurred(v.Text(), v)
			out[i][0].Cut = out[i][0].Cut || cut
			continue
		}
		if text, ok = f(text); !ok {
			out[i] = value.Value{{Text: text, Inputs: v.Inputs(), Made: true}}
			continue
		}
		out[i] = value.Value{{Text: text, Known: true, Inputs: v.Inputs()}}
	}
	return out
}

// sliced returns ${x:offset:length}, of a text or of a list.
func (w *walker) sliced(p *syntax.ParamExp, list []value.Value, all bool, raw string) ([]value.Value, bool) {
	number := func(x syntax.ArithmExpr, absent int) (int, bool) {
		if x == nil {
			return absent, true
		}
		text, ok := w.arithmetic(x, raw).Exact()
		n, err := strconv.Atoi(text)
		return n, ok && err == nil
	}
	const none = 1 << 30
	from, okFrom := number(p.Slice.Offset, 0)
	length, okLength := number(p.Slice.Length, none)
	if !okFrom || !okLength {
		return []value.Value{value.Opaque(raw, nil)}, false
	}
	if all {
		parameters := p.Param.Value == "@" || p.Param.Value == "*"
		if parameters && from > 0 {
			from-- // ${@:1} starts at $1
		} else if parameters && from == 0 {
			return []value.Value{value.Opaque(raw, nil)}, false // it begins with $0
		}
		lo, hi, ok := value.Bounds(from, length, len(list), none)
		if !ok || length < 0 {
			w.aborts = true
			return []value.Value{value.Opaque(raw, nil)}, false
		}
		return list[lo:hi], true
	}
	index := indexWord(p.Index)
	elements := index == "@" || index == "*" || p.Param.Value == "@" || p.Param.Value == "*"
	return w.each(list, !elements, func(s string) (string, bool) {
		lo, hi, ok := value.Bounds(from, length, len(s), none)
		if !ok || !value.ASCII(s) {
			w.aborts = true
			return "", false
		}
		return s[lo:hi], true
	}), false
}

func isDefaultOp(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	default:
		return false
	}
}

// trimmer returns the effect of ${x%p}, ${x^p} or ${x@Q} on a known value.
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

// transformer returns the effect of ${x@op}. ${x@P} expands the value as a prompt, which runs
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
			w.mark(w.ctx.current, shell.MarkDynamicCode)
		}
	}
	return unknownTo
}

// replacer returns the effect of ${x/pattern/with} on a known value.
func (w *walker) replacer(p *syntax.ParamExp, raw string) func(string) (string, bool) {
	orig, with := w.single(p.Repl.Orig), w.single(p.Repl.With)
	unknownTo := func(string) (string, bool) { return raw, false }
	for _, piece := range with { // & is the match, to some versions
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
		if s == "" { // set or unset, which bash tells apart if the pattern matches nothing
			if made, _ := g.Replace("", "x", '#', false, w.step); made != "" {
				return raw, false
			}
		}
		return g.Replace(s, with.Text(), anchor, p.Repl.All, w.step)
	}
}
