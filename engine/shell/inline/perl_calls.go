package inline

import "strings"

func perlCalls() map[string]handler {
	return map[string]handler{
		"`": shellText, "system": perlSystem, "exec": perlSystem, "readpipe": shellText, "qx": shellText, "IPC.Open3.open3": perlOpen3, "open3": perlOpen3, "open2": perlOpen3,
		"unlink": perlUnlink, "rmdir": perlUnlink, "rmtree": treeFirst, "remove_tree": treeAll(Delete), "File.Path.rmtree": treeFirst,
		"File.Path.remove_tree": treeAll(Delete), "POSIX.unlink": touch(Delete), "POSIX._exit": nil,
		"rename": move, "move": move, "mv": move, "File.Copy.move": move, "copy": copied(false), "cp": copied(false), "File.Copy.copy": copied(false),
		"chmod": perlChmod, "chown": perlChown, "symlink": linked, "link": linked, "mkdir": touch(Mkdir), "mkpath": touch(Mkdir), "make_path": touchAll(Mkdir),
		"truncate": touch(Write), "utime": nil, "open": perlOpen, "sysopen": perlSysopen, "opendir": nil, "chdir": chdir, "chroot": nil,
		"IO.File.new": opens(0, 1, "r"), "fork": forks, "kill": signalFirst,
		"socket": rawSocket, "connect": perlConnect, "listen": nil, "bind": perlBind, "IO.Socket.INET.new": perlInet, "IO.Socket.IP.new": perlInet, "IO.Socket.SSL.new": perlInet,
		"get": urlOnly, "getstore": download(0, 1), "getprint": fetch(0), "LWP.Simple.get": fetch(0), "LWP.Simple.getstore": download(0, 1),
		"LWP.UserAgent.new().get": fetch(0), "LWP.UserAgent.new().post": connects(Upload, 0), "HTTP.Tiny.new().get": fetch(0), "HTTP.Tiny.new().post": connects(Upload, 0),
		"eval": perlEval, "do": perlDo, "require": nil, "syscall": dynamic, "dup2": duplicates, "POSIX.dup2": duplicates, "recv": receives, "sysread": receives,
		"print": perlEnvironment, "keys": nil, "each": nil,
	}
}

// perlSystem is system and exec; a block before the list names the program.
func perlSystem(c *call) {
	if len(c.args) > 0 && c.args[0].key == "{}" {
		l := argList(c.args[1:])
		l.list = append([]value{c.args[0].v}, l.list[min(1, len(l.list)):]...)
		c.exec(l)
		return
	}
	commandOrArgv(c)
	if c.selfStart() && c.s.endless(c.tok) {
		c.add(ForkBomb)
	}
}

func perlOpen3(c *call) {
	if l := c.positional(); len(l.list) > 2 {
		rest := l.list[2:]
		if c.name != "open2" && len(rest) > 1 {
			rest = rest[1:]
		}
		c.args = nil
		for _, v := range rest {
			c.args = append(c.args, argument{v: v})
		}
		commandOrArgv(c)
	}
}

// perlUnlink deletes what it is given, or $_.
func perlUnlink(c *call) {
	if len(c.args) == 0 {
		if s := c.s; c.tok >= 2 && s.toks[c.tok-1].is("{") && (s.toks[c.tok-2].is(".") || strings.ContainsAny(s.toks[c.tok-2].text, "$@%")) {
			return // a key of a hash
		}
		c.args = []argument{{v: c.s.lookup(topic, c.tok)}}
	}
	touchAll(Delete)(c)
}

func treeFirst(c *call) {
	if v, ok := c.arg(0); ok {
		c.add(Delete, c.paths(v)...).Recursive = true
	}
}

// perlChmod is chmod MODE, FILES.
func perlChmod(c *call) {
	l := c.positional()
	if len(l.list) < 1 {
		return
	}
	files := value{kind: list, list: l.list[1:], open: l.open}
	c.add(Chmod, c.paths(files)...).Mode = modeText(l.list[0])
}

func perlChown(c *call) {
	if l := c.positional(); len(l.list) > 2 {
		c.add(Chown, c.paths(value{kind: list, list: l.list[2:], open: l.open})...)
	}
}

// perlOpen is open in its two forms: open(F, ">file") and open(F, ">", "file").
func perlOpen(c *call) {
	l := c.positional()
	if len(l.list) < 2 {
		return
	}
	if handle := c.args[0]; handle.from < len(c.s.toks) && standardStream(textValue(c.s.toks[handle.from].text)) {
		if m := l.list[1].texts()[0].Text; strings.Contains(m, "&") {
			duplicates(c)
			return
		}
	}
	for _, a := range l.list[1].texts() {
		m := strings.TrimSpace(a.Text)
		if len(l.list) == 2 {
			c.perlOpenText(m, a.Exact)
			continue
		}
		name := l.list[2]
		switch {
		case strings.Contains(m, "|"):
			rest := value{kind: list, list: l.list[2:], open: l.open}
			if len(rest.list) == 1 && !rest.open {
				c.shell(name)
			} else {
				c.exec(rest)
			}
		case strings.Contains(m, "&"):
		case name.kind == object: // a reference: a file in memory
		default:
			c.add(perlAccess(m), c.paths(name)...)
		}
	}
}

