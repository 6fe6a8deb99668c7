package inline

import (
	"path"
	"strconv"
	"strings"
)

// call is one call as the tables see it.
type call struct {
	s    *scan
	name string
	recv value
	args []argument
	tok  int
	pos  int
}

// handler says what a function does, by adding calls to the scan.
type handler func(c *call)

// arg is the n-th positional argument, or the one with one of the keys.
func (c *call) arg(n int, keys ...string) (value, bool) {
	for _, a := range c.args {
		for _, k := range keys {
			if a.key == k {
				return a.v, true
			}
		}
	}
	if n < 0 {
		return value{}, false
	}
	for _, a := range c.args {
		if a.key != "" {
			continue
		}
		if a.splat {
			if a.v.kind == list && n < len(a.v.list) {
				return a.v.list[n], true
			}
			return value{}, true
		}
		if n == 0 {
			return a.v, true
		}
		n--
	}
	return value{}, false
}

// positional are all arguments without keys, as one list.
func (c *call) positional() value {
	var in []argument
	for _, a := range c.args {
		if a.key == "" {
			in = append(in, a)
		}
	}
	return argList(in)
}

// yes reports whether a keyword argument is true; what is not known counts as true.
func (c *call) yes(n int, key string) bool {
	v, ok := c.arg(n, key)
	if !ok {
		return false
	}
	yes, known := v.truth()
	return yes || !known
}

func (c *call) add(k Kind, args ...Arg) *Call {
	for i := range args {
		args[i].Text = strings.ReplaceAll(args[i].Text, home, "~")
	}
	c.s.add(Call{Kind: k, Name: c.name, Args: args, Offset: c.pos})
	if n := len(c.s.calls); n > 0 {
		return &c.s.calls[n-1]
	}
	return &Call{}
}

// paths are the paths that a value may be. A list gives each of its elements.
func (c *call) paths(v value) []Arg {
	if v.kind == list {
		var out []Arg
		for i, e := range v.list {
			if i >= 64 {
				break
			}
			out = append(out, c.paths(e)...)
		}
		if v.open || len(v.list) > 64 || len(out) == 0 {
			out = append(out, Arg{})
		}
		return out
	}
	var out []Arg
	for _, a := range v.texts() {
		if strings.HasPrefix(a.Text, "~") {
			a.Text = "./" + a.Text
		}
		out = append(out, c.s.inDir(a))
	}
	return out
}

// home stands in a value for the home directory, so that it is told from a file named "~".
const home = "\x00~"

// inDir joins a relative path to the directory that the program has changed to.
func (s *scan) inDir(a Arg) Arg {
	if s.dir == nil || path.IsAbs(a.Text) || strings.HasPrefix(a.Text, home) || a.Text == "" && !a.Exact {
		return a
	}
	if !s.dir.Exact {
		return *s.dir
	}
	return Arg{strings.TrimSuffix(s.dir.Text, "/") + "/" + a.Text, a.Exact}
}

// touch reports an access to the paths that the arguments with these numbers name.
func touch(k Kind, keys ...string) handler { return touchAt(k, 0, keys...) }

func touchAt(k Kind, n int, keys ...string) handler {
	return func(c *call) {
		if v, ok := c.arg(n, keys...); ok {
			c.add(k, c.paths(v)...).Decoded = v.decoded
		}
	}
}

// tree is touch for everything below a directory.
func tree(k Kind, keys ...string) handler {
	return func(c *call) {
		if v, ok := c.arg(0, keys...); ok {
			c.add(k, c.paths(v)...).Recursive = true
		}
	}
}

// touchAll reports an access to the paths that all the arguments name.
func touchAll(k Kind) handler {
	return func(c *call) {
		if l := c.positional(); len(l.list) > 0 {
			c.add(k, c.paths(l)...)
		}
	}
}

func treeAll(k Kind) handler {
	return func(c *call) {
		if l := c.positional(); len(l.list) > 0 {
			c.add(k, c.paths(l)...).Recursive = true
		}
	}
}

