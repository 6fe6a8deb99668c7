package inline

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A plain language is read by its words: each name of its table that is called, or only mentioned, tells what the
// program may do. Arguments are known where they are literals. Nothing is computed, and no variable is followed: what
// a program reaches in another way, or runs out of a value, is Dynamic. Names count wherever they stand, in strings
// and comments too, for the text of a string may be run.
type lexicon struct {
	rules map[string]rule // by name: "unlink", "File.delete" behind that qualifier, "*.execSync" behind any or none
	shape
	loose     bool   // a word followed by values is a call: no brackets are needed
	backticks bool   // `…` is run by a shell
	mentions  bool   // a name that is not called may be called later
	folds     bool   // case does not matter in names
	tilde     bool   // file functions take a leading ~ for the home directory
	env       string // the name of the whole environment
	indirect  string // endings of text behind which a bracket calls a value that is not known: "$x(", "]("
}

// shape is how literals and names of a language are written.
type shape struct {
	ident string // characters of names besides letters, digits and _
	quote string // characters that open a literal
	value string // characters that begin a value in a literal: "$#"
}

// rule is the effect of a call.
type rule struct {
	kind Kind
	at   int    // the argument that it is about, counted from 0; later ones are not looked at
	all  bool   // all arguments are paths
	tree bool   // everything below them
	need string // words, separated by |, without which the name means something else
	role role
}

// role is the effect of a name besides its kind.
type role uint8

const (
	access    role = iota
	commands       // it runs a command: one argument is text of a shell, several are an argv
	starts         // it runs an argv
	openings       // a file, read or written as another argument says; a text with | is a command
	programs       // it runs a program, whose name stands twice
	copying        // from the first argument to the second
	evaluates      // it runs text of the language, or calls what a value names
	loads          // it loads code of a file or a package
	socket         // it opens a socket
	wires          // it connects the streams of a process
	hides          // it does something that is not followed
	copies         // it starts a copy of the process
)

// roles are the words with which the lines of a table begin.
var roles = map[string]rule{
	"shell": {kind: Shell, role: commands}, "argv": {kind: Exec, role: starts}, "program": {kind: Exec, role: programs}, "copy": {kind: Write, role: copying}, "code": {kind: Dynamic, role: evaluates}, "hidden": {kind: Dynamic, role: hides}, "open": {kind: Write, role: openings},
	"delete": {kind: Delete, all: true}, "tree": {kind: Delete, all: true, tree: true}, "write": {kind: Write}, "append": {kind: Append}, "read": {kind: Read},
	"mkdir": {kind: Mkdir}, "rename": {kind: Rename, all: true}, "link": {kind: Link, all: true}, "chmod": {kind: Chmod, all: true}, "chown": {kind: Chown, all: true},
	"network": {kind: Network}, "upload": {kind: Upload}, "socket": {kind: Socket, role: socket}, "listen": {kind: Listen, role: socket}, "wire": {role: wires},
	"fork": {kind: Fork, role: copies}, "env": {kind: Env}, "decode": {kind: Decode, role: hides}, "load": {kind: Dynamic, role: loads}, "signal": {kind: Signal, all: true},
}

// read makes the rules out of a table. A number behind the first word is the argument, a word in brackets the one
// that is needed.
func (p lexicon) read(name string) *lexicon {
	p.rules = map[string]rule{}
	table, _ := plainTables.ReadFile("languages/" + name + ".txt") // a test reads them all
	for line := range strings.Lines(string(table)) {
		words := strings.Fields(line)
		r := roles[words[0]]
		for _, word := range words[1:] {
			if n, err := strconv.Atoi(word); err == nil {
				r.at = n
			} else if strings.HasPrefix(word, "(") {
				r.need = strings.Trim(word, "()")
			} else if old, twice := p.rules[word]; twice && old.need != "" && r.need != "" {
				old.need += "|" + r.need
				p.rules[word] = old
			} else {
				p.rules[word] = r
			}
		}
	}
	return &p
}

// plainOf finds the plain language of a name.
var plainOf = func() func(string) *lexicon {
	read := map[string]func() *lexicon{}
	for name, l := range plainLanguages {
		read[name] = sync.OnceValue(func() *lexicon { return l.read(name) })
	}
	return func(name string) *lexicon {
		if f := read[plainNames[name]]; f != nil {
			return f()
		}
		return nil
	}
}()