// perlOpenText is the form of open in which the mode stands in front of the name.
func (c *call) perlOpenText(m string, exact bool) {
	cut := func(n int) value {
		return value{kind: text, alts: []Arg{{Text: strings.TrimSpace(m[n:]), Exact: exact}}}
	}
	switch {
	case strings.HasPrefix(m, "|"):
		c.shell(cut(1))
	case strings.HasSuffix(m, "|"):
		c.shell(textValue(strings.TrimSpace(strings.TrimSuffix(m, "|"))))
	case strings.Contains(m, ">&") || strings.Contains(m, "<&"):
	default:
		n := len(m) - len(strings.TrimLeft(m, "+<>"))
		k := perlAccess(m[:n])
		if !exact && n == 0 && m == "" { // nothing is known: it may even be a command
			k = Write
		}
		c.add(k, c.paths(cut(n))...)
	}
}

func perlAccess(m string) Kind {
	switch {
	case strings.Contains(m, ">>"):
		return Append
	case strings.Contains(m, ">"), strings.Contains(m, "+"):
		return Write
	default:
		return Read
	}
}

func perlSysopen(c *call) {
	if v, ok := c.arg(1); ok {
		k := Read
		for i := c.tok; i < len(c.s.toks) && i < c.tok+24; i++ {
			if w := c.s.toks[i].text; w == "O_WRONLY" || w == "O_RDWR" || w == "O_CREAT" || w == "O_TRUNC" {
				k = Write
			}
		}
		c.add(k, c.paths(v)...)
	}
}

func perlConnect(c *call) {
	if len(c.args) > 1 {
		c.s.ev.socket = true
		v, _ := c.arg(1)
		c.add(Network, v.texts()[0])
	}
}

func perlBind(c *call) {
	if len(c.args) > 1 {
		c.s.ev.socket = true
		v, _ := c.arg(1)
		c.add(Listen, v.texts()[0])
	}
}

// perlInet is IO::Socket::INET->new("host:port") or with named arguments.
func perlInet(c *call) {
	c.s.ev.socket = true
	if _, ok := c.arg(-1, "Listen"); ok {
		p, _ := c.arg(-1, "LocalPort")
		c.add(Listen, address(textValue(""), p))
		return
	}
	h, ok := c.arg(-1, "PeerAddr", "PeerHost")
	p, _ := c.arg(-1, "PeerPort")
	if !ok {
		h, _ = c.arg(0)
	}
	if n, ok := p.exact(); ok && p.kind == text {
		p = wordValue(n)
	}
	c.add(Network, address(h, p))
}

// urlOnly is a function with a name that many have: only a URL shows what it is.
func urlOnly(c *call) {
	if v, ok := c.arg(0); ok && strings.Contains(v.texts()[0].Text, "://") {
		c.add(Network, v.texts()[0])
	}
}

// perlEval is eval TEXT; eval {…} is a block and no code of its own.
func perlEval(c *call) {
	if len(c.args) == 0 || c.args[0].key == "{}" || c.s.toks[c.args[0].from].is("{") {
		return
	}
	runs(0)(c)
}

// perlDo is do FILE; do {…} is a block.
func perlDo(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text && c.args[0].key != "{}" {
		c.add(Read, c.paths(v)...)
		c.add(Dynamic)
	}
}

func perlEnvironment(c *call) {
	for _, a := range c.args {
		for i := a.from; i < a.to && i < len(c.s.toks) && c.s.b.step(); i++ {
			if c.s.toks[i].word("%ENV") {
				c.add(Env)
			}
		}
	}
}

func perlValues() map[string]evaluator {
	return map[string]evaluator{
		"decode_base64": decoder(decode64), "MIME.Base64.decode_base64": decoder(decode64), "chr": characters, "lc": lowerArg,
		"reverse": func(s *scan, recv value, args []argument) value {
			if len(args) != 1 {
				return value{}
			}
			return backwards(s, recv, args)
		},
		"join": func(s *scan, _ value, args []argument) value {
			if len(args) < 2 {
				return value{}
			}
			l := argList(args[1:])
			if len(args) == 2 && args[1].v.kind == list {
				l = args[1].v
			}
			return s.glue(args[0].v, l)
		},
		"pack": func(s *scan, recv value, args []argument) value {
			if len(args) < 2 {
				return value{}
			}
			f, _ := args[0].v.exact()
			switch {
			case strings.HasPrefix(f, "H"):
				return s.mapText(args[1].v, true, decodeHex)
			case strings.HasPrefix(strings.ToUpper(f), "C"):
				return characters(s, recv, args[1:])
			}
			return value{decoded: true}
		},
		"sprintf": func(s *scan, _ value, args []argument) value {
			if len(args) == 0 {
				return value{}
			}
			return s.format(args[0].v, argList(args[1:]).list, percent)
		},
		"glob": homePattern, "readdir": entries, "File.Spec.catfile": pathJoin(false), "scalar": first, "split": constant(value{kind: list, open: true}), "sockaddr_in": perlAddress, "pack_sockaddr_in": perlAddress, "inet_aton": first,
	}
}

func lowerArg(s *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	return lower(s, args[0].v, nil)
}

func perlAddress(_ *scan, _ value, args []argument) value {
	if len(args) < 2 {
		return value{}
	}
	return value{kind: text, alts: []Arg{address(args[1].v, args[0].v)}}
}
