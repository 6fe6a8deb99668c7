// Package call reads the words of one command with the command table: options, operands, the paths, hosts and
// packages among them, and effects. It knows no configuration, and looks at no place.
package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Call is one command read with the help of the table: its options, operands and what
// follows from them. Hooks add to it.
type Call struct {
	Table    *Table
	Cmd      *shell.Command
	source   Source
	Spec     *spec // the deepest row that matched; nil for an unknown command
	Base     *spec // the row of the command itself
	Sub      []string
	Known    bool
	Effects  term.Effect
	Flags    term.Set
	Operands []value.Word
	behind   []value.Word // the words behind an option that ends all others: python3 -c CODE WORD
	Options  []OptionUse
	Touches  []Touch
	Hosts    []string
	Packages []facts.Package
	Targets  []facts.Target
	Remotes  []string  // addresses of the git remotes with which it talks
	Dir      shell.Dir // where relative words are looked up: Dir of the command, or -C

	noFirst, noLast bool
	InCode          bool // found in code of another language than the shell
	Search          *search
	Carriers        []int // the commands that carry this one, outermost first
}

// search is the work of find: the places where it starts, and the name that an entry must have, "" for any.
type search struct {
	Roots  []value.Word
	Filter string
	Sieve  *Sieve
}

// addresses notes the hosts of the URLs of a command with an unknown name.
func (c *Call) addresses() {
	for _, w := range c.Cmd.Words {
		if strings.Contains(w.Text, "://") {
			c.host(w.Text)
		}
	}
}

// New reads a command's words.
func New(t *Table, cmd *shell.Command, from Source) *Call {
	c := &Call{Table: t, Cmd: cmd, source: from, Dir: cmd.Dir}
	if cmd.Name == "" || len(cmd.Words) == 0 {
		c.addresses()
		return c
	}
	c.Base = t.lookup(cmd.Name)
	c.Spec = c.Base
	if c.Spec == nil {
		c.guess(cmd.Words[1:])
		c.shellInWords()
		return c
	}
	c.Known = true
	if Informs(cmd, c.Base) {
		return c
	}
	c.take(c.Spec)
	words := cmd.Words[1:]
	if c.Spec.style == "none" {
		c.Operands = words
		for _, word := range words {
			if strings.HasPrefix(word.Text, "$'") || !startsOtherwise(word) {
				c.mayBeComposed(word)
			}
		}
	} else {
		c.parse(words)
	}
	if c.Known && c.Spec.subs != nil && !c.Spec.listed {
		c.Known = len(c.Operands) == 0 // "docker volume" alone prints its help
	}
	c.assignRoles()
	c.readPhrases()
	c.changeBy(c.Spec)
	if c.Spec != c.Base {
		c.changeBy(c.Base)
	}
	if c.Spec.hook != nil {
		c.Spec.hook(c)
	}
	if c.Spec != c.Base && c.Base.hook != nil {
		c.Base.hook(c)
	}
	c.includes()
	c.hands()
	c.shellInWords()
	return c
}

// lookup finds a command in the table, also under a versioned name: python3.11, gcc-13.
func (t *Table) lookup(name string) *spec {
	for _, n := range spellingsOf(name) {
		if s := t.Find(n); s != nil {
			return s
		}
	}
	return nil
}

// spellingsOf lists the names under which the table may have a program.
func spellingsOf(name string) [3]string {
	lower := strings.TrimSuffix(strings.ToLower(name), ".exe")
	return [3]string{name, lower, strings.TrimRight(lower, "0123456789.-")}
}

func (c *Call) take(s *spec) {
	c.Effects |= s.effects
	c.Flags.Union(s.flags)
	for _, rel := range s.home {
		c.writeHome(rel)
	}
}

// phraseWords is how many plain words of a command are compared with phrases.
const phraseWords = 6

// readPhrases takes over the effects of a command's plain words from the lists of its row.
func (c *Call) readPhrases() {
	if len(c.Base.phrases) == 0 || c.Flags.Has(term.FlagDryRun) || c.Has("dry-run", "help") {
		return
	}
	line := slices.Concat(c.Sub, Texts(c.Operands))
	line = line[:min(len(line), phraseWords)]
	for _, list := range c.Base.phrases {
		c.usePhrases(list, line)
	}
}

// usePhrases takes over the effects of the first phrase of a list that fits.
func (c *Call) usePhrases(list []phrase, line []string) {
	if i := slices.IndexFunc(list, func(p phrase) bool { return p.Fits(line) }); i >= 0 {
		c.Effects |= list[i].effects
		c.Flags.Union(list[i].flags)
	}
}

// Has reports whether an option was given under one of the names.
func (c *Call) Has(names ...string) bool {
	for _, n := range names {
		if _, ok := c.Option1(n); ok {
			return true
		}
	}
	return false
}

// Option1 returns the first use of an option.
func (c *Call) Option1(name string) (OptionUse, bool) {
	for _, o := range c.Options {
		if o.Name == name || len(name) > 1 && strings.TrimLeft(o.Full, "-") == name {
			return o, true
		}
	}
	return OptionUse{}, false
}

// Value returns the value of the first of the options that was given one.
func (c *Call) Value(names ...string) string {
	for _, n := range names {
		if o, ok := c.Option1(n); ok && o.Given {
			return o.Value.Text
		}
	}
	return ""
}

// operand returns the text of operand i, or "".
func (c *Call) operand(i int) string {
	if i >= len(c.Operands) {
		return ""
	}
	return c.Operands[i].Text
}

// Informs reports whether a command only asks a program about itself: "prog --version", or
// "prog sub --help" of a program that has such a subcommand. With any other word in front the
// program may do that first, or hand the option on.
func Informs(cmd *shell.Command, s *spec) bool {
	words := cmd.Words[min(1, len(cmd.Words)):]
	if len(words) == 2 && s != nil && s.subs[words[0].Text] != nil {
		words = words[1:]
	}
	if len(words) != 1 || words[0].Certainty != value.Exact {
		return false
	}
	switch words[0].Text {
	case "--version", "--help":
		return true
	}
	return words[0].Text == "-V" && len(cmd.Words) == 2
}
