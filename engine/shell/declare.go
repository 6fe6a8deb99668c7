package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare handles declare, export, local, readonly and typeset.
func (w *walker) declare(c *syntax.DeclClause, redirs []*syntax.Redirect) {
	idx, ok := w.reserve()
	if !ok {
		return
	}
	w.place(idx, c)
	w.within(idx, func() {
		inv := invocation{idx: idx, args: []arg{literalArg(c.Variant.Value)}}
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
				inv.args = append(inv.args, literalArg(a.Name.Value))
				w.attributes(a.Name.Value, flags)
			default:
				set := w.assignment(a, true)
				for _, one := range set {
					text := one.Name + "=" + one.Value.Text
					word := one.Value
					word.Text, word.Prefix, word.Raw = text, one.Name+"="+one.Value.Prefix, w.raw(a)
					if word.Certainty == Unknown {
						word.Certainty = Partial
					}
					inv.args = append(inv.args, arg{Word: word, val: append(known(one.Name+"="), wordValue(one.Value)...)})
				}
				inv.assigns = append(inv.assigns, set...)
				w.attributes(a.Name.Value, flags)
			}
		}
		inv.redir = w.redirects(redirs)
		w.run(&inv)
	})
}

// declareWord handles a word that becomes an assignment only after expansion.
func (w *walker) declareWord(f arg, flags string) []Assign {
	name, text, found := strings.Cut(f.Text, "=")
	if f.Certainty != Exact && !strings.Contains(f.Prefix, "=") {
		w.forget() // it may name any variable
		return nil
	}
	if !syntax.ValidName(name) {
		return nil
	}
	if !found {
		w.attributes(name, flags)
		return nil
	}
	if strings.Contains(flags, "i") {
		w.numberText(w.arithmeticText(text))
	}
	v := known(text)
	if f.Certainty != Exact {
		v = unknown("$"+name, f.Inputs)
	}
	w.assign(name, v)
	w.attributes(name, flags)
	return []Assign{{Name: name, Value: newArg(v, f.Raw).Word}}
}

// attributes applies what flags such as -x, -r, -n and -i mean.
func (w *walker) attributes(name, flags string) {
	st := w.ctx.st
	v := st.lookupVar(name)
	variant, opts, _ := strings.Cut(flags, "-")
	if variant == "local" {
		if _, set := st.vars[name]; !set {
			v = variable{val: v.val}
		}
	}
	switch {
	case strings.Contains(opts, "n"):
		target, ok := v.val.exact()
		if !ok || !syntax.ValidName(target) {
			w.forget()
			target = anyVariable
		}
		st.vars[name] = variable{ref: target}
		return
	case strings.ContainsAny(opts, "iluA"):
		v.val, v.list, v.array, v.converts = unknown("$"+name, v.inputs()), nil, false, true
	}
	if strings.Contains(opts, "f") && (variant == "export" || strings.Contains(opts, "x")) {
		st.handsOn = true
		return
	}
	v.exported = v.exported || variant == "export" || strings.Contains(opts, "x")
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
			continue
		}
		w.commands[inv.idx].Assigns = append(w.commands[inv.idx].Assigns, w.declareWord(a, flags)...)
	}
	if len(inv.args) == 1 || strings.ContainsAny(strings.TrimPrefix(flags, inv.args[0].Text), "pfF") {
		w.printUnknown(inv)
	}
}

func unset(w *walker, inv *invocation) {
	for _, a := range inv.args[1:] {
		if a.Certainty != Exact {
			w.forget()
			continue
		}
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		w.historyVariable(a.Text, nil)
		w.ctx.st.vars[a.Text] = variable{unset: true}
		delete(w.ctx.st.funcs, a.Text)
	}
}

// historyVariable marks assignments that keep the shell from writing its history.
func (w *walker) historyVariable(name string, v value) {
	text, _ := v.exact()
	switch name {
	case "HISTFILE":
		if text == "" || text == "/dev/null" {
			w.mark(w.ctx.current, MarkHistory)
		}
	case "HISTSIZE", "HISTFILESIZE":
		if text == "" || text == "0" {
			w.mark(w.ctx.current, MarkHistory)
		}
	}
}
