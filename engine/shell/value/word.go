package value

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Certainty says how much of a word or command is known before it runs.
// The zero value is Unknown.
type Certainty uint8

const (
	Unknown Certainty = iota // the text, or the command word, depends on something not known here
	Partial                  // some of it is known: a word's prefix, or a command's name but not all arguments
	Exact                    // all of it is known
)

// String returns "unknown", "partial" or "exact".
func (c Certainty) String() string {
	switch c {
	case Exact:
		return "exact"
	case Partial:
		return "partial"
	default:
		return "unknown"
	}
}

// Word is one argument after quote removal and those expansions that are static.
type Word struct {
	Text      string    // unquoted text; a part that is not known stands as it was written, e.g. "$1"
	Prefix    string    // the known text before the first unknown part; equal to Text when Certainty is Exact
	Raw       string    // the source text of the word
	Certainty Certainty // Exact, Partial (Prefix is not empty) or Unknown
	Glob      bool      // Text holds unquoted *, ? or [ that the shell would expand
	Made      bool      // a part that is not known is made of known text: it may be anything, also an option
	Cut       bool      // a part that is not known is any part of the output of Inputs
	Quoted    bool      // the word stood in quotes: an unknown part is one argument, not several
	Inputs    []int     // indexes of commands whose output is part of this word (substitutions, variables set from them)
}

// Assign is a variable set by or for a command: NAME=value before it, export, declare, read, …
type Assign struct {
	Name  string
	Value Word
}

// Arg is a Word together with the pieces that it was made of.
type Arg struct {
	Word
	Val Value
}

// NewArg makes the Word for a field after expansion and splitting.
func NewArg(v Value, raw string) Arg {
	w := Word{Text: v.Text(), Raw: raw, Inputs: v.Inputs(), Prefix: v.Prefix()}
	quoted, loose := false, false
	for _, p := range v {
		quoted = quoted || p.Quoted
		loose = loose || !p.Known && !p.Quoted
		w.Made, w.Cut = w.Made || p.Made, w.Cut || p.Cut
		w.Glob = w.Glob || p.Glob || p.Known && !p.Quoted && HasGlob(p.Text)
	}
	w.Quoted = quoted && !loose
	switch {
	case len(w.Prefix) == len(w.Text) && v.Known():
		w.Certainty = Exact
	case w.Prefix != "":
		w.Certainty = Partial
	}
	return Arg{Word: w, Val: v}
}

// Literal is an argument of which all is known.
func Literal(text string) Arg {
	return Arg{Word: Word{Text: text, Prefix: text, Raw: text, Certainty: Exact}, Val: Known(text)}
}

// OpaqueArg is an argument that the text does not spell, such as the additions of xargs.
func OpaqueArg(written string, inputs []int) Arg {
	return NewArg(Opaque(written, inputs), "")
}

// Words returns the words of args.
func Words(args []Arg) []Word {
	out := make([]Word, len(args))
	for i := range args {
		out[i] = args[i].Word
	}
	return out
}

// Join returns the values of args with single spaces between them, as eval and ssh join them.
func Join(args []Arg) Value {
	var v Value
	if !slices.ContainsFunc(args, func(a Arg) bool { return a.Certainty != Exact || a.Glob || len(a.Val) > 1 }) {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = a.Text
		}
		return Value{{Text: strings.Join(texts, " "), Known: true, Inputs: Inputs(args)}}
	}
	for i, a := range args {
		if i > 0 {
			v = append(v, Piece{Text: " ", Known: true})
		}
		for _, p := range a.Val {
			if p.Known && (p.Glob || !p.Quoted && HasGlob(p.Text)) { // the names that it stands for are split once more
				p.Known = false
			}
			v = append(v, p)
		}
	}
	return v
}

// Values returns the values of args.
func Values(args []Arg) []Value {
	out := make([]Value, len(args))
	for i := range args {
		out[i] = args[i].Val
	}
	return out
}

// Inputs returns the commands whose output is part of args.
func Inputs(args []Arg) []int {
	var all []int
	for _, a := range args {
		all = append(all, a.Inputs...)
	}
	return Set(all)
}

// Spelled reports an argument that is known to be one word.
func (a Arg) Spelled() bool { return a.Quoted || a.Certainty == Exact && !a.Glob }

// Value turns a word back into a value.
func (word Word) Value() Value {
	if word.Certainty == Exact {
		return Value{{Text: word.Text, Known: true, Inputs: word.Inputs}}
	}
	v := Value{{Text: word.Text[len(word.Prefix):], Inputs: word.Inputs, Cut: word.Cut}}
	if word.Prefix != "" {
		v = append(Value{{Text: word.Prefix, Known: true}}, v...)
	}
	return v
}

// Quote writes words so that they read back as they are.
func Quote(args []Arg) Value {
	var v Value
	for _, a := range args {
		v = append(v, Piece{Text: " ", Known: true})
		for _, p := range a.Val {
			switch {
			case p.Known && !p.Quoted && HasGlob(p.Text):
				p.Known = false
			case p.Known && !p.Glob:
				if q, err := syntax.Quote(p.Text, syntax.LangBash); err == nil && p.Text != "" {
					p.Text = q
				}
			}
			v = append(v, p)
		}
	}
	return v
}

// Cut returns the argument without its first n bytes.
func (a Arg) Cut(n int, text string) Arg {
	if a.Certainty == Exact {
		b := Literal(text)
		b.Raw, b.Inputs, b.Glob, b.Quoted = a.Raw, a.Inputs, a.Glob, a.Quoted
		b.Val = a.Val.After(n)
		return b
	}
	return NewArg(a.Val.After(n), a.Raw)
}

// Texts returns the text of each word.
func Texts(args []Arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.Text
	}
	return out
}

// IsName reports a name that a variable may have.
func IsName(text string) bool { return syntax.ValidName(text) }