// plainScan is the state of reading one text.
type plainScan struct {
	*lexicon
	src    string
	b      *budget
	open   []byte // brackets that are open
	calls  []Call
	moved  bool // the program may change its directory
	socket bool // a socket is opened
	wired  bool // something is connected to it
	runs   int  // the offset of the first command that is run, -1 for none
}

// scanPlain reads a text of a plain language.
func scanPlain(p *lexicon, src string, b *budget) []Call {
	s := &plainScan{lexicon: p, src: src, b: b, runs: -1}
	s.moved = slices.ContainsFunc(strings.Fields("chdir setwd Chdir cwd:"), func(word string) bool { return strings.Contains(src, word) })
	s.environment()
	for i := 0; i < len(src) && b.step() && !b.spent(); {
		i = s.next(i)
	}
	if s.socket && (s.wired || s.runs >= 0) {
		s.add(Call{Kind: SocketShell, Name: "socket", Offset: max(s.runs, 0)})
	}
	return s.calls
}

// environment reports a mention of all variables of the process.
func (s *plainScan) environment() {
	for i := 0; s.env != ""; {
		at := strings.Index(s.src[i:], s.env)
		if at < 0 {
			return
		}
		i += at + len(s.env)
		if i == len(s.src) || !isIdent(s.src[i]) && strings.IndexByte(".[{?", s.src[i]) < 0 {
			s.add(Call{Kind: Env, Name: s.env, Offset: i - len(s.env)})
			return
		}
	}
}

func (s *plainScan) add(c Call) {
	if s.moved {
		switch c.Kind {
		case Shell, Exec, Spawn:
			c.Dir = &Arg{}
		case Delete, Write, Append, Read, Rename, Chmod, Chown, Link, Mkdir:
			for i, a := range c.Args {
				if !path.IsAbs(a.Text) {
					c.Args[i] = Arg{}
				}
			}
		}
	}
	s.b.calls++
	if s.b.calls <= maxCalls {
		s.calls = append(s.calls, c)
	}
}

// next reads the token at i and returns the place behind it.
func (s *plainScan) next(i int) int {
	switch c := s.src[i]; {
	case isIdentStart(c):
		return s.name(i)
	case c == '`' && s.backticks:
		end := strings.IndexByte(s.src[i+1:], '`')
		if end < 0 {
			return i + 1
		}
		s.b.work(end)
		s.command(Call{Kind: Shell, Name: "`", Args: []Arg{s.text(s.src[i+1 : i+1+end])}, Offset: i})
		return i + end + 2
	case c == '%' && s.value == "#" && strings.HasPrefix(s.src[i:], "%x") && i+2 < len(s.src) && !isIdent(s.src[i+2]): // Ruby
		s.command(Call{Kind: Shell, Name: "%x", Args: []Arg{{}}, Offset: i})
	case c == '(' && s.callsValue(i):
		s.add(Call{Kind: Dynamic, Name: "(", Offset: i})
	case c == '(' || c == '[' || c == '{':
		s.open = append(s.open, c)
	case (c == ')' || c == ']' || c == '}') && len(s.open) > 0:
		s.open = s.open[:len(s.open)-1]
	}
	return i + 1
}

// callsValue reports a bracket that calls a value: $f(…), &$f(…), list[0](…).
func (s *plainScan) callsValue(i int) bool {
	if i == 0 || s.indirect == "" {
		return false
	}
	if c := s.src[i-1]; c == ']' || c == '}' {
		return strings.IndexByte(s.indirect, c) >= 0
	}
	from := i
	for from > 0 && isIdent(s.src[from-1]) {
		from--
	}
	if from == i || from == 0 || s.src[from-1] != '$' || strings.IndexByte(s.indirect, '$') < 0 {
		return false
	}
	return from < 2 || s.indirect[0] != '&' || s.src[from-2] == '&' || s.src[from-2] == '>'
}

// name reads the name at i, with the names in front of it.
func (s *plainScan) name(i int) int {
	end := i
	for end < len(s.src) && (isIdent(s.src[end]) || strings.IndexByte(s.ident, s.src[end]) >= 0 && end+1 < len(s.src) && isIdent(s.src[end+1])) {
		end++
	}
	name := s.src[i:end]
	if s.folds {
		name = strings.ToLower(name)
	}
	r, known := s.rule(name, i)
	switch {
	case !known || s.key(i, end):
		return end
	case r.role == wires:
		s.wired = true
		return end
	}
	args, called := s.arguments(end)
	if !called {
		if s.mentions && !s.declared(i, end) && !s.module(name, end) && s.standsFor(name, i, end) && r.role != socket && r.kind != Read && r.kind != Env {
			s.add(Call{Kind: Dynamic, Name: name, Offset: i})
		}
		return end
	}
	s.report(name, r, args, i)
	return end
}

