package inline

import (
	"path"
	"strings"
)

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
		out.Dir = c.directory()
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
	for i, e := range l.list {
		if i >= 1024 {
			l.open = true
			break
		}
		var a Arg
		if t := e.texts(); len(t) == 1 {
			a = t[0]
		} else if i == 0 { // which program it is matters: one call each
			for _, t := range e.texts() {
				rest := append([]value{{kind: text, alts: []Arg{t}}}, l.list[1:]...)
				c.exec(value{kind: list, list: rest, open: l.open})
			}
			return
		} else {
			a = common(t)
		}
		args = append(args, a)
	}
	if l.open || len(args) == 0 {
		args = append(args, Arg{})
	}
	c.s.ev.command(c, l)
	k := Exec
	if words, ok := exactWords(args); ok && interactive(words) {
		k = Spawn
	}
	out := c.add(k, args...)
	out.Dir = c.directory()
}

// common is the knowledge of an argument that may be one of several.
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
		if !strings.HasPrefix(a, "-") || !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
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
	if endless(c.s.src, c.pos) {
		k = ForkBomb
	}
	c.add(k)
}

// signal reports a signal: kill(process, signal).
func signal(c *call) {
	if l := c.positional().list; len(l) > 0 {
		c.signal(l[min(1, len(l)-1)], l[:1])
	}
}

func (c *call) signal(name value, processes []value) {
	var out []Arg
	for _, v := range processes {
		if v.kind == list {
			out = append(out, c.paths(v)...)
			continue
		}
		out = append(out, v.texts()...)
	}
	k := c.add(Signal, out...)
	k.Mode, _ = name.exact()
	if i := strings.LastIndexByte(name.name, '.'); i >= 0 { // signal.SIGKILL
		k.Mode = name.name[i+1:]
	}
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
