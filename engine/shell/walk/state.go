package walk

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// state is the knowledge of a shell at one place of the text: variables, functions, directory.
type state struct {
	base    map[string]string // the environment that Parse was given; never written
	whole   bool              // a variable that is in neither base nor vars has no value
	vars    map[string]variable
	funcs   map[string][]*function // several when branches define it differently, nil for one that does not
	aliases map[string]string
	params  []value.Value // $1, $2, …
	bound   bool          // params are known
	zero    value.Value   // $0
	dir     shell.Dir
	dirs    []string // where dir is not known, the directories that it may be; nil for any
	spot    int      // where dir is not known, its number: a file that is written there can be found there again
	spots   *int     // the last of these numbers
	old     shell.Dir
	stack   []shell.Dir
	*disk
	sockets  map[int]bool   // descriptors that exec opened on /dev/tcp or /dev/udp
	in       *input         // standard input after exec <file
	fds      map[int]stream // the other descriptors that redirects opened
	handsOn  bool           // export -f: child shells have the functions too
	lastpipe bool           // shopt -s lastpipe: the last stage of a pipe is no subshell
	physical bool           // an option changes the way in which cd finds a directory
	sh       bool           // a plain shell, which may be dash, bash or another one
	decodes  bool           // an option may make echo decode escapes: shopt -s xpg_echo
	exports  bool           // an option may export assigned variables: set -a
	traced   bool           // an option may make the shell print its commands: set -x, set -v
	nounset  bool           // set -u: a subshell may end at a variable that is not set
	errexit  bool           // set -e: it may end at a command that fails
	handsE   bool           // command substitutions take set -e over
	nocase   bool           // an option may make patterns match without regard to case
	sub      bool           // a shell after which another goes on
	ended    bool           // the way here ends in exit, return, break or continue
	restless changes        // possible changes of a trap at any time
	trapped  string         // the text of these traps, and of the functions that they may call
}

// disk has the changes of the text to files so far. Shells that run one after the other share it.
type disk struct {
	files   map[string]written // files this text has written so far, by absolute path
	made    map[string]bool    // directories that this text made, or with false removed
	moved   []moved            // files that the text moved, copied and linked without knowing their content
	stirred bool               // a command that is not known well may have changed any file
	fed     bool               // one of these got words of the text to do it with
	removed bool               // a command may have removed a directory
	strewn  map[string]bool    // names of files that the text has written in directories that are not known
	loose   map[string]bool    // files that a trap or a command in the background may write at any time
}

func newDisk() *disk {
	return &disk{files: map[string]written{}, made: map[string]bool{}, loose: map[string]bool{}, strewn: map[string]bool{}}
}

// variable is a shell variable. The zero value is one whose value is not known.
type variable struct {
	val        value.Value
	list       []value.Value // elements of an indexed array
	array      bool
	exported   bool
	perhaps    bool // exported on some ways through the text only
	unset      bool // known to have no value
	readonly   bool
	descriptor bool   // the shell has assigned it, or its elements, the number of a descriptor
	converts   bool   // declare -i, -l, -u: the kept value is not the assigned one
	ref        string // declare -n
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
	content value.Value
	by      []int  // the commands that wrote it
	program string // it is a copy of this program
	pipe    bool   // mkfifo made it
	touched bool   // its present content is not sure
	edited  bool   // a command may have changed it in a way that is not known
}

// inherits returns a variable as programs get it, false where its value is not known.
func (st *state) inherits(name string) (string, bool) {
	if v, ok := st.vars[name]; ok {
		text, exact := v.val.Exact()
		switch {
		case v.unset || !v.exported && !v.perhaps && !st.exports:
			return "", true
		case v.array || v.perhaps || !v.exported:
			return "", false
		}
		return text, exact
	}
	text, ok := st.base[name]
	return text, ok || st.whole
}

// spawn copies st for another shell, and charges for the copy. Both shells share their files.
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
	d.files, d.made, d.loose = maps.Clone(st.files), maps.Clone(st.made), maps.Clone(st.loose)
	d.strewn = maps.Clone(st.strewn)
	c.disk = &d
	w.step(len(st.files) / 8)
	return c
}

