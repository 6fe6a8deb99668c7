package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// state is what a shell knows at one place of the text: variables, functions, directory.
type state struct {
	base    map[string]string // the environment that Parse was given; never written
	vars    map[string]variable
	funcs   map[string][]*function // several when branches define it differently
	aliases map[string]string
	params  []value // $1, $2, …
	bound   bool    // params are known
	zero    value   // $0
	dir     Dir
	dirs    []string // where dir is not known, the directories that it may be; nil for any
	old     Dir
	stack   []Dir
	*disk
	sockets  map[int]bool   // descriptors that exec opened on /dev/tcp or /dev/udp
	in       *input         // standard input after exec <file
	fds      map[int]stream // the other descriptors that redirects opened
	handsOn  bool           // export -f: child shells have the functions too
	lastpipe bool           // shopt -s lastpipe: the last stage of a pipe is no subshell
	physical bool           // an option changes the way in which cd finds a directory
	ended    bool           // the way here ends in exit, return, break or continue
}

// disk is what the text has done to files so far. Shells that run one after the other share it.
type disk struct {
	files   map[string]written // files this text has written so far, by absolute path
	made    map[string]bool    // directories that this text made, or with false removed
	moved   []moved            // what the text moved, copied and linked without knowing its content
	stirred bool               // a command that is not known well may have changed any file
	fed     bool               // one of these got words of the text to do it with
	removed bool               // a command may have removed a directory
}

// variable is a shell variable. The zero value is one whose value is not known.
type variable struct {
	val      value
	list     []value // elements of an indexed array
	array    bool
	exported bool
	unset    bool // known to have no value
	readonly bool
	converts bool   // declare -i, -l, -u: what is assigned is not what is kept
	ref      string // declare -n
}

// anyVariable is the target of a nameref that is not known.
const anyVariable = "?"

// function is a definition together with the text that it stands in.
type function struct {
	name   string
	decl   *syntax.FuncDecl
	ctx    context // where it was defined: source text, script, span
	called bool
	index  int // its definition among the commands
}

// written is a file whose content this text has made.
type written struct {
	content value
	by      []int  // the commands that wrote it
	program string // it is a copy of this program
	pipe    bool   // mkfifo made it
	touched bool   // what it holds now is not sure
	edited  bool   // a command may have changed it in a way that is not known
}

// spawn copies st for another shell, and charges for the copy. What that does to files it does to those of st.
func (w *walker) spawn(st *state) *state {
	c := *st
	c.vars, c.funcs, c.aliases = maps.Clone(st.vars), maps.Clone(st.funcs), maps.Clone(st.aliases)
	c.sockets, c.fds = maps.Clone(st.sockets), maps.Clone(st.fds)
	w.step(1 + (len(st.vars)+len(st.funcs))/8)
	return &c
}

// fork copies st for a branch.
func (w *walker) fork(st *state) *state {
	c, d := w.spawn(st), *st.disk
	d.files, d.made = maps.Clone(st.files), maps.Clone(st.made)
	c.disk = &d
	w.step(len(st.files) / 8)
	return c
}

// merge returns what holds after either a or b. What differs is not known afterwards.
func (w *walker) merge(a, b *state) *state {
	switch {
	case a == b || b == nil || b.ended:
		return a
	case a == nil || a.ended:
		return b
	}
	m := w.fork(a)
	for name := range b.vars {
		if _, ok := m.vars[name]; !ok {
			m.vars[name] = a.lookupVar(name)
		}
	}
	for name, v := range m.vars {
		m.vars[name] = mergeVar(v, b.lookupVar(name), name)
	}
	for name, defs := range b.funcs {
		for _, d := range defs {
			if !slices.Contains(m.funcs[name], d) {
				m.funcs[name] = append(slices.Clone(m.funcs[name]), d)
			}
		}
	}
	maps.Copy(m.aliases, b.aliases)
	maps.Copy(m.sockets, b.sockets)
	m.fds = mergeStreams(a.fds, b.fds)
	m.disk = w.mergeDisks(a, b)
	m.physical = a.physical || b.physical
	m.mergeDirs(a, b)
	m.old = mergeDir(a.old, b.old)
	if !slices.Equal(a.stack, b.stack) {
		m.stack = nil
	}
	if a.bound != b.bound || !slices.EqualFunc(a.params, b.params, value.equal) {
		m.bound, m.params = false, nil
	}
	if m.in == nil {
		m.in = b.in
	}
	return m
}

func mergeDir(a, b Dir) Dir {
	if a != b {
		return Dir{}
	}
	return a
}

func mergeVar(a, b variable, name string) variable {
	same := a.array == b.array && a.unset == b.unset && a.ref == b.ref &&
		slices.EqualFunc(a.list, b.list, value.equal)
	if same && (a.array || a.unset || a.val.equal(b.val)) {
		return a
	}
	inputs := sortedSet(slices.Concat(a.inputs(), b.inputs()))
	return variable{val: unknown("$"+name, inputs), exported: a.exported || b.exported}
}

// inputs returns the commands whose output is in the variable.
func (v variable) inputs() []int {
	all := v.val.inputs()
	for _, e := range v.list {
		all = append(all, e.inputs()...)
	}
	return all
}

