// Package value describes the values of a word of a shell text: its known and unknown parts, and the results of
// expansions and formats.
//
// It promises that a value which it calls exact is the one that bash computes, in every locale and version that an
// evaluator here is meant for; everything else it leaves unknown, with the known text before the first unknown part.
// Whatever may cost more than its arguments are long takes its steps from a limit that the caller gives.
//
// It knows no statements, commands or variables and no order of them, and it reads no files: which value a name has
// at one place of a text is the business of package shell.
package value

import (
	"slices"
	"strings"
)

// Piece is a stretch of a word or of a variable's value.
type Piece struct {
	Text   string // the known text, or how the unknown part was written
	Known  bool
	Quoted bool  // not subject to word splitting and globbing
	Glob   bool  // a pattern that stands for each of its matches
	Data   bool  // not known, but a name: a result of find, the path that which(1) prints
	Made   bool  // not known, and made of known text in a way that is not followed: it may be anything
	Cut    bool  // not known, and any part of the output of Inputs
	Inputs []int // commands that print it
}

// Joins reports whether o, which follows p, may become one piece with it.
func (p Piece) Joins(o Piece) bool {
	return p.Known && o.Known && p.Quoted == o.Quoted && p.Glob == o.Glob && len(p.Inputs)+len(o.Inputs) == 0
}

// Value is the text of a word, a variable or an output as far as it is known.
type Value []Piece

// Known is a value of which all is known.
func Known(text string) Value { return Value{{Text: text, Known: true}} }

// Opaque is a value of which nothing is known but how it was written.
func Opaque(written string, inputs []int) Value {
	return Value{{Text: written, Inputs: inputs}}
}

// PartOf is an unknown value: any part of the output of commands.
func PartOf(written string, inputs []int) Value {
	return Value{{Text: written, Inputs: inputs, Cut: true}}
}

// OpaqueOf is an unknown value that holds one of others.
func OpaqueOf(written string, of ...Value) Value {
	p := Piece{Text: written}
	for _, v := range of {
		p.Inputs = append(p.Inputs, v.Inputs()...)
		p.Cut = p.Cut || v.Cut()
	}
	p.Inputs = Set(p.Inputs)
	return Value{p}
}

// Cut reports a piece of v that is any part of the output of its commands.
func (v Value) Cut() bool { return slices.ContainsFunc(v, func(p Piece) bool { return p.Cut }) }

// Blurred is an unknown value made of others. It may lead up, or be an option, if one of them does.
func Blurred(written string, of ...Value) Value {
	p := Piece{Text: written}
	for _, v := range of {
		p.Inputs = append(p.Inputs, v.Inputs()...)
		p.Cut = p.Cut || v.Cut()
		text := v.Text()
		p.Made = p.Made || strings.Contains(text, "..") || strings.HasPrefix(text, "-") ||
			strings.Contains(text, " -") || slices.ContainsFunc(v, func(p Piece) bool { return p.Made })
	}
	return Value{p}
}

// Exact returns the text of v if all of it is known. A pattern that stands for its matches is not.
func (v Value) Exact() (string, bool) {
	for _, p := range v {
		if !p.Known || p.Glob {
			return "", false
		}
	}
	return v.Text(), true
}

