package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// call is one command read with the help of the table: its options, operands and what
// follows from them. Hooks add to it.
type call struct {
	table    *table
	cmd      *shell.Command
	spec     *spec // the deepest row that matched; nil for an unknown command
	base     *spec // the row of the command itself
	sub      []string
	known    bool
	effects  effect
	flags    bitset
	operands []shell.Word
	options  []optionUse
	touches  []touch
	hosts    []string
	dir      shell.Dir // where relative words are looked up: Dir of the command, or -C

	noFirst, noLast bool
	inCode          bool // found in code of another language than the shell
}

// optionUse is one option as it was given.
type optionUse struct {
	name  string // without dashes
	known *option
	value shell.Word
	given bool // it has a value
}

// touch is one word that names a path, before it is looked up.
type touch struct {
	word      shell.Word
	access    access
	source    string
	dir       shell.Dir
	role      role
	recursive bool
	atHome    bool   // relative to the home directory of the child
	moved     bool   // the source of a move: nothing is lost unless it goes to the null device
	ifFile    bool   // counts only if it exists
	found     flag   // with ifFile: what the command then does
	filter    string // only entries below whose base name matches: find ROOT -name PATTERN -delete
}

// newCall reads a command's words.
func newCall(t *table, cmd *shell.Command) *call {
	c := &call{table: t, cmd: cmd, dir: cmd.Dir}
	if cmd.Name == "" || len(cmd.Words) == 0 {
		return c
	}
	c.base = t.lookup(cmd.Name)
	c.spec = c.base
	if c.spec == nil {
		c.guess(cmd.Words[1:])
		c.shellInWords()
		return c
	}
	c.known = true
	if informs(cmd, c.base) {
		return c
	}
	c.take(c.spec)
	words := cmd.Words[1:]
	if c.spec.style == styleNone {
		c.operands = words
	} else {
		c.parse(words)
	}
	if c.known && c.spec.subs != nil && !c.spec.listed {
		c.known = len(c.operands) == 0 // "docker volume" alone prints its help
	}
	c.assignRoles()
	if c.spec.hook != nil {
		c.spec.hook(c)
	}
	if c.spec != c.base && c.base.hook != nil {
		c.base.hook(c)
	}
	c.shellInWords()
	return c
}

// lookup finds a command in the table, also under a versioned name: python3.11, gcc-13.
func (t *table) lookup(name string) *spec {
	if s := t.find(name); s != nil {
		return s
	}
	lower := strings.TrimSuffix(strings.ToLower(name), ".exe")
	if s := t.find(lower); s != nil {
		return s
	}
	return t.find(strings.TrimRight(lower, "0123456789.-"))
}

func (c *call) take(s *spec) {
	c.effects |= s.effects
	c.flags.union(s.flags)
}

// parse sorts words into options, subcommands and operands.
func (c *call) parse(words []shell.Word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Text == "--" {
			c.operands = append(c.operands, words[i+1:]...)
			return
		}
		if isOption(w) {
			before := len(c.options)
			i += c.option(words, i)
			for _, o := range c.options[before:] {
				if o.known != nil && o.known.stop {
					return
				}
			}
			continue
		}
		if c.subcommand(w) {
			continue
		}
		c.operands = append(c.operands, w)
		if c.roleOf(len(c.operands)-1, false).stop {
			c.operands = append(c.operands, words[i+1:]...)
			return
		}
	}
}

// isOption reports whether a word is an option: it starts with a dash and is not "-" alone.
func isOption(w shell.Word) bool {
	return len(w.Text) > 1 && w.Text[0] == '-' && (w.Certainty == shell.Exact || strings.HasPrefix(w.Prefix, "-"))
}

// subcommand follows a word into the subcommands and reports whether it was one.
func (c *call) subcommand(w shell.Word) bool {
	if c.spec.subs == nil || len(c.operands) > 0 || w.Certainty != shell.Exact {
		return false
	}
	next := c.spec.subs[w.Text]
	if next == nil {
		// An unlisted subcommand still has a name. What it does is not known.
		if len(c.sub) == 0 {
			c.sub = append(c.sub, w.Text)
			c.known = false
			c.spec = &spec{listed: true, args: c.spec.args, style: c.spec.style}
			return true
		}
		return false
	}
	c.sub = append(c.sub, w.Text)
	c.spec = next
	c.take(next)
	return true
}

