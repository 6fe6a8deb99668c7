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
	deep := false
	for i := range args {
		args[i].Text = strings.ReplaceAll(args[i].Text, home, "~")
		if args[i].Glob && strings.Contains(args[i].Text, "**") {
			args[i].Text, deep = strings.ReplaceAll(args[i].Text, "**/", ""), true
		}
	}
	c.s.add(Call{Kind: k, Name: c.name, Args: args, Recursive: deep, Offset: c.pos})
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
	a.Text = strings.TrimSuffix(s.dir.Text, "/") + "/" + a.Text
	return a
}

// touch reports an access to the paths that the arguments with these numbers name.
func touch(k Kind, keys ...string) handler { return touchAt(k, 0, keys...) }

func touchAt(k Kind, n int, keys ...string) handler {
	return func(c *call) {
		if v, ok := c.arg(n, keys...); ok {
			c.add(k, c.paths(v)...)
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

// self is an access to the receiver, a path object.
func self(k Kind, recursive bool) handler {
	return func(c *call) {
		out := c.add(k, c.paths(c.recv)...)
		out.Recursive = out.Recursive || recursive
	}
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
