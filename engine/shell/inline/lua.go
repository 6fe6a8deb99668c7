package inline

import "strings"

// luaGrammar is Lua, with LuaSocket, LuaFileSystem and LuaPosix.
func luaGrammar() *grammar {
	return &grammar{
		name:         "lua",
		operators:    []string{"...", "..", "==", "~=", "<=", ">=", "//", "<<", ">>", "::"},
		spelling:     map[string]string{":": ".", "..": "+", "::": ";"},
		newlineEnds:  true,
		juxtaposed:   true,
		wordBlocks:   true,
		braceList:    true,
		terminators:  set("then do end until else elseif local return if for while function repeat break"),
		modules:      set("os io _G debug"),
		strings:      luaString,
		bind:         genericBind,
		canonical:    func(name string) string { return strings.TrimPrefix(strings.TrimPrefix(name, "_G."), "_ENV.") },
		calls:        luaCalls(),
		values:       luaValues(),
		lineComments: nil,
	}
}

// luaString reads quoted and long strings, and the comments, which may be long too.
func luaString(l *lexer) bool {
	from := l.i
	switch {
	case l.has("--"):
		l.i += 2
		if end, ok := l.longOpen(); ok {
			l.read(literal{closer: end})
		} else {
			l.skipLine()
		}
		l.space = true
		return true
	case l.src[l.i] == '[':
		end, ok := l.longOpen()
		if !ok {
			return false
		}
		text, _ := l.read(literal{closer: end})
		l.add(tokString, strings.TrimPrefix(text, "\n"), nil, from)
		return true
	}
	return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escLua}, '\'': {closer: "'", esc: escLua}})
}

// longOpen consumes [[ or [==[ and returns what closes it.
func (l *lexer) longOpen() (string, bool) {
	if l.at(0) != '[' {
		return "", false
	}
	n := 1
	for l.at(n) == '=' {
		n++
	}
	if l.at(n) != '[' {
		return "", false
	}
	l.i += n + 1
	return "]" + strings.Repeat("=", n-1) + "]", true
}

func luaCalls() map[string]handler {
	m := map[string]handler{
		"os.execute": shellText, "io.popen": shellText, "os.remove": touch(Delete), "os.rename": move, "io.open": opens(0, 1, "r"), "io.lines": touch(Read),
		"io.input": touch(Read), "io.output": touch(Write), "dofile": luaFile, "loadfile": luaFile, "load": runTextOnly, "loadstring": runTextOnly,
		"require": nil, "package.loadlib": dynamic, "lfs.rmdir": touch(Delete), "lfs.mkdir": touch(Mkdir), "lfs.chdir": chdir,
		"posix.fork": forks, "posix.unistd.fork": forks, "posix.exec": program, "posix.kill": signal, "posix.unlink": touch(Delete), "posix.unistd.exec": luaExec,
		"socket.tcp": rawSocket, "socket.udp": rawSocket, "socket.connect": hostPort(Network, 0, 1), "socket.bind": hostPort(Listen, 0, 1),
		"socket.tcp().connect": hostPort(Network, 0, 1), "socket.tcp().bind": hostPort(Listen, 0, 1), "*.connect": luaConnect, "*.receive": receives,
		"socket.http.request": fetch(0, "url"), "ssl.https.request": fetch(0, "url"),
		"vim.fn.system": commandOrArgv, "vim.fn.delete": touch(Delete), "vim.cmd": dynamic,
	}
	return m
}

func luaFile(c *call) {
	touch(Read)(c)
	c.add(Dynamic)
}

func luaExec(c *call) {
	p, ok := c.arg(0)
	a, _ := c.arg(1)
	if ok {
		c.exec(value{kind: list, list: append([]value{p}, a.list...), open: a.open})
	}
}

// luaConnect is a method named connect of something unknown: with a host and a port it is a socket.
func luaConnect(c *call) {
	if _, ok := c.arg(1); ok {
		hostPort(Network, 0, 1)(c)
	}
}

func luaValues() map[string]evaluator {
	return map[string]evaluator{
		"require": func(s *scan, _ value, args []argument) value {
			n, ok := first(s, value{}, args).exact()
			if !ok {
				return value{}
			}
			return objectValue(n)
		},
		"string.char": characters, "string.reverse": decoder(reverse), "text.reverse": decoder(reverse), "string.lower": lowerArg, "text.lower": lower,
		"text.rep": func(s *scan, recv value, args []argument) value { return s.repeat(recv, first(s, recv, args)) },
		"table.concat": func(s *scan, _ value, args []argument) value {
			sep := textValue("")
			if len(args) > 1 {
				sep = args[1].v
			}
			return s.glue(sep, first(s, value{}, args))
		},
		"string.format": func(s *scan, _ value, args []argument) value {
			if len(args) == 0 {
				return value{}
			}
			return s.format(args[0].v, argList(args[1:]).list, percent)
		},
		"text.format": func(s *scan, recv value, args []argument) value { return s.format(recv, argList(args).list, percent) },
		"os.getenv":   pythonGetenv, "tostring": first,
	}
}
