package call

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Exact makes a word of text that a hook knows.
func Exact(text string) value.Word {
	return value.Word{Text: text, Prefix: text, Raw: text, Certainty: value.Exact, Quoted: true}
}

// path notes a word as a path with an access.
func (c *Call) path(w value.Word, a term.Access) { c.touch(w, Role{Access: a}) }

// each changes the touches of operands and options that have an access.
func (c *Call) each(a term.Access, change func(*Touch)) {
	for i := range c.Touches {
		if c.Touches[i].Access&a != 0 {
			change(&c.Touches[i])
		}
	}
}

// move: a moved file is not lost, unless it goes to the null device.
func move(c *Call) {
	for _, w := range c.Operands {
		if w.Certainty == value.Exact && path.Clean(w.Text) == "/dev/null" {
			return
		}
	}
	c.each(term.Deletes, func(t *Touch) { t.Moved = true })
}

// link: the target of ln -s is looked at later, where the link is followed. With one operand
// the link lies in the directory.
func link(c *Call) {
	if len(c.Operands) == 1 {
		_, base := disk.Parent("/" + strings.TrimSuffix(c.Operands[0].Text, "/"))
		if base != "" && c.Operands[0].Certainty == value.Exact && !c.noLast {
			c.touch(Exact(base), Role{Access: term.Writes, OfLink: true})
		}
	}
	if !c.Has("s", "symbolic") {
		return
	}
	// A relative target is relative to the link, not to the working directory.
	if len(c.Operands) < 2 {
		return
	}
	dest := c.Operands[len(c.Operands)-1]
	abs := disk.Absolute(dest.Text, c.Dir)
	if abs == "" || dest.Certainty != value.Exact {
		return
	}
	dir, _ := disk.Parent(path.Clean(abs))
	if strings.HasSuffix(dest.Text, "/") || dest.Text == "." || dest.Text == ".." {
		dir = path.Clean(abs)
	}
	c.each(term.Reads, func(t *Touch) { t.Dir = shell.Dir{Path: dir, Known: true} })
}

// installMode: install -m 4755 makes a setuid program; install -d makes directories.
func installMode(c *Call) {
	modeOption(c)
	if c.Has("d", "directory") {
		c.each(term.Reads, func(t *Touch) { t.Access = term.Writes })
	}
}

func modeOption(c *Call) {
	if m := c.Value("m", "mode"); m != "" {
		c.Flags.Union(modeFlags(m))
	}
}

// testFile: test -f FILE looks at a file. Comparisons of strings do not.
func testFile(c *Call) {
	for i, w := range c.Operands {
		if len(w.Text) == 2 && w.Text[0] == '-' && strings.IndexByte("bcdefghkprstuwxGLNOS", w.Text[1]) >= 0 && i+1 < len(c.Operands) {
			c.touch(c.Operands[i+1], Role{Access: term.Reads, Metadata: true})
			c.Effects |= term.Read
		}
	}
}

// fdSearch: fd goes through all below its places, and passes over hidden and ignored files.
func fdSearch(c *Call) {
	if len(c.Operands) < 2 {
		c.touch(Exact("."), Role{Access: term.Reads, Metadata: true})
	}
	c.each(term.Reads, func(t *Touch) { t.Recursive = true })
	s := c.sifted()
	for _, o := range c.Options {
		if o.Given && (o.Name == "e" || o.Name == "extension") && o.Value.Certainty == value.Exact {
			s.letIn(Exact("*." + o.Value.Text))
		}
	}
	c.sift(s)
}

