package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// optionUse is what one word of options means to an interpreter.
type optionUse struct {
	name   string
	value  value.Arg
	words  int // further words that it took
	isCode bool
	isFile bool
	module bool
}

// option reads the option in args[0].
func (p Interpreter) option(args []value.Arg) optionUse {
	a := args[0]
	next := func(o optionUse) optionUse {
		o.words = 1
		if len(args) > 1 {
			o.value = args[1]
		}
		return o
	}
	name, value, glued := strings.Cut(a.Text, "=")
	kind := func(name string) (optionUse, bool) {
		o := optionUse{name: name, isCode: slices.Contains(p.code, name), isFile: slices.Contains(p.file, name)}
		return o, o.isCode || o.isFile || slices.Contains(p.long, name) || slices.Contains(p.before, name)
	}
	if o, takes := kind(a.Text); takes {
		return next(o)
	}
	if o, takes := kind(name); takes && glued {
		o.value = a.Cut(len(name)+1, value)
		return o
	}
	if strings.HasPrefix(a.Text, "--") {
		return optionUse{}
	}
	for k := 1; k < len(a.Text); k++ {
		letter := "-" + a.Text[k:k+1]
		if letter == p.module {
			return optionUse{module: true}
		}
		o, takes := kind(letter)
		if !takes && strings.IndexByte(p.short, a.Text[k]) < 0 {
			if p.lang == "perl" && strings.IndexByte("idD0lF", a.Text[k]) >= 0 && k+1 < len(a.Text) && !strings.ContainsAny(a.Text[k:], "eE") {
				return optionUse{} // -i.bak, -MModule, -F: take the rest of the word
			}
			if p.lang == "perl" && (a.Text[k] == 'M' || a.Text[k] == 'm') {
				return optionUse{name: "-M", value: a.Cut(k+1, a.Text[k+1:])}
			}
			if p.lang == "ruby" && a.Text[k] == 'i' {
				return optionUse{}
			}
			continue
		}
		if k+1 < len(a.Text) {
			o.value = a.Cut(k+1, a.Text[k+1:])
			return o
		}
		return next(o)
	}
	return optionUse{}
}
