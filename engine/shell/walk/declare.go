package walk

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// declare handles declare, export, local, readonly and typeset.
func (w *walker) declare(c *syntax.DeclClause, redirs []*syntax.Redirect) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.place(idx, c)
	w.within(idx, func() {
		inv := invocation{idx: idx, args: []value.Arg{value.Literal(c.Variant.Value)}, declared: true}
		flags := c.Variant.Value
		for _, a := range c.Args {
			switch {
			case a.Naked && a.Name == nil:
				for _, f := range w.fields([]*syntax.Word{a.Value}) {
					inv.args = append(inv.args, f)
					if strings.HasPrefix(f.Text, "-") {
						flags += f.Text
					} else {
						inv.assigns = append(inv.assigns, w.declareWord(f, flags)...)
					}
				}
			case a.Naked:
				inv.args = append(inv.args, value.Literal(a.Name.Value))
				w.attributes(a.Name.Value, flags, false)
			default:
				w.declareAssign(&inv, a, flags)
			}
		}
		if v := c.Variant.Value; w.ctx.st.sh && (v == "declare" || v == "typeset") {
			w.forget() // dash knows neither
		}
		inv.redir = w.redirects(redirs)
		w.run(&inv)
	})
}

// declareAssign handles NAME=value, of which braces make several.
func (w *walker) declareAssign(inv *invocation, a *syntax.Assign, flags string) {
	values, ok := []*syntax.Word{a.Value}, true
	if a.Value != nil {
		values, ok = w.braces(a.Value)
	}
	for _, val := range values {
		one := *a
		one.Value = val
		w.unlink(a.Name.Value, flags)
		set := w.assignment(&one, true)
		if a.Array == nil {
			w.listText(a.Name.Value, set[0].Value, flags)
		}
		for _, s := range set {
			v := append(value.Known(s.Name+"="), s.Value.Value()...)
			inv.args = append(inv.args, value.NewArg(v.With(true, nil), w.raw(a)))
			if _, opts, _ := strings.Cut(flags, "-"); len(values) > 1 && strings.Contains(opts, "i") {
				w.operand(s.Value.Value())
			}
		}
		inv.assigns = append(inv.assigns, set...)
	}
	if !ok || len(values) > 1 {
		w.assignUnknown(a.Name.Value, nil)
	}
	w.attributes(a.Name.Value, flags, true)
}

// declareWord handles a word that becomes an assignment only after expansion.
func (w *walker) declareWord(f value.Arg, flags string) []value.Assign {
	name, text, found := strings.Cut(f.Text, "=")
	if f.Certainty != value.Exact && !strings.Contains(f.Prefix, "=") {
		w.forget() // it may name any variable
		return nil
	}
	base, _, element := strings.Cut(strings.TrimSuffix(name, "+"), "[")
	switch {
	case !syntax.ValidName(base):
		return nil
	case element || base != name:
		w.subscript(name)
		w.assign(base, value.OpaqueOf("$"+base, f.Val))
		return nil
	case !found:
		w.attributes(name, flags, false)
		return nil
	}
	v := value.Known(text)
	if f.Certainty != value.Exact {
		v = value.OpaqueOf("$"+name, f.Val)
	}
	word := value.NewArg(v, f.Raw).Word
	w.unlink(name, flags)
	w.assign(name, v)
	w.listText(name, word, flags)
	w.attributes(name, flags, true)
	return []value.Assign{{Name: name, Value: word}}
}

// unlink makes a name that is declared with -n refer to no other, before it gets its value.
func (w *walker) unlink(name, flags string) {
	variant, opts, _ := strings.Cut(flags, "-")
	if variant != "export" && strings.Contains(opts, "n") && w.ctx.st.vars[name].ref != "" {
		w.ctx.st.vars[name] = variable{}
	}
}

// listText walks a value that declare -a reads as a list: (…).
func (w *walker) listText(name string, v value.Word, flags string) {
	variant, opts, _ := strings.Cut(flags, "-")
	switch {
	case variant == "export" || !strings.HasPrefix(v.Prefix+"(", "("):
	case v.Certainty == value.Exact && v.Text != "":
		w.hidden(v.Text)
		w.assignUnknown(name, v.Inputs)
	case v.Certainty != value.Exact && strings.ContainsAny(opts, "aA"):
		w.mark(w.ctx.current, shell.MarkDynamicCode)
	}
}