// find: roots, then an expression. -exec has been opened by the shell walk.
func find(c *Call) {
	words := c.Operands
	i := 0
	for i < len(words) && (words[i].Text == "-H" || words[i].Text == "-L" || words[i].Text == "-P" || strings.HasPrefix(words[i].Text, "-O")) {
		i++
	}
	start := i
	for i < len(words) && !IsOption(words[i]) && !strings.Contains("( ! ) ,", words[i].Text) {
		i++
	}
	roots := words[start:i]
	if len(roots) == 0 {
		roots = []value.Word{Exact(".")}
	}
	c.Effects |= term.Read
	filter, remove := c.findExpression(words[i:])
	c.Search = &search{roots, filter, findSieve(words[i:])}
	unknown := slices.ContainsFunc(roots[1:], func(w value.Word) bool { return w.Certainty == value.Unknown })
	if !unknown && commands.FindLists(Texts(words[i:])) {
		c.Flags.Add(term.FlagListsNames)
	}
	if remove && onlyEmptyDirectories(Texts(words[i:])) { // as rmdir does
		remove = false
		c.Effects |= term.Delete
	}
	remove = remove || unknown // it may be -delete
	for _, r := range roots {
		c.Touches = append(c.Touches, Touch{Word: r, Access: term.Reads, Source: "argument", Dir: c.Dir, Role: Role{Access: term.Reads, Metadata: true}, Recursive: true})
		if remove {
			c.Flags.Add(term.FlagRecursive)
			c.Touches = append(c.Touches, Touch{Word: r, Access: term.Deletes, Source: "argument", Dir: c.Dir, Role: Role{Access: term.Deletes}, Recursive: true, Filter: filter})
		}
	}
}

// onlyEmptyDirectories reports tests of find(1) that let nothing else come to their -delete.
func onlyEmptyDirectories(tests []string) bool {
	end := slices.Index(tests, "-delete")
	if end < 0 || slices.ContainsFunc(tests, func(s string) bool { return listedWord("-o -or ! -not , -prune", s) }) {
		return false
	}
	kind := slices.Index(tests[:end], "-type")
	return kind >= 0 && tests[kind+1] == "d" && slices.Contains(tests[:end], "-empty")
}

