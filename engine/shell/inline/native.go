package inline

import "strings"

// nativeGrammar is for the languages that are compiled: C, C++, Go, Java, Groovy, Kotlin, Rust.
// Only what starts programs, deletes, writes and connects is looked for.
func nativeGrammar() *grammar {
	return &grammar{
		name:         "native",
		lineComments: []string{"//"},
		blockOpen:    "/*",
		blockClose:   "*/",
		operators:    []string{"::", "->", "==", "!=", "<=", ">=", "&&", "||", ":=", "+=", "++", "--", "<<", ">>", "?."},
		spelling:     map[string]string{"::": ".", "->": ".", "?.": "."},
		adjacent:     true,
		braceList:    true,
		strings:      nativeString,
		bind:         genericBind,
		canonical:    javaName,
		calls:        nativeCalls(),
		values:       nativeValues(),
	}
}

func nativeString(l *lexer) bool {
	c := l.src[l.i]
	from := l.i
	switch c {
	case '#': // a preprocessor line
		if l.newline {
			l.skipLine()
			return true
		}
		return false
	case '`':
		l.i++
		text, _ := l.read(literal{closer: "`"})
		l.add(tokString, text, nil, from)
		return true
	case '"', '\'':
		q := literal{closer: string(c), esc: escC, line: true}
		if three := q.closer + q.closer + q.closer; l.has(three) {
			q = literal{closer: three, esc: escC}
		}
		if c == '\'' && l.at(2) != '\'' && l.at(1) != '\\' && isIdent(l.at(1)) && !l.quoteCloses() {
			return false // a lifetime in Rust
		}
		l.i += len(q.closer)
		text, pieces := l.read(q)
		l.add(tokString, text, pieces, from)
		return true
	}
	return false
}

// quoteCloses reports whether the quote that begins here ends on the same line.
func (l *lexer) quoteCloses() bool {
	for j := l.i + 1; j < len(l.src) && j < l.i+256 && l.src[j] != '\n'; j++ {
		if l.src[j] == '\'' {
			return true
		}
	}
	return false
}

func nativeCalls() map[string]handler {
	m := map[string]handler{
		// C and its kin
		"system": shellText, "std.system": shellText, "popen": shellText, "wordexp": shellText, "ShellExecuteA": dynamic, "WinExec": shellText,
		"execl": program, "execlp": program, "execle": program, "execv": programList(0), "execvp": programList(0), "execve": programList(0), "execvpe": programList(0),
		"posix_spawn": programList(1), "posix_spawnp": programList(1), "unlink": touch(Delete), "unlinkat": touchAt(Delete, 1), "remove": textOnly(Delete), "rmdir": touch(Delete),
		"rename": move, "chmod": mode(0, 1, false), "chown": touch(Chown), "symlink": linked, "link": nil, "fopen": opens(0, 1, "r"), "truncate": touch(Write), "chdir": chdir,
		"fork": forks, "vfork": forks, "kill": signal, "dup2": duplicates, "socket": rawSocket, "connect": nil, "dlopen": nil,
		// Go
		"exec.Command": argv, "exec.CommandContext": goContext, "syscall.Exec": programList(0), "unix.Exec": programList(0), "syscall.ForkExec": programList(0), "os.StartProcess": programList(0),
		"os.Remove": touch(Delete), "os.RemoveAll": tree(Delete), "os.Rename": move, "os.Chmod": mode(0, 1, false), "os.Chown": touch(Chown), "os.Symlink": linked, "os.Link": linked,
		"os.WriteFile": touch(Write), "ioutil.WriteFile": touch(Write), "os.Create": touch(Write), "os.Truncate": touch(Write), "os.ReadFile": touch(Read), "ioutil.ReadFile": touch(Read),
		"os.Open": touch(Read), "os.OpenFile": touch(Write), "os.Mkdir": touch(Mkdir), "os.MkdirAll": touch(Mkdir), "os.Chdir": chdir, "os.Environ": nil,
		"net.Dial": goDial(Network), "net.DialTimeout": goDial(Network), "tls.Dial": goDial(Network), "net.Listen": goDial(Listen), "http.ListenAndServe": fetchAs(Listen),
		"http.Get": fetch(0), "http.Post": connects(Upload, 0), "http.PostForm": connects(Upload, 0), "syscall.Socket": rawSocket, "syscall.Dup2": duplicates, "syscall.Dup3": duplicates, "unix.Dup2": duplicates,
		"syscall.Kill": signal, "syscall.Unlink": touch(Delete), "syscall.Rmdir": touch(Delete),
		// Java, Groovy, Kotlin
		"Runtime.getRuntime().exec": commandOrWords, "ProcessBuilder": commandList, "text.execute": groovyExecute, "*.getOutputStream": javaStream, "*.getInputStream": receives,
		"Files.delete": touch(Delete), "Files.deleteIfExists": touch(Delete), "Files.write": touch(Write), "Files.writeString": touch(Write), "Files.readString": touch(Read),
		"Files.readAllBytes": touch(Read), "FileUtils.deleteDirectory": tree(Delete), "FileWriter": touch(Write), "FileOutputStream": touch(Write), "Socket": javaSocket, "ServerSocket": plain(Listen),
		"File().delete": self(Delete, false), "File().deleteDir": self(Delete, true), "File().deleteRecursively": self(Delete, true), "GroovyShell().evaluate": runTextOnly,
		// Rust
		"Command.new": argv, "process.Command.new": argv, "std.process.Command.new": argv, "fs.remove_file": touch(Delete), "fs.remove_dir_all": tree(Delete), "fs.remove_dir": touch(Delete),
		"std.fs.remove_file": touch(Delete), "std.fs.remove_dir_all": tree(Delete), "fs.write": touch(Write), "std.fs.write": touch(Write), "TcpStream.connect": fetchAs(Network), "TcpListener.bind": fetchAs(Listen),
	}
	return m
}