// self is an access to the receiver, a path object.
func self(k Kind, recursive bool) handler {
	return func(c *call) { c.add(k, c.paths(c.recv)...).Recursive = recursive }
}

// move is a rename from the first argument to the second.
func move(c *call) {
	from, ok := c.arg(0, "src")
	to, _ := c.arg(1, "dst")
	if ok {
		c.add(Rename, append(c.paths(from), c.paths(to)...)...)
	}
}

// selfMove is a rename of the receiver.
func selfMove(c *call) {
	to, _ := c.arg(0, "target")
	c.add(Rename, append(c.paths(c.recv), c.paths(to)...)...)
}

// copied is a read of the first argument and a write of the second.
func copied(recursive bool) handler {
	return func(c *call) {
		from, ok := c.arg(0, "src")
		to, _ := c.arg(1, "dst")
		if ok {
			c.add(Read, c.paths(from)...).Recursive = recursive
			c.add(Write, c.paths(to)...).Recursive = recursive
		}
	}
}

// linked is a link to the first argument with the name of the second.
func linked(c *call) {
	from, ok := c.arg(0, "src")
	to, _ := c.arg(1, "dst")
	if ok {
		c.add(Link, append(c.paths(from), c.paths(to)...)...)
	}
}

// mode reports a change of permissions: the path and the mode are the arguments with these numbers.
func mode(pathAt, modeAt int, recursive bool) handler {
	return func(c *call) {
		p, ok := c.arg(pathAt, "path")
		m, _ := c.arg(modeAt, "mode")
		if pathAt < 0 {
			p, ok = c.recv, true
		}
		if !ok {
			return
		}
		out := c.add(Chmod, c.paths(p)...)
		out.Mode, out.Recursive = modeText(m), recursive
	}
}

// modeText spells a mode as octal digits, or as it stands when it is symbolic.
func modeText(v value) string {
	s, ok := v.exact()
	if !ok {
		return ""
	}
	if v.kind == word {
		n, ok := v.number()
		if !ok {
			return ""
		}
		return strconv.FormatInt(int64(n), 8)
	}
	return strings.TrimPrefix(s, "0o")
}

// shellText reports text that a shell runs.
func shellText(c *call) {
	if v, ok := c.arg(0, "cmd", "command", "args", "cmdstring"); ok {
		c.shell(v)
	}
}

// shell reports each text that v may be.
func (c *call) shell(v value) {
	if v.kind == list { // sh -c list[0], with the rest as its arguments
		first := value{}
		if len(v.list) > 0 {
			first = v.list[0]
		}
		v = first
	}
	c.s.ev.command(c, v)
	for _, a := range v.texts() {
		out := c.add(Shell, a)
		out.Decoded, out.Dir = v.decoded, c.directory()
		if a.Exact && interactive(strings.Fields(a.Text)) {
			c.add(Spawn, a)
		}
	}
}

// directory is where a command runs, when the program says so.
func (c *call) directory() *Arg {
	if v, ok := c.arg(-1, "cwd", "chdir", "dir"); ok && v.known() {
		a := c.s.inDir(v.texts()[0])
		return &a
	}
	return c.s.dir
}

// exec reports an argv.
func (c *call) exec(v value) {
	l := v
	if v.kind != list {
		l = listValue(v)
	}
	var args []Arg
	decoded := v.decoded
	for i, e := range l.list {
		if i >= 1024 {
			l.open = true
			break
		}
		a := Arg{}
		if t := e.texts(); len(t) == 1 {
			a = t[0]
		} else if i == 0 { // which program it is matters: one call each
			for _, t := range e.texts() {
				rest := append([]value{{kind: text, alts: []Arg{t}, decoded: e.decoded}}, l.list[1:]...)
				c.exec(value{kind: list, list: rest, open: l.open})
			}
			return
		} else {
			a = common(t)
		}
		decoded = decoded || e.decoded
		args = append(args, a)
	}
	if l.open || len(args) == 0 {
		args = append(args, Arg{})
	}
	c.s.ev.command(c, l)
	out := c.add(Exec, args...)
	out.Decoded, out.Dir = decoded, c.directory()
	if words, ok := exactWords(args); ok && interactive(words) {
		c.add(Spawn, args...)
	}
}

