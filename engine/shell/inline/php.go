package inline

import "strings"

// phpGrammar is PHP, with or without its tags.
func phpGrammar() *grammar {
	return &grammar{
		name:         "php",
		lineComments: []string{"//", "#"},
		blockOpen:    "/*",
		blockClose:   "*/",
		sigils:       "$",
		operators:    []string{"<=>", "===", "!==", "**=", "...", "??=", "=>", "?->", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "??", ".=", "+=", "-=", "++", "--", "**", "<<", ">>"},
		spelling:     map[string]string{"->": ".", "?->": ".", "::": ".", "\\": ".", ".": "+"},
		keywords:     ":",
		terminators:  set("as"),
		functions:    true,
		strings:      phpString,
		start:        phpTag,
		bind:         genericBind,
		canonical:    phpName,
		calls:        phpCalls(),
		values:       phpValues(),
	}
}

// phpName makes function names lower case, as the language does.
func phpName(name string) string {
	if strings.HasPrefix(name, "$") {
		return name
	}
	return strings.ToLower(name)
}

// phpTag skips the text in front of the first opening tag.
func phpTag(l *lexer) {
	if n := strings.Index(l.src, "<?"); n >= 0 && !strings.Contains(l.src[:n], ";") {
		l.i = n + 2
		for _, w := range []string{"php", "="} {
			if l.has(w) {
				l.i += len(w)
				break
			}
		}
	}
}

func phpString(l *lexer) bool {
	switch l.src[l.i] {
	case '"':
		return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escC, inter: interSigil}})
	case '\'':
		return l.quoted(map[byte]literal{'\'': {closer: "'", esc: escSingle}})
	case '`':
		return l.backtick(interSigil)
	case '<':
		return l.has("<<<") && l.hereStart("<<<", escC, interSigil)
	case '?': // text between ?> and <?php is printed, not run
		if !l.has("?>") {
			return false
		}
		n := strings.Index(l.src[l.i:], "<?")
		from := l.i
		if n < 0 {
			l.i = len(l.src)
		} else {
			l.i += n + 2
			if l.has("php") {
				l.i += 3
			}
		}
		l.addOp(";", from)
		return true
	}
	return false
}

func phpCalls() map[string]handler {
	m := map[string]handler{
		"`": shellText, "popen": shellText, "proc_open": phpProcOpen, "pcntl_exec": phpExec, "expect_popen": shellText,
		"unlink": touch(Delete), "rmdir": touch(Delete), "rename": move, "copy": copied(false), "mkdir": touch(Mkdir), "touch": touch(Write), "ftruncate": nil,
		"file_put_contents": phpPut, "fopen": phpOpen, "file_get_contents": phpGet, "file": phpGet, "readfile": phpGet, "highlight_file": touch(Read), "show_source": touch(Read),
		"chmod": mode(0, 1, false), "chown": touch(Chown), "chgrp": touch(Chown), "symlink": linked, "link": linked, "chdir": chdir,
		"move_uploaded_file": move, "parse_ini_file": touch(Read), "simplexml_load_file": touch(Read), "sqlite_open": touch(Write),
		"eval": runs(0), "assert": runTextOnly, "create_function": phpCreate, "include": phpInclude, "require": phpInclude, "include_once": phpInclude, "require_once": phpInclude,
		"call_user_func": phpCallUser, "call_user_func_array": phpCallUser, "array_map": phpCallUser, "usort": nil, "preg_replace": nil,
		"fsockopen": hostPort(Network, 0, 1), "pfsockopen": hostPort(Network, 0, 1), "stream_socket_client": phpStream(Network), "stream_socket_server": phpStream(Listen),
		"socket_create": rawSocket, "socket_connect": hostPort(Network, 1, 2), "socket_bind": hostPort(Listen, 1, 2), "socket_read": receives, "fgets": receives, "fread": receives,
		"curl_init": fetch(0), "curl_setopt": phpCurl, "mail": plain(Upload), "dl": dynamic, "pcntl_fork": forks, "posix_kill": signal,
		"getenv": phpGetenv, "print_r": environment, "var_dump": environment, "json_encode": environment, "http_build_query": environment,
	}
	addAll(m, shellText, "", "system exec shell_exec passthru")
	return m
}

// phpProcOpen is proc_open(command, descriptors): three times the same variable is a socket.
func phpProcOpen(c *call) {
	if v, ok := c.arg(0); ok {
		if v.kind == list {
			c.exec(v)
		} else {
			c.shell(v)
		}
	}
	if len(c.args) > 1 {
		a := c.args[1]
		if a.to-a.from >= 3 && c.s.toks[a.from].is("[") && c.s.toks[a.from+1].kind == tokIdent && strings.HasPrefix(c.s.toks[a.from+1].text, "$") && c.s.toks[a.from+2].is(",") {
			duplicates(c)
		}
	}
}

func phpExec(c *call) {
	p, ok := c.arg(0)
	a, _ := c.arg(1)
	if ok {
		l := listValue(p)
		l.list = append(l.list, a.list...)
		l.open = a.open
		c.exec(l)
	}
}

