package shell

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// parameter expands $name and ${name…}. With all set the list holds one value per element
// ($@, ${a[@]}); otherwise it holds exactly one value.
func (w *walker) parameter(p *syntax.ParamExp, quoted bool) (list []value, all bool) {
	raw := w.raw(p)
	if word := indexWord(p.Index); p.Index != nil && word != "@" && word != "*" {
		w.index(p.Index, raw)
	}
	if p.Param == nil {
		w.unclear = true
		return []value{unknown(raw, nil)}, false
	}
	list, all = w.base(p, raw)
	if len(list) == 1 && (p.Exp == nil || !isDefaultOp(p.Exp.Op)) {
		w.ends(list[0])
	}
	if p.Excl && !all {
		list = []value{w.indirect(p, list[0], raw)}
	}
	foreign := p.Excl || p.Repl != nil || p.Slice != nil || p.Exp != nil && p.Exp.Op >= syntax.UpperFirst
	switch {
	case foreign && w.ctx.st.sh, p.Excl && all: // which some shells refuse; the subscripts
		w.aborts = true
		return []value{unknown(raw, nil)}, false
	case p.Names != 0, p.Width, p.Flags != nil, len(p.Modifiers) > 0:
		return []value{unknown(raw, nil)}, false
	case p.Length:
		return []value{w.length(list, all, raw)}, false
	case p.Exp != nil && p.Exp.Op <= syntax.AssignUnsetOrNull && p.Exp.Op != syntax.OtherParamOps && isDefaultOp(p.Exp.Op):
		list, all = w.defaulted(p, list, all, raw)
		if quoted && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, singleQuoted) {
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				w.assignUnknown(p.Param.Value, nil)
			}
			return []value{unknown(raw, nil)}, false // in double quotes they are characters
		}
		return list, all
	case p.Exp != nil:
		return w.each(list, w.trimmer(p, raw)), all
	case p.Repl != nil:
		return w.each(list, w.replacer(p, raw)), all
	case p.Slice != nil:
		return w.sliced(p, list, all, raw)
	}
	return list, all
}

// ends notes that with set -u a subshell ends where a variable is not set.
func (w *walker) ends(v value) {
	if text, ok := v.exact(); w.ctx.st.nounset && w.ctx.st.sub && (!ok || text == "") {
		w.mayEnd = true
	}
}

func singleQuoted(p syntax.WordPart) bool {
	_, ok := p.(*syntax.SglQuoted)
	return ok
}

