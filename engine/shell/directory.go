package shell

import (
	"slices"
	"strings"
)

func cd(w *walker, inv *invocation) {
	st := w.ctx.st
	operands := inv.args[1:]
	for len(operands) > 0 && len(operands[0].Text) > 1 && operands[0].Text[0] == '-' && operands[0].Certainty == Exact {
		stop := operands[0].Text == "--"
		operands = operands[1:]
		if stop {
			break
		}
	}
	target := st.old
	switch {
	case len(operands) == 0:
		home, ok := st.lookupVar("HOME").val.exact()
		target = Dir{Path: home, Known: ok && home != ""}
	case operands[0].Text == "-":
	default:
		target = w.dirOf(operands[0])
		// CDPATH sends a plain name elsewhere.
		_, inEnv := st.base["CDPATH"]
		if _, set := st.vars["CDPATH"]; (set || inEnv) && !strings.HasPrefix(operands[0].Text, "/") && !strings.HasPrefix(operands[0].Text, ".") {
			target = Dir{}
		}
	}
	st.dir, st.old = target, st.dir
}

// dirOf resolves a directory operand.
func (w *walker) dirOf(a arg) Dir {
	p, ok := w.pathOf(a)
	return Dir{Path: p, Known: ok}
}

func pushd(w *walker, inv *invocation) {
	st := w.ctx.st
	operands := slices.DeleteFunc(slices.Clone(inv.args[1:]), func(a arg) bool { return a.Text == "-n" || a.Text == "--" })
	switch {
	case len(operands) == 0 && len(st.stack) > 0:
		top := len(st.stack) - 1
		stack := slices.Clone(st.stack)
		st.dir, stack[top] = stack[top], st.dir
		st.stack = stack
	case len(operands) == 0 || strings.HasPrefix(operands[0].Text, "+") || strings.HasPrefix(operands[0].Text, "-"):
		st.dir, st.stack = Dir{}, nil
	default:
		st.stack = append(slices.Clone(st.stack), st.dir)
		st.old, st.dir = st.dir, w.dirOf(operands[0])
	}
	w.printUnknown(inv)
}

func popd(w *walker, inv *invocation) {
	st := w.ctx.st
	if len(st.stack) == 0 || len(inv.args) > 1 {
		st.dir, st.stack = Dir{}, nil
		return
	}
	top := len(st.stack) - 1
	st.old, st.dir = st.dir, st.stack[top]
	st.stack = slices.Clone(st.stack[:top])
	w.printUnknown(inv)
}