// findExpression reads the tests and actions. filter is the one name that an entry must have to
// be deleted, "" when there is none.
func (c *Call) findExpression(words []value.Word) (filter string, remove bool) {
	alternatives := false
	for i := 0; i < len(words); i++ {
		next := func() value.Word {
			if i+1 < len(words) {
				i++
				return words[i]
			}
			return value.Word{}
		}
		switch words[i].Text {
		case "-delete":
			remove = true
		case "-o", "-or", "!", "-not", ",":
			alternatives = true
		case "-name", "-iname":
			anyCase := words[i].Text == "-iname"
			if w := next(); w.Certainty == value.Exact && !disk.IsEverything(w.Text) {
				if filter = w.Text; anyCase {
					filter = inAnyCase(filter)
				}
			}
		case "-path", "-wholename":
			if w := next(); w.Certainty == value.Exact && filter == "" {
				filter = nameOfPath(w.Text)
			}
		case "-regex", "-iregex":
			if w := next(); w.Certainty == value.Exact && filter == "" {
				if _, base := disk.Parent("/" + w.Text); !disk.IsEverything(base) && !strings.HasPrefix(base, ".*") && !strings.ContainsAny(base, `\(|`) {
					filter = base
				}
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.path(next(), term.Writes)
		case "-newer", "-anewer", "-cnewer", "-samefile":
			c.touch(next(), Role{Access: term.Reads, Metadata: true})
		case "-files0-from":
			c.path(next(), term.Reads)
		case "-exec", "-execdir", "-ok", "-okdir":
			c.Effects |= term.Execute
			for i < len(words) && words[i].Text != ";" && words[i].Text != "+" {
				i++
			}
		default:
			remove = remove || acts(words[i])
		}
	}
	if alternatives {
		// With -o or ! a name no longer bounds the deletion, unless all alternatives are names;
		// the filter stays as a sample of them, but only if nothing is negated.
		for _, w := range words {
			if w.Text == "!" || w.Text == "-not" {
				return "", remove
			}
		}
	}
	return filter, remove
}

// acts reports a word that is not known and may be -delete or run a command.
func acts(w value.Word) bool {
	completes := func(action string) bool { return strings.HasPrefix(action, w.Prefix) }
	return w.Certainty != value.Exact && slices.ContainsFunc([]string{"-delete", "-execdir", "-okdir"}, completes)
}

// nameOfPath is the part of a path pattern that matches the last name, "" for nothing: * and ? stand for
// slashes, too.
func nameOfPath(pattern string) string {
	i := strings.LastIndexAny(pattern, "*?/")
	name := pattern[i+1:]
	if i >= 0 && pattern[i] != '/' && name != "" {
		name = "*" + name
	}
	return name
}

// inAnyCase is a pattern that matches a name in small and in big letters.
func inAnyCase(pattern string) string {
	if strings.Contains(pattern, "[") {
		return "*"
	}
	var b strings.Builder
	for _, r := range pattern {
		if low, up := unicode.ToLower(r), unicode.ToUpper(r); low != up {
			b.WriteString("[" + string(low) + string(up) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// findSieve reads which files a search finds: the names of its alternatives where each has one, what it
// passes over, and how deep it goes.
func findSieve(words []value.Word) *Sieve {
	s := &Sieve{}
	var names, out []pick
	bounded, named, pruned := true, false, false
	end := func() {
		bounded, named, pruned = bounded && (named || pruned), false, false
	}
	var last []pick // of the alternative
	for i := 0; i < len(words); i++ {
		word := words[i].Text
		val := value.Word{}
		if i+1 < len(words) {
			val = words[i+1]
		}
		if (word == "!" || word == "-not") && val.Text == "(" {
			return &Sieve{Depth: s.Depth, Alternatives: true}
		}
		not := i > 0 && (words[i-1].Text == "!" || words[i-1].Text == "-not")
		switch word {
		case "-o", "-or", ",":
			end()
			names, last, s.Alternatives = append(names, last...), nil, true
		case "-prune":
			pruned = true
			for _, p := range last {
				p.In, p.dir = false, true
				out = append(out, p)
			}
			last = nil
		case "-maxdepth":
			s.Depth, _ = strconv.Atoi(val.Text)
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			if val.Certainty != value.Exact {
				continue
			}
			p := pick{glob: val.Text, In: !not, path: strings.HasSuffix(word, "path") || word == "-wholename"}
			if word[1] == 'i' {
				p.glob = inAnyCase(p.glob)
			}
			if not {
				out = append(out, p)
			} else {
				last, named = append(last, p), true
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			for i < len(words) && words[i].Text != ";" && words[i].Text != "+" {
				i++
			}
		}
	}
	end()
	if bounded {
		s.Rules = append(names, last...)
	}
	for _, p := range out {
		if p.dir || !s.Alternatives {
			s.Rules = append(s.Rules, p)
		}
	}
	return s
}

// rsync: --delete empties the destination of files that the source lacks; -a is recursive.
func rsync(c *Call) {
	if rsh := strings.TrimSpace(c.Value("e", "rsh")); rsh != "" && rsh != "ssh" && !strings.HasPrefix(rsh, "ssh ") {
		c.escapes()
	}
	c.sift(c.sifted())
	if len(c.Operands) < 2 {
		return
	}
	if o, ok := c.Option1("files-from"); ok {
		if _, remote := RemoteHost(c.Operands[0].Text); !remote {
			c.readsListed(o.Value, c.Operands[0])
		}
	}
	deletesThere := false
	for _, o := range c.Options {
		deletesThere = deletesThere || strings.HasPrefix(o.Name, "del")
	}
	if !c.Has("remove-source-files") && !deletesThere {
		c.Effects &^= term.Delete
	}
	dest := c.Operands[len(c.Operands)-1]
	if _, remote := RemoteHost(dest.Text); deletesThere && !remote {
		c.Touches = append(c.Touches, Touch{Word: dest, Access: term.Deletes, Source: "argument", Dir: c.Dir, Role: Role{Access: term.Deletes}, Recursive: true})
	}
	if c.Has("remove-source-files") {
		c.each(term.Reads, func(t *Touch) { t.Access |= term.Deletes; t.Moved = true })
	}
	c.Effects |= term.Read
}

// chmod: options, then a mode, then files. A mode may start with a dash (-x).
func chmod(c *Call) {
	rest := false
	mode := false
	for i := 0; i < len(c.Operands); i++ {
		w := c.Operands[i]
		text := w.Text
		switch {
		case !rest && text == "--":
			rest = true
		case !rest && strings.HasPrefix(text, "--"):
			mode = c.chmodLong(text) || mode
		case !mode && !rest && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.Flags.Add(term.FlagRecursive)
			}
		case !mode:
			mode = true
			c.Flags.Union(modeFlags(text))
		case !rest && strings.HasPrefix(text, "-") && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.Flags.Add(term.FlagRecursive)
			}
		default:
			c.path(w, term.Writes)
		}
	}
	if c.Flags.Has(term.FlagRecursive) {
		c.each(term.Writes, func(t *Touch) { t.Recursive = true })
	}
}

// chmodLong reads a long option and reports whether it stands for the mode.
func (c *Call) chmodLong(text string) bool {
	name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
	switch {
	case name != "" && strings.HasPrefix("recursive", name):
		c.Flags.Add(term.FlagRecursive)
	case strings.HasPrefix(name, "no-pre"):
		c.Flags.Add(term.FlagNoPreserveRoot)
	case strings.HasPrefix(name, "ref"):
		c.touch(Exact(value), Role{Access: term.Reads, Metadata: true})
		return true
	}
	return false
}

// modeFlags says what a mode of chmod(1), octal or symbolic, makes possible. Symbolic modes
// without "u", "g", "o" or "a" obey the umask; as that is usually 022, +w opens nothing.
func modeFlags(mode string) term.Set {
	var f term.Set
	if n, err := strconv.ParseUint(mode, 8, 32); err == nil {
		if n&0o6000 != 0 {
			f.Add(term.FlagSetid)
		}
		if n&0o002 != 0 && n&0o1000 == 0 {
			f.Add(term.FlagWidens)
		}
		if n&0o111 != 0 {
			f.Add(term.FlagMakeExecutable)
		}
		return f
	}
	for _, clause := range strings.Split(mode, ",") {
		i := strings.IndexAny(clause, "+=-")
		if i < 0 {
			continue
		}
		who := clause[:i]
		for i < len(clause) {
			op := clause[i]
			end := i + 1
			for end < len(clause) && strings.IndexByte("+=-", clause[end]) < 0 {
				end++
			}
			if op != '-' {
				symbolic(&f, who, clause[i+1:end])
			}
			i = end
		}
	}
	return f
}

func symbolic(f *term.Set, who, what string) {
	if strings.ContainsAny(what, "xX") {
		f.Add(term.FlagMakeExecutable)
	}
	if strings.Contains(what, "s") && (who == "" || strings.ContainsAny(who, "uga")) {
		f.Add(term.FlagSetid)
	}
	others := strings.ContainsAny(who, "oa")
	if others && (strings.Contains(what, "w") || what == "u") {
		f.Add(term.FlagWidens)
	}
}

// setfacl: -R is recursive; giving others write access widens.
func setfacl(c *Call) {
	if c.Has("R", "recursive") {
		c.Flags.Add(term.FlagRecursive)
		c.each(term.Writes, func(t *Touch) { t.Recursive = true })
	}
	for _, entry := range strings.Split(c.Value("m", "modify", "set"), ",") {
		if i := strings.LastIndexByte(entry, ':'); i >= 0 && strings.Contains(entry[i:], "w") && (strings.HasPrefix(entry, "o") || strings.HasPrefix(entry, "other")) {
			c.Flags.Add(term.FlagWidens)
		}
	}
}

// flagWords: chattr +i FILE: words that start with + - = are modes.
func flagWords(c *Call) {
	c.Touches = c.Touches[:0]
	mode := false
	for _, w := range c.Operands {
		switch {
		case w.Text == "-R":
			c.Flags.Add(term.FlagRecursive)
		case w.Text != "" && strings.IndexByte("+-=", w.Text[0]) >= 0:
			mode = true
		case c.Cmd.Name != "chattr" && !mode:
			mode = true
		default:
			c.path(w, term.Writes)
		}
	}
	if c.Flags.Has(term.FlagRecursive) {
		c.each(term.Writes, func(t *Touch) { t.Recursive = true })
	}
}

// fills is how many bytes fill a disk or a memory.
const fills = 50 << 30

// amount reads a size as the tools of coreutils and util-linux do: 10M, 500G, 2TiB; 0 when it is none.
func amount(text string) float64 {
	text = strings.TrimLeft(text, "+-<>/%")
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	n, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil {
		return 0
	}
	unit := strings.ToUpper(strings.TrimSpace(text[digits:]))
	if unit == "" {
		return n
	}
	if unit == "W" {
		return 2 * n
	}
	for power := strings.IndexByte("BKMGTPEZY", unit[0]); power > 0; power-- {
		n *= 1024
	}
	return n
}

// Exhausts marks commands that fill a disk, the memory or a processor: endless output that nothing ends, or
// very much.
func (c *Call) Exhausts() {
	if !commands.Listed("writes-input", c.Cmd.Name) {
		return
	}
	if slices.ContainsFunc(c.Cmd.Via, func(via string) bool { return strings.HasPrefix(via, "timeout") }) {
		return
	}
	words := Texts(c.Cmd.Words[1:])
	reads := slices.ContainsFunc(words, func(w string) bool { return commands.Listed("endless", strings.TrimPrefix(w, "if=")) }) ||
		slices.ContainsFunc(c.Cmd.Redirects, func(r shell.Redirect) bool {
			return r.Mode == shell.RedirectRead && commands.Listed("endless", r.Target.Text)
		})
	var much bool
	switch c.Cmd.Name {
	case "fallocate":
		much = amount(c.Value("l", "length")) >= fills
	case "dd", "gdd", "dcfldd", "dc3dd":
		much = reads && ddFills(words)
	case "head", "ghead":
		much = reads && amount(c.Value("c", "bytes")) >= fills && c.kept()
	case "yes":
		much = c.kept()
	case "tail", "sort", "tac", "gtail", "gsort": // keep all in memory
		much = reads && !c.Has("c", "bytes")
	default:
		much = reads && c.kept()
	}
	if much {
		c.Flags.Add(term.FlagExhausts)
	}
}

// kept reports whether the output goes to a file, or to nothing that would end it.
func (c *Call) kept() bool {
	return slices.ContainsFunc(c.Cmd.Redirects, func(r shell.Redirect) bool {
		return (r.Mode == shell.RedirectWrite || r.Mode == shell.RedirectAppend) && r.FD == 1
	})
}

// ddFills: of=FILE without a count, or with a large one. A device has an end, and no file that is kept.
func ddFills(words []string) bool {
	value := func(key string) string {
		for _, w := range words {
			if v, ok := strings.CutPrefix(w, key+"="); ok {
				return v
			}
		}
		return ""
	}
	of, size := value("of"), 512.0
	if of == "" || strings.HasPrefix(of, "/dev/") {
		return false
	}
	for _, key := range []string{"bs", "obs"} {
		if v := value(key); v != "" {
			size = amount(v)
		}
	}
	if strings.Contains(value("iflag"), "count_bytes") {
		size = 1
	}
	count := value("count")
	return count == "" || amount(count)*size >= fills
}