// merge returns the state after either a or b. Differing parts are not known afterwards.
func (w *walker) merge(a, b *state) *state {
	switch {
	case a == b || b == nil || b.ended:
		return a
	case a == nil || a.ended:
		return b
	}
	m := w.fork(a)
	if !b.whole {
		m.base, m.whole = b.base, false
	}
	for name := range b.vars {
		if _, ok := m.vars[name]; !ok {
			m.vars[name] = a.lookupVar(name)
		}
	}
	for name, v := range m.vars {
		switch ref := a.vars[name].ref; {
		case ref != b.vars[name].ref:
			m.vars[name] = variable{ref: anyVariable}
		case ref == "":
			m.vars[name] = mergeVar(v, b.lookupVar(name), name)
		}
	}
	for name := range m.funcs {
		if len(b.funcs[name]) == 0 {
			m.funcs[name] = withFunctions(m.funcs[name], nil)
		}
	}
	for name, defs := range b.funcs {
		if len(a.funcs[name]) == 0 {
			defs = withFunctions(defs, nil)
		}
		m.funcs[name] = withFunctions(m.funcs[name], defs...)
	}
	maps.Copy(m.aliases, b.aliases)
	maps.Copy(m.sockets, b.sockets)
	m.fds = mergeStreams(a.fds, b.fds)
	m.disk = w.mergeDisks(a, b)
	m.exports, m.traced, m.nounset = a.exports || b.exports, a.traced || b.traced, a.nounset || b.nounset
	m.errexit, m.handsE = a.errexit || b.errexit, a.handsE || b.handsE
	m.physical, m.lastpipe = a.physical || b.physical, a.lastpipe || b.lastpipe
	m.sh, m.decodes, m.nocase = a.sh || b.sh, a.decodes || b.decodes, a.nocase || b.nocase
	m.mergeDirs(a, b)
	m.old = mergeDir(a.old, b.old)
	m.restless = a.restless
	m.disturb(b.restless)
	if !strings.HasPrefix(a.trapped, b.trapped) {
		m.trapped += b.trapped
	}
	if !slices.Equal(a.stack, b.stack) {
		m.stack = nil
	}
	if a.bound != b.bound || !slices.EqualFunc(a.params, b.params, value.Value.Equal) {
		m.bind(nil, false)
	}
	if m.in == nil {
		m.in = b.in
	}
	return m
}

// withFunctions adds the functions that list lacks.
func withFunctions(list []*function, more ...*function) []*function {
	for _, fn := range more {
		if !slices.Contains(list, fn) {
			list = append(slices.Clone(list), fn)
		}
	}
	return list
}

func mergeDir(a, b shell.Dir) shell.Dir {
	if a != b {
		return shell.Dir{}
	}
	return a
}

func mergeVar(a, b variable, name string) variable {
	same := a.array == b.array && a.unset == b.unset && a.descriptor == b.descriptor &&
		slices.EqualFunc(a.list, b.list, value.Value.Equal)
	perhaps := a.perhaps || b.perhaps || a.exported != b.exported
	if same && (a.array || a.unset || a.val.Equal(b.val)) {
		a.exported, a.perhaps = a.exported || b.exported, perhaps
		return a
	}
	return variable{
		val:      value.Blurred("$"+name, a.blurred("$"+name), b.blurred("$"+name)),
		exported: a.exported || b.exported, perhaps: perhaps,
	}
}

// inputs returns the commands whose output is in the variable.
func (v variable) inputs() []int {
	all := v.val.Inputs()
	for _, e := range v.list {
		all = append(all, e.Inputs()...)
	}
	return all
}

// blurred is a value of which only the commands are known, and whether it may lead up.
func (v variable) blurred(written string) value.Value {
	return value.Blurred(written, slices.Concat(v.list, []value.Value{v.val})...)
}