// attributes applies the flags -x, -r, -n, -i and the like, after a value was assigned or without one.
// In a function all but export and readonly make a variable of its own: without a value nothing is known of
// it, and after the function nothing of the caller's variable of that name.
func (w *walker) attributes(name, flags string, valued bool) {
	st := w.ctx.st
	v := st.lookupVar(name)
	variant, opts, _ := strings.Cut(flags, "-")
	if strings.ContainsAny(opts, "pF") {
		return
	}
	if st.sh && (variant == "declare" || variant == "typeset") { // no commands of a plain shell
		st.vars[name] = variable{val: v.blurred("$" + name), exported: true}
		return
	}
	if w.ctx.locals != nil && strings.Contains(opts, "g") { // the function may have a variable of that name
		v.val, v.list, v.array, v.unset = v.blurred("$"+name), nil, false, false
	}
	if w.ctx.locals != nil && variant != "export" && variant != "readonly" && !strings.ContainsAny(opts, "gf") {
		*w.ctx.locals = append(*w.ctx.locals, name)
		if !valued {
			v = variable{val: value.Opaque("$"+name, nil)}
		}
	}
	switch {
	case variant == "local" && w.ctx.locals == nil: // it fails outside of functions
		w.assignUnknown(name, v.inputs())
		return
	case strings.Contains(opts, "n") && variant == "export":
		v.exported, v.perhaps = false, false
		st.vars[name] = v
		return
	case strings.Contains(opts, "n"):
		target, ok := v.val.Exact()
		if !ok || !syntax.ValidName(target) {
			w.forget()
			target = anyVariable
		}
		st.vars[name] = variable{ref: target}
		return
	case valued && strings.Contains(opts, "i"):
		w.operand(v.val)
		fallthrough
	case strings.ContainsAny(opts, "icluA"):
		v.val, v.list, v.array, v.converts = v.blurred("$"+name), nil, false, true
	}
	if strings.Contains(opts, "f") && (variant == "export" || strings.Contains(opts, "x")) {
		st.handsOn = true
		return
	}
	if variant == "export" || strings.Contains(opts, "x") {
		v.exported, v.perhaps = true, false
	}
	v.readonly = v.readonly || variant == "readonly" || strings.Contains(opts, "r")
	st.vars[name] = v
}

// exportWords handles export and declare where the parser saw a plain command: command
// export X=1, "export" X=1.
func exportWords(w *walker, inv *invocation) {
	flags := inv.args[0].Text
	for _, a := range inv.args[1:] {
		if strings.HasPrefix(a.Text, "-") {
			flags += a.Text
		} else if !inv.declared {
			w.commands[inv.idx].Assigns = append(w.commands[inv.idx].Assigns, w.declareWord(a, flags)...)
		}
	}
	if len(inv.args) == 1 || strings.ContainsAny(strings.TrimPrefix(flags, inv.args[0].Text), "pfF") {
		w.printUnknown(inv)
	}
	if st := w.ctx.st; st.sh && (flags[0] == 'd' || flags[0] == 't') { // declare, typeset: no commands of a plain shell
		w.assignsUnknown(inv.assigns)
	}
}

// assignsUnknown makes the variables of these assignments unknown.
func (w *walker) assignsUnknown(assigns []value.Assign) {
	for _, a := range assigns {
		w.assignUnknown(a.Name, a.Value.Inputs)
	}
}

// unset forgets variables and functions. In a function the caller's variable may come to light.
func unset(w *walker, inv *invocation) {
	st := w.ctx.st
	options, names := command.Getopt(inv.args[1:], "", nil)
	_, functions := options["-f"]
	_, refs := options["-n"]
	for _, a := range names {
		base, _, element := strings.Cut(a.Text, "[")
		if a.Certainty != value.Exact || refs {
			w.forget()
			st.vars[base] = variable{val: value.Opaque("$"+base, nil)}
			continue
		}
		if functions {
			delete(st.funcs, a.Text)
			continue
		}
		w.historyVariable(a.Text, nil)
		name := st.target(base)
		old, set := st.vars[name]
		_, inBase := st.base[name]
		if len(options) == 0 && len(st.funcs[base]) > 0 {
			if set || inBase {
				w.unclear = true // which of the two goes is not known
			}
			delete(st.funcs, base)
		}
		if element || old.readonly || w.ctx.locals != nil || name == anyVariable {
			w.assignUnknown(base, old.inputs())
		} else {
			st.vars[name] = variable{unset: true}
		}
	}
}

// historyVariable marks assignments that keep the shell from writing its history.
func (w *walker) historyVariable(name string, v value.Value) {
	text, _ := v.Exact()
	switch name {
	case "HISTFILE":
		if text == "" || text == "/dev/null" {
			w.mark(w.ctx.current, shell.MarkHistory)
		}
	case "HISTSIZE", "HISTFILESIZE":
		if text == "" || text == "0" {
			w.mark(w.ctx.current, shell.MarkHistory)
		}
	}
}

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

// assigned expands the value of an assignment, where a tilde also counts after a colon. Only colons that
// stand in the text itself are such.
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
		for _, f := range w.expand([]*syntax.Word{e.Value}, fieldBuilder{w: w, element: true}) {
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
			w.assign(name, value.OpaqueOf("$"+name, all))
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
		w.mark(w.ctx.current, shell.MarkDynamicCode)
	}
	w.ctx.st.aliases[name] = text
	w.mark(w.ctx.current, shell.MarkShadow)
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
		w.assign(name, value.OpaqueOf("$"+name, v))
	case n == len(old.list):
		w.ctx.st.vars[name] = variable{array: true, list: append(slices.Clone(old.list), v)}
	default:
		list := slices.Clone(old.list)
		list[n] = v
		w.ctx.st.vars[name] = variable{array: true, list: list}
	}
}