// starJoin joins the elements as "$*" does: with the first character of IFS between them.
func (w *walker) starJoin(list []value) value {
	v := value{}
	ifs, ok := w.ctx.st.lookupVar("IFS").val.exact()
	if !w.step(1 + 2*len(list)) {
		return unknown("", nil)
	}
	for i, e := range list {
		if i > 0 && (!ok || ifs != "") {
			v = append(v, piece{text: (ifs + " ")[:1], known: ok && ifs[0] < 0x80})
		}
		v = append(v, e...)
	}
	if len(v) > 0 && !slices.ContainsFunc(v, func(p piece) bool { return !v[0].joins(p) }) {
		one := v[0]
		one.text = v.text()
		return value{one}
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
func (w *walker) base(p *syntax.ParamExp, raw string) (list []value, all bool) {
	st, name := w.ctx.st, p.Param.Value
	switch name {
	case "@", "*":
		if !st.bound {
			return []value{unknown(raw, nil)}, false
		}
		return st.params, true
	case "#":
		if st.bound {
			return []value{known(strconv.Itoa(len(st.params)))}, false
		}
		return []value{unknown(raw, nil)}, false
	case "0":
		if st.zero != nil {
			return []value{st.zero}, false
		}
		return []value{unknown(raw, nil)}, false
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case !st.bound || n < 1:
			return []value{unknown(raw, nil)}, false
		case n > len(st.params):
			return []value{known("")}, false
		default:
			return []value{st.params[n-1]}, false
		}
	}
	v := st.lookupVar(name)
	if v.array {
		return w.element(v, p.Index, raw)
	}
	if idx := indexWord(p.Index); p.Index != nil && idx != "0" && idx != "@" && idx != "*" {
		return []value{v.blurred(raw)}, false
	}
	if v.unset {
		if word := indexWord(p.Index); word == "@" || word == "*" {
			return nil, true
		}
		return []value{known("")}, false
	}
	return []value{rewritten(v.val, name, raw)}, false
}

// rewritten shows an unknown variable as it was written at this place.
func rewritten(v value, name, raw string) value {
	if len(v) == 1 && !v[0].known && v[0].text == "$"+name {
		return blurred(raw, v)
	}
	return v
}

// element returns ${a[i]}, ${a[@]} or ${a}.
func (w *walker) element(v variable, index syntax.ArithmExpr, raw string) (list []value, all bool) {
	if word := indexWord(index); word == "@" || word == "*" {
		return v.list, true
	}
	n := 0
	if index != nil {
		text, ok := w.index(index, raw).exact()
		if !ok {
			return []value{v.blurred(raw)}, false
		}
		n, _ = strconv.Atoi(text)
	}
	if n < 0 {
		n += len(v.list)
	}
	if n < 0 || n >= len(v.list) || w.ctx.st.sh { // some shells count from 1
		return []value{v.blurred(raw)}, false
	}
	return []value{v.list[n]}, false
}

// indirect returns ${!name}: the value of the variable whose name is in name.
func (w *walker) indirect(p *syntax.ParamExp, v value, raw string) value {
	name, ok := v.exact()
	w.subscript(name)
	if !ok || !syntax.ValidName(name) || p.Index != nil {
		w.aborts = true
		return blurred(raw, v)
	}
	target := w.ctx.st.lookupVar(name)
	if target.array || target.unset {
		return target.blurred(raw)
	}
	return rewritten(target.val, name, raw)
}

func (w *walker) length(list []value, all bool, raw string) value {
	if all {
		return known(strconv.Itoa(len(list)))
	}
	text, ok := list[0].exact()
	if !ok || !ascii(text) {
		return blurred(raw, list[0])
	}
	return known(strconv.Itoa(len(text)))
}

// defaulted handles ${x:-word}, ${x:=word}, ${x:+word} and ${x:?word}. The word is always
// expanded, for what its substitutions run.
func (w *walker) defaulted(p *syntax.ParamExp, list []value, all bool, raw string) ([]value, bool) {
	word := w.single(p.Exp.Word)
	text, exact := "x", len(list) > 0
	if !all || len(list) == 1 {
		text, exact = list[0].exact()
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
			return []value{known("")}, false
		case exact:
			return []value{word}, false
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
				if v := w.ctx.st.lookupVar(p.Param.Value).val; !allKnown(v) { // declare -i
					word = v
				}
			}
			return []value{word}, false
		}
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			if w.ctx.st.vars[p.Param.Value].converts {
				w.operand(word)
			}
			w.assign(p.Param.Value, blurred("$"+p.Param.Value, word, list[0]))
		}
	}
	return []value{blurred(raw, word, list[0])}, false
}

// each applies f to the known values of list.
func (w *walker) each(list []value, f func(string) (string, bool)) []value {
	out := make([]value, len(list))
	for i, v := range list {
		text, ok := v.exact()
		if !ok {
			out[i] = blurred(v.text(), v)
			continue
		}
		if text, ok = f(text); !ok {
			out[i] = value{{text: text, inputs: v.inputs(), made: true}}
			continue
		}
		out[i] = value{{text: text, known: true, inputs: v.inputs(), decoded: v.decoded()}}
	}
	return out
}

// sliced returns ${x:offset:length}, of a text or of a list.
func (w *walker) sliced(p *syntax.ParamExp, list []value, all bool, raw string) ([]value, bool) {
	number := func(x syntax.ArithmExpr, absent int) (int, bool) {
		if x == nil {
			return absent, true
		}
		text, ok := w.arithmetic(x, raw).exact()
		n, err := strconv.Atoi(text)
		return n, ok && err == nil
	}
	const none = 1 << 30
	from, okFrom := number(p.Slice.Offset, 0)
	length, okLength := number(p.Slice.Length, none)
	if !okFrom || !okLength {
		return []value{unknown(raw, nil)}, false
	}
	if all {
		parameters := p.Param.Value == "@" || p.Param.Value == "*"
		if parameters && from > 0 {
			from-- // ${@:1} starts at $1
		} else if parameters && from == 0 {
			return []value{unknown(raw, nil)}, false // it begins with $0
		}
		lo, hi, ok := bounds(from, length, len(list), none)
		if !ok || length < 0 {
			w.aborts = true
			return []value{unknown(raw, nil)}, false
		}
		return list[lo:hi], true
	}
	return w.each(list, func(s string) (string, bool) {
		lo, hi, ok := bounds(from, length, len(s), none)
		if !ok || !ascii(s) {
			w.aborts = true
			return "", false
		}
		return s[lo:hi], true
	}), false
}

// bounds turns bash's offset and length into indexes: negative ones count from the end.
func bounds(from, length, n, none int) (lo, hi int, ok bool) {
	if from < 0 {
		from += n
	}
	if from < 0 || from > n {
		return 0, 0, from > n
	}
	hi = n
	switch {
	case length == none:
	case length < 0:
		hi = n + length
	default:
		hi = min(n, from+length)
	}
	return from, hi, hi >= from
}
