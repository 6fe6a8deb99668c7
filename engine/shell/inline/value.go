package inline

import (
	"strconv"
	"strings"
)

// valueKind is the kind of knowledge of a value. The zero value is nothing.
type valueKind uint8

const (
	unknown valueKind = iota
	text              // one of alts
	word              // a number, True, None: alts holds its spelling
	list              // elements; open when there may be more
	object            // a module, function or instance, by its qualified name
)

// value is what an expression may be.
type value struct {
	kind valueKind
	alts []Arg
	list []value
	open bool
	name string // qualified: "os", "os.system", "socket.socket()"
}

// pathName is the type of path objects: texts that join with a slash and have methods.
const pathName = "pathlib.Path()"

func textValue(s string) value   { return value{kind: text, alts: []Arg{{Text: s, Exact: true}}} }
func prefixValue(s string) value { return value{kind: text, alts: []Arg{{Text: s}}} }
func wordValue(s string) value   { return value{kind: word, alts: []Arg{{Text: s, Exact: true}}} }
func listValue(l ...value) value { return value{kind: list, list: l} }

func objectValue(name string) value {
	if name == "" || len(name) > 160 { // no table knows a longer name, and it would grow with every member
		return value{}
	}
	return value{kind: object, name: name}
}

func pathValue(v value) value {
	if v.kind != text {
		v = value{kind: text, alts: []Arg{{}}}
	}
	v.name = pathName
	return v
}

// texts returns what the value may be as text; one unknown Arg when nothing is known.
func (v value) texts() []Arg {
	if (v.kind == text || v.kind == word) && len(v.alts) > 0 {
		return v.alts
	}
	return []Arg{{}}
}

// exact returns the text when there is exactly one and it is known.
func (v value) exact() (string, bool) {
	if (v.kind == text || v.kind == word) && len(v.alts) == 1 && v.alts[0].Exact {
		return v.alts[0].Text, true
	}
	return "", false
}

// known reports whether something of the value is known.
func (v value) known() bool {
	for _, a := range v.texts() {
		if a.Exact || a.Text != "" {
			return true
		}
	}
	return v.kind == list
}

// number returns the value of an integer literal in the notations of the supported languages.
func (v value) number() (int, bool) {
	s, ok := v.exact()
	if !ok || v.kind != word {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 32)
	return int(n), err == nil
}

// truth says whether a value is true in a condition; known is false when that is not known.
func (v value) truth() (yes, known bool) {
	s, ok := v.exact()
	if !ok {
		return false, false
	}
	switch strings.ToLower(s) {
	case "", "0", "false", "none", "nil", "null", "undefined", "f":
		return false, true
	}
	return true, true
}

// concat joins two values, within the budget.
func (s *scan) concat(a, b value) value {
	if a.kind == list && b.kind == list {
		if !s.fold(64 * (len(a.list) + len(b.list))) {
			return value{}
		}
		joined := append(append([]value{}, a.list...), b.list...)
		return value{kind: list, list: joined, open: a.open || b.open}
	}
	if a.kind == list || b.kind == list { // one of them is a list that is not known
		l := a
		if b.kind == list {
			l = value{kind: list}
		}
		l.open = true
		return l
	}
	out := value{kind: text, name: a.name}
	if a.kind == object {
		out.name = ""
	}
	for _, x := range a.texts() {
		if !x.Exact && !x.Glob {
			out.alts = append(out.alts, x)
			continue
		}
		for _, y := range b.texts() {
			if len(x.Text)+len(y.Text) > maxText || !s.fold(len(x.Text)+len(y.Text)) {
				out.alts = append(out.alts, Arg{Text: x.Text})
				continue
			}
			if x.Glob && !y.Exact && !y.Glob { // a part of a name that is not known: any
				y = Arg{Text: y.Text + "*", Glob: true}
			}
			out.alts = append(out.alts, Arg{Text: x.Text + y.Text, Exact: x.Exact && y.Exact, Glob: x.Glob || y.Glob})
		}
	}
	return limitAlts(out)
}

// join joins path elements; an absolute element starts over when restart is set.
func (s *scan) join(restart bool, parts ...value) value {
	if len(parts) == 0 {
		return textValue("")
	}
	out := parts[0]
	for _, p := range parts[1:] {
		if e, ok := p.exact(); ok && strings.HasPrefix(e, "/") && restart {
			out = p
			continue
		}
		sep := textValue("/")
		if e, ok := out.exact(); ok && (e == "" || strings.HasSuffix(e, "/")) {
			sep = textValue("")
		}
		out = s.concat(s.concat(out, sep), p)
	}
	return out
}

// union is the value of something that is a or b.
func union(a, b value) value {
	switch {
	case a.kind == unknown && b.kind == object, a.kind == object && b.kind == unknown:
		if a.kind == unknown {
			return b
		}
		return a
	case a.kind == list && b.kind == list:
		return value{kind: list, list: append(append([]value{}, a.list...), b.list...), open: true}
	case a.kind == object || b.kind == object || a.kind == list || b.kind == list:
		return value{}
	}
	kind := text
	if a.kind == word && b.kind == word {
		kind = word
	}
	out := value{kind: kind, name: a.name}
	out.alts = append(append(out.alts, a.texts()...), b.texts()...)
	return limitAlts(out)
}

// limitAlts drops repeated alternatives; too many of them count as not known.
func limitAlts(v value) value {
	var out []Arg
next:
	for _, a := range v.alts {
		for _, b := range out {
			if a == b {
				continue next
			}
		}
		if len(out) == maxAlts {
			out = append(out[:maxAlts-1:maxAlts-1], Arg{})
			break
		}
		out = append(out, a)
	}
	v.alts = out
	return v
}

// fold takes n bytes from the budget for texts that are put together.
func (s *scan) fold(n int) bool {
	s.b.fold += n
	return s.b.fold <= maxFold
}

// format fills the placeholders of a format text as far as the values are known.
func (s *scan) format(f value, args []value, next func(string) (before, after string, ok bool)) value {
	form, ok := f.exact()
	if !ok {
		return f
	}
	out := textValue("")
	for n := 0; ; n++ {
		before, after, found := next(form)
		out = s.concat(out, textValue(before))
		if !found || n >= 64 {
			if found {
				out = s.concat(out, value{})
			}
			break
		}
		v := value{}
		if n < len(args) {
			v = args[n]
		}
		if code, ok := v.number(); ok && character(form[len(before):len(form)-len(after)]) {
			v = textValue(string(rune(code)))
		}
		out = s.concat(out, v)
		form = after
	}
	return out
}

// character reports a placeholder that writes a number as the character of that code: %c, {:c}.
func character(placeholder string) bool {
	return strings.HasPrefix(placeholder, "%") && strings.HasSuffix(placeholder, "c") || strings.Contains(placeholder, ":") && strings.HasSuffix(placeholder, "c}")
}

// percent finds the next %-placeholder.
func percent(s string) (before, after string, ok bool) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s, "", false
	}
	j := i + 1
	for j < len(s) && strings.IndexByte("0123456789.-+ #", s[j]) >= 0 {
		j++
	}
	return s[:i], s[min(j+1, len(s)):], true
}

// braces finds the next {}-placeholder.
func braces(s string) (before, after string, ok bool) {
	i := strings.IndexByte(s, '{')
	if i < 0 {
		return s, "", false
	}
	j := strings.IndexByte(s[i:], '}')
	if j < 0 {
		return s, "", false
	}
	return s[:i], s[i+j+1:], true
}
