package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// assignment expands NAME=value. With set the shell's state changes; otherwise it holds for
// one command only.
func (w *walker) assignment(a *syntax.Assign, set bool) []value.Assign {
	if a.Name == nil {
		return nil
	}
	name := a.Name.Value
	if a.Array != nil {
		return []value.Assign{w.arrayAssignment(a, name, set)}
	}
	v := value.Known("")
	if a.Value != nil {
		v = w.assigned(a.Value)
	}
	if a.Index != nil {
		w.index(a.Index, "")
		if set {
			w.assignElement(name, a, v)
			if w.ctx.st.vars[name].converts {
				w.operand(v)
			}
		}
	} else {
		if a.Append {
			if w.ctx.st.vars[name].converts {
				w.operand(v)
			}
			if w.ctx.st.sh { // some shells take it for the name of a command
				v = value.Blurred("$"+name, v)
			}
			v = slices.Concat(w.ctx.st.lookupVar(name).val, v)
		}
		if set {
			w.assign(name, v.With(false, nil))
		}
	}
	w.historyVariable(name, v)
	return []value.Assign{{Name: name, Value: value.NewArg(v, w.raw(a)).Word}}
}

// assigned expands the value of an assignment, where a tilde also counts after a colon. Only colons that stand in
// the text itself are such.
func (w *walker) assigned(word *syntax.Word) value.Value {
	v := w.single(word)
	written := strings.Contains(w.raw(word), ":~")
	for i, p := range v {
		if written && p.Known && !p.Quoted && strings.Contains(p.Text, ":~") {
			v[i] = value.Piece{Text: p.Text, Inputs: p.Inputs}
			if home, ok := w.ctx.st.lookupVar("HOME").val.Exact(); ok && word.Lit() != "" && strings.Count(p.Text, ":~") == strings.Count(p.Text, ":~/") {
				p.Text = strings.ReplaceAll(p.Text, ":~/", ":"+home+"/")
				v[i] = p
			}
		}
	}
	return v
}

func (w *walker) arrayAssignment(a *syntax.Assign, name string, set bool) value.Assign {
	var list []value.Value
	old := w.ctx.st.lookupVar(name)
	indexed := a.Append && !old.array || old.readonly || old.converts
	if a.Append && old.array && w.step(1+len(old.list)) {
		list = slices.Clone(old.list)
	}
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			w.index(e.Index, "")
			indexed = true
		}
		if e.Value == nil {
			continue
		}
		if e.Index != nil {
			v := w.single(e.Value)
			w.standIn(name, e.Index, v)
			list = append(list, v)
			continue
		}
		for _, f := range w.fields([]*syntax.Word{e.Value}) {
			indexed = indexed || f.Certainty != value.Exact && !f.Quoted || f.Glob
			list = append(list, f.Val)
		}
	}
	for _, v := range list {
		if old.converts {
			w.operand(v)
		}
	}
	all := w.starJoin(list)
	if set {
		v := variable{list: list, array: true}
		if indexed || all.Size() > w.lim.Bytes || w.ctx.st.vars[name].ref != "" { // places are not known
			w.assignUnknown(name, all.Inputs())
			v = w.ctx.st.vars[name]
		}
		w.ctx.st.vars[name] = v
	}
	return value.Assign{Name: name, Value: value.NewArg(all, w.raw(a)).Word}
}

// standIn notes that BASH_ALIASES or BASH_CMDS makes a name stand for a command.
func (w *walker) standIn(array string, index syntax.ArithmExpr, v value.Value) {
	if array != "BASH_ALIASES" && array != "BASH_CMDS" {
		return
	}
	name := indexWord(index)
	text, ok := v.Exact()
	if name == "" || !ok {
		w.mark(w.ctx.current, MarkDynamicCode)
	}
	w.ctx.st.aliases[name] = text
	w.mark(w.ctx.current, MarkShadow)
}

// assignElement sets a[i]. Where i is not the next one, the whole array becomes unknown.
func (w *walker) assignElement(name string, a *syntax.Assign, v value.Value) {
	name = w.ctx.st.target(name)
	w.standIn(name, a.Index, v)
	old := w.ctx.st.lookupVar(name)
	w.step(len(old.list)) // it is copied
	n, err := strconv.Atoi(indexWord(a.Index))
	_, had := w.ctx.st.vars[name]
	switch {
	case old.readonly || old.converts || err != nil || n < 0 || a.Append || had && !old.array || n > len(old.list):
		w.assignUnknown(name, v.Inputs())
	case n == len(old.list):
		w.ctx.st.vars[name] = variable{array: true, list: append(slices.Clone(old.list), v)}
	default:
		list := slices.Clone(old.list)
		list[n] = v
		w.ctx.st.vars[name] = variable{array: true, list: list}
	}
}