// mergeDisks keeps what both sides may have done.
func (w *walker) mergeDisks(a, b *state) *disk {
	same := 0
	for same < min(len(a.moved), len(b.moved)) && a.moved[same] == b.moved[same] {
		same++
	}
	w.step((len(a.files) + len(b.files) + len(b.moved)) / 8)
	d := disk{
		files: w.mergeFiles(a, b), made: maps.Clone(a.made), moved: slices.Concat(a.moved, b.moved[same:]),
		stirred: a.stirred || b.stirred, fed: a.fed || b.fed, removed: a.removed || b.removed,
	}
	maps.DeleteFunc(d.made, func(dir string, there bool) bool { return there && !b.made[dir] })
	for dir, there := range b.made {
		if !there {
			d.made[dir] = false
		}
	}
	return &d
}

// perhaps walks f, of which it is not sure that it happens.
func (w *walker) perhaps(f func()) {
	before := w.fork(w.ctx.st)
	f()
	*w.ctx.st.disk = *w.mergeDisks(before, w.ctx.st)
}

// mergeFiles keeps what both sides may have written: a file with two contents has a
// content that is not known, but both are looked through.
func (w *walker) mergeFiles(a, b *state) map[string]written {
	m := map[string]written{}
	for _, p := range slices.Sorted(maps.Keys(a.files)) {
		m[p] = w.mergeFile(p, a, b)
	}
	for _, p := range slices.Sorted(maps.Keys(b.files)) {
		if _, ok := m[p]; !ok {
			m[p] = w.mergeFile(p, b, a)
		}
	}
	return m
}

// mergeFile is what holds of a file after either a, which knows of it, or b.
func (w *walker) mergeFile(p string, a, b *state) written {
	fa, fb := a.files[p], b.files[p]
	if _, ok := b.files[p]; !ok {
		fb.content, _ = w.onDisk(p)
		fb.touched, fb.edited = b.stirred, b.fed
	}
	m := fa
	m.touched, m.edited = fa.touched || fb.touched, fa.edited || fb.edited
	if !fa.content.equal(fb.content) {
		m.content = slices.Concat(fa.content, value{{text: "\n", known: true}}, fb.content)
		m.by, m.touched = sortedSet(slices.Concat(fa.by, fb.by)), true
	}
	return m
}

// lookupVar returns a variable as this state knows it.
func (st *state) lookupVar(name string) variable {
	for range 8 { // a chain of namerefs
		v, ok := st.vars[name]
		if !ok {
			break
		}
		if v.ref == "" {
			if v.unset && name == "IFS" {
				v.val = known(" \t\n")
			} else if v.unset {
				v.val = unknown("$"+name, nil)
			}
			return v
		}
		name = v.ref
	}
	switch name {
	case "PWD":
		if st.dir.Known {
			return variable{val: known(st.dir.Path), exported: true}
		}
	case "OLDPWD":
		if st.old.Known {
			return variable{val: known(st.old.Path), exported: true}
		}
	case "IFS":
		return variable{val: known(" \t\n")}
	default:
		if text, ok := st.base[name]; ok {
			return variable{val: known(text), exported: true}
		}
	}
	return variable{val: unknown("$"+name, nil)}
}

// maxPieces is how many known and unknown parts a variable may hold.
const maxPieces = 64

// assign sets a scalar. A value that is too long to keep becomes unknown.
func (w *walker) assign(name string, v value) {
	st := w.ctx.st
	if base, _, element := strings.Cut(name, "["); element { // read a[0]
		name, v = base, unknown("$"+base, v.inputs())
	}
	old := st.vars[name]
	if old.ref == anyVariable {
		w.forget()
		return
	}
	if old.ref != "" && old.ref != name {
		name = old.ref
		old = st.vars[name]
	}
	if old.readonly || old.converts || v.size() > w.lim.Bytes || len(v) > maxPieces {
		v = unknown("$"+name, v.inputs())
	}
	_, inBase := st.base[name]
	st.vars[name] = variable{val: v, exported: old.exported || inBase, readonly: old.readonly, converts: old.converts}
}

// assignUnknown records that name got a value that is not known.
func (w *walker) assignUnknown(name string, inputs []int) {
	w.assign(name, unknown("$"+name, inputs))
}

// forget makes unknown every variable that the text has set: unknown code has run.
func (w *walker) forget() {
	for name, v := range w.ctx.st.vars {
		if v.ref == anyVariable {
			continue
		}
		w.assignUnknown(name, v.inputs())
	}
}

// child returns the state in which a new shell starts: exported variables, no functions.
func (w *walker) child() *state {
	st := w.spawn(w.ctx.st)
	for name, v := range st.vars {
		if !v.exported {
			delete(st.vars, name)
		}
	}
	if !st.handsOn {
		st.funcs = map[string][]*function{}
	}
	st.aliases = map[string]string{}
	st.params, st.bound, st.zero, st.in, st.ended = nil, true, nil, nil, false
	return st
}

// branch walks f in a copy of the state from and returns the state after it. What f prints
// is taken as uncertain: it may not run.
func (w *walker) branch(from *state, f func()) *state {
	saved := w.ctx
	w.ctx.st = w.fork(from)
	w.ctx.st.ended = false
	w.uncertain(f)
	after := w.ctx.st
	w.ctx = saved
	return after
}

// uncertain walks f, whose output may or may not be written.
func (w *walker) uncertain(f func()) {
	outer := w.ctx.out
	own := &sink{}
	w.ctx.out = own
	f()
	w.ctx.out = outer
	outer.cmds = append(outer.cmds, own.cmds...)
	if own.text.size() > 0 || !allKnown(own.text) {
		outer.text = append(outer.text, piece{inputs: own.cmds})
	}
}

// subshell walks f in a copy of the state. Only the files that it writes outlive it.
func (w *walker) subshell(f func()) {
	saved := w.ctx
	w.ctx.st = w.spawn(saved.st)
	f()
	w.ctx = saved
}
