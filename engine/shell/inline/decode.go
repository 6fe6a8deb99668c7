package inline

import "strings"

// first is the value of the first argument.
func first(_ *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	return args[0].v
}

// receiver is the value of what the method is called on.
func receiver(_ *scan, recv value, _ []argument) value { return recv }

// firstText is the first argument made a text.
func firstText(_ *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return textValue("")
	}
	v := args[0].v
	if v.kind == word {
		v.kind = text
	}
	return v
}

// glue joins the elements of l with sep.
func (s *scan) glue(sep, l value) value {
	if l.kind != list {
		return value{}
	}
	out := textValue("")
	for i, v := range l.list {
		if i > 0 {
			out = s.concat(out, sep)
		}
		out = s.concat(out, v)
	}
	if l.open {
		out = openText(out)
	}
	return out
}

// pathJoin joins its arguments to a path.
func pathJoin(restart bool) evaluator {
	return func(s *scan, _ value, args []argument) value {
		var parts []value
		for _, a := range args {
			if a.splat {
				parts = append(parts, value{})
				break
			}
			parts = append(parts, a.v)
		}
		return s.join(restart, parts...)
	}
}

// constant always returns v.
func constant(v value) evaluator { return func(*scan, value, []argument) value { return v } }

// words splits a text at blanks.
func (s *scan) words(v value, sep string) value {
	t, ok := v.exact()
	if !ok || !s.fold(8*len(t)) {
		return value{kind: list, open: true}
	}
	parts := strings.Fields(t)
	if sep != "" {
		parts = strings.Split(t, sep)
	}
	out := value{kind: list}
	for _, p := range parts {
		w := textValue(p)
		out.list = append(out.list, w)
	}
	return out
}