// key reports a name that is the key of a map: $h{name}, {name: 1}.
func (s *plainScan) key(i, end int) bool {
	if !s.loose || i < 2 || end >= len(s.src) {
		return false
	}
	return s.src[i-1] == '{' && s.src[end] == '}' && (isIdent(s.src[i-2]) || s.src[i-2] == '>') ||
		s.src[end] == ':' && end+1 < len(s.src) && s.src[end+1] != ':'
}

// standsFor reports a name that is a function where it stands alone, or gets another name. A method is one behind
// its object only.
func (s *plainScan) standsFor(name string, i, end int) bool {
	_, alone := s.rules[name]
	rest := strings.TrimLeft(s.src[end:], " ")
	renamed := strings.HasPrefix(rest, "as ") || strings.HasPrefix(rest, ":")
	return alone || renamed || i > 0 && strings.IndexByte(".:>", s.src[i-1]) >= 0
}

// module reports the name of a module, or a word that loads one.
func (s *plainScan) module(name string, end int) bool {
	rest := strings.TrimLeft(s.src[end:], " ")
	member, isMember := strings.CutPrefix(rest, ".")
	later := strings.HasPrefix(member, "call") || strings.HasPrefix(member, "apply") || strings.HasPrefix(member, "bind")
	return isMember && !later || name == "import" || name == "require"
}

// meant reports that the text has the word that r needs.
func (s *plainScan) meant(r rule) bool {
	return r.need == "" || slices.ContainsFunc(strings.Split(r.need, "|"), func(word string) bool { return strings.Contains(s.src, word) })
}

// rule finds the rule for the name at i.
func (s *plainScan) rule(name string, i int) (rule, bool) {
	before := strings.TrimRight(s.src[:i], " \t\n")
	cut := ""
	for _, sign := range []string{"?.", ".", "::", "->", ":"} {
		if rest, ok := strings.CutSuffix(before, sign); ok && !(sign == ":" && s.ident != "." && !s.colons()) {
			cut, before = sign, rest
			break
		}
	}
	if cut != "" {
		from := len(before)
		for from > 0 && isIdent(before[from-1]) {
			from--
		}
		qualifier := before[from:]
		if n := len(before); n > 0 && (before[n-1] == ')' || before[n-1] == '"' || before[n-1] == ']') {
			qualifier = before[n-1:]
		}
		if r, ok := s.rules[qualifier+"."+name]; ok && s.meant(r) {
			return r, true
		}
	} else if r, ok := s.rules[name]; ok && s.meant(r) {
		return r, true
	}
	r, ok := s.rules["*."+name]
	return r, ok && s.meant(r)
}

// colons reports a language in which a colon stands in front of a method.
func (s *plainScan) colons() bool { return s.quote == luaQuotes }

// declared reports a name that is only taken out of a module: {execSync, spawn} = require(…).
func (s *plainScan) declared(i, end int) bool {
	if len(s.open) == 0 || s.open[len(s.open)-1] != '{' {
		return false
	}
	before := strings.TrimRight(s.src[max(0, i-64):i], " \t\n")
	after := strings.TrimLeft(s.src[end:min(len(s.src), end+64)], " \t\n")
	return before != "" && (before[len(before)-1] == '{' || before[len(before)-1] == ',') &&
		after != "" && (after[0] == '}' || after[0] == ',')
}

// literalArg is one argument: a literal, or something else of which perhaps the beginning is known.
type literalArg struct {
	Arg
	literal bool
	raw     string // as it is written
}

// options reports an object with options.
func (a literalArg) options() bool { return strings.HasPrefix(a.raw, "{") }

// keyword reports name = value.
func (a literalArg) keyword() bool {
	name, value, found := strings.Cut(a.raw, "=")
	return found && isName(strings.TrimSpace(name)) && !strings.HasPrefix(value, "=")
}