// phpPut is file_put_contents, which appends with a flag.
func phpPut(c *call) {
	k := Write
	if len(c.args) > 2 && c.s.toks[c.args[2].from].word("FILE_APPEND") {
		k = Append
	}
	c.phpFile(k)
}

// phpFile reports a file, or a connection where the name is a URL.
func (c *call) phpFile(k Kind) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	t := v.texts()[0].Text
	switch {
	case strings.HasPrefix(t, "php://"), strings.HasPrefix(t, "data:"):
	case strings.Contains(t, "://") && !strings.HasPrefix(t, "file://"):
		if k != Read {
			k = Upload
		} else {
			k = Network
		}
		c.add(k, v.texts()[0])
	default:
		c.add(k, c.paths(v)...)
	}
}

func phpOpen(c *call) {
	m, _ := c.arg(1)
	for _, k := range accesses(m) {
		c.phpFile(k)
	}
}

func phpGet(c *call) { c.phpFile(Read) }

// phpInclude runs a file; one whose name is not known, or that is remote, is code that is not known.
func phpInclude(c *call) {
	c.phpFile(Read)
	if v, _ := c.arg(0); !v.known() || strings.Contains(v.texts()[0].Text, "://") || strings.HasPrefix(v.texts()[0].Text, "data:") {
		c.add(Dynamic)
	}
}

// runTextOnly is a function that runs its argument when it is a text.
func runTextOnly(c *call) {
	if v, ok := c.arg(0); ok && v.kind == text {
		c.s.runText(c.s.g, c.name, v, c.pos)
	}
}

func phpCreate(c *call) { runs(1)(c) }

// phpCallUser calls the function that the first argument names.
func phpCallUser(c *call) {
	v, ok := c.arg(0)
	if !ok {
		return
	}
	n, known := v.exact()
	if !known {
		if v.kind == unknown || v.kind == object && strings.HasPrefix(v.name, "$") {
			c.add(Dynamic)
		}
		return
	}
	args := c.args[1:]
	if len(args) == 1 && args[0].v.kind == list {
		args = nil
		for _, e := range c.args[1].v.list {
			args = append(args, argument{v: e, from: c.tok, to: c.tok})
		}
	}
	if h := c.s.handler(phpName(n)); h != nil && !strings.HasPrefix(phpName(n), "call_user") && phpName(n) != "array_map" {
		h(&call{s: c.s, name: phpName(n), args: args, tok: c.tok, pos: c.pos})
	}
}

// phpStream is stream_socket_client("tcp://host:port").
func phpStream(k Kind) handler {
	return func(c *call) {
		v, ok := c.arg(0)
		if !ok {
			return
		}
		c.s.ev.socket = true
		a := v.texts()[0]
		if i := strings.Index(a.Text, "://"); i >= 0 {
			a.Text = a.Text[i+3:]
		}
		c.add(k, a)
	}
}

// phpCurl is curl_setopt: the URL, and what is posted to it.
func phpCurl(c *call) {
	if len(c.args) < 3 || c.args[1].from >= len(c.s.toks) {
		return
	}
	switch c.s.toks[c.args[1].from].text {
	case "CURLOPT_URL":
		c.add(Network, c.args[2].v.texts()[0])
	case "CURLOPT_POSTFIELDS", "CURLOPT_INFILE":
		c.add(Upload, Arg{})
	}
}

func phpGetenv(c *call) {
	if len(c.args) == 0 {
		c.add(Env)
	}
}

func phpValues() map[string]evaluator {
	return map[string]evaluator{
		"base64_decode": decoder(decode64), "str_rot13": decoder(rot13), "strrev": decoder(reverse), "hex2bin": decoder(decodeHex), "urldecode": decoder(decodeURL),
		"rawurldecode": decoder(decodeURL), "chr": characters, "strtolower": lowerArg, "trim": first, "escapeshellarg": first, "escapeshellcmd": first, "realpath": first,
		"gzinflate": constant(value{decoded: true}), "gzuncompress": constant(value{decoded: true}), "str_replace": func(s *scan, recv value, args []argument) value {
			if len(args) < 3 {
				return value{}
			}
			return replaced(s, args[2].v, args)
		},
		"sprintf": func(s *scan, _ value, args []argument) value {
			if len(args) == 0 {
				return value{}
			}
			return s.format(args[0].v, argList(args[1:]).list, percent)
		},
		"implode": phpImplode, "join": phpImplode, "array": func(_ *scan, _ value, args []argument) value { return argList(args) },
		"glob": pattern, "scandir": entries, "readdir": entries, "getcwd": constant(textValue(".")), "sys_get_temp_dir": constant(textValue("/tmp")), "getenv": pythonGetenv,
	}
}

func phpImplode(s *scan, _ value, args []argument) value {
	switch len(args) {
	case 1:
		return s.glue(textValue(""), args[0].v)
	case 2:
		return s.glue(args[0].v, args[1].v)
	}
	return value{}
}
