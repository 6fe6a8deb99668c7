package call

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Texts are the words as texts.
func Texts(words []value.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// Touch is one word that names a path, before it is looked up.
type Touch struct {
	Word      value.Word
	Access    term.Access
	Source    string
	Dir       shell.Dir
	Role      Role
	Recursive bool
	Size      int64     // of a file that a trial made or changed
	AtHome    bool      // relative to the home directory of the child
	Moved     bool      // the source of a move: nothing is lost unless it goes to the null device
	IfFile    bool      // counts only if it exists
	Found     term.Flag // with ifFile: what the command then does
	Sieve     *Sieve    // files that a recursive read leaves out
	Filter    string    // only entries below whose base name matches: find ROOT -name PATTERN -delete
}

// RoleOf returns the role of operand i; last says that it is the last of several.
func (c *Call) RoleOf(i int, last bool) Role {
	if last && c.Spec.last != nil && !c.noLast {
		return *c.Spec.last
	}
	if c.noFirst {
		i++
	}
	if len(c.Spec.args) == 0 {
		return Role{Word: "text"}
	}
	return c.Spec.args[min(i, len(c.Spec.args)-1)]
}

// assignRoles gives every operand its role, now that all options are known.
func (c *Call) assignRoles() {
	for i, w := range c.Operands {
		last := i > 0 && i == len(c.Operands)-1
		r := c.RoleOf(i, last)
		if r.Word == "command" {
			return
		}
		if destination := last && c.Spec.last != nil && !c.noLast; c.Flags.Has(term.FlagRecursive) && !destination {
			r.recursive = true
		}
		c.apply(w, r)
	}
	for _, w := range c.behind {
		if !IsOption(w) {
			c.apply(w, Role{Word: "path-like", Access: term.Reads})
		}
	}
}

// apply adds the facts of a word by its role.
func (c *Call) apply(w value.Word, r Role) {
	if r.Access&term.Reads != 0 && strings.HasPrefix(w.Text, "@") && LooksLikePath(w.Text[1:]) {
		c.touch(Cut(w, 1), Role{Access: term.Reads}) // further words, as gcc and others take them
	}
	switch r.Word {
	case "script":
		if strings.Contains(w.Text, "://") {
			c.Flags.Add(term.FlagRunsDownloaded)
			c.host(w.Text)
			return
		}
		c.touch(w, r)
	case "package":
		file := commands.Listed("package-files", path.Ext(w.Text)) && !strings.Contains(w.Text, "://")
		if file || LooksLikePath(w.Text) {
			c.touch(w, Role{Word: "read", Access: term.Reads})
		}
	case "text", "number", "command", "code", "library", "module", "image", "reference":
	case "directory":
		c.Dir = disk.Enter(c.Dir, w)
	case "host":
		c.host(w.Text)
	case "proxy":
		c.Through(w)
	case "address":
		c.address(w)
	case "url":
		if path, ok := strings.CutPrefix(w.Text, "file://"); ok {
			c.touch(Cut(w, len(w.Text)-len(path)), Role{Word: "read", Access: term.Reads})
			return
		}
		if LooksLikePath(w.Text) { // browsers show files, too
			c.touch(w, Role{Access: term.Reads})
			return
		}
		c.host(w.Text)
	case "assignment":
	case "path-like":
		if LooksLikePath(w.Text) {
			c.touch(w, r)
		} else if c.plainName(w) {
			c.touchFile(w, r.Access, 0)
		}
	default:
		if r.remote {
			if host, ok := RemoteHost(w.Text); ok {
				c.Hosts = AppendHost(c.Hosts, host)
				c.Flags.Add(term.FlagRemote)
				c.Effects |= term.Network
				if r.Access&term.Reads != 0 {
					c.Flags.Add(term.FlagDownloads)
				} else {
					c.Flags.Add(term.FlagUploads)
				}
				return
			}
		}
		c.touch(w, r)
	}
}

// touch notes that a word names a path, unless it plainly does not. A word without a text may be one
// that only the run brings, such as the lines that xargs reads: then it names something unknown.
func (c *Call) touch(w value.Word, r Role) {
	if w.Text == "" && w.Certainty == value.Exact || w.Text == "-" || isURL(w) || IsProcessSubstitution(w) {
		return
	}
	c.Touches = append(c.Touches, Touch{Word: w, Access: r.Access, Source: "argument", Dir: c.Dir, Role: r, Recursive: r.recursive})
}

// isURL reports a word whose known parts are those of a URL: in $(curl http://h/x) nothing is known.
func isURL(w value.Word) bool {
	text := w.Text
	if w.Certainty != value.Exact {
		text = WithoutUnknown(text)
	}
	return strings.Contains(text, "://")
}

// touchFile notes a word that is a path only if such a file exists. Then the flag found, unless
// it is 0, holds for the command.
func (c *Call) touchFile(w value.Word, a term.Access, found term.Flag) {
	n := len(c.Touches)
	c.touch(w, Role{Access: a})
	if len(c.Touches) > n {
		c.Touches[n].IfFile, c.Touches[n].Found = true, found
	}
}

// IsProcessSubstitution reports <(…) and >(…).
func IsProcessSubstitution(w value.Word) bool {
	return strings.HasPrefix(w.Raw, "<(") || strings.HasPrefix(w.Raw, ">(")
}

// guess reads the words of a command that the table does not know.
func (c *Call) guess(words []value.Word) {
	for i, w := range words {
		access := term.Reads
		if IsOption(w) {
			name, _, ok := strings.Cut(w.Text, "=")
			if !ok {
				continue
			}
			w, access = Cut(w, len(name)+1), accessBy(name)
			c.Options = append(c.Options, OptionUse{Name: strings.TrimLeft(name, "-"), Full: name, Value: w, Given: true})
		} else {
			c.Operands = append(c.Operands, w)
			if i > 0 && IsOption(words[i-1]) {
				access = accessBy(words[i-1].Text)
			}
		}
		c.apply(w, Role{Word: "path-like", Access: access})
		if strings.Contains(w.Text, "://") {
			c.host(w.Text)
		}
	}
}

// accessBy is the access to a path behind an option that the table does not know: by its name, the option may
// say where results go.
func accessBy(option string) term.Access {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(option, "-")), "_", "-")
	if option == "-o" || len(name) > 1 && (commands.Listed("results", name) || strings.HasSuffix(name, "-out")) {
		return term.Writes
	}
	return term.Reads
}