// arguments reads the values behind a name. It is false where the name is not called.
func (s *plainScan) arguments(i int) ([]literalArg, bool) {
	for i < len(s.src) && (s.src[i] == ' ' || s.src[i] == '\t') {
		i++
	}
	brackets := i < len(s.src) && s.src[i] == '('
	if !brackets && !s.loose && (i >= len(s.src) || strings.IndexByte(s.quote, s.src[i]) < 0 || s.mentions) {
		return nil, false
	}
	if brackets {
		i++
	}
	var out []literalArg
	for n := 0; i < len(s.src) && n < 64 && s.b.step(); n++ {
		var a literalArg
		var more bool
		a, i, more = s.argument(i, brackets)
		if a.raw != "" {
			out = append(out, a)
		}
		if !more {
			break
		}
	}
	return out, true
}

// argument reads up to the comma behind the argument at i, or to the end of all.
func (s *plainScan) argument(i int, brackets bool) (a literalArg, next int, more bool) {
	depth, seen := 0, false // seen: something else than a literal
	start := i
	for ; i < len(s.src) && s.b.step(); i++ {
		switch c := s.src[i]; {
		case c == '[' || c == '\\' && !seen: // lists are taken apart
		case c == ']' && depth == 0:
		case c == ' ' || c == '\t' || c == '\r':
		case c == '\n':
			if !brackets && depth == 0 {
				return s.finish(a, seen, start, i), i + 1, false
			}
		case strings.IndexByte(s.quote, c) >= 0:
			text, end := s.literal(i)
			if !seen && !a.literal {
				a.Arg, a.literal = text, true
			} else {
				a.Arg.Exact = false
			}
			i = end - 1
		case c == '(' || c == '{':
			seen = true
			depth++
		case c == ')' || c == '}' || c == ']':
			if depth == 0 {
				return s.finish(a, seen, start, i), i + 1, false
			}
			depth--
		case c == ',' && depth == 0, c == '=' && depth == 0 && i+1 < len(s.src) && s.src[i+1] == '>':
			if c == '=' {
				i++
			}
			return s.finish(a, seen, start, i), i + 1, true
		case c == ';' && depth == 0, !brackets && depth == 0 && (c == '|' || c == '&' || c == '?'):
			return s.finish(a, seen, start, i), i + 1, false
		case isIdentStart(c):
			from := i
			for i+1 < len(s.src) && isIdent(s.src[i+1]) {
				i++
			}
			if word := s.src[from : i+1]; !brackets && depth == 0 && endWords[word] {
				return s.finish(a, seen, start, from), i + 1, false
			}
			seen = true
			a.Arg.Exact = false
		default:
			seen = true
			a.Arg.Exact = false
		}
	}
	return s.finish(a, seen, start, i), i, false
}

// finish closes an argument that stands in [from, to).
func (s *plainScan) finish(a literalArg, seen bool, from, to int) literalArg {
	a.raw = strings.TrimSpace(s.src[from:min(to, len(s.src))])
	if _, err := strconv.ParseInt(a.raw, 0, 64); err == nil {
		a.Arg = Arg{Text: strings.TrimPrefix(a.raw, "0o"), Exact: true}
	} else if seen && (!a.literal || !s.joined(a.raw)) { // what is made of it may begin otherwise
		a.Arg = Arg{}
	}
	return a
}

// joined reports a literal to which something else is added.
func (s *plainScan) joined(raw string) bool {
	if raw == "" || strings.IndexByte(s.quote, raw[0]) < 0 || strings.Contains(raw, "?") {
		return false
	}
	_, end := (&plainScan{lexicon: s.lexicon, src: raw, b: s.b}).literal(0)
	return strings.HasPrefix(strings.TrimLeft(raw[min(end, len(raw)):], " \t"), "+")
}

// endWords end the arguments of a call without brackets.
var endWords = set("or and if unless for foreach while until do then end rescue")

// literal reads the literal that begins at i.
func (s *plainScan) literal(i int) (Arg, int) {
	quote := s.src[i]
	closer := string(quote)
	from := i + 1
	if quote == '[' {
		closer, from = "]]", i+2
	}
	for end := from; end < len(s.src) && s.b.step(); end++ {
		switch {
		case s.src[end] == '\\' && quote != '[':
			end++
		case strings.HasPrefix(s.src[end:], closer):
			a := s.text(s.src[from:end])
			if quote == '\'' && !strings.Contains(s.src[from:end], `\`) {
				a = Arg{Text: s.src[from:end], Exact: true}
			}
			return a, end + len(closer)
		}
	}
	return Arg{}, len(s.src)
}

// text is a literal as far as it is plain.
func (s *plainScan) text(raw string) Arg {
	if at := strings.IndexAny(raw, s.value+`\`); at >= 0 {
		return Arg{Text: raw[:at]}
	}
	return Arg{Text: raw, Exact: true}
}
