package facts

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// exact makes a word of text that a hook knows.
func exact(text string) value.Word {
	return value.Word{Text: text, Prefix: text, Raw: text, Certainty: value.Exact, Quoted: true}
}

// path notes a word as a path with an access.
func (c *call) path(w value.Word, a access) { c.touch(w, role{access: a}) }

// each changes the touches of operands and options that have an access.
func (c *call) each(a access, change func(*touch)) {
	for i := range c.touches {
		if c.touches[i].access&a != 0 {
			change(&c.touches[i])
		}
	}
}

// move: what is moved is not lost, unless it goes to the null device.
func move(c *call) {
	for _, w := range c.operands {
		if w.Certainty == value.Exact && path.Clean(w.Text) == "/dev/null" {
			return
		}
	}
	c.each(deletes, func(t *touch) { t.moved = true })
}

// link: the target of ln -s is looked at later, by whoever follows the link. With one operand
// the link lies in the directory.
func link(c *call) {
	if len(c.operands) == 1 {
		_, base := parent("/" + strings.TrimSuffix(c.operands[0].Text, "/"))
		if base != "" && c.operands[0].Certainty == value.Exact && !c.noLast {
			c.touch(exact(base), role{access: writes, ofLink: true})
		}
	}
	if !c.has("s", "symbolic") {
		return
	}
	// A relative target is relative to the link, not to the working directory.
	if len(c.operands) < 2 {
		return
	}
	dest := c.operands[len(c.operands)-1]
	abs := absolute(dest.Text, c.dir)
	if abs == "" || dest.Certainty != value.Exact {
		return
	}
	dir, _ := parent(path.Clean(abs))
	if strings.HasSuffix(dest.Text, "/") || dest.Text == "." || dest.Text == ".." {
		dir = path.Clean(abs)
	}
	c.each(reads, func(t *touch) { t.dir = shell.Dir{Path: dir, Known: true} })
}

// installMode: install -m 4755 makes a setuid program; install -d makes directories.
func installMode(c *call) {
	modeOption(c)
	if c.has("d", "directory") {
		c.each(reads, func(t *touch) { t.access = writes })
	}
}

func modeOption(c *call) {
	if m := c.value("m", "mode"); m != "" {
		c.flags.union(modeFlags(m))
	}
}

// testFile: test -f FILE looks at a file. Comparisons of strings do not.
func testFile(c *call) {
	for i, w := range c.operands {
		if len(w.Text) == 2 && w.Text[0] == '-' && strings.IndexByte("bcdefghkprstuwxGLNOS", w.Text[1]) >= 0 && i+1 < len(c.operands) {
			c.touch(c.operands[i+1], role{access: reads, metadata: true})
			c.effects |= doesRead
		}
	}
}

// listsHere: without an operand the names are those of the directory it works in.
func listsHere(c *call) {
	if len(c.touches) == 0 {
		c.touch(exact("."), role{access: reads, metadata: true})
	}
}

// fdSearch: fd goes through all below its places, and passes over hidden and ignored files.
func fdSearch(c *call) {
	if len(c.operands) < 2 {
		c.touch(exact("."), role{access: reads, metadata: true})
	}
	c.each(reads, func(t *touch) { t.recursive = true })
	s := c.sifted()
	for _, o := range c.options {
		if o.given && (o.name == "e" || o.name == "extension") && o.value.Certainty == value.Exact {
			s.letIn(exact("*." + o.value.Text))
		}
	}
	c.sift(s)
}

// find: roots, then an expression. -exec has been opened by the shell walk.
func find(c *call) {
	words := c.operands
	i := 0
	for i < len(words) && (words[i].Text == "-H" || words[i].Text == "-L" || words[i].Text == "-P" || strings.HasPrefix(words[i].Text, "-O")) {
		i++
	}
	start := i
	for i < len(words) && !isOption(words[i]) && !strings.Contains("( ! ) ,", words[i].Text) {
		i++
	}
	roots := words[start:i]
	if len(roots) == 0 {
		roots = []value.Word{exact(".")}
	}
	c.effects |= doesRead
	filter, remove := c.findExpression(words[i:])
	c.search = &search{roots, filter, findSieve(words[i:])}
	if !slices.ContainsFunc(words[i:], func(w value.Word) bool {
		return strings.HasPrefix(w.Text, "-printf") || strings.HasPrefix(w.Text, "-exec")
	}) {
		c.flags.add(flagListsNames)
	}
	for _, r := range roots[1:] {
		remove = remove || r.Certainty == value.Unknown // it may be -delete
	}
	for _, r := range roots {
		c.touches = append(c.touches, touch{word: r, access: reads, source: "argument", dir: c.dir, role: role{access: reads, metadata: true}, recursive: true})
		if remove {
			c.flags.add(flagRecursive)
			c.touches = append(c.touches, touch{word: r, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes}, recursive: true, filter: filter})
		}
	}
}