// common is what is known when an argument may be one of several.
func common(alts []Arg) Arg {
	p := alts[0].Text
	for _, a := range alts[1:] {
		for !strings.HasPrefix(a.Text, p) {
			p = p[:len(p)-1]
		}
	}
	return Arg{Text: p}
}

func exactWords(args []Arg) ([]string, bool) {
	var out []string
	for _, a := range args {
		if !a.Exact {
			return nil, false
		}
		out = append(out, a.Text)
	}
	return out, true
}

// interactive reports whether an argv is a shell that reads its commands from its input.
func interactive(argv []string) bool {
	if len(argv) == 0 || !shells[path.Base(argv[0])] {
		return false
	}
	for _, a := range argv[1:] {
		if a == "" || a[0] != '-' && strings.IndexByte("<>&012", a[0]) < 0 || a[0] == '-' && a[1:] != "-" && strings.Contains(a, "c") {
			return false
		}
	}
	return true
}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "fish": true,
	"csh": true, "tcsh": true, "mksh": true, "cmd.exe": true, "cmd": true, "powershell": true, "powershell.exe": true, "pwsh": true}

// argv reports a program and its arguments, each an argument of the call.
func argv(c *call) { c.exec(c.positional()) }

// program reports a path and, after a name that counts for nothing, the arguments: execl.
func program(c *call) {
	l := c.positional()
	if len(l.list) == 0 {
		return
	}
	for n := len(l.list) - 1; n > 0 && l.list[n].kind == word; n-- { // C's NULL at the end
		l.list = l.list[:n]
	}
	if len(l.list) > 1 {
		l.list = append([]value{l.list[0]}, l.list[2:]...)
	}
	c.exec(l)
}

// programList is program with the argv as a list: execv.
func programList(n int) handler {
	return func(c *call) {
		p, ok := c.arg(n, "path", "file")
		if !ok {
			return
		}
		a, _ := c.arg(n+1, "args", "argv")
		l := value{kind: list, list: []value{p}, open: a.kind != list || a.open}
		if a.kind == list && len(a.list) > 0 {
			l.list = append(l.list, a.list[1:]...)
		}
		c.exec(l)
	}
}

// commandOrArgv is what most scripting languages do: one text goes to a shell, several are an argv.
func commandOrArgv(c *call) {
	l := c.positional()
	switch {
	case len(l.list) == 0:
	case len(l.list) == 1 && !l.open && l.list[0].kind != list:
		c.shell(l.list[0])
	case len(l.list) == 1 && l.list[0].kind == list:
		c.exec(l.list[0])
	default:
		c.exec(l)
	}
}

// runs scans the text of an inner program in the same language.
func runs(n int, keys ...string) handler {
	return func(c *call) {
		if v, ok := c.arg(n, keys...); ok {
			c.s.runText(c.s.g, c.name, v, c.pos)
		}
	}
}

// dynamic reports code that is not known here.
func dynamic(c *call) { c.add(Dynamic) }

// plain reports a call without arguments of interest.
func plain(k Kind) handler { return func(c *call) { c.add(k) } }

// forks reports a copy of the process, and a fork bomb where it stands in an endless loop.
func forks(c *call) {
	k := Fork
	if c.s.endless(c.tok) {
		k = ForkBomb
	}
	c.add(k)
}

// signal reports a signal with the arguments as they stand.
func signal(c *call) {
	var out []Arg
	for _, v := range c.positional().list {
		out = append(out, common(v.texts()))
		if t := v.texts(); len(t) == 1 {
			out[len(out)-1] = t[0]
		}
	}
	c.add(Signal, out...)
}

// chdir follows a change of directory.
func chdir(c *call) {
	v, ok := c.arg(0, "path")
	if !ok {
		return
	}
	a := c.s.inDir(v.texts()[0])
	if len(v.texts()) > 1 {
		a = Arg{}
	}
	c.s.dir = &a
}