// Text returns v as it is shown: unknown parts stand as they were written.
func (v Value) Text() string {
	if len(v) == 1 {
		return v[0].Text
	}
	var b strings.Builder
	for _, p := range v {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Prefix returns the known text before the first unknown part. There is none where a part may lead anywhere.
func (v Value) Prefix() string {
	if slices.ContainsFunc(v, func(p Piece) bool { return p.Made }) {
		return ""
	}
	for i, p := range v {
		if !p.Known {
			return v[:i].Text()
		}
	}
	return v.Text()
}

// Size is the length of the text of v.
func (v Value) Size() int {
	n := 0
	for _, p := range v {
		n += len(p.Text)
	}
	return n
}

// Inputs returns the commands whose output is part of v, in order and without repeats.
func (v Value) Inputs() []int {
	var all []int
	for i, p := range v {
		if i == 0 || !slices.Equal(p.Inputs, v[i-1].Inputs) { // neighbours have the same, often
			all = append(all, p.Inputs...)
		}
	}
	return Set(all)
}

// With returns v with the given quoting, and with inputs added to each piece.
func (v Value) With(quoted bool, inputs []int) Value {
	out := make(Value, len(v))
	for i, p := range v {
		p.Quoted = quoted
		switch {
		case len(inputs) == 0:
		case i > 0 && slices.Equal(p.Inputs, v[i-1].Inputs):
			p.Inputs = out[i-1].Inputs
		default:
			p.Inputs = slices.Concat(p.Inputs, inputs)
		}
		out[i] = p
	}
	return out
}

// Equal reports whether both values hold the same text. Unknown parts are the same only when
// both are the very same value.
func (v Value) Equal(o Value) bool {
	if len(v) == len(o) && (len(v) == 0 || &v[0] == &o[0]) {
		return true
	}
	a, okA := v.Exact()
	b, okB := o.Exact()
	return okA && okB && a == b
}

// Place returns v as a path. The random part of a name that mktemp made counts as known: it
// is the same wherever the name is used, and nothing else has it.
func (v Value) Place() (string, bool) {
	for _, p := range v {
		random := p.Data && strings.HasPrefix(p.Text, "XXX")
		if p.Glob || !p.Known && !random {
			return "", false
		}
	}
	return v.Text(), true
}

// Tail returns the known text after the last unknown part.
func (v Value) Tail() string {
	for i := len(v) - 1; i >= 0; i-- {
		if !v[i].Known {
			return v[i+1:].Text()
		}
	}
	return v.Text()
}

// TrimNewlines removes the line ends that a command substitution drops. Unknown parts may be empty.
func (v Value) TrimNewlines() Value {
	out := slices.Clone(v)
	for i := len(out) - 1; i >= 0; i-- {
		if !out[i].Known {
			continue
		}
		if out[i].Text = strings.TrimRight(out[i].Text, "\n"); out[i].Text != "" {
			break
		}
		if len(out) > 1 || len(out[i].Inputs) == 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// After returns v without its first n bytes.
func (v Value) After(n int) Value {
	out := slices.Clone(v)
	for len(out) > 0 && n > 0 {
		if len(out[0].Text) > n {
			out[0].Text = out[0].Text[n:]
			break
		}
		n -= len(out[0].Text)
		out = out[1:]
	}
	if len(out) == 0 {
		return Known("")
	}
	return out
}

// Known reports whether no part of v is unknown.
func (v Value) Known() bool {
	return !slices.ContainsFunc(v, func(p Piece) bool { return !p.Known })
}

// Dynamic reports text that is not known as code: some of it is neither known nor just a name.
func (v Value) Dynamic() bool {
	return slices.ContainsFunc(v, func(p Piece) bool { return (!p.Known || p.Glob) && !p.Data })
}

// HasGlob reports whether a shell would match text against the names of files.
func HasGlob(text string) bool {
	if strings.ContainsAny(text, "*?") {
		return true
	}
	open := strings.IndexByte(text, '[')
	return open >= 0 && strings.IndexByte(text[open+1:], ']') > 0
}

// Set returns the numbers in order and without repeats.
func Set(all []int) []int {
	if len(all) < 2 {
		return all
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// With is the set of two lists. It is the first of them, if that is sorted and has all of the second.
func With(set, more []int) []int {
	missing := func(n int) bool { _, ok := slices.BinarySearch(set, n); return !ok }
	if slices.IsSorted(set) && !slices.ContainsFunc(more, missing) {
		return set
	}
	return Set(slices.Concat(set, more))
}

// bytesPerStep is how much text is built for one step.
const bytesPerStep = 64

// Cost is how many steps it takes to build v.
func (v Value) Cost() int { return 1 + len(v) + v.Size()/bytesPerStep }
