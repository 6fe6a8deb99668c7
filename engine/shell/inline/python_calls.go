package inline

import "strings"

// pythonCalls is what functions of the standard library, and of a few libraries that
// everybody uses, do to the machine. A name that begins with "*." is a member of a value that
// is not known; only names that mean nothing else stand there.
func pythonCalls() map[string]handler {
	m := map[string]handler{
		"os.system": shellText, "os.popen": shellText, "os.popen2": shellText, "os.popen3": shellText, "os.popen4": shellText,
		"popen2.popen2": shellText, "platform.popen": shellText, "commands.getoutput": shellText, "commands.getstatusoutput": shellText,
		"subprocess.getoutput": shellText, "subprocess.getstatusoutput": shellText, "asyncio.create_subprocess_shell": shellText,
		"pexpect.spawn": shellText, "pexpect.run": shellText, "pexpect.spawnu": shellText, "ctypes.CDLL().system": shellText,
		"ctypes.cdll.LoadLibrary().system": shellText, "*.system": someText, "*.popen": someText, "*.exec_command": someText,
		"asyncio.create_subprocess_exec": argv,
		"os.execl":                       program, "os.execlp": program, "os.execle": program, "os.execlpe": program,
		"os.execv": programList(0), "os.execvp": programList(0), "os.execve": programList(0), "os.execvpe": programList(0),
		"os.posix_spawn": programList(0), "os.posix_spawnp": programList(0),
		"os.spawnv": programList(1), "os.spawnvp": programList(1), "os.spawnve": programList(1), "os.spawnvpe": programList(1),
		"os.spawnl": spawnl, "os.spawnlp": spawnl, "os.spawnle": spawnl, "os.spawnlpe": spawnl,
		"os.startfile": argv, "runpy.run_path": pythonScript, "runpy.run_module": dynamic,
		"pty.spawn": ptySpawn, "code.interact": plain(Spawn), "pdb.set_trace": plain(Spawn),

		"os.remove": touch(Delete, "path"), "os.unlink": touch(Delete, "path"), "os.rmdir": touch(Delete, "path"),
		"os.removedirs": touch(Delete, "name"), "shutil.rmtree": tree(Delete, "path"), "distutils.dir_util.remove_tree": tree(Delete, "directory"),
		"send2trash.send2trash": touch(Delete, "paths"), "os.truncate": touch(Write, "path"),
		"os.rename": move, "os.renames": move, "os.replace": move, "shutil.move": move,
		"shutil.copy": copied(false), "shutil.copy2": copied(false), "shutil.copyfile": copied(false), "shutil.copytree": copied(true),
		"shutil.copymode": nil, "shutil.copystat": nil, "shutil.unpack_archive": unpack, "shutil.make_archive": nil,
		"os.chmod": mode(0, 1, false), "os.lchmod": mode(0, 1, false),
		"os.chown": touch(Chown, "path"), "os.lchown": touch(Chown, "path"), "shutil.chown": touch(Chown, "path"),
		"os.symlink": linked, "os.link": linked, "os.mkdir": touch(Mkdir, "path"), "os.makedirs": touch(Mkdir, "name"),
		"os.mknod": touch(Write, "path"), "os.mkfifo": touch(Write, "path"), "os.utime": touch(Write, "path"), "os.chdir": chdir,
		"os.listdir": nil, "os.open": osOpen,
		"open": opens(0, 1, "r"), "io.open": opens(0, 1, "r"), "codecs.open": opens(0, 1, "r"), "file": opens(0, 1, "r"),
		"gzip.open": opens(0, 1, "r"), "bz2.open": opens(0, 1, "r"), "lzma.open": opens(0, 1, "r"), "tarfile.open": opens(0, 1, "r"),
		"tarfile.TarFile": opens(0, 1, "r"), "zipfile.ZipFile": opens(0, 1, "r"), "aiofiles.open": opens(0, 1, "r"),
		"shelve.open": touch(Write, "filename"), "sqlite3.connect": touch(Write, "database"), "io.FileIO": opens(0, 1, "r"),
		"fileinput.input": fileInput, "linecache.getline": touch(Read), "linecache.getlines": touch(Read),
		"zipfile.ZipFile().extractall": unpackSelf, "tarfile.open().extractall": unpackSelf,
		"pathlib.Path().unlink": self(Delete, false), "pathlib.Path().rmdir": self(Delete, false), "pathlib.Path().rmtree": self(Delete, true),
		"pathlib.Path().write_text": self(Write, false), "pathlib.Path().write_bytes": self(Write, false), "pathlib.Path().touch": self(Write, false),
		"pathlib.Path().read_text": self(Read, false), "pathlib.Path().read_bytes": self(Read, false), "pathlib.Path().mkdir": self(Mkdir, false),
		"pathlib.Path().chmod": mode(-1, 0, false), "pathlib.Path().lchmod": mode(-1, 0, false), "pathlib.Path().rename": selfMove,
		"pathlib.Path().replace": selfMove, "pathlib.Path().symlink_to": selfLink, "pathlib.Path().hardlink_to": selfLink,
		"pathlib.Path().open": opensSelf, "*.write_text": selfUnknown(Write), "*.write_bytes": selfUnknown(Write),
		"*.read_text": nil, "*.unlink": selfUnknown(Delete), "*.rmtree": selfUnknown(Delete),
		"pandas.read_csv": touch(Read), "pandas.read_json": touch(Read), "pandas.read_parquet": touch(Read), "pandas.read_excel": touch(Read),
		"numpy.load": touch(Read), "numpy.loadtxt": touch(Read), "numpy.save": touch(Write), "numpy.savez": touch(Write), "numpy.savetxt": touch(Write),
		"torch.load": touch(Read), "torch.save": touchAt(Write, 1), "PIL.Image.open": touch(Read), "matplotlib.pyplot.savefig": touch(Write),
		"*.to_csv": namedFile, "*.to_json": namedFile, "*.to_excel": namedFile, "*.to_parquet": namedFile, "*.savefig": namedFile,

		"os.fork": forks, "os.forkpty": forks, "pty.fork": forks, "multiprocessing.Process": forksInLoop,
		"os.kill": signal, "os.killpg": signal, "signal.pidfd_send_signal": signal,
		"os.dup2": duplicates, "os.environ": nil,

		"socket.socket": rawSocket, "socket.create_connection": hostPort(Network, 0, -1), "socket.create_server": hostPort(Listen, 0, -1),
		"socket.socket().connect": hostPort(Network, 0, -1), "socket.socket().connect_ex": hostPort(Network, 0, -1),
		"socket.socket().bind": hostPort(Listen, 0, -1), "*.connect": connectPair(Network), "*.connect_ex": connectPair(Network),
		"*.bind": connectPair(Listen), "*.recv": receives, "*.recvfrom": receives, "asyncio.open_connection": hostPort(Network, 0, 1),
		"socketserver.TCPServer": hostPort(Listen, 0, -1), "http.server.HTTPServer": hostPort(Listen, 0, -1), "asyncio.start_server": hostPort(Listen, 1, 2),
		"paramiko.SSHClient().connect": hostPort(Network, 0, 1), "ftplib.FTP": hostPort(Network, 0, -1), "smtplib.SMTP": hostPort(Upload, 0, 1),
		"smtplib.SMTP_SSL": hostPort(Upload, 0, 1), "telnetlib.Telnet": hostPort(Network, 0, 1), "http.client.HTTPConnection": hostPort(Network, 0, 1),
		"http.client.HTTPSConnection": hostPort(Network, 0, 1), "ssl.wrap_socket": nil,
		"urllib.request.urlretrieve": download(0, 1, "filename"), "urllib.urlretrieve": download(0, 1, "filename"), "wget.download": download(0, 1, "out"),
		"urllib.request.urlopen": sends(true, 0, "url"), "urllib2.urlopen": sends(true, 0, "url"), "urllib.urlopen": sends(true, 0, "url"),
		"urllib.request.Request": sends(true, 0, "url"), "urllib2.Request": sends(true, 0, "url"),

		"exec": runs(0), "eval": runs(0), "execfile": pythonFile, "compile": compileText, "__import__": imports, "importlib.import_module": nil,
		"getattr": getattr, "pickle.loads": loadsText, "cPickle.loads": loadsText, "marshal.loads": dynamic, "types.FunctionType": dynamic,
		"types.CodeType": dynamic, "*.__subclasses__": dynamic, "input": nil, "timeit.timeit": runs(0, "stmt"), "ctypes.CDLL": nil,
		"os.environ.items": plain(Env), "os.environ.keys": nil, "os.environ.values": plain(Env), "os.environb": nil, "dict": environment, "print": environment, "str": environment,
		"repr": environment, "json.dumps": environment, "pprint.pprint": environment, "pprint": environment,
	}
	for _, f := range strings.Fields("run call check_call check_output Popen") {
		m["subprocess."+f] = pythonSubprocess
	}
	m["subprocess32.Popen"] = pythonSubprocess
	for _, lib := range strings.Fields("requests httpx requests.Session() requests.session() httpx.Client() httpx.AsyncClient() aiohttp.ClientSession()") {
		for _, verb := range strings.Fields("get head options stream delete") {
			m[lib+"."+verb] = sends(false, 0, "url")
		}
		for _, verb := range strings.Fields("post put patch") {
			m[lib+"."+verb] = sends(true, 0, "url")
		}
		m[lib+".request"] = sends(false, 1, "url")
	}
	for name, h := range m {
		if h == nil { // named so that "*" entries do not apply
			m[name] = func(*call) {}
		}
	}
	return m
}

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
	if c.selfStart() && c.s.endless(c.tok) {
		c.add(ForkBomb)
	}
}

// stdinText reports what is fed to a shell as its program: run(["sh"], input="…").
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

func pythonScript(c *call) {
	if v, ok := c.arg(0, "path_name"); ok {
		c.exec(listValue(textValue("python3"), v))
	}
}

func pythonFile(c *call) {
	touch(Read)(c)
	c.add(Dynamic)
}

// ptySpawn runs a program on a terminal of its own.
func ptySpawn(c *call) {
	v, ok := c.arg(0, "argv")
	if !ok {
		return
	}
	n := len(c.s.calls)
	c.exec(v)
	if len(c.s.calls) > n && c.s.calls[len(c.s.calls)-1].Kind != Spawn {
		c.add(Spawn, c.s.calls[len(c.s.calls)-1].Args...)
	}
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
	if c.s.endless(c.tok) {
		c.add(ForkBomb)
	}
}

// compileText looks through text that is compiled; what runs it is another call.
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

// loadsText is an unpickling of a literal: a program in disguise.
func loadsText(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.add(Dynamic)
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
