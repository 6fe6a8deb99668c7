package command

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// optionUse is what one word of options means to an interpreter.
type optionUse struct {
	name  string
	kind  string // of its value; "" where it takes none
	value value.Arg
	words int // further words that it took
}

// option reads the option in args[0]. Of letters run together the last one can have a value.
func (p Interpreter) option(args []value.Arg) optionUse {
	word := args[0]
	uses := commands.Read(word.Text, p.options.Style, func(name string) commands.Arity {
		arity := p.options.Arity(name)
		if arity == commands.Attached && len(name) == 2 && p.codeBehind(word.Text, name[1]) {
			return commands.None
		}
		return arity
	})
	u := uses[len(uses)-1]
	full, known, ok := p.options.Find(u.Name)
	if !ok || known.Arity() != commands.Next || u.At == 0 && !u.Next {
		return optionUse{}
	}
	o := optionUse{name: full, kind: known.Kind()}
	if u.At > 0 {
		o.value = word.Cut(u.At, word.Text[u.At:])
		return o
	}
	o.words = 1
	if len(args) > 1 {
		o.value = args[1]
	}
	return o
}

// codeBehind reports whether an option of program text may stand behind a letter whose value is in the same word:
// perl -lne CODE.
func (p Interpreter) codeBehind(word string, letter byte) bool {
	_, rest, _ := strings.Cut(word, string(letter))
	for _, name := range p.options.Options("code") {
		if len(name) == 2 && strings.Contains(rest, name[1:]) {
			return true
		}
	}
	return false
}
