package inline

import "strings"

func nodeCalls() map[string]handler {
	m := map[string]handler{
		"`":                  shellText,
		"child_process.exec": nodeShell, "child_process.execSync": nodeShell, "exec": nodeShell, "execSync": nodeShell,
		"*.execSync": nodeShell, "shelljs.exec": shellText, "execa": nodeSpawn, "execaCommand": shellText,
		"child_process.spawn": nodeSpawn, "child_process.spawnSync": nodeSpawn, "child_process.execFile": nodeSpawn, "child_process.execFileSync": nodeSpawn,
		"spawn": nodeSpawn, "spawnSync": nodeSpawn, "execFileSync": nodeSpawn, "*.spawnSync": nodeSpawn, "*.execFileSync": nodeSpawn,
		"child_process.fork": nodeFork, "cluster.fork": forks, "Bun.spawn": nodeBun, "Bun.spawnSync": nodeBun, "Deno.Command": denoCommand, "Deno.run": nodeBun,
		"eval": runs(0), "Function": nodeFunction, "vm.runInThisContext": runs(0), "vm.runInNewContext": runs(0), "vm.runInContext": runs(0), "vm.Script": runs(0),
		"setTimeout": lateText, "setInterval": lateText, "require": nodeRequire, "import": nodeRequire, "process.binding": dynamic, "process.dlopen": dynamic,
		"process.kill": signal, "process.chdir": chdir, "Deno.kill": signal, "Deno.chdir": chdir,
		"net.connect": nodeConnect, "net.createConnection": nodeConnect, "net.Socket": rawSocket, "net.Socket().connect": nodeConnect, "tls.connect": nodeConnect,
		"net.createServer": nodeServer, "net.createServer().listen": nodeListen, "http.createServer().listen": nodeListen, "dgram.createSocket": rawSocket,
		"Deno.connect": nodeConnect, "Deno.listen": nodeListen, "Bun.connect": nodeConnect, "Bun.listen": nodeListen,
		"*.listen": nodeListenQuiet, "*.pipe": nodePipe, "repl.start": plain(Spawn),
		// Java's classes, in the engines that come with it.
		"Runtime.getRuntime().exec": commandOrWords, "ProcessBuilder": commandList, "Socket": javaSocket, "*.getOutputStream": javaStream, "*.getInputStream": receives,
		"fetch": nodeFetch, "axios": nodeFetch, "axios.get": fetch(0, "url"), "axios.post": sends(true, 0, "url"), "axios.put": sends(true, 0, "url"),
		"http.get": fetch(0), "https.get": fetch(0), "http.request": nodeRequest, "https.request": nodeRequest, "WebSocket": fetch(0), "got": nodeFetch,
		"console.log": environment, "JSON.stringify": environment, "Object.entries": environment, "console.dir": environment, "Object.keys": nil,
		"fs.copyFile": copied(false), "fs.copyFileSync": copied(false), "fs.cp": copied(true), "fs.cpSync": copied(true), "fs.copy": copied(true),
		"fs.copySync": copied(true), "Deno.copyFile": copied(false), "fs.open": opens(0, 1, "r"), "fs.openSync": opens(0, 1, "r"),
		"*.rmSync": nodeRm, "*.unlinkSync": touch(Delete), "*.rmdirSync": nodeRm, "*.writeFileSync": touch(Write), "*.readFileSync": touch(Read),
		"*.appendFileSync": touch(Append), "*.createWriteStream": touch(Write), "rimraf": treeGlob, "rimraf.sync": treeGlob, "del": treeGlob, "del.sync": treeGlob, "deleteAsync": treeGlob, "deleteSync": treeGlob, "shelljs.rm": shellRm,
		"Bun.write": touch(Write), "Bun.file": touch(Read), "Deno.writeTextFile": touch(Write), "Deno.writeFile": touch(Write),
		"Deno.readTextFile": touch(Read), "Deno.readFile": touch(Read), "Deno.remove": nodeRm, "Deno.rename": move, "Deno.mkdir": touch(Mkdir),
		"Deno.env.toObject": plain(Env), "Deno.chmod": mode(0, 1, false), "Deno.symlink": linked,
	}
	for _, suffix := range []string{"", "Sync"} {
		addAll(m, nodeRm, "fs.", "rm"+suffix+" rmdir"+suffix)
		addAll(m, tree(Delete), "fs.", "remove"+suffix+" emptyDir"+suffix)
		addAll(m, touch(Delete), "fs.", "unlink"+suffix)
		addAll(m, touch(Write), "fs.", "writeFile"+suffix+" truncate"+suffix+" outputFile"+suffix+" writeJson"+suffix+" utimes"+suffix)
		addAll(m, touch(Append), "fs.", "appendFile"+suffix)
		addAll(m, touch(Read), "fs.", "readFile"+suffix+" readJson"+suffix)
		addAll(m, move, "fs.", "rename"+suffix+" move"+suffix)
		addAll(m, mode(0, 1, false), "fs.", "chmod"+suffix+" lchmod"+suffix)
		addAll(m, touch(Chown), "fs.", "chown"+suffix+" lchown"+suffix)
		addAll(m, linked, "fs.", "symlink"+suffix+" link"+suffix)
		addAll(m, touch(Mkdir), "fs.", "mkdir"+suffix+" mkdirs"+suffix+" ensureDir"+suffix)
		addAll(m, nodeRm, "Deno.", "remove"+suffix)
	}
	m["fs.createWriteStream"], m["fs.createReadStream"] = touch(Write), touch(Read)
	m["Object.keys"] = func(*call) {}
	return m
}

