package call

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// change is a change of the facts by the words of a call, compiled.
type change struct {
	some, also, none []test
	does, drops      effects
	paths, operands  *Role
	here             *Role
}

// effects are effects and flags.
type effects struct {
	effects term.Effect
	flags   term.Set
}

// test looks at the options and operands of a call.
type test func(*Call) bool

// includeChanges compiles the changes of a row.
func (s *spec) includeChanges(when map[string]commands.Change) error {
	for _, key := range slices.Sorted(maps.Keys(when)) {
		from, ch := when[key], change{}
		rest, none, _ := strings.Cut(" "+key, " without ")
		some, also, _ := strings.Cut(rest, " with ")
		err := errors.Join(addTests(&ch.some, some), addTests(&ch.also, also), addTests(&ch.none, none),
			words(from.Does, &ch.does.effects, &ch.does.flags), words(from.Drops, &ch.drops.effects, &ch.drops.flags),
			parseKind(&ch.paths, from.Paths), parseKind(&ch.operands, from.Operands), parseKind(&ch.here, from.Here))
		if err != nil {
			return fmt.Errorf("read condition %s: %w", key, err)
		}
		s.when = append(s.when, ch)
	}
	return nil
}

// addTests reads a list of tests.
func addTests(tests *[]test, list string) error {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		t := testOf(text)
		if t == nil {
			return fmt.Errorf("no such flag or list %q", text)
		}
		*tests = append(*tests, t)
	}
	return nil
}

// testOf is a test for an option, an option with a value, a flag of the call in brackets, no operand, a list
// of phrases, or a phrase of operands; nil for a flag or a list that is not known.
func testOf(text string) test {
	switch name, val, valued := strings.Cut(text, "="); text[0] {
	case '(':
		flag := slices.Index(term.FlagNames, strings.Trim(text, "()"))
		switch {
		case text == "(none)":
			return func(c *Call) bool { return len(c.Operands) == 0 }
		case flag < 0:
			return nil
		}
		return func(c *Call) bool { return c.Flags.Has(uint8(flag)) }
	case '@':
		return phraseTest(commands.Phrases()[text[1:]])
	case '-':
		if !valued {
			return func(c *Call) bool { return c.Has(strings.TrimLeft(text, "-")) }
		}
		phrase := commands.Phrase{Words: []string{val}}
		has := func(o OptionUse) bool { return o.Full == name && o.Given && phrase.Fits([]string{o.Value.Text}) }
		return func(c *Call) bool { return slices.ContainsFunc(c.Options, has) }
	}
	return phraseTest([]commands.Phrase{{Words: strings.Fields(text)}})
}

func phraseTest(list []commands.Phrase) test {
	if list == nil {
		return nil
	}
	return func(c *Call) bool {
		line := Texts(c.Operands)
		return slices.ContainsFunc(list, func(p commands.Phrase) bool { return p.Fits(line) })
	}
}

// changeBy changes the facts as the conditions of a row say, of which the order does not matter.
func (c *Call) changeBy(s *spec) {
	var adds, drops effects
	for _, ch := range s.when {
		fits := func(t test) bool { return t(c) }
		if len(ch.some) > 0 && !slices.ContainsFunc(ch.some, fits) || len(ch.also) > 0 &&
			!slices.ContainsFunc(ch.also, fits) ||
			slices.ContainsFunc(ch.none, fits) {
			continue
		}
		adds.effects |= ch.does.effects
		adds.flags.Union(ch.does.flags)
		drops.effects |= ch.drops.effects
		drops.flags.Union(ch.drops.flags)
		if ch.paths != nil {
			c.each(term.Writes|term.Deletes, func(t *Touch) { t.Access, t.Role = ch.paths.Access, *ch.paths })
			c.Touches = slices.DeleteFunc(c.Touches, func(t Touch) bool { return t.Access == 0 })
		}
		if ch.operands != nil {
			for _, w := range c.Operands {
				c.touch(w, *ch.operands)
			}
		}
		if ch.here != nil {
			c.touch(Exact("."), *ch.here)
		}
	}
	kept := adds.flags
	kept.UnionWithout(c.Flags, drops.flags)
	c.Effects, c.Flags = c.Effects&^drops.effects|adds.effects, kept
}