// LooksLikePath reports whether a word whose role is not known is a path by its looks.
func LooksLikePath(text string) bool {
	return len(text) > 1 && (text[0] == '/' || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		text == ".." || strings.HasPrefix(text, "~/")) && !strings.Contains(text, "://")
}

// plainName reports whether a word could be the name of a file beside the command: such a word
// counts only if the file exists, which the builder finds out.
func (c *Call) plainName(w value.Word) bool {
	return w.Certainty == value.Exact && w.Text != "" && w.Text[0] != '-' && !strings.ContainsAny(w.Text, "=:\n\t{}()<>|;&$\"'")
}

// Cut returns the word without its first n bytes.
func Cut(w value.Word, n int) value.Word {
	w.Text = w.Text[n:]
	w.Prefix = w.Prefix[min(n, len(w.Prefix)):]
	if w.Certainty == value.Partial && w.Prefix == "" {
		w.Certainty = value.Unknown
	}
	return w
}

// field is text that begins n bytes behind the start of w.
func field(w value.Word, n int, text string) value.Word {
	w = Cut(w, n)
	w.Text, w.Prefix = text, w.Prefix[:min(len(text), len(w.Prefix))]
	if len(w.Prefix) == len(text) {
		w.Certainty = value.Exact
	}
	return w
}

// OptionUse is one option as it was given.
type OptionUse struct {
	Name  string // without dashes, as it was given
	Full  string // with dashes, and written out where it was given shorter
	Known *option
	Value value.Word
	Given bool // it has a value
}

// parse sorts words into options, subcommands and operands.
func (c *Call) parse(words []value.Word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Text == "--" {
			c.Operands = append(c.Operands, words[i+1:]...)
			return
		}
		if IsOption(w) {
			before := len(c.Options)
			i += c.option(words, i)
			for _, o := range c.Options[before:] {
				if o.Known != nil && o.Known.stop {
					c.behind = words[min(i+1, len(words)):]
					return
				}
			}
			continue
		}
		if c.subcommand(w) {
			continue
		}
		if w.Certainty != value.Exact && w.Prefix == "" && c.Effects&term.Delete != 0 && i+1 < len(words) {
			c.mayBeOption()
		}
		if !startsOtherwise(w) {
			c.mayBeComposed(w)
		}
		c.Operands = append(c.Operands, w)
		if c.RoleOf(len(c.Operands)-1, false).Stop {
			c.Operands = append(c.Operands, words[i+1:]...)
			return
		}
	}
}