// fetchAs reports a raw connection or listener at an address that is one text.
func fetchAs(k Kind) handler {
	return func(c *call) {
		c.s.ev.socket = true
		connects(k, 0)(c)
	}
}

// textOnly is a function with a common name: only a text as its argument shows what it is.
func textOnly(k Kind) handler {
	return func(c *call) {
		if v, ok := c.arg(0); ok && v.kind == text {
			c.add(k, c.paths(v)...)
		}
	}
}

// goContext is exec.CommandContext(ctx, name, args…).
func goContext(c *call) {
	if len(c.args) > 1 {
		c.args = c.args[1:]
		argv(c)
	}
}

// goDial is net.Dial(network, address).
func goDial(k Kind) handler {
	return func(c *call) {
		c.s.ev.socket = true
		connects(k, 1)(c)
	}
}

// commandOrWords is Runtime.exec: a text is cut at blanks, without a shell.
func commandOrWords(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	if v.kind == text {
		v = c.s.words(v, "")
	}
	c.exec(v)
}

// commandList is ProcessBuilder("a", "b") or of a list.
func commandList(c *call) {
	l := c.positional()
	if len(l.list) == 1 && l.list[0].kind == list {
		l = l.list[0]
	}
	if len(l.list) > 0 {
		c.exec(l)
	}
}

// groovyExecute is "command".execute() and ["a", "b"].execute().
func groovyExecute(c *call) {
	if c.recv.kind == list {
		c.exec(c.recv)
		return
	}
	c.exec(c.s.words(c.recv, ""))
}

// javaName drops the packages of Java's standard classes.
func javaName(name string) string {
	for _, p := range []string{"java.lang.", "java.io.", "java.net.", "java.nio.file."} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest
		}
	}
	return name
}

// javaStream notes that something is written to a process or a connection.
func javaStream(c *call) {
	if c.s.ev.pipes == 0 {
		c.s.ev.pipes = c.pos + 1
	}
}

func javaSocket(c *call) {
	if len(c.args) > 1 {
		hostPort(Network, 0, 1)(c)
	}
}

func nativeValues() map[string]evaluator {
	listOf := func(_ *scan, _ value, args []argument) value { return argList(args) }
	return map[string]evaluator{
		"filepath.Join": pathJoin(false), "path.Join": pathJoin(false), "Paths.get": pathJoin(false), "Path.of": pathJoin(false), "List.of": listOf, "Arrays.asList": listOf,
		"File": func(s *scan, recv value, args []argument) value { return objectValue("File()") }, "string": first, "os.TempDir": constant(textValue("/tmp")),
	}
}

