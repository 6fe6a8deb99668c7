package inline

import "strings"

// pythonSubprocess is subprocess.run and its siblings: a text is an argv of one unless shell is set.
func pythonSubprocess(c *call) {
	v, ok := c.arg(0, "args", "cmd")
	if !ok {
		return
	}
	for _, stream := range []string{"stdin", "stdout", "stderr"} {
		if w, ok := c.arg(-1, stream); ok && strings.HasPrefix(w.name, "socket.") {
			duplicates(c)
		}
	}
	switch {
	case c.yes(-1, "shell"):
		c.shell(v)
	default:
		c.exec(v)
		c.stdinText(v)
	}
	if c.selfStart() && endless(c.s.src, c.pos) {
		c.add(ForkBomb)
	}
}

// stdinText reports input that a shell takes as its program: run(["sh"], input="…").
func (c *call) stdinText(v value) {
	in, ok := c.arg(-1, "input")
	if !ok {
		return
	}
	first := v
	if v.kind == list && len(v.list) > 0 {
		first = v.list[0]
	}
	if p, ok := first.exact(); ok && interactive([]string{p}) {
		c.shell(in)
	}
}

// selfStart reports whether a call names the very program in which it stands.
func (c *call) selfStart() bool {
	for i := c.tok; i < len(c.s.toks) && i < c.tok+24 && !c.s.toks[i].is(";"); i++ {
		switch t := &c.s.toks[i]; {
		case t.kind == tokIdent && (t.text == "__file__" || t.text == "__FILE__" || t.text == "$0" || t.text == "__filename" || t.text == "argv"):
			return true
		}
	}
	return false
}

// someText is a method named system or popen of something unknown: with an argument, it is what it says.
func someText(c *call) {
	if v, ok := c.arg(0); ok && len(c.args) > 0 {
		c.shell(v)
	}
}

// spawnl is execl behind a mode.
func spawnl(c *call) {
	if len(c.args) > 1 {
		c.args = c.args[1:]
		program(c)
	}
}

// programOrArgv is a program alone or a whole argv.
func programOrArgv(c *call) {
	if v, ok := c.arg(0, "argv"); ok {
		c.exec(v)
	}
}

func pythonScript(c *call) {
	if v, ok := c.arg(0, "path_name"); ok {
		c.exec(listValue(textValue("python3"), v))
	}
}

func pythonFile(c *call) {
	touch(Read)(c)
	c.add(Dynamic)
}

// opens reports the access that an open with a mode text stands for. A mode that is not
// known counts as one that writes.
func opens(pathAt, modeAt int, without string) handler {
	return func(c *call) {
		p, ok := c.arg(pathAt, "file", "filename", "name", "path")
		m, given := c.arg(modeAt, "mode")
		if !ok || p.kind == word {
			return
		}
		if !given {
			m = textValue(without)
		}
		for _, k := range accesses(m) {
			c.add(k, c.paths(p)...)
		}
	}
}

// accesses are the kinds of access of a mode text such as "rb+".
func accesses(m value) []Kind {
	seen := map[Kind]bool{}
	for _, a := range m.texts() {
		s := strings.ToLower(a.Text)
		switch {
		case !a.Exact:
			seen[Write] = true
		case strings.HasPrefix(s, "a"):
			seen[Append] = true
		case strings.ContainsAny(s, "wx") || strings.HasPrefix(s, "c"):
			seen[Write] = true
		default:
			seen[Read] = true
			if strings.Contains(s, "+") {
				seen[Write] = true
			}
		}
	}
	var out []Kind
	for _, k := range []Kind{Read, Write, Append} {
		if seen[k] {
			out = append(out, k)
		}
	}
	return out
}

// opensSelf is the open method of a path.
func opensSelf(c *call) {
	m, given := c.arg(0, "mode")
	if !given {
		m = textValue("r")
	}
	for _, k := range accesses(m) {
		c.add(k, c.paths(c.recv)...)
	}
}

// osOpen is os.open: the flags say whether it writes.
func osOpen(c *call) {
	p, ok := c.arg(0, "path")
	if !ok {
		return
	}
	k := Read
	for i := c.tok; i < len(c.s.toks) && i < c.tok+32 && !c.s.toks[i].is(";"); i++ {
		switch c.s.toks[i].text {
		case "O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND":
			k = Write
		}
	}
	c.add(k, c.paths(p)...)
}

// fileInput is fileinput.input: with inplace it writes.
func fileInput(c *call) {
	k := Read
	if c.yes(-1, "inplace") {
		k = Write
	}
	touch(k, "files")(c)
}

// namedFile is a method that writes a file whose name is a text; anything else is a buffer.
func namedFile(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.add(Write, c.paths(v)...)
	}
}

func selfUnknown(k Kind) handler { return func(c *call) { c.add(k, c.paths(c.recv)...) } }

func selfLink(c *call) {
	to, _ := c.arg(0)
	c.add(Link, append(c.paths(to), c.paths(c.recv)...)...)
}

func unpack(c *call) {
	touch(Read, "filename")(c)
	v, ok := c.arg(1, "extract_dir")
	if !ok {
		v = textValue(".")
	}
	c.add(Write, c.paths(v)...).Recursive = true
}

func unpackSelf(c *call) {
	v, ok := c.arg(0, "path")
	if !ok {
		v = textValue(".")
	}
	c.add(Write, c.paths(v)...).Recursive = true
}

// forksInLoop is a worker process: ordinary, unless an endless loop starts it.
func forksInLoop(c *call) {
	if endless(c.s.src, c.pos) {
		c.add(ForkBomb)
	}
}

// compileText looks through text that is compiled; another call runs it.
func compileText(c *call) {
	if v, ok := c.arg(0, "source"); ok {
		if _, known := v.exact(); known {
			c.s.runText(c.s.g, c.name, v, c.pos)
		}
	}
}

// imports reports a module whose name is not known.
func imports(c *call) {
	if v, ok := c.arg(0, "name"); ok {
		if !v.known() {
			c.add(Dynamic)
		}
	}
}

// getattr reports a member, of a module that can do harm, whose name is not known.
func getattr(c *call) {
	m, _ := c.arg(0)
	n, ok := c.arg(1)
	if _, known := n.exact(); ok && !known && m.kind == object && c.s.g.modules[m.name] {
		c.add(Dynamic)
	}
}

// decodes is an unpickling: that of a literal is a program in disguise.
func decodes(c *call) {
	k := Decode
	if v, ok := c.arg(0); ok && v.kind == text {
		k = Dynamic
	}
	c.add(k)
}

// decodesFile is an unpickling of a file by its name, or by an open one.
func decodesFile(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.add(Read, c.paths(v)...)
	}
	c.add(Decode)
}

// decodesWhere is decodesFile where an argument says so; without it the data is only data.
func decodesWhere(key string, is bool) handler {
	return func(c *call) {
		touch(Read)(c)
		if _, given := c.arg(-1, key); given && c.yes(-1, key) == is {
			c.add(Decode)
		}
	}
}

// environment reports the environment as a whole among the arguments.
func environment(c *call) {
	for _, a := range c.args {
		if a.v.kind == object && environments[a.v.name] {
			c.add(Env)
		}
	}
}
