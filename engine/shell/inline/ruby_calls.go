package inline

import "strings"

func rubyCalls() map[string]handler {
	m := map[string]handler{
		"`": shellText, "system": rubySystem, "exec": rubySystem, "spawn": rubySystem, "Process.spawn": rubySystem, "Process.exec": rubySystem,
		"IO.popen": rubyPopen, "PTY.spawn": rubySystem, "PTY.getpty": rubySystem, "syscall": dynamic,
		"open": rubyOpen, "IO.read": rubyRead, "IO.readlines": rubyRead, "File.read": touch(Read), "File.readlines": touch(Read), "File.binread": touch(Read),
		"File.foreach": touch(Read), "IO.write": touch(Write), "File.write": touch(Write), "File.binwrite": touch(Write), "IO.binwrite": touch(Write),
		"File.open": opens(0, 1, "r"), "File.new": opens(0, 1, "r"), "File.delete": touchAll(Delete), "File.unlink": touchAll(Delete),
		"Dir.rmdir": touch(Delete), "Dir.delete": touch(Delete), "Dir.unlink": touch(Delete), "Dir.mkdir": touch(Mkdir), "Dir.chdir": chdir,
		"File.rename": move, "File.chmod": perlChmod, "File.chown": perlChown, "File.symlink": linked, "File.link": linked, "File.truncate": touch(Write),
		pathName + ".delete": self(Delete, false), pathName + ".unlink": self(Delete, false), pathName + ".rmtree": self(Delete, true), pathName + ".rmdir": self(Delete, false),
		pathName + ".write": self(Write, false), pathName + ".read": self(Read, false), pathName + ".chmod": mode(-1, 0, false), "*.rmtree": selfUnknown(Delete),
		"eval": runs(0), "instance_eval": runText, "*.instance_eval": runText, "*.class_eval": runText, "*.module_eval": runText, "TOPLEVEL_BINDING.eval": runs(0), "binding.eval": runs(0),
		"load": touch(Read), "require": nil, "fork": forks, "Process.fork": forks, "Process.kill": signalFirst, "Process.daemon": plain(Fork),
		"send": rubySend, "*.send": rubySend, "*.__send__": rubySend, "*.public_send": rubySend, "__send__": rubySend, "method": rubySend,
		"TCPSocket.new": hostPort(Network, 0, 1), "TCPSocket.open": hostPort(Network, 0, 1), "UDPSocket.new": rawSocket, "Socket.tcp": hostPort(Network, 0, 1),
		"Socket.new": rawSocket, "TCPServer.new": rubyServer, "TCPServer.open": rubyServer, "Socket.tcp_server_loop": rubyServer, "*.reopen": duplicates,
		"*.gets": receives, "*.recv": receives, "IRB.start": plain(Spawn),
		"Net.HTTP.get": fetch(0), "Net.HTTP.get_response": fetch(0), "Net.HTTP.post": connects(Upload, 0), "Net.HTTP.post_form": connects(Upload, 0),
		"Net.HTTP.start": hostPort(Network, 0, 1), "URI.open": fetch(0), "OpenURI.open_uri": fetch(0), "HTTParty.get": fetch(0), "HTTParty.post": connects(Upload, 0),
		"ENV.to_h": plain(Env), "ENV.to_hash": plain(Env), "ENV.each": plain(Env), "ENV.inspect": plain(Env), "ENV.map": plain(Env), "puts": environment, "p": environment, "pp": environment,
	}
	addAll(m, rubySystem, "Open3.", "capture2 capture2e capture3 popen2 popen2e popen3 pipeline")
	for _, lib := range []string{"FileUtils.", ""} {
		addAll(m, treeAll(Delete), lib, "rm_rf rm_r rmtree remove_dir remove_entry remove_entry_secure")
		addAll(m, touchAll(Write), lib, "touch install")
	}
	addAll(m, touchAll(Delete), "FileUtils.", "rm rm_f remove rmdir safe_unlink")
	addAll(m, touchAll(Mkdir), "FileUtils.", "mkdir mkdir_p makedirs mkpath")
	addAll(m, move, "FileUtils.", "mv move")
	addAll(m, copied(false), "FileUtils.", "cp copy copy_file")
	addAll(m, copied(true), "FileUtils.", "cp_r copy_entry")
	addAll(m, linked, "FileUtils.", "ln ln_s ln_sf symlink link")
	m["FileUtils.chmod"], m["FileUtils.chmod_R"] = mode(1, 0, false), mode(1, 0, true)
	m["FileUtils.chown"], m["FileUtils.chown_R"] = touchAt(Chown, 2), chownTree(2)
	m["FileUtils.cd"] = chdir
	delete(m, "touch")
	delete(m, "install")
	return m
}

func chownTree(n int) handler {
	return func(c *call) {
		if v, ok := c.arg(n); ok {
			c.add(Chown, c.paths(v)...).Recursive = true
		}
	}
}

// rubySystem is system and its siblings: a hash of variables may stand before the command.
func rubySystem(c *call) {
	var in []argument
	for i, a := range c.args {
		if i == 0 && a.key == "" && a.from < len(c.s.toks) && c.s.toks[a.from].is("{") {
			continue
		}
		if a.key != "" && i == 0 { // "A" => "b" is not a command
			continue
		}
		in = append(in, a)
	}
	c.args = in
	// [:in, :out] => socket follows the command as a list that is no argument.
	l := c.positional()
	for i, v := range l.list {
		if i > 0 && v.kind == list {
			c.args = in[:i]
			break
		}
	}
	commandOrArgv(&call{s: c.s, name: c.name, args: c.args, tok: c.tok, pos: c.pos})
	if len(c.args) < len(in) { // what the rest redirects to may be a socket
		c.s.ev.command(&call{s: c.s, args: in, pos: c.pos}, l)
	}
}