// option is the value of a property of an object literal among the arguments, as its first token.
func (c *call) option(name string) (int, bool) {
	for _, a := range c.args {
		for i := a.from; i+2 < a.to && i+2 < len(c.s.toks) && c.s.b.step(); i++ {
			t := &c.s.toks[i]
			if (t.kind == tokIdent || t.kind == tokString) && t.text == name && c.s.toks[i+1].is(":") {
				return i + 2, true
			}
		}
	}
	return 0, false
}

func (c *call) optionValue(name string) value {
	i, ok := c.option(name)
	if !ok {
		return value{}
	}
	v, _ := c.s.expr(i, true)
	return v
}

// nodeRm is fs.rm: recursive is an option.
func nodeRm(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	_, recursive := c.option("recursive")
	if s, ok := c.optionValue("recursive").exact(); ok && s == "false" {
		recursive = false
	}
	out := c.add(Delete, c.paths(v)...)
	out.Recursive = out.Recursive || recursive
}

func (c *call) nodeDirectory() {
	if i, ok := c.option("cwd"); ok {
		v, _ := c.s.expr(i, true)
		c.args = append(c.args, argument{key: "cwd", v: v})
	}
}

func nodeShell(c *call) {
	c.nodeDirectory()
	shellText(c)
}

// nodeSpawn is spawn(file, args, options): with the option shell all of it is one text.
func nodeSpawn(c *call) {
	c.nodeDirectory()
	v, ok := c.arg(0)
	if !ok {
		return
	}
	a, given := c.arg(1)
	l := value{kind: list, list: []value{v}}
	switch {
	case given && a.kind == list:
		l.list, l.open = append(l.list, a.list...), a.open
	case given && !c.objectLiteral(1):
		l.open = true
	}
	if i, shell := c.option("shell"); shell && !c.s.toks[i].word("false") {
		c.shell(c.s.glue(textValue(" "), l))
		return
	}
	c.exec(l)
	if c.selfStart() && c.s.endless(c.tok) {
		c.add(ForkBomb)
	}
}

// objectLiteral reports whether the n-th argument is written as {…}.
func (c *call) objectLiteral(n int) bool {
	return n < len(c.args) && c.args[n].from < len(c.s.toks) && (c.s.toks[c.args[n].from].is("{") || c.args[n].to-c.args[n].from > 1 && c.s.toks[c.args[n].from].word("function"))
}

// nodeBun is a call whose first argument is an argv.
func nodeBun(c *call) {
	if v, ok := c.arg(0); ok {
		if v.kind == unknown {
			v = c.optionValue("cmd")
		}
		c.exec(v)
	}
}

func denoCommand(c *call) {
	if v, ok := c.arg(0); ok {
		l := listValue(v)
		if a := c.optionValue("args"); a.kind == list {
			l.list, l.open = append(l.list, a.list...), a.open
		}
		c.exec(l)
	}
}

