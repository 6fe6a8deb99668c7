package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// touch is one word that names a path, before it is looked up.
type touch struct {
	word      value.Word
	access    access
	source    string
	dir       shell.Dir
	role      role
	recursive bool
	atHome    bool   // relative to the home directory of the child
	moved     bool   // the source of a move: nothing is lost unless it goes to the null device
	ifFile    bool   // counts only if it exists
	found     flag   // with ifFile: what the command then does
	sieve     *sieve // files that a recursive read leaves out
	filter    string // only entries below whose base name matches: find ROOT -name PATTERN -delete
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
		return role{word: "text"}
	}
	return c.spec.args[min(i, len(c.spec.args)-1)]
}

// assignRoles gives every operand its role, now that all options are known.
func (c *call) assignRoles() {
	for i, w := range c.operands {
		last := i > 0 && i == len(c.operands)-1
		r := c.roleOf(i, last)
		if r.word == "command" {
			return
		}
		if destination := last && c.spec.last != nil && !c.noLast; c.flags.has(flagRecursive) && !destination {
			r.recursive = true
		}
		c.apply(w, r)
	}
	for _, w := range c.behind {
		if !isOption(w) {
			c.apply(w, role{word: "path-like", access: reads})
		}
	}
}

// apply makes of a word what its role says.
func (c *call) apply(w value.Word, r role) {
	switch r.word {
	case "package":
		if looksLikePath(w.Text) {
			c.touch(w, role{word: "read", access: reads})
		}
	case "text", "number", "command", "code", "library", "module", "image", "reference":
	case "directory":
		c.dir = enter(c.dir, w)
	case "host":
		c.host(w.Text)
	case "proxy":
		c.through(w)
	case "address":
		c.address(w)
	case "url":
		if path, ok := strings.CutPrefix(w.Text, "file://"); ok {
			c.touch(cut(w, len(w.Text)-len(path)), role{word: "read", access: reads})
			return
		}
		c.host(w.Text)
	case "assignment":
	case "path-like":
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

// touch notes that a word names a path, unless it plainly does not. A word without a text may be one
// that only the run brings, such as what xargs reads: then it names something that is not known.
func (c *call) touch(w value.Word, r role) {
	if w.Text == "" && w.Certainty == value.Exact || w.Text == "-" || isURL(w) || isProcessSubstitution(w) {
		return
	}
	c.touches = append(c.touches, touch{word: w, access: r.access, source: "argument", dir: c.dir, role: r, recursive: r.recursive})
}

// isURL reports a word whose known parts are those of a URL: in $(curl http://h/x) nothing is known.
func isURL(w value.Word) bool {
	text := w.Text
	if w.Certainty != value.Exact {
		text = withoutUnknown(text)
	}
	return strings.Contains(text, "://")
}

// touchFile notes a word that is a path only if such a file exists. Then the flag found, unless
// it is 0, holds for the command.
func (c *call) touchFile(w value.Word, a access, found flag) {
	n := len(c.touches)
	c.touch(w, role{access: a})
	if len(c.touches) > n {
		c.touches[n].ifFile, c.touches[n].found = true, found
	}
}

func isProcessSubstitution(w value.Word) bool {
	return strings.HasPrefix(w.Raw, "<(") || strings.HasPrefix(w.Raw, ">(")
}

// guess reads the words of a command that the table does not know.
func (c *call) guess(words []value.Word) {
	for _, w := range words {
		if isOption(w) {
			name, _, ok := strings.Cut(w.Text, "=")
			if !ok {
				continue
			}
			w = cut(w, len(name)+1)
			c.options = append(c.options, optionUse{name: strings.TrimLeft(name, "-"), full: name, value: w, given: true})
		} else {
			c.operands = append(c.operands, w)
		}
		c.apply(w, role{word: "path-like", access: reads})
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
func (c *call) plainName(w value.Word) bool {
	return w.Certainty == value.Exact && w.Text != "" && w.Text[0] != '-' && !strings.ContainsAny(w.Text, "=:\n\t{}()<>|;&$\"'")
}

// cut returns the word without its first n bytes.
func cut(w value.Word, n int) value.Word {
	w.Text = w.Text[n:]
	w.Prefix = w.Prefix[min(n, len(w.Prefix)):]
	if w.Certainty == value.Partial && w.Prefix == "" {
		w.Certainty = value.Unknown
	}
	return w
}

// optionUse is one option as it was given.
type optionUse struct {
	name  string // without dashes, as it was given
	full  string // with dashes, and written out where it was given shorter
	known *option
	value value.Word
	given bool // it has a value
}

// parse sorts words into options, subcommands and operands.
func (c *call) parse(words []value.Word) {
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
					c.behind = words[min(i+1, len(words)):]
					return
				}
			}
			continue
		}
		if c.subcommand(w) {
			continue
		}
		if w.Certainty != value.Exact && w.Prefix == "" && c.effects&doesDelete != 0 && i+1 < len(words) {
			c.mayBeOption()
		}
		if !startsOtherwise(w) {
			c.mayBeComposed(w)
		}
		c.operands = append(c.operands, w)
		if c.roleOf(len(c.operands)-1, false).stop {
			c.operands = append(c.operands, words[i+1:]...)
			return
		}
	}
}