// findExpression reads the tests and actions. filter is the one name that an entry must have to
// be deleted, "" when there is none.
func (c *call) findExpression(words []value.Word) (filter string, remove bool) {
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
			if w := next(); w.Certainty == value.Exact && !isEverything(w.Text) {
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
				if _, base := parent("/" + w.Text); !isEverything(base) && !strings.HasPrefix(base, ".*") && !strings.ContainsAny(base, `\(|`) {
					filter = base
				}
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.path(next(), writes)
		case "-newer", "-anewer", "-cnewer", "-samefile":
			c.touch(next(), role{access: reads, metadata: true})
		case "-files0-from":
			c.path(next(), reads)
		case "-exec", "-execdir", "-ok", "-okdir":
			c.effects |= doesExecute
			for i < len(words) && words[i].Text != ";" && words[i].Text != "+" {
				i++
			}
		default:
			remove = remove || acts(words[i])
		}
	}
	if alternatives {
		// With -o or ! a name no longer bounds what is deleted, unless all alternatives are names;
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
func findSieve(words []value.Word) *sieve {
	s := &sieve{}
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
			return &sieve{depth: s.depth, alternatives: true}
		}
		not := i > 0 && (words[i-1].Text == "!" || words[i-1].Text == "-not")
		switch word {
		case "-o", "-or", ",":
			end()
			names, last, s.alternatives = append(names, last...), nil, true
		case "-prune":
			pruned = true
			for _, p := range last {
				p.in, p.dir = false, true
				out = append(out, p)
			}
			last = nil
		case "-maxdepth":
			s.depth, _ = strconv.Atoi(val.Text)
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			if val.Certainty != value.Exact {
				continue
			}
			p := pick{glob: val.Text, in: !not, path: strings.HasSuffix(word, "path") || word == "-wholename"}
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
		s.rules = append(names, last...)
	}
	for _, p := range out {
		if p.dir || !s.alternatives {
			s.rules = append(s.rules, p)
		}
	}
	return s
}

// rsync: --delete empties the destination of what the source lacks; -a is recursive.
func rsync(c *call) {
	if rsh := strings.TrimSpace(c.value("e", "rsh")); rsh != "" && rsh != "ssh" && !strings.HasPrefix(rsh, "ssh ") {
		c.escapes()
	}
	c.sift(c.sifted())
	if len(c.operands) < 2 {
		return
	}
	deletesThere := false
	for _, o := range c.options {
		deletesThere = deletesThere || strings.HasPrefix(o.name, "del")
	}
	if !c.has("remove-source-files") && !deletesThere {
		c.effects &^= doesDelete
	}
	dest := c.operands[len(c.operands)-1]
	if _, remote := remoteHost(dest.Text); deletesThere && !remote {
		c.touches = append(c.touches, touch{word: dest, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes}, recursive: true})
	}
	if c.has("remove-source-files") {
		c.each(reads, func(t *touch) { t.access |= deletes; t.moved = true })
	}
	c.effects |= doesRead
}

// chmod: options, then a mode, then files. A mode may start with a dash (-x).
func chmod(c *call) {
	rest := false
	mode := false
	for i := 0; i < len(c.operands); i++ {
		w := c.operands[i]
		text := w.Text
		switch {
		case !rest && text == "--":
			rest = true
		case !rest && strings.HasPrefix(text, "--"):
			mode = c.chmodLong(text) || mode
		case !mode && !rest && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.flags.add(flagRecursive)
			}
		case !mode:
			mode = true
			c.flags.union(modeFlags(text))
		case !rest && strings.HasPrefix(text, "-") && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.flags.add(flagRecursive)
			}
		default:
			c.path(w, writes)
		}
	}
	if c.flags.has(flagRecursive) {
		c.each(writes, func(t *touch) { t.recursive = true })
	}
}

// chmodLong reads a long option and reports whether it stands for the mode.
func (c *call) chmodLong(text string) bool {
	name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
	switch {
	case name != "" && strings.HasPrefix("recursive", name):
		c.flags.add(flagRecursive)
	case strings.HasPrefix(name, "no-pre"):
		c.flags.add(flagNoPreserveRoot)
	case strings.HasPrefix(name, "ref"):
		c.touch(exact(value), role{access: reads, metadata: true})
		return true
	}
	return false
}