// IsOption reports whether a word is an option: it starts with a dash and is not "-" alone.
func IsOption(w value.Word) bool {
	return len(w.Text) > 1 && w.Text[0] == '-' && (w.Certainty == value.Exact || strings.HasPrefix(w.Prefix, "-"))
}

// subcommand follows a word into the subcommands and reports whether it was one.
func (c *Call) subcommand(w value.Word) bool {
	if c.Spec.subs == nil || len(c.Operands) > 0 {
		return false
	}
	if w.Certainty != value.Exact {
		c.Known = false
		if c.composed(w) {
			c.Flags.Add(term.FlagUnresolvedVerb)
		}
		for name := range c.Spec.subs {
			if s := c.Spec.sub(c.Table, name); strings.HasPrefix(name, w.Prefix) && s != nil && s.destroys(c.Table) {
				c.Flags.Add(term.FlagUnresolvedVerb)
			}
		}
		return true
	}
	next := c.Spec.sub(c.Table, w.Text)
	if next == nil {
		// An unlisted subcommand still has a name. Its effects are not known.
		if len(c.Sub) == 0 {
			c.Sub = append(c.Sub, w.Text)
			c.Known = false
			c.Spec = &spec{listed: true, args: c.Spec.args, style: c.Spec.style}
			return true
		}
		return false
	}
	c.Sub = append(c.Sub, w.Text)
	c.Spec = next
	c.take(next)
	return true
}

// destroys reports that a subcommand, or one of its own, deletes or overwrites for good.
func (s *spec) destroys(t *Table) bool {
	if s.effects&term.Delete != 0 || s.flags.Has(term.FlagDestroysData) {
		return true
	}
	for name := range s.subs {
		if sub := s.sub(t, name); sub != nil && sub.destroys(t) {
			return true
		}
	}
	return false
}

// mayBeComposed takes a word that the text composes for the worst option, and where a hook reads the words
// for something that is not known.
func (c *Call) mayBeComposed(w value.Word) {
	if !c.composed(w) {
		return
	}
	c.mayBeOption()
	if c.Spec.reads() || c.Base.reads() {
		c.Flags.Add(term.FlagUnresolvedVerb)
	}
}

// startsOtherwise reports a word that is no option, because its first character is known and no dash.
func startsOtherwise(w value.Word) bool {
	text := strings.TrimPrefix(w.Text, "$'")
	return text != "" && (text == w.Text && strings.IndexByte("$`-{<", text[0]) < 0 ||
		text != w.Text && strings.IndexByte(`\-'`, text[0]) < 0)
}

// composed reports a word that the text itself makes, in a way that is not followed: of no file or program
// that has a say of its own.
func (c *Call) composed(w value.Word) bool {
	return w.Made && !slices.ContainsFunc(w.Inputs, func(i int) bool {
		return i < len(c.source.Cmds) && slices.ContainsFunc(append(slices.Clone(c.source.Inputs[i]), i), func(j int) bool {
			row := c.Table.Rows.Command(c.source.Cmds[j].Name)
			return row == nil || !row.Filter
		})
	})
}

// mayBeOption takes a word that is not known for any option of the command.
func (c *Call) mayBeOption() {
	given := c.Flags
	for _, o := range c.Spec.short {
		c.Flags.Union(o.flags)
	}
	for _, o := range c.Spec.long {
		c.Flags.Union(o.flags)
	}
	for _, harmless := range []term.Flag{term.FlagInteractive, term.FlagDryRun} {
		if !given.Has(harmless) {
			c.Flags.Remove(harmless)
		}
	}
}

// option reads the option at words[i] and returns how many further words it took.
func (c *Call) option(words []value.Word, i int) (more int) {
	w := words[i]
	for _, u := range commands.Read(w.Text, c.Spec.style, c.arity) {
		use := OptionUse{Name: strings.TrimLeft(u.Name, "-"), Full: u.Name, Known: c.findOption(u.Name)}
		if len(u.Name) > 2 {
			use.Full = c.writtenOut(use.Name, use.Known)
		}
		switch {
		case u.At > 0:
			use.Value, use.Given = Cut(w, u.At), true
		case u.Next && i+1 < len(words):
			use.Value, use.Given, more = words[i+1], true, 1
		case use.Known == nil && len(use.Name) > 1 && i+1 < len(words) && accessBy(u.Name) == term.Writes &&
			LooksLikePath(words[i+1].Text):
			c.touch(words[i+1], Role{Access: term.Writes}) // it may be an operand as well
		}
		c.use(use)
	}
	return more
}