// isOption reports whether a word is an option: it starts with a dash and is not "-" alone.
func isOption(w value.Word) bool {
	return len(w.Text) > 1 && w.Text[0] == '-' && (w.Certainty == value.Exact || strings.HasPrefix(w.Prefix, "-"))
}

// subcommand follows a word into the subcommands and reports whether it was one.
func (c *call) subcommand(w value.Word) bool {
	if c.spec.subs == nil || len(c.operands) > 0 {
		return false
	}
	if w.Certainty != value.Exact {
		c.known = false
		if c.composed(w) {
			c.flags.add(flagUnresolvedVerb)
		}
		for name := range c.spec.subs {
			if s := c.spec.sub(c.table, name); strings.HasPrefix(name, w.Prefix) && s != nil && s.destroys(c.table) {
				c.flags.add(flagUnresolvedVerb)
			}
		}
		return true
	}
	next := c.spec.sub(c.table, w.Text)
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

// destroys reports that a subcommand, or one of its own, deletes or overwrites for good.
func (s *spec) destroys(t *table) bool {
	if s.effects&doesDelete != 0 || s.flags.has(flagDestroysData) {
		return true
	}
	for name := range s.subs {
		if sub := s.sub(t, name); sub != nil && sub.destroys(t) {
			return true
		}
	}
	return false
}

// mayBeComposed takes a word that the text composes for the worst option, and where a hook reads the words for
// something that is not known.
func (c *call) mayBeComposed(w value.Word) {
	if !c.composed(w) {
		return
	}
	c.mayBeOption()
	if c.spec.hook != nil || c.base.hook != nil {
		c.flags.add(flagUnresolvedVerb)
	}
}

// startsOtherwise reports a word that is no option, because its first character is known and no dash.
func startsOtherwise(w value.Word) bool {
	text := strings.TrimPrefix(w.Text, "$'")
	return text != "" && (text == w.Text && strings.IndexByte("$`-{<", text[0]) < 0 ||
		text != w.Text && strings.IndexByte(`\-'`, text[0]) < 0)
}

// composed reports a word that the text itself makes, in a way that is not followed: of no file or program that
// has a say of its own.
func (c *call) composed(w value.Word) bool {
	return w.Made && !slices.ContainsFunc(w.Inputs, func(i int) bool {
		return i < len(c.source.cmds) && slices.ContainsFunc(append(slices.Clone(c.source.w.inputs[i]), i), func(j int) bool {
			row := c.table.rows.Command(c.source.cmds[j].Name)
			return row == nil || !row.Filter
		})
	})
}

// mayBeOption takes a word that is not known for any option of the command.
func (c *call) mayBeOption() {
	given := c.flags
	for _, o := range c.spec.short {
		c.flags.union(o.flags)
	}
	for _, o := range c.spec.long {
		c.flags.union(o.flags)
	}
	for _, harmless := range []flag{flagInteractive, flagDryRun} {
		if !given.has(harmless) {
			c.flags.remove(harmless)
		}
	}
}

// option reads the option at words[i] and returns how many further words it took.
func (c *call) option(words []value.Word, i int) (more int) {
	w := words[i]
	for _, u := range commands.Read(w.Text, c.spec.style, c.arity) {
		use := optionUse{name: strings.TrimLeft(u.Name, "-"), full: u.Name, known: c.findOption(u.Name)}
		if len(u.Name) > 2 {
			use.full = c.writtenOut(use.name, use.known)
		}
		switch {
		case u.At > 0:
			use.value, use.given = cut(w, u.At), true
		case u.Next && i+1 < len(words):
			use.value, use.given, more = words[i+1], true, 1
		}
		c.use(use)
	}
	return more
}

func (c *call) arity(name string) commands.Arity {
	if o := c.findOption(name); o != nil {
		return o.arity
	}
	return commands.Unknown
}

// findOption looks for an option by its name with dashes.
func (c *call) findOption(name string) *option {
	bare := strings.TrimLeft(name, "-")
	switch {
	case c.spec.style == "single-dash" || strings.HasPrefix(name, "--"):
		return c.findLong(bare)
	case len(bare) == 1:
		return c.findShort(bare[0])
	}
	return c.spec.words[name]
}

// findShort looks in the subcommand's options, then in the command's own where these hold everywhere.
func (c *call) findShort(b byte) *option {
	if o := c.spec.short[b]; o != nil {
		return o
	}
	if c.base.style == "everywhere" {
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
	if c.base.style == "everywhere" || c.base.style == "single-dash" {
		return c.base.findLong(name)
	}
	return nil
}

func (s *spec) findLong(name string) *option {
	if o := s.long[name]; o != nil || s.style == "single-dash" {
		return o
	}
	var fits []string
	for full := range s.long {
		if len(name) > 1 && strings.HasPrefix(full, name) {
			fits = append(fits, full)
		}
	}
	slices.Sort(fits)
	var found *option
	for _, full := range fits {
		o := s.long[full]
		if found == nil || o == found {
			found = o
			continue
		}
		both := *found
		both.effects |= o.effects
		both.flags.union(o.flags)
		if both.value == nil {
			both.value, both.arity = o.value, o.arity
		}
		found = &both
	}
	return found
}

// writtenOut is the full name of a long option, with its dashes. An abbreviation that fits several stays as
// it is.
func (c *call) writtenOut(name string, known *option) string {
	dashes := "--"
	if c.spec.style == "single-dash" {
		dashes = "-"
	}
	full := ""
	for _, s := range []*spec{c.spec, c.base} {
		for candidate, o := range s.long {
			switch {
			case candidate == name:
				return dashes + name
			case o != known || !strings.HasPrefix(candidate, name):
			case full == "" || len(candidate) < len(full) || len(candidate) == len(full) && candidate < full:
				full = candidate
			}
		}
	}
	if full == "" || known == nil {
		full = name
	}
	return dashes + full
}

// Bounds of what the input tells of options and operands. Every word is in argv besides.
const (
	maxOptions = 64
	maxValue   = 1024
)

// shown is a word as the input tells of it. What is cut off is not wholly known.
func shown(w value.Word) (text, certainty string) {
	text, certainty = w.Text, w.Certainty.String()
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "")
		if w.Certainty == value.Exact {
			certainty = value.Partial.String()
		}
	}
	return text, certainty
}

// operandFacts lists the operands, up to the command that this one runs.
func (c *call) operandFacts() []Operand {
	list := []Operand{}
	for i, w := range c.operands[:min(len(c.operands), maxOptions)] {
		kind := "path-like"
		if c.spec != nil {
			kind = c.roleOf(i, i > 0 && i == len(c.operands)-1).word
		}
		if kind == "command" {
			break
		}
		text, certainty := shown(w)
		list = append(list, Operand{Value: text, Kind: kind, Certainty: certainty})
	}
	return list
}

// optionValues lists the options that were given a value.
func (c *call) optionValues() []Option {
	list := []Option{}
	for _, o := range c.options {
		if !o.given || len(list) == maxOptions {
			continue
		}
		text, certainty := shown(o.value)
		list = append(list, Option{Name: o.full, Value: text, Certainty: certainty})
	}
	return list
}

func (c *call) use(u optionUse) {
	c.options = append(c.options, u)
	o := u.known
	if o == nil {
		if u.given && looksLikePath(u.value.Text) {
			c.touch(u.value, role{word: "path-like", access: reads})
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