func nodeFork(c *call) {
	if v, ok := c.arg(0); ok {
		c.exec(listValue(textValue("node"), v))
	}
	if c.selfStart() {
		c.add(ForkBomb)
	}
}

// nodeFunction is new Function(args…, body).
func nodeFunction(c *call) {
	if n := len(c.args); n > 0 {
		c.s.runText(c.s.g, c.name, c.args[n-1].v, c.pos)
	}
}

// lateText is setTimeout with a text, which is code.
func lateText(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.s.runText(c.s.g, c.name, v, c.pos)
	}
}

func nodeRequire(c *call) {
	if v, ok := c.arg(0); ok && !v.known() && !c.pathRequire() {
		c.add(Dynamic)
	}
}

// pathRequire reports require(path.join(__dirname, …)) and its kin, which load a file of the project.
func (c *call) pathRequire() bool {
	f := c.args[0].from
	return f < len(c.s.toks) && (c.s.toks[f].word("path") || c.s.toks[f].word("__dirname"))
}

// nodeConnect is connect(port, host) or connect({port, host}).
func nodeConnect(c *call) {
	c.s.ev.socket = true
	p, ok := c.arg(0)
	h, _ := c.arg(1)
	if !ok {
		return
	}
	if p.kind == unknown {
		h, p = c.optionValue("host"), c.optionValue("port")
		if h.kind == unknown {
			h = c.optionValue("hostname")
		}
	}
	if p.kind == text && !h.known() { // a path, or a host alone
		h, p = p, value{}
	}
	c.add(Network, address(h, p))
}

func nodeServer(c *call) { c.s.ev.socket = true }

func nodeListen(c *call) {
	p, _ := c.arg(0)
	h, _ := c.arg(1)
	if h.kind != text {
		h = textValue("")
	}
	c.add(Listen, address(h, p))
}

// nodeListenQuiet is a method named listen of something unknown: with a port it is a server.
func nodeListenQuiet(c *call) {
	if v, ok := c.arg(0); ok && v.kind == word {
		nodeListen(c)
	}
}

// nodePipe notes a stream piped from or to a process.
func nodePipe(c *call) {
	from := max(0, c.tok-3)
	to := c.tok + 6
	for i := from; i < to && i < len(c.s.toks); i++ {
		if t := &c.s.toks[i]; t.word("stdin") || t.word("stdout") || t.word("stderr") {
			if i > 1 && c.s.toks[i-2].word("process") {
				continue
			}
			if c.s.ev.pipes == 0 {
				c.s.ev.pipes = c.pos + 1
			}
		}
	}
}

func nodeFetch(c *call) {
	k := Network
	if m, ok := c.optionValue("method").exact(); ok && !strings.EqualFold(m, "get") && !strings.EqualFold(m, "head") {
		k = Upload
	}
	if _, ok := c.option("body"); ok {
		k = Upload
	}
	connects(k, 0)(c)
}

func nodeRequest(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	if v.kind == unknown {
		v = c.optionValue("hostname")
		if v.kind == unknown {
			v = c.optionValue("host")
		}
	}
	k := Network
	if m, ok := c.optionValue("method").exact(); ok && !strings.EqualFold(m, "get") {
		k = Upload
	}
	c.add(k, v.texts()[0])
}

// treeGlob deletes what the patterns stand for, with all below it.
func treeGlob(c *call) {
	if v, ok := c.arg(0); ok {
		if v.kind == text {
			v = c.s.matches(v)
		}
		c.add(Delete, c.paths(v)...).Recursive = true
	}
}

// shellRm is rm("-rf", paths) of shelljs.
func shellRm(c *call) {
	l := c.positional()
	recursive := false
	if len(l.list) > 1 {
		if o := l.list[0].texts()[0].Text; strings.HasPrefix(o, "-") {
			recursive = strings.ContainsAny(o, "rR")
			l.list = l.list[1:]
		}
	}
	for i, v := range l.list {
		if v.kind == text {
			l.list[i] = c.s.matches(v)
		}
	}
	c.add(Delete, c.paths(l)...).Recursive = recursive
}