func (c *Call) arity(name string) commands.Arity {
	if o := c.findOption(name); o != nil {
		return o.arity
	}
	return commands.Unknown
}

// findOption looks for an option by its name with dashes.
func (c *Call) findOption(name string) *option {
	bare := strings.TrimLeft(name, "-")
	switch {
	case c.Spec.style == "single-dash" || strings.HasPrefix(name, "--"):
		return c.findLong(bare)
	case len(bare) == 1:
		return c.findShort(bare[0])
	}
	return c.Spec.words[name]
}

// findShort looks in the subcommand's options, then in the command's own where these hold everywhere.
func (c *Call) findShort(b byte) *option {
	if o := c.Spec.short[b]; o != nil {
		return o
	}
	if c.Base.style == "everywhere" {
		return c.Base.short[b]
	}
	return nil
}

// findLong takes a name or an abbreviation of one. An abbreviation that fits several options
// counts as all of them: the reader does not know which of them the command rejects.
func (c *Call) findLong(name string) *option {
	if o := c.Spec.findLong(name); o != nil {
		return o
	}
	if c.Base.style == "everywhere" || c.Base.style == "single-dash" {
		return c.Base.findLong(name)
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
		both.flags.Union(o.flags)
		if both.Value == nil {
			both.Value, both.arity = o.Value, o.arity
		}
		found = &both
	}
	return found
}

// writtenOut is the full name of a long option, with its dashes. An abbreviation that fits several stays as
// it is.
func (c *Call) writtenOut(name string, known *option) string {
	dashes := "--"
	if c.Spec.style == "single-dash" {
		dashes = "-"
	}
	full := ""
	for _, s := range []*spec{c.Spec, c.Base} {
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

// Bounds of the options and operands in the input. Every word is in argv besides.
const (
	MaxOptions = 64
	MaxValue   = 1024
)

// Shown is a word as the input has it. A cut word is not wholly known.
func Shown(w value.Word) (text, certainty string) {
	text, certainty = w.Text, w.Certainty.String()
	if len(text) > MaxValue {
		text = strings.ToValidUTF8(text[:MaxValue], "")
		if w.Certainty == value.Exact {
			certainty = value.Partial.String()
		}
	}
	return text, certainty
}

// OperandFacts lists the operands, up to the command that this one runs.
func (c *Call) OperandFacts() []facts.Operand {
	list := []facts.Operand{}
	for i, w := range c.Operands[:min(len(c.Operands), MaxOptions)] {
		kind := "path-like"
		if c.Spec != nil {
			kind = c.RoleOf(i, i > 0 && i == len(c.Operands)-1).Word
		}
		if kind == "command" {
			break
		}
		text, certainty := Shown(w)
		list = append(list, facts.Operand{Value: text, Kind: kind, Certainty: certainty})
	}
	return list
}

// OptionValues lists the options that were given a value.
func (c *Call) OptionValues() []facts.Option {
	list := []facts.Option{}
	for _, o := range c.Options {
		if !o.Given || len(list) == MaxOptions {
			continue
		}
		text, certainty := Shown(o.Value)
		list = append(list, facts.Option{Name: o.Full, Value: text, Certainty: certainty})
	}
	return list
}

func (c *Call) use(u OptionUse) {
	c.Options = append(c.Options, u)
	o := u.Known
	if o == nil {
		if u.Given && LooksLikePath(u.Value.Text) {
			c.touch(u.Value, Role{Word: "path-like", Access: accessBy(u.Full)})
		}
		return
	}
	c.Effects |= o.effects
	c.Flags.Union(o.flags)
	c.noFirst = c.noFirst || o.noFirst
	c.noLast = c.noLast || o.noLast
	if o.Value != nil && u.Given && !c.parts(u.Value, o.parts) {
		c.apply(u.Value, *o.Value)
	}
}

// Times counts how often an option was given.
func (c *Call) Times(names ...string) int {
	n := 0
	for _, o := range c.Options {
		for _, name := range names {
			if o.Name == name {
				n++
			}
		}
	}
	return n
}