// rGrammar is R.
func rGrammar() *grammar {
	return &grammar{
		name:         "r",
		lineComments: []string{"#"},
		identExtra:   ".",
		operators:    []string{"<<-", "<-", "->", ":::", "::", "==", "!=", "<=", ">=", "&&", "||", "|>"},
		spelling:     map[string]string{"::": ".", ":::": ".", "$": "."},
		keywords:     "=",
		newlineEnds:  true,
		strings: func(l *lexer) bool {
			return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escC}, '\'': {closer: "'", esc: escC}})
		},
		bind: genericBind,
		calls: map[string]handler{
			"system": shellText, "shell": shellText, "pipe": shellText, "base.system": shellText, "system2": rSystem2, "shell.exec": argv, "processx.run": rSystem2,
			"unlink": rUnlink, "file.remove": touchAll(Delete), "unlink.recursive": nil, "file.rename": move, "file.copy": copied(false), "Sys.chmod": mode(0, 1, false),
			"writeLines": touchAt(Write, 1, "con"), "write.csv": touchAt(Write, 1, "file"), "saveRDS": touchAt(Write, 1, "file"), "write": touchAt(Write, 1, "file"), "file.create": touchAll(Write),
			"cat": rCat, "sink": touch(Write), "readLines": touch(Read), "read.csv": touch(Read), "readRDS": touch(Read), "source": rSource, "sys.source": rSource, "dir.create": touch(Mkdir),
			"file": opens(0, 1, "r"), "setwd": chdir, "download.file": download(0, 1, "destfile"), "url": fetch(0), "socketConnection": hostPort(Network, 0, 1),
			"eval": rEval, "parallel.mcfork": forks, "mcfork": forks, "tools.pskill": signal, "pskill": signal, "Sys.getenv": phpGetenv, "dyn.load": nil,
		},
		values: map[string]evaluator{
			"c": func(_ *scan, _ value, args []argument) value { return argList(args) }, "file.path": pathJoin(false), "path.expand": func(s *scan, recv value, args []argument) value { return expandHome(s, first(s, recv, args)) },
			"paste0": func(s *scan, _ value, args []argument) value { return s.glue(textValue(""), argList(args)) },
			"paste": func(s *scan, _ value, args []argument) value {
				sep := textValue(" ")
				var in []argument
				for _, a := range args {
					if a.key == "sep" {
						sep = a.v
					} else {
						in = append(in, a)
					}
				}
				return s.glue(sep, argList(in))
			},
			"parse": func(_ *scan, _ value, args []argument) value {
				for _, a := range args {
					if a.key == "text" {
						return a.v
					}
				}
				return value{}
			},
			"list.files": rFiles, "dir": rFiles, "Sys.glob": homePattern, "getwd": constant(textValue(".")), "tempdir": constant(textValue("/tmp")),
			"rawToChar": first, "as.raw": first, "intToUtf8": characters,
		},
	}
}

// rSystem2 is system2(command, args).
func rSystem2(c *call) {
	v, ok := c.arg(0, "command")
	if !ok {
		return
	}
	a, given := c.arg(1, "args")
	l := listValue(v)
	switch {
	case a.kind == list:
		l.list, l.open = append(l.list, a.list...), a.open
	case given:
		l.list = append(l.list, a)
	}
	c.shell(c.s.glue(textValue(" "), l))
}

func rUnlink(c *call) {
	if v, ok := c.arg(0, "x"); ok {
		// It expands patterns itself.
		c.add(Delete, c.paths(c.s.matches(expandHome(c.s, v)))...).Recursive = c.yes(1, "recursive")
	}
}

// rFiles is list.files(path, full.names = TRUE).
func rFiles(s *scan, recv value, args []argument) value {
	if _, full := (&call{args: args}).arg(-1, "full.names"); full {
		return listed("*")(s, recv, args)
	}
	return entries(s, recv, args)
}

// rCat is cat(…, file = "x").
func rCat(c *call) {
	if v, ok := c.arg(-1, "file"); ok && v.kind == text {
		k := Write
		if c.yes(-1, "append") {
			k = Append
		}
		c.add(k, c.paths(v)...)
	}
}

func rSource(c *call) {
	touch(Read)(c)
	c.add(Dynamic)
}

// rEval is eval(parse(text = …)); any other expression is code that stands here anyway.
func rEval(c *call) {
	if len(c.args) == 0 {
		return
	}
	if f := c.args[0].from; f < len(c.s.toks) && (c.s.toks[f].word("parse") || c.s.toks[f].word("str2lang")) {
		runs(0)(c)
	}
}