// option reads the option at words[i] and returns how many further words it took.
func (c *call) option(words []shell.Word, i int) int {
	w := words[i]
	if strings.HasPrefix(w.Text, "--") || c.spec.style == styleLong {
		return c.longOption(words, i)
	}
	for at := 1; at < len(w.Text); at++ {
		o := c.findShort(w.Text[at])
		use := optionUse{name: w.Text[at : at+1], known: o}
		if o == nil || o.value == nil {
			c.use(use)
			continue
		}
		rest := cut(w, at+1)
		switch {
		case rest.Text != "":
			use.value, use.given = rest, true
			c.use(use)
			return 0
		case o.attached || i+1 >= len(words):
			c.use(use)
			return 0
		default:
			use.value, use.given = words[i+1], true
			c.use(use)
			return 1
		}
	}
	return 0
}

func (c *call) longOption(words []shell.Word, i int) int {
	w := words[i]
	start := len(w.Text) - len(strings.TrimLeft(w.Text, "-"))
	name, _, hasValue := strings.Cut(w.Text[start:], "=")
	use := optionUse{name: name, known: c.findLong(name)}
	if hasValue {
		use.value, use.given = cut(w, start+len(name)+1), true
		c.use(use)
		return 0
	}
	if use.known != nil && use.known.value != nil && !use.known.attached && i+1 < len(words) {
		use.value, use.given = words[i+1], true
		c.use(use)
		return 1
	}
	c.use(use)
	return 0
}

// findShort looks in the subcommand's options, then in the command's own where these hold everywhere.
func (c *call) findShort(b byte) *option {
	if o := c.spec.short[b]; o != nil {
		return o
	}
	if c.base.style == styleGlobal {
		return c.base.short[b]
	}
	return nil
}

// findLong takes a name or an abbreviation of one. An abbreviation that fits several options
// counts as all of them: what the command would reject is not told from what it would do.
func (c *call) findLong(name string) *option {
	if o := c.spec.findLong(name); o != nil {
		return o
	}
	if c.base.style == styleGlobal || c.base.style == styleLong {
		return c.base.findLong(name)
	}
	return nil
}

func (s *spec) findLong(name string) *option {
	if o := s.long[name]; o != nil || s.style == styleLong {
		return o
	}
	var found *option
	for full, o := range s.long {
		if len(name) < 2 || !strings.HasPrefix(full, name) || o == found {
			continue
		}
		if found == nil {
			found = o
			continue
		}
		both := *found
		both.effects |= o.effects
		both.flags.union(o.flags)
		if both.value == nil {
			both.value, both.attached = o.value, o.attached
		}
		found = &both
	}
	return found
}

func (c *call) use(u optionUse) {
	c.options = append(c.options, u)
	o := u.known
	if o == nil {
		if u.given && looksLikePath(u.value.Text) {
			c.touch(u.value, role{word: "auto", access: reads})
		}
		return
	}
	c.effects |= o.effects
	c.flags.union(o.flags)
	c.noFirst = c.noFirst || o.noFirst
	c.noLast = c.noLast || o.noLast
	if o.value != nil && u.given {
		c.apply(u.value, *o.value)
	}
}

// roleOf returns the role of operand i; last says that it is the last of several.
func (c *call) roleOf(i int, last bool) role {
	if last && c.spec.last != nil && !c.noLast {
		return *c.spec.last
	}
	if c.noFirst {
		i++
	}
	if len(c.spec.args) == 0 {
		return role{word: "-"}
	}
	return c.spec.args[min(i, len(c.spec.args)-1)]
}

// assignRoles gives every operand its role, now that all options are known.
func (c *call) assignRoles() {
	for i, w := range c.operands {
		last := i > 0 && i == len(c.operands)-1
		r := c.roleOf(i, last)
		if r.word == "cmd" {
			return
		}
		if destination := last && c.spec.last != nil && !c.noLast; c.flags.has(flagRecursive) && !destination {
			r.recursive = true
		}
		c.apply(w, r)
	}
}

