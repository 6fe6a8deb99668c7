package inline

import "strings"

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
