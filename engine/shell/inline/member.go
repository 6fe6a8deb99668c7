package inline

import "strings"

// member is v.name.
func (s *scan) member(v value, name string) value {
	switch {
	case v.kind == object:
		full := s.canonical(v.name + "." + name)
		if c, ok := s.g.constants[full]; ok {
			return c
		}
		return objectValue(full)
	case v.kind == text && v.name == pathName && name == "path": // of an entry of os.scandir
		return v
	case v.kind == text && v.name == pathName:
		return objectValue(pathName + "." + name)
	case v.kind == text, v.kind == list, v.kind == word:
		return objectValue("text." + name)
	default:
		return objectValue("?." + name)
	}
}

// index is v[…].
func (s *scan) index(v value, open int) value {
	args := s.arguments(open)
	if len(args) != 1 {
		return value{}
	}
	key := args[0].v
	if v.kind == list {
		if n, ok := key.number(); ok && !v.open {
			if n < 0 {
				n += len(v.list)
			}
			if n >= 0 && n < len(v.list) {
				return v.list[n]
			}
		}
		return value{}
	}
	if v.kind == object {
		if k, ok := key.exact(); ok && key.kind == text {
			return s.memberByKey(v, k)
		}
		if s.g.modules[v.name] {
			return objectValue("?[]")
		}
	}
	return value{}
}

// memberByKey is module["name"] and its kin.
func (s *scan) memberByKey(v value, key string) value {
	switch {
	case key == "HOME" && environments[v.name]:
		return textValue(home)
	case environments[v.name]:
		return value{}
	case strings.HasPrefix(v.name, "globals()"), strings.HasPrefix(v.name, "locals()"), v.name == "vars()":
		return s.lookup(key, 0)
	}
	name := strings.TrimSuffix(v.name, ".__dict__")
	return objectValue(s.canonical(name + "." + key))
}

// environments are the objects that hold the variables of the process.
var environments = map[string]bool{"os.environ": true, "ENVIRON": true}

// canonical spells a qualified name in the way in which the tables know it.
func (s *scan) canonical(name string) string {
	if s.g.canonical != nil {
		return s.g.canonical(name)
	}
	return name
}

// Names of files that a pattern or a directory gives. A program that deletes what they stand
// for deletes more than one file, so they are kept as patterns, as a shell would write them.

// pattern is glob(PATTERN).
func pattern(s *scan, _ value, args []argument) value { return s.matches(first(s, value{}, args)) }

// matches are the names that v, a pattern, stands for.
func (s *scan) matches(v value) value {
	if v.kind == list {
		v = element(v)
	}
	if v.kind != text {
		return value{}
	}
	out := v
	out.alts = nil
	for _, a := range v.alts {
		wild := strings.IndexAny(a.Text, "*?[{")
		switch {
		case !a.Exact && !a.Glob && wild >= 0:
			a.Text = a.Text[:wild]
		case wild >= 0:
			if i := strings.IndexByte(a.Text, '{'); i >= 0 { // alternatives, which are no pattern of the shell's
				a.Text = a.Text[:i] + "*"
			}
			a.Exact, a.Glob = false, true
		}
		out.alts = append(out.alts, a)
	}
	return out
}

// below are the names at rest below the directory dir. A program with a condition in it may
// pick some of them; then only where they are is known.
func (s *scan) below(dir value, rest string) value {
	if dir.kind != text {
		return value{}
	}
	out := dir
	out.alts = nil
	for _, a := range dir.alts {
		switch {
		case !a.Exact && !a.Glob:
		case s.picks():
			a = Arg{Text: strings.TrimSuffix(a.Text, "/") + "/", Glob: a.Glob}
			if a.Glob {
				a.Text += "*"
			}
		default:
			a = Arg{Text: strings.TrimSuffix(a.Text, "/") + "/" + rest, Glob: true}
		}
		out.alts = append(out.alts, a)
	}
	return out
}

// listed are the paths of what is in the directory that the first argument names.
func listed(rest string) evaluator {
	return func(s *scan, _ value, args []argument) value {
		dir := textValue(".")
		if len(args) > 0 {
			dir = args[0].v
		}
		return s.below(dir, rest)
	}
}

// entries are the bare names of what is in some directory.
func entries(s *scan, _ value, _ []argument) value {
	if s.picks() {
		return value{kind: list, open: true}
	}
	return value{kind: text, alts: []Arg{{Text: "*", Glob: true}}}
}

// picks reports a program in which something depends on a condition.
func (s *scan) picks() bool {
	if s.chooses == nil {
		found := false
		for i := range s.toks {
			found = found || s.toks[i].kind == tokIdent && conditions[s.toks[i].text] || s.toks[i].kind == tokRegex
		}
		s.chooses = &found
	}
	return *s.chooses
}

var conditions = set("if unless when case switch filter select reject grep endswith endsWith startswith startsWith fnmatch match")