// apply makes of a word what its role says.
func (c *call) apply(w shell.Word, r role) {
	switch r.word {
	case "-", "cmd":
	case "dir":
		c.dir = enter(c.dir, w)
	case "host":
		c.host(w.Text)
	case "url":
		if path, ok := strings.CutPrefix(w.Text, "file://"); ok {
			c.touch(cut(w, len(w.Text)-len(path)), role{word: "read", access: reads})
			return
		}
		c.host(w.Text)
	case "assign":
	case "auto":
		if looksLikePath(w.Text) {
			c.touch(w, r)
		} else if c.plainName(w) {
			c.touchFile(w, r.access, 0)
		}
	default:
		if r.remote {
			if host, ok := remoteHost(w.Text); ok {
				c.hosts = appendHost(c.hosts, host)
				c.flags.add(flagRemote)
				c.effects |= doesNetwork
				if r.access&reads != 0 {
					c.flags.add(flagDownloads)
				} else {
					c.flags.add(flagUploads)
				}
				return
			}
		}
		c.touch(w, r)
	}
}

// touch notes that a word names a path, unless it plainly does not.
func (c *call) touch(w shell.Word, r role) {
	if w.Text == "" || w.Text == "-" || strings.Contains(w.Text, "://") || isProcessSubstitution(w) {
		return
	}
	c.touches = append(c.touches, touch{word: w, access: r.access, source: "argument", dir: c.dir, role: r, recursive: r.recursive})
}

// touchFile notes a word that is a path only if such a file exists. Then the flag found, unless
// it is 0, holds for the command.
func (c *call) touchFile(w shell.Word, a access, found flag) {
	n := len(c.touches)
	c.touch(w, role{access: a})
	if len(c.touches) > n {
		c.touches[n].ifFile, c.touches[n].found = true, found
	}
}

func isProcessSubstitution(w shell.Word) bool {
	return strings.HasPrefix(w.Raw, "<(") || strings.HasPrefix(w.Raw, ">(")
}

// guess reads the words of a command that the table does not know.
func (c *call) guess(words []shell.Word) {
	for _, w := range words {
		if isOption(w) {
			name, _, ok := strings.Cut(w.Text, "=")
			if !ok {
				continue
			}
			w = cut(w, len(name)+1)
			c.options = append(c.options, optionUse{name: strings.TrimLeft(name, "-"), value: w, given: true})
		} else {
			c.operands = append(c.operands, w)
		}
		c.apply(w, role{word: "auto", access: reads})
		if strings.Contains(w.Text, "://") {
			c.host(w.Text)
		}
	}
}

// looksLikePath reports whether a word whose role is not known is a path by its looks.
func looksLikePath(text string) bool {
	return len(text) > 1 && (text[0] == '/' || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		text == ".." || strings.HasPrefix(text, "~/")) && !strings.Contains(text, "://")
}

// plainName reports whether a word could be the name of a file beside the command: such a word
// counts only if the file exists, which the builder finds out.
func (c *call) plainName(w shell.Word) bool {
	return w.Certainty == shell.Exact && w.Text != "" && w.Text[0] != '-' && !strings.ContainsAny(w.Text, "=:\n\t{}()<>|;&$\"'")
}

// cut returns the word without its first n bytes.
func cut(w shell.Word, n int) shell.Word {
	w.Text = w.Text[n:]
	w.Prefix = w.Prefix[min(n, len(w.Prefix)):]
	if w.Certainty == shell.Partial && w.Prefix == "" {
		w.Certainty = shell.Unknown
	}
	return w
}

// has reports whether an option was given under one of the names.
func (c *call) has(names ...string) bool {
	for _, n := range names {
		if _, ok := c.option1(n); ok {
			return true
		}
	}
	return false
}

func (c *call) option1(name string) (optionUse, bool) {
	for _, o := range c.options {
		if o.name == name {
			return o, true
		}
	}
	return optionUse{}, false
}

// value returns the value of the first of the options that was given one.
func (c *call) value(names ...string) string {
	for _, n := range names {
		if o, ok := c.option1(n); ok && o.given {
			return o.value.Text
		}
	}
	return ""
}

// operand returns the text of operand i, or "".
func (c *call) operand(i int) string {
	if i >= len(c.operands) {
		return ""
	}
	return c.operands[i].Text
}

// informs reports whether a command only asks a program about itself: "prog --version", or
// "prog sub --help" of a program that has such a subcommand. With any other word in front the
// program may do that first, or hand the option on.
func informs(cmd *shell.Command, s *spec) bool {
	words := cmd.Words[min(1, len(cmd.Words)):]
	if len(words) == 2 && s != nil && s.subs[words[0].Text] != nil {
		words = words[1:]
	}
	if len(words) != 1 || words[0].Certainty != shell.Exact {
		return false
	}
	switch words[0].Text {
	case "--version", "--help":
		return true
	}
	return words[0].Text == "-V" && len(cmd.Words) == 2
}
