package inline

func nodeValues() map[string]evaluator {
	imported := func(s *scan, _ value, args []argument) value {
		if len(args) == 0 {
			return value{}
		}
		n, ok := args[0].v.exact()
		if !ok {
			return value{}
		}
		return objectValue(nodeName(n))
	}
	return map[string]evaluator{
		"require": imported, "Java.type": imported, "import": imported, "process.getBuiltinModule": imported, "String": firstText, "util.promisify": first,
		"fs.readdirSync": entries, "*.readdirSync": entries, "fs.readdir": entries, "fs.globSync": pattern, "fs.glob": pattern, "glob.sync": pattern, "glob.globSync": pattern, "glob": pattern, "fast-glob.sync": pattern, "fast-glob": pattern, "globby.sync": pattern, "globby": pattern, "tiny-glob": pattern,
		"String.fromCharCode": characters, "String.fromCodePoint": characters, "atob": decoder(decode64), "unescape": decoder(decodeURL),
		"decodeURIComponent": decoder(decodeURL), "decodeURI": decoder(decodeURL),
		"Buffer.from": func(s *scan, recv value, args []argument) value {
			if len(args) == 0 {
				return value{}
			}
			if args[0].v.kind == list {
				return characters(s, recv, args[:1])
			}
			return s.decodeBy(args[0].v, args, 1)
		},
		"text.toString": receiver, "text.trim": receiver, "text.toLowerCase": lower, "text.replace": replaced, "text.replaceAll": replaced,
		"text.concat": func(s *scan, recv value, args []argument) value {
			for _, a := range args {
				recv = s.concat(recv, a.v)
			}
			return recv
		},
		"text.split": func(s *scan, recv value, args []argument) value {
			if len(args) == 0 {
				return listValue(recv)
			}
			sep, _ := args[0].v.exact()
			return splitText(s, recv, sep)
		},
		"text.join": func(s *scan, recv value, args []argument) value {
			sep := textValue(",")
			if len(args) > 0 {
				sep = args[0].v
			}
			return s.glue(sep, recv)
		},
		"text.reverse": onReceiver(backwards),
		"path.join":    pathJoin(false), "path.resolve": pathJoin(true), "path.normalize": first, "os.homedir": constant(textValue(home)),
		"os.tmpdir": constant(textValue("/tmp")), "process.cwd": constant(textValue(".")), "URL": first,
	}
}

// splitText cuts a text at a separator; at "" into its characters.
func splitText(s *scan, v value, sep string) value {
	if sep != "" {
		return s.words(v, sep)
	}
	t, ok := v.exact()
	if !ok || !s.fold(64*len(t)) {
		return value{kind: list, open: true}
	}
	out := value{kind: list}
	for _, r := range t {
		out.list = append(out.list, textValue(string(r)))
	}
	return out
}