// mergeDisks keeps the possible changes of both sides.
func (w *walker) mergeDisks(a, b *state) *disk {
	same := 0
	for same < min(len(a.moved), len(b.moved)) && a.moved[same] == b.moved[same] {
		same++
	}
	w.step((len(a.files) + len(b.files) + len(a.moved) + len(b.moved)) / 2)
	d := disk{
		files: w.mergeFiles(a, b), made: maps.Clone(a.made), moved: slices.Concat(a.moved, b.moved[same:]),
		stirred: a.stirred || b.stirred, fed: a.fed || b.fed, removed: a.removed || b.removed,
		loose: maps.Clone(a.loose), strewn: maps.Clone(a.strewn),
	}
	maps.Copy(d.loose, b.loose)
	maps.Copy(d.strewn, b.strewn)
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

// meanwhile walks f, which may happen at any time from here on.
func (w *walker) meanwhile(f func()) {
	before := w.fork(w.ctx.st)
	w.perhaps(f)
	for abs, file := range w.ctx.st.files {
		if old := before.files[abs]; !file.content.Equal(old.content) || file.program != old.program {
			file.touched, file.edited = true, true
			w.ctx.st.files[abs], w.ctx.st.loose[abs] = file, true
		}
	}
}

// mergeFiles keeps the possible contents of both sides: a file with two contents has a
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

// volatile are the variables that the shell sets by itself: an assignment to one does not tell its value.
var volatile = command.Names("_ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASHPID BASH_COMMAND BASH_SUBSHELL BASH_LINENO" +
	" BASH_SOURCE BASH_ARGV BASH_ARGC BASH_ARGV0 BASH_EXECUTION_STRING BASH_REMATCH BASH_CMDS BASH_ALIASES BASH_VERSION BASH_VERSINFO" +
	" BASHOPTS SHELLOPTS SHLVL FUNCNAME PIPESTATUS DIRSTACK GROUPS HISTCMD UID EUID PPID LINES COLUMNS")

// maxRefs is how long a chain of namerefs may be.
const maxRefs = 8

// target follows namerefs from name. The result is anyVariable where their end is not known.
func (st *state) target(name string) string {
	for range maxRefs {
		ref := st.vars[name].ref
		if ref == "" || name == anyVariable {
			return name
		}
		name = ref
	}
	return anyVariable
}

// mergeFile is the knowledge of a file after either a, which knows of it, or b.
func (w *walker) mergeFile(p string, a, b *state) written {
	fa, fb := a.files[p], b.files[p]
	if _, ok := b.files[p]; !ok {
		fb.content, _ = w.onDisk(p)
		fb.touched, fb.edited = b.stirred, b.fed
	}
	return w.either(fa, fb)
}

// either is a file that is fa or fb. With two contents its content is not known, but both are looked through.
func (w *walker) either(fa, fb written) written {
	m := fa
	m.touched, m.edited = fa.touched || fb.touched, fa.edited || fb.edited
	if !fa.content.Equal(fb.content) {
		both := slices.Concat(fa.content, value.Value{{Text: "\n", Known: true}}, fb.content)
		m.content, _ = w.bounded(both, 0)
		m.by, m.touched = value.Set(slices.Concat(fa.by, fb.by)), true
	}
	return m
}

// lookupVar returns a variable as this state knows it.
func (st *state) lookupVar(name string) variable {
	if name = st.target(name); st.restless.all || st.restless.names[name] {
		v := st.vars[name]
		v.val, v.list, v.array, v.unset = v.blurred("$"+name), nil, false, false
		return v
	}
	if !volatile[name] {
		if v, ok := st.vars[name]; ok {
			switch {
			case v.unset && name == "IFS":
				v.val = value.Known(" \t\n")
			case v.unset && setByShells(name):
				v = variable{val: value.Opaque("$"+name, nil)}
			}
			return v
		}
	}
	switch name {
	case "PWD":
		if st.dir.Known {
			return variable{val: value.Known(st.dir.Path), exported: true}
		}
	case "OLDPWD":
		if st.old.Known {
			return variable{val: value.Known(st.old.Path), exported: true}
		}
	case "IFS":
		return variable{val: value.Known(" \t\n")}
	default:
		if text, ok := st.base[name]; ok && !volatile[name] {
			return variable{val: value.Known(text), exported: true}
		}
		if st.whole && !setByShells(name) {
			return variable{unset: true}
		}
	}
	return variable{val: value.Opaque("$"+name, nil)}
}

// setByShells reports a variable that bash or dash may set by itself (bash(1), "Shell Variables"), so that
// its absence from the environment says nothing.
func setByShells(name string) bool {
	for _, prefix := range []string{"BASH", "COMP", "COPROC", "EPOCH", "HIST", "READLINE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return !syntax.ValidName(name) || strings.Contains(shellVariables, " "+name+" ")
}

const shellVariables = " _ CDPATH COLUMNS DIRSTACK ERRNO EUID FUNCNAME FUNCNEST GROUPS HOME HOSTNAME HOSTTYPE IFS LINENO LINES " +
	"LOGNAME MACHTYPE MAILCHECK MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PATH PIPESTATUS PPID PS1 PS2 PS3 PS4 PWD " +
	"RANDOM REPLY SECONDS SHELL SHELLOPTS SHLVL SRANDOM TERM TIMEFORMAT UID USER "

// bind sets $1, $2, …, where they are known.
func (st *state) bind(params []value.Value, known bool) {
	if st.params, st.bound = params, known && !st.restless.params; !st.bound {
		st.params = nil
	}
}

// bindArgs sets $1, $2, … to words of a command.
func (st *state) bindArgs(args []value.Arg) {
	params, known := make([]value.Value, len(args)), true
	for i, a := range args {
		params[i] = slices.Clone(a.Val)
		for j, p := range params[i] { // each is one of the names that a pattern stands for
			params[i][j].Glob = p.Glob || p.Known && !p.Quoted && value.HasGlob(p.Text)
		}
		known = known && a.Spelled()
	}
	st.bind(params, known)
}

// disturb notes the possible changes of a trap from here on, at any time.
func (st *state) disturb(c changes) {
	if !c.all && !c.dir && !c.params && !c.streams && len(c.names) == 0 {
		return
	}
	st.restless = st.restless.plus(c)
	st.lastpipe = st.lastpipe || c.all
	st.bind(st.params, st.bound)
	if c.dir {
		st.place(shell.Dir{})
		st.old, st.stack = shell.Dir{}, nil
	}
}

// maxPieces is how many known and unknown parts a variable may hold.
const maxPieces = 64

// assign sets a scalar. A value that is too long to keep becomes unknown.
func (w *walker) assign(name string, v value.Value) {
	st := w.ctx.st
	if base, _, element := strings.Cut(name, "["); element { // read a[0]
		name, v = base, value.Blurred("$"+base, v)
		w.standIn(base, nil, v)
	}
	if name = st.target(name); name == anyVariable {
		w.forget()
		return
	}
	old := st.vars[name]
	w.aborts = w.aborts || old.readonly
	if old.converts {
		w.operand(v)
	}
	w.prompt(name, v)
	switch name {
	case "DIRSTACK":
		st.stack = nil
	case "BASH_ARGV0":
		st.zero = value.Opaque("$0", nil)
	case "BASH_COMPAT":
		w.unclear = true
	}
	st.sh = st.sh || name == "POSIXLY_CORRECT"
	if old.readonly || old.converts || old.array || v.Size() > w.lim.Bytes || len(v) > maxPieces {
		v = value.Blurred("$"+name, v)
	}
	_, inBase := st.base[name]
	st.vars[name] = variable{
		val: v, exported: old.exported || inBase, perhaps: old.perhaps,
		readonly: old.readonly, converts: old.converts,
	}
}

// assignUnknown records that name got a value that is not known.
func (w *walker) assignUnknown(name string, inputs []int) {
	w.assign(name, value.Opaque("$"+name, inputs))
}

// forget makes every variable unknown: unknown code has run.
func (w *walker) forget() {
	w.ctx.st.base, w.ctx.st.whole = nil, false
	for name, v := range w.ctx.st.vars {
		if v.ref == "" {
			w.assignUnknown(name, v.inputs())
		}
	}
}

// child returns the state in which a new shell of the language starts: exported variables, no functions.
func (w *walker) child(lang string) *state {
	st := w.spawn(w.ctx.st)
	st.sh, st.decodes, st.nocase, st.sub = lang != "bash", false, false, true
	for _, name := range []string{"SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_COMPAT"} {
		st.sh = st.sh || st.vars[name].exported // options of the new shell
	}
	for name, v := range st.vars {
		switch {
		case v.perhaps && !v.unset:
			st.vars[name] = variable{val: v.blurred("$" + name), exported: true}
		case !v.exported || v.array:
			st.vars[name] = variable{unset: true}
			if st.exports {
				st.vars[name] = variable{val: value.Opaque("$"+name, nil)}
			}
		}
	}
	if !st.handsOn {
		st.funcs = map[string][]*function{}
	}
	for _, name := range []string{"IFS", "PWD", "PS1"} { // which a shell sets itself
		delete(st.vars, name)
	}
	st.aliases = map[string]string{}
	st.restless, st.trapped = changes{}, ""
	w.ctx.locals, w.ctx.breaks = nil, false // the context is that of the new shell
	st.bind(nil, true)
	st.zero, st.in, st.ended = nil, nil, false
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
	if own.text.Size() > 0 || !own.text.Known() {
		outer.text = append(outer.text, value.Piece{Inputs: own.cmds, Made: strings.Contains(own.text.Text(), "..")})
	}
}

// mayStop walks f, whose output is uncertain where it jumps: return, exit, break or continue.
func (w *walker) mayStop(jumps bool, f func()) {
	if jumps {
		w.uncertain(f)
	} else {
		f()
	}
}

// inherited is the output of traps in a subshell.
func inherited(s speech) speech {
	if s == always {
		return always
	}
	return silent
}

// subshell walks f in a copy of the state. Only the files that it writes outlive it.
func (w *walker) subshell(f func()) {
	saved, aborts, speaks, mayEnd := w.ctx, w.aborts, w.speaks, w.mayEnd
	w.ctx.st, w.aborts, w.speaks, w.mayEnd = w.spawn(saved.st), false, inherited(speaks), false
	w.ctx.st.sub = true
	f()
	if out := w.ctx.out; w.aborts || w.speaks > silent {
		out.text = value.Value{{Inputs: out.cmds, Made: true}}
	}
	w.ctx, w.aborts, w.speaks, w.mayEnd = saved, aborts, speaks, mayEnd
}