// modeFlags says what a mode of chmod(1), octal or symbolic, makes possible. Symbolic modes
// without "u", "g", "o" or "a" obey the umask; as that is usually 022, +w opens nothing.
func modeFlags(mode string) bitset {
	var f bitset
	if n, err := strconv.ParseUint(mode, 8, 32); err == nil {
		if n&0o6000 != 0 {
			f.add(flagSetid)
		}
		if n&0o002 != 0 && n&0o1000 == 0 {
			f.add(flagWidens)
		}
		if n&0o111 != 0 {
			f.add(flagMakeExecutable)
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

func symbolic(f *bitset, who, what string) {
	if strings.ContainsAny(what, "xX") {
		f.add(flagMakeExecutable)
	}
	if strings.Contains(what, "s") && (who == "" || strings.ContainsAny(who, "uga")) {
		f.add(flagSetid)
	}
	others := strings.ContainsAny(who, "oa")
	if others && (strings.Contains(what, "w") || what == "u") {
		f.add(flagWidens)
	}
}

// setcap: -r takes capabilities away.
func setcap(c *call) {
	if c.has("r") {
		c.flags.remove(flagSetid)
		c.path(c.operands[len(c.operands)-1], writes)
	}
}

// setfacl: -R is recursive; giving others write access widens.
func setfacl(c *call) {
	if c.has("R", "recursive") {
		c.flags.add(flagRecursive)
		c.each(writes, func(t *touch) { t.recursive = true })
	}
	for _, entry := range strings.Split(c.value("m", "modify", "set"), ",") {
		if i := strings.LastIndexByte(entry, ':'); i >= 0 && strings.Contains(entry[i:], "w") && (strings.HasPrefix(entry, "o") || strings.HasPrefix(entry, "other")) {
			c.flags.add(flagWidens)
		}
	}
}

// flagWords: chattr +i FILE: words that start with + - = are modes.
func flagWords(c *call) {
	c.touches = c.touches[:0]
	mode := false
	for _, w := range c.operands {
		switch {
		case w.Text == "-R":
			c.flags.add(flagRecursive)
		case w.Text != "" && strings.IndexByte("+-=", w.Text[0]) >= 0:
			mode = true
		case c.cmd.Name != "chattr" && !mode:
			mode = true
		default:
			c.path(w, writes)
		}
	}
	if c.flags.has(flagRecursive) {
		c.each(writes, func(t *touch) { t.recursive = true })
	}
}

// sudoEdit: sudo -e FILE edits a file; -s and -i without a command open a shell.
func sudoEdit(c *call) {
	if c.has("e", "edit") {
		for _, w := range c.operands {
			c.path(w, reads|writes)
		}
		c.effects |= doesWrite
	}
}

// fills is how many bytes fill a disk or a memory.
const fills = 50 << 30

// endless are devices that give bytes without end.
var endless = []string{"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}

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

// filling are the commands that are looked at: others do not write their input.
var filling = strings.Fields("fallocate dd gdd dcfldd dc3dd head ghead yes tail gtail sort gsort tac gtac cat gcat cp gcp tee base64 xxd od hexdump tr pv rev")

// exhausts marks commands that fill a disk, the memory or a processor: endless output that nothing ends, or
// very much.
func (c *call) exhausts() {
	if !slices.Contains(filling, c.cmd.Name) {
		return
	}
	if slices.ContainsFunc(c.cmd.Via, func(via string) bool { return strings.HasPrefix(via, "timeout") }) {
		return
	}
	words := texts(c.cmd.Words[1:])
	reads := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(endless, strings.TrimPrefix(w, "if=")) }) ||
		slices.ContainsFunc(c.cmd.Redirects, func(r shell.Redirect) bool {
			return r.Mode == shell.RedirectRead && slices.Contains(endless, r.Target.Text)
		})
	var much bool
	switch c.cmd.Name {
	case "fallocate":
		much = amount(c.value("l", "length")) >= fills
	case "dd", "gdd", "dcfldd", "dc3dd":
		much = reads && ddFills(words)
	case "head", "ghead":
		much = reads && amount(c.value("c", "bytes")) >= fills && c.kept()
	case "yes":
		much = c.kept()
	case "tail", "sort", "tac", "gtail", "gsort": // keep all in memory
		much = reads && !c.has("c", "bytes")
	default:
		much = reads && c.kept()
	}
	if much {
		c.flags.add(flagExhausts)
	}
}

// kept reports whether the output goes to a file, or to nothing that would end it.
func (c *call) kept() bool {
	return slices.ContainsFunc(c.cmd.Redirects, func(r shell.Redirect) bool {
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
