package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// call is one command read with the help of the table: its options, operands and what
// follows from them. Hooks add to it.
type call struct {
	table    *table
	cmd      *shell.Command
	source   source
	spec     *spec // the deepest row that matched; nil for an unknown command
	base     *spec // the row of the command itself
	sub      []string
	known    bool
	effects  effect
	flags    bitset
	operands []value.Word
	behind   []value.Word // the words behind an option that ends all others: python3 -c CODE WORD
	options  []optionUse
	touches  []touch
	hosts    []string
	packages []Package
	targets  []Target
	remotes  []string  // addresses of the git remotes with which it talks
	dir      shell.Dir // where relative words are looked up: Dir of the command, or -C

	noFirst, noLast bool
	inCode          bool // found in code of another language than the shell
	search          *search
	carriers        []int // the commands that carry this one, outermost first
}

// search is the work of find: the places where it starts, and the name that an entry must have, "" for any.
type search struct {
	roots  []value.Word
	filter string
	sieve  *sieve
}

// newCall reads a command's words.
func newCall(t *table, cmd *shell.Command, from source) *call {
	c := &call{table: t, cmd: cmd, source: from, dir: cmd.Dir}
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
	if c.spec.style == "none" {
		c.operands = words
		for _, word := range words {
			if strings.HasPrefix(word.Text, "$'") || !startsOtherwise(word) {
				c.mayBeComposed(word)
			}
		}
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
	for _, n := range spellingsOf(name) {
		if s := t.find(n); s != nil {
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

func (c *call) take(s *spec) {
	c.effects |= s.effects
	c.flags.union(s.flags)
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
		if o.name == name || len(name) > 1 && strings.TrimLeft(o.full, "-") == name {
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
	if len(words) != 1 || words[0].Certainty != value.Exact {
		return false
	}
	switch words[0].Text {
	case "--version", "--help":
		return true
	}
	return words[0].Text == "-V" && len(cmd.Words) == 2
}
