package shell

import (
	"slices"
	"strings"
)

// arg is a Word together with the pieces that it was made of.
type arg struct {
	Word
	val value
}

// newArg makes the Word for a field after expansion and splitting.
func newArg(v value, raw string) arg {
	w := Word{Text: v.text(), Raw: raw, Inputs: v.inputs(), Prefix: v.prefix()}
	quoted, loose := false, false
	for _, p := range v {
		quoted = quoted || p.quoted
		loose = loose || !p.known && !p.quoted
		w.Glob = w.Glob || p.glob || p.known && !p.quoted && hasGlob(p.text)
	}
	w.Quoted = quoted && !loose
	switch {
	case len(w.Prefix) == len(w.Text) && allKnown(v):
		w.Certainty = Exact
	case w.Prefix != "":
		w.Certainty = Partial
	}
	return arg{Word: w, val: v}
}

func literalArg(text string) arg {
	return arg{Word: Word{Text: text, Prefix: text, Raw: text, Certainty: Exact}, val: known(text)}
}

// unknownArg is an argument that the text does not spell, such as what xargs adds.
func unknownArg(written string, inputs []int) arg {
	return newArg(unknown(written, inputs), "")
}

func words(args []arg) []Word {
	out := make([]Word, len(args))
	for i := range args {
		out[i] = args[i].Word
	}
	return out
}

// joined returns the values of args with single spaces between them, as eval and ssh join them.
func joined(args []arg) value {
	var v value
	if !slices.ContainsFunc(args, func(a arg) bool { return a.Certainty != Exact || a.Glob || len(a.val) > 1 || a.val.decoded() }) {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = a.Text
		}
		return value{{text: strings.Join(texts, " "), known: true, inputs: argInputs(args)}}
	}
	for i, a := range args {
		if i > 0 {
			v = append(v, piece{text: " ", known: true})
		}
		for _, p := range a.val {
			if p.known && (p.glob || !p.quoted && hasGlob(p.text)) { // the names that it stands for are split once more
				p.known = false
			}
			v = append(v, p)
		}
	}
	return v
}

func argInputs(args []arg) []int {
	var all []int
	for _, a := range args {
		all = append(all, a.Inputs...)
	}
	return sortedSet(all)
}