// rubyPopen is IO.popen with a text or a list; "-" forks.
func rubyPopen(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	if t, ok := v.exact(); ok && t == "-" {
		forks(c)
		return
	}
	if v.kind == list {
		c.exec(v)
		return
	}
	c.shell(v)
}

// rubyOpen is Kernel#open: "|command" runs it, a URL is fetched, anything else is a file.
func rubyOpen(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	t := v.texts()[0].Text
	switch {
	case strings.HasPrefix(t, "|"):
		c.shell(c.s.mapText(v, v.decoded, func(t string) (string, bool) { return strings.TrimSpace(strings.TrimPrefix(t, "|")), true }))
	case strings.Contains(t, "://"):
		c.add(Network, v.texts()[0])
	default:
		opens(0, 1, "r")(c)
	}
}

func rubyRead(c *call) {
	if v, ok := c.arg(0); ok && strings.HasPrefix(v.texts()[0].Text, "|") {
		rubyOpen(c)
		return
	}
	touch(Read)(c)
}

// runText is eval with a text; a block is code that stands here anyway.
func runText(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.s.runText(c.s.g, c.name, v, c.pos)
	}
}

// rubySend is a call of the method that the first argument names.
func rubySend(c *call) {
	v, ok := c.arg(0)
	if !ok || len(c.args) == 0 {
		return
	}
	n, known := v.exact()
	if !known {
		if c.recv.kind == object && c.s.g.modules[c.recv.name] || c.recv.kind == unknown {
			c.add(Dynamic)
		}
		return
	}
	name := rubyName(n)
	if c.recv.kind == object && c.recv.name != "" {
		name = rubyName(c.recv.name + "." + n)
	}
	if h := c.s.handler(name); h != nil && name != "send" {
		h(&call{s: c.s, name: name, args: c.args[1:], tok: c.tok, pos: c.pos})
	}
}

// rubyServer is TCPServer.new(port) or (host, port).
func rubyServer(c *call) {
	c.s.ev.socket = true
	h, _ := c.arg(0)
	p, two := c.arg(1)
	if !two {
		h, p = textValue(""), h
	}
	c.add(Listen, address(h, p))
}

func rubyValues() map[string]evaluator {
	return map[string]evaluator{
		"Base64.decode64": decoder(decode64), "Base64.strict_decode64": decoder(decode64), "Base64.urlsafe_decode64": decoder(decode64),
		"text.reverse": onReceiver(backwards), "text.strip": receiver, "text.chomp": receiver, "text.to_s": receiver, "text.downcase": lower, "text.freeze": receiver,
		"text.to_sym": receiver, "text.gsub": replaced, "text.sub": replaced, "text.chr": func(s *scan, recv value, _ []argument) value { return characters(s, recv, []argument{{v: recv}}) },
		"text.join": func(s *scan, recv value, args []argument) value {
			sep := textValue("")
			if len(args) > 0 {
				sep = args[0].v
			}
			return s.glue(sep, recv)
		},
		"text.pack": func(s *scan, recv value, args []argument) value {
			f, _ := first(s, recv, args).exact()
			switch {
			case strings.HasPrefix(f, "H"):
				return s.mapText(element(recv), true, decodeHex)
			case strings.HasPrefix(strings.ToUpper(f), "C"), strings.HasPrefix(f, "U"):
				return characters(s, value{}, []argument{{v: recv}})
			}
			return value{decoded: true}
		},
		"text.unpack1": rubyUnpack, "text.unpack": rubyUnpack,
		"text.split": func(s *scan, recv value, args []argument) value {
			sep, _ := first(s, recv, args).exact()
			return s.words(recv, strings.TrimSpace(sep))
		},
		"File.join": pathJoin(false), "File.expand_path": func(s *scan, recv value, args []argument) value { return expandHome(s, first(s, recv, args)) },
		"Dir.home": constant(textValue(home)), "Dir.pwd": constant(textValue(".")), "Dir.glob": pattern, "Dir.[]": pattern, "Dir.children": entries, "Dir.each_child": entries, "Dir.entries": entries, "Dir.foreach": entries,
		"Pathname.glob":        func(s *scan, recv value, args []argument) value { return objectPath(pattern(s, recv, args)) },
		pathName + ".children": func(s *scan, recv value, _ []argument) value { return objectPath(s.below(recv, "*")) }, pathName + ".glob": pathGlob(""),
		"*.method": func(s *scan, recv value, args []argument) value {
			return s.member(recv, first(s, recv, args).texts()[0].Text)
		},
		"method": func(s *scan, _ value, args []argument) value {
			return s.imported(first(s, value{}, args).texts()[0].Text)
		}, "Dir.tmpdir": constant(textValue("/tmp")),
		"Pathname.new": func(s *scan, recv value, args []argument) value { return objectPath(first(s, recv, args)) },
		"Pathname":     func(s *scan, recv value, args []argument) value { return objectPath(first(s, recv, args)) },
		"URI":          first, "URI.parse": first, "Shellwords.split": func(s *scan, recv value, args []argument) value { return s.words(first(s, recv, args), "") },
	}
}

// objectPath is a text with the methods of a path.
func objectPath(v value) value { return pathValue(v) }

func rubyUnpack(s *scan, recv value, args []argument) value {
	f, _ := first(s, recv, args).exact()
	if strings.HasPrefix(f, "m") {
		return s.mapText(recv, true, decode64)
	}
	return value{decoded: true}
}
