package walk

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
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
	target, sure := shell.Dir{}, len(operands) < 2
	if text, ok := to.Place(); ok && text != "" && plain && (len(operands) == 0 || !operands[0].Glob) {
		if !named || !searches || strings.HasPrefix(text, "/") || strings.HasPrefix(text, ".") {
			p, known := absolute(st.dir, text)
			target = shell.Dir{Path: p, Known: known}
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
func (w *walker) enterDir(target shell.Dir, before *state, sure bool) {
	st := w.ctx.st
	st.old = st.dir
	if _, set := st.vars["PWD"]; set {
		st.old = shell.Dir{}
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
func (w *walker) isDir(d shell.Dir) bool {
	st := w.ctx.st
	if !d.Known {
		return false
	}
	if st.made[d.Path] {
		return true
	}
	for at := range w.upward(d.Path) {
		if made, ok := st.made[at]; ok && !made {
			return false
		}
	}
	return !st.removed && w.opts.IsDir != nil && w.opts.IsDir(d.Path)
}

// upward yields a clean absolute path and the directories above it, without the root, while the budget lasts.
func (w *walker) upward(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(p) > 1 && w.step(1+len(p)/bytesPerStep) && yield(p) {
			p = p[:strings.LastIndexByte(p, '/')]
		}
	}
}

// makeDirs notes the directories that mkdir makes. Without -p it fails where the parent is not there.
func (w *walker) makeDirs(inv *invocation) {
	options, operands := command.Getopt(inv.args[1:], "mZ", []string{"--mode", "--context"})
	_, parents := command.Option(options, "-p", "--parents")
	for _, a := range operands {
		abs, ok := w.pathOf(a)
		if !ok || climbs(a.Text) || !parents && !w.isDir(shell.Dir{Path: path.Dir(abs), Known: true}) {
			continue
		}
		if w.opts.IsFile != nil && w.opts.IsFile(abs) {
			continue
		}
		for at := range w.upward(abs) {
			if w.ctx.st.made[at] {
				break
			}
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
	if !w.step(len(st.stack)) { // it is copied
		return
	}
	before := w.fork(st)
	operands := inv.args[1:]
	defer w.printUnknown(inv)
	switch top := len(st.stack) - 1; {
	case len(operands) == 0 && top >= 0 && !st.sh:
		target := st.stack[top]
		st.stack = append(append([]shell.Dir{}, st.stack[:top]...), st.dir)
		w.enterDir(target, before, true)
	case len(operands) == 1 && operands[0].Certainty == value.Exact && !st.physical && !st.sh &&
		!strings.HasPrefix(operands[0].Text, "-") && !strings.HasPrefix(operands[0].Text, "+"):
		p, ok := w.pathOf(operands[0])
		st.stack = append(append([]shell.Dir{}, st.stack...), st.dir)
		w.enterDir(shell.Dir{Path: p, Known: ok}, before, !climbs(operands[0].Text))
	default:
		st.stack = nil
		w.enterDir(shell.Dir{}, before, false)
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
		w.enterDir(shell.Dir{}, before, false)
		return
	}
	target := st.stack[top]
	st.stack = st.stack[:top:top]
	w.enterDir(target, before, true)
	w.printUnknown(inv)
}

// absolute resolves a path lexically. It is unknown when p is relative and dir is unknown.
func absolute(dir shell.Dir, p string) (string, bool) {
	switch {
	case p == "":
		return "", false
	case path.IsAbs(p):
		return path.Clean(p), true
	case !dir.Known:
		return "", false
	}
	abs := path.Join(dir.Path, p)
	if strings.HasPrefix(dir.Path, unplaced) && !strings.HasPrefix(abs, unplaced) { // nothing is known above it
		abs = dir.Path + "/" + strings.ReplaceAll(path.Clean(p), "..", "\x00")
	}
	return abs, true
}

// maxDirs is how many directories a command may run in before its directory counts as unknown.
const maxDirs = 4

// place puts the shell into the directory d, unless a trap may change it at any time.
func (st *state) place(d shell.Dir) {
	if st.restless.dir {
		d = shell.Dir{}
	}
	st.dir, st.dirs = d, nil
	st.nowhere()
}

// nowhere numbers a directory that is not known.
func (st *state) nowhere() {
	*st.spots++
	st.spot = *st.spots
}

// unplaced begins the paths of files in directories that are not known.
const unplaced = "/\x00"

// here is the directory in which files are looked up. One that is not known has a name that no file has.
func (st *state) here() shell.Dir {
	if st.dir.Known {
		return st.dir
	}
	return shell.Dir{Path: unplaced + strconv.Itoa(st.spot), Known: true}
}

// possible returns the directories that a state leaves open, nil when these are not known.
func (st *state) possible() []string {
	if st.dir.Known {
		return []string{st.dir.Path}
	}
	return st.dirs
}

// mergeDirs makes the directory of m the one in which both a and b are, or else leaves both open.
func (st *state) mergeDirs(a, b *state) {
	if st.dir, st.dirs = a.dir, a.dirs; a.dir == b.dir && slices.Equal(a.dirs, b.dirs) && (a.dir.Known || a.spot == b.spot) {
		return
	}
	st.dir, st.dirs = shell.Dir{}, nil
	st.nowhere()
	x, y := a.possible(), b.possible()
	if x == nil || y == nil {
		return
	}
	all := slices.Concat(x, y)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) <= maxDirs {
		st.dirs = all
	}
}

// alternatives lists each command once for each directory in which it may run. Nested commands follow their
// carrier and share its directory.
func alternatives(commands []shell.Command, dirs map[int][]string, limit int) ([]shell.Command, bool) {
	if len(dirs) == 0 {
		return commands, true
	}
	type copied struct{ from, to, turn int } // the block that starts at from, in the given turn
	var out []shell.Command
	var made []copied
	at := make([][]int, len(commands)) // where a command stands in out
	for from := 0; from < len(commands); {
		to := from + 1
		for to < len(commands) && len(commands[to].Via) > len(commands[from].Via) {
			to++
		}
		turns := 1
		for i := from; i < to; i++ {
			turns = max(turns, len(dirs[i]))
		}
		for turn := range turns {
			for i := from; i < to; i++ {
				c := commands[i]
				if d := dirs[i]; len(d) > 0 {
					c.Dir = shell.Dir{Path: d[turn%len(d)], Known: true}
				}
				at[i] = append(at[i], len(out))
				out = append(out, c)
				made = append(made, copied{from, to, turn})
			}
		}
		from = to
	}
	if len(out) > limit {
		return commands, false
	}
	for n := range out {
		var inputs []int
		for _, i := range out[n].Inputs {
			if i >= made[n].from && i < made[n].to {
				inputs = append(inputs, at[i][made[n].turn])
			} else {
				inputs = append(inputs, at[i]...)
			}
		}
		out[n].Inputs = value.Set(inputs)
	}
	return out, true
}
