package shell

import (
	"maps"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// A command that changes the directory may fail, and the shell then goes on where it was. Only a change to a
// directory that is there, or that the text made, is sure; of any other both directories stay possible.

// cd implements the builtin cd [-L|-P|-e|-@] [dir].
func cd(w *walker, inv *invocation) {
	st := w.ctx.st
	before := w.fork(st)
	operands := inv.args[1:]
	plain := !st.physical
	for len(operands) > 0 && len(operands[0].Text) > 1 && operands[0].Text[0] == '-' && operands[0].Certainty == value.Exact {
		option := operands[0].Text
		operands = operands[1:]
		if option == "--" {
			break
		}
		plain = plain && option == "-L"
	}
	to, named := st.lookupVar("HOME").val, false
	_, set := st.vars["CDPATH"]
	_, inEnv := st.base["CDPATH"]
	searches := set || inEnv
	if len(operands) > 0 {
		to, named = operands[0].Val, true
		if searches || operands[0].Certainty == value.Unknown || operands[0].Text == "-" {
			w.printUnknown(inv) // it writes the directory that it found
		}
		if text, ok := to.Exact(); ok && text == "-" {
			to, named = st.lookupVar("OLDPWD").val, false
		}
	}
	target, sure := Dir{}, len(operands) < 2
	if text, ok := to.Place(); ok && text != "" && plain && (len(operands) == 0 || !operands[0].Glob) {
		if !named || !searches || strings.HasPrefix(text, "/") || strings.HasPrefix(text, ".") {
			p, known := absolute(st.dir, text)
			target = Dir{Path: p, Known: known}
		}
		sure = sure && !climbs(text)
	}
	w.enterDir(target, before, sure)
}

// climbs reports a path with .. behind a name: the shell fails where that name is no directory.
func climbs(p string) bool {
	named := false
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." && named {
			return true
		}
		named = named || part != ".." && part != "." && part != ""
	}
	return false
}

// enterDir makes target the directory. Unless the change is sure, the state before it is kept as the failure of
// the command.
func (w *walker) enterDir(target Dir, before *state, sure bool) {
	st := w.ctx.st
	st.old = st.dir
	if _, set := st.vars["PWD"]; set {
		st.old = Dir{}
	}
	st.place(target)
	for _, name := range []string{"PWD", "OLDPWD"} { // the shell sets both
		delete(st.vars, name)
	}
	if !sure || !w.isDir(target) {
		w.stay = before
	}
}

// isDir reports a directory that is there when a command of the text enters it.
func (w *walker) isDir(d Dir) bool {
	st := w.ctx.st
	if !d.Known {
		return false
	}
	if st.made[d.Path] {
		return true
	}
	for at := d.Path; at != "/"; at = path.Dir(at) {
		if made, ok := st.made[at]; ok && !made {
			return false
		}
	}
	return !st.removed && w.opts.IsDir != nil && w.opts.IsDir(d.Path)
}

// makeDirs notes the directories that mkdir makes. Without -p it fails where the parent is not there.
func (w *walker) makeDirs(inv *invocation) {
	options, operands := command.Getopt(inv.args[1:], "mZ", []string{"--mode", "--context"})
	_, parents := command.Option(options, "-p", "--parents")
	for _, a := range operands {
		abs, ok := w.pathOf(a)
		if !ok || climbs(a.Text) || !parents && !w.isDir(Dir{Path: path.Dir(abs), Known: true}) {
			continue
		}
		if w.opts.IsFile != nil && w.opts.IsFile(abs) {
			continue
		}
		for at := abs; !w.ctx.st.made[at] && at != "/"; at = path.Dir(at) {
			w.ctx.st.made[at] = true
			if !parents {
				break
			}
		}
	}
}

// removeDirs notes the directories that rm, rmdir or mv takes away.
func (w *walker) removeDirs(inv *invocation, name string) {
	st := w.ctx.st
	options, operands := command.Getopt(inv.args[1:], "tS", nil)
	if name == "rm" && len(options) == 0 {
		return // it removes no directory
	}
	for _, a := range operands {
		abs, ok := w.pathOf(a)
		if !ok {
			clear(st.made)
			st.removed = true
			return
		}
		maps.DeleteFunc(st.made, func(dir string, _ bool) bool { return strings.HasPrefix(dir, abs+"/") })
		st.made[abs] = false
	}
}

// pushd implements the builtin pushd [-n] [dir]. Of its options and rotations nothing is known afterwards.
func pushd(w *walker, inv *invocation) {
	st := w.ctx.st
	before := w.fork(st)
	operands := inv.args[1:]
	defer w.printUnknown(inv)
	switch top := len(st.stack) - 1; {
	case len(operands) == 0 && top >= 0 && !st.sh:
		target := st.stack[top]
		st.stack = append(append([]Dir{}, st.stack[:top]...), st.dir)
		w.enterDir(target, before, true)
	case len(operands) == 1 && operands[0].Certainty == value.Exact && !st.physical && !st.sh &&
		!strings.HasPrefix(operands[0].Text, "-") && !strings.HasPrefix(operands[0].Text, "+"):
		p, ok := w.pathOf(operands[0])
		st.stack = append(append([]Dir{}, st.stack...), st.dir)
		w.enterDir(Dir{Path: p, Known: ok}, before, !climbs(operands[0].Text))
	default:
		st.stack = nil
		w.enterDir(Dir{}, before, false)
	}
}

// dirs prints the stack of directories, or with -c empties it.
func dirs(w *walker, inv *invocation) {
	if len(inv.args) > 1 {
		w.ctx.st.stack = nil
	}
	w.printUnknown(inv)
}

func popd(w *walker, inv *invocation) {
	st := w.ctx.st
	before := w.fork(st)
	top := len(st.stack) - 1
	if top < 0 || len(inv.args) > 1 || st.sh {
		st.stack = nil
		w.enterDir(Dir{}, before, false)
		return
	}
	target := st.stack[top]
	st.stack = st.stack[:top:top]
	w.enterDir(target, before, true)
	w.printUnknown(inv)
}

// absolute resolves a path lexically. It is unknown when p is relative and dir is unknown.
func absolute(dir Dir, p string) (string, bool) {
	switch {
	case p == "":
		return "", false
	case path.IsAbs(p):
		return path.Clean(p), true
	case !dir.Known:
		return "", false
	default:
		return path.Join(dir.Path, p), true
	}
}
