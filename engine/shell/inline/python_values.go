package inline

import "strings"

// pythonValues is what functions return whose result can be known without running them.
func pythonValues() map[string]evaluator {
	return map[string]evaluator{
		"str": firstText, "list": first, "tuple": first, "sorted": first, "set": first,
		"compile": first, "os.fspath": first, "os.fsencode": first, "os.fsdecode": first, "shlex.quote": first, "pipes.quote": first,
		"pathlib.Path": pythonPath, "pathlib.PurePath": pythonPath, "pathlib.PosixPath": pythonPath, "py.path.local": pythonPath,
		"pathlib.Path.home": constant(pathValue(textValue(home))), "pathlib.Path.cwd": constant(pathValue(textValue("."))),
		"pathlib.Path().joinpath": pathMethod(func(s *scan, recv value, args []argument) value {
			return pathJoin(true)(s, recv, append([]argument{{v: recv}}, args...))
		}),
		"pathlib.Path().expanduser": pathMethod(func(s *scan, recv value, _ []argument) value { return expandHome(s, recv) }),
		"pathlib.Path().resolve":    pathMethod(receiver), "pathlib.Path().absolute": pathMethod(receiver), "pathlib.Path().as_posix": receiver,
		"pathlib.Path().glob": pathGlob(""), "pathlib.Path().rglob": pathGlob("**/"), "pathlib.Path().iterdir": func(s *scan, recv value, _ []argument) value { return pathValue(s.below(recv, "*")) },
		"os.path.join": pathJoin(true), "posixpath.join": pathJoin(true), "os.path.abspath": first, "os.path.realpath": first, "os.path.normpath": first,
		"os.path.expanduser": func(s *scan, _ value, args []argument) value { return expandHome(s, first(s, value{}, args)) },
		"os.getcwd":          constant(textValue(".")), "tempfile.gettempdir": constant(textValue("/tmp")),
		"os.getenv": pythonGetenv, "os.environ.get": pythonGetenv, "glob.glob": pattern, "glob.iglob": pattern, "os.walk": listed("**"), "os.scandir": func(s *scan, recv value, args []argument) value { return pathValue(listed("*")(s, recv, args)) },
		"pathlib.Path().walk": func(s *scan, recv value, _ []argument) value { return pathValue(s.below(recv, "**")) },
		"os.listdir":          entries,
		"text.strip":          receiver, "text.rstrip": receiver, "text.encode": receiver,
		"text.join": func(s *scan, recv value, args []argument) value {
			if len(args) != 1 {
				return value{}
			}
			return s.glue(recv, args[0].v)
		},
		"text.format": func(s *scan, recv value, args []argument) value { return s.format(recv, argList(args).list, braces) },
		"text.split": func(s *scan, recv value, args []argument) value {
			if len(args) == 0 {
				return s.words(recv, "")
			}
			sep, _ := args[0].v.exact()
			return s.words(recv, sep)
		},
		"shlex.split": func(s *scan, recv value, args []argument) value { return s.words(first(s, recv, args), "") },

		"__import__": pythonImported, "importlib.import_module": pythonImported, "importlib.__import__": pythonImported,
		"eval": pythonEval, "getattr": pythonGetattr, "vars": first, "globals": constant(objectValue("globals()")), "locals": constant(objectValue("locals()")),
		"tempfile.mkdtemp": pythonTemporary(prefixValue("/tmp/")), "tempfile.mktemp": pythonTemporary(prefixValue("/tmp/")),
		"tempfile.mkstemp":            pythonTemporary(listValue(value{}, prefixValue("/tmp/"))),
		"tempfile.NamedTemporaryFile": pythonTemporary(objectValue("tempfile.NamedTemporaryFile()")),
		// As a context manager it gives the name of the directory, otherwise an object; both serve as a path.
		"tempfile.TemporaryDirectory": pythonTemporary(prefixValue("/tmp/")),
	}
}

// pythonTemporary is v, unless the caller chooses the directory.
func pythonTemporary(v value) evaluator {
	return func(_ *scan, _ value, args []argument) value {
		for _, a := range args {
			if a.key == "dir" {
				return value{}
			}
		}
		return v
	}
}

func pythonPath(s *scan, recv value, args []argument) value {
	if len(args) == 0 {
		return pathValue(textValue("."))
	}
	return pathValue(pathJoin(true)(s, recv, args))
}

func pathMethod(f evaluator) evaluator {
	return func(s *scan, recv value, args []argument) value { return pathValue(f(s, recv, args)) }
}

// pathGlob is path.glob(PATTERN) and, with "**/", path.rglob(PATTERN).
func pathGlob(deep string) evaluator {
	return func(s *scan, recv value, args []argument) value {
		p := s.concat(textValue(deep), first(s, recv, args))
		return pathValue(s.matches(s.join(false, recv, p)))
	}
}

// expandHome replaces a leading ~ by the home directory.
func expandHome(s *scan, v value) value {
	out := v
	out.alts = nil
	for _, a := range v.alts {
		if strings.HasPrefix(a.Text, "~") {
			a.Text = home + a.Text[1:]
		}
		out.alts = append(out.alts, a)
	}
	return out
}

// pythonGetenv knows the home directory only.
func pythonGetenv(_ *scan, _ value, args []argument) value {
	if len(args) > 0 {
		if k, ok := args[0].v.exact(); ok && k == "HOME" {
			return textValue(home)
		}
	}
	return value{}
}

func pythonImported(s *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	n, ok := args[0].v.exact()
	if !ok {
		return value{}
	}
	return objectValue(s.canonical(n))
}

// pythonEval is the value of a text that is nothing but a name.
func pythonEval(s *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	t, ok := args[0].v.exact()
	if !ok || !isName(strings.ReplaceAll(t, ".", "")) {
		return value{}
	}
	return objectValue(s.canonical(t))
}

func pythonGetattr(s *scan, _ value, args []argument) value {
	if len(args) < 2 {
		return value{}
	}
	n, ok := args[1].v.exact()
	if !ok {
		return value{}
	}
	return s.member(args[0].v, n)
}
