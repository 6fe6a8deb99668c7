package inline

import "strings"

// powershellGrammar is PowerShell, as far as commands and their usual aliases go.
func powershellGrammar() *grammar {
	g := wordGrammar("powershell", []string{"#"}, func(l *lexer) bool {
		from := l.i
		switch c := l.src[l.i]; c {
		case '"':
			l.i++
			text, pieces := l.read(literal{closer: `"`, inter: interSigil})
			l.add(tokString, text, pieces, from)
			return true
		case '\'':
			return l.quoted(map[byte]literal{'\'': {closer: "'"}})
		case '(', ')', '{', '}', ';', '|', ',', '&':
			return false
		}
		return l.blankWord("(){};|,\"'", "$")
	}, powershellCommand)
	g.blockOpen, g.blockClose = "<#", "#>"
	return g
}

func powershellCommand(s *scan, toks []token) {
	for len(toks) > 1 && (toks[0].is("&") || toks[0].is(",") || toks[0].text == ".") {
		toks = toks[1:]
	}
	if len(toks) > 2 && toks[1].text == "=" { // $x = command
		toks = toks[2:]
	}
	name := strings.ToLower(toks[0].text)
	c := wordCall(s, toks[0].text, toks, 1)
	named := powershellNamed(c)
	switch name {
	case "remove-item", "ri", "rm", "rmdir", "del", "erase", "rd", "clear-content":
		out := c.add(Delete, c.paths(c.positional())...)
		out.Recursive = named["recurse"] || named["r"] || named["rec"]
	case "set-content", "out-file", "new-item", "sc", "ni", "tee-object":
		touch(Write, "path", "filepath", "name")(c)
	case "add-content", "ac":
		touch(Append, "path")(c)
	case "get-content", "gc", "cat", "type":
		touch(Read, "path")(c)
	case "move-item", "mi", "mv", "move", "rename-item", "ren":
		move(c)
	case "copy-item", "cp", "copy", "ci":
		copied(named["recurse"])(c)
	case "invoke-expression", "iex":
		if v, ok := c.arg(0, "command"); ok && len(toks) == 2 {
			s.runText(s.g, c.name, v, c.pos)
		} else {
			c.add(Dynamic)
		}
	case "invoke-webrequest", "iwr", "curl", "wget", "invoke-restmethod", "irm":
		k := Network
		if _, ok := c.arg(-1, "body", "infile"); ok {
			k = Upload
		}
		connects(k, 0, "uri")(c)
		if v, ok := c.arg(-1, "outfile"); ok {
			c.add(Write, c.paths(v)...)
		}
	case "start-process", "saps", "start", "invoke-item", "ii":
		argv(c)
	case "stop-process", "kill", "spps":
		signal(c)
	case "set-location", "cd", "sl":
		chdir(c)
	default:
		powershellOther(s, c, name, toks)
	}
}

// powershellOther are programs from outside, and the .NET calls that are used like commands.
func powershellOther(s *scan, c *call, name string, toks []token) {
	switch {
	case strings.Contains(name, "tcpclient") || strings.Contains(strings.ToLower(lastText(toks)), "net.sockets.tcpclient"):
		s.ev.socket = true
		c.add(Socket)
	case strings.Contains(name, ".downloadstring") || strings.Contains(name, ".downloadfile"):
		c.add(Network, Arg{})
	case strings.HasPrefix(name, "["), strings.HasPrefix(name, "-"), strings.HasPrefix(name, "$"), name == "", toks[0].kind != tokIdent:
	case strings.Contains(name, "-"), powershellWords[name]: // a cmdlet or a word of the language
	default:
		c.args = append([]argument{{v: textValue(toks[0].text)}}, c.args...)
		if isIdentStart(name[0]) || name[0] == '.' || name[0] == '/' {
			argv(c)
		}
	}
}

func lastText(toks []token) string { return toks[len(toks)-1].text }

var powershellWords = set("if else elseif for foreach while do switch try catch finally function param return begin process end echo write ls dir pwd select where sort measure exit break continue throw true false")

// powershellNamed takes the parameters out of a command: those with a value become keywords,
// and the set of all names, in lower case, is returned.
func powershellNamed(c *call) map[string]bool {
	names := map[string]bool{}
	var out []argument
	for i := 0; i < len(c.args); i++ {
		t := c.args[i].v.texts()[0].Text
		if len(t) < 2 || t[0] != '-' || !isIdentStart(t[1]) {
			out = append(out, c.args[i])
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(t[1:], ":"))
		names[name] = true
		switch name {
		case "path", "literalpath", "filepath", "uri", "outfile", "infile", "body", "name", "destination", "command", "method":
			if i+1 < len(c.args) {
				i++
				if name == "destination" || name == "literalpath" {
					out = append(out, c.args[i])
				} else {
					out = append(out, argument{key: name, v: c.args[i].v})
					if name == "path" {
						out = append(out, argument{v: c.args[i].v})
					}
				}
			}
		}
	}
	c.args = out
	return names
}
