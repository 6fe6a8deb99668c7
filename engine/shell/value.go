package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// piece is a stretch of a word or of a variable's value.
type piece struct {
	text    string // the known text, or how the unknown part was written
	known   bool
	quoted  bool  // not subject to word splitting and globbing
	glob    bool  // a pattern that stands for each of its matches
	data    bool  // not known, but a name: what find found, the path that which prints
	made    bool  // not known, and made of known text in a way that is not followed: it may be anything
	decoded bool  // came out of a decoder: base64 -d, printf escapes, $'\x72'
	inputs  []int // commands whose output this is
}

// joins reports whether o, which follows p, may become one piece with it.
func (p piece) joins(o piece) bool {
	return p.known && o.known && p.quoted == o.quoted && p.glob == o.glob && p.decoded == o.decoded && len(p.inputs)+len(o.inputs) == 0
}

// value is the text of a word, a variable or an output as far as it is known.
type value []piece

func known(text string) value { return value{{text: text, known: true}} }

func unknown(written string, inputs []int) value {
	return value{{text: written, inputs: inputs}}
}

// blurred is an unknown value made of others. It may lead up if one of them does.
func blurred(written string, of ...value) value {
	p := piece{text: written}
	for _, v := range of {
		p.inputs = append(p.inputs, v.inputs()...)
		p.made = p.made || strings.Contains(v.text(), "..") || slices.ContainsFunc(v, func(p piece) bool { return p.made })
	}
	return value{p}
}

// exact returns the text of v if all of it is known. A pattern that stands for its matches is not.
func (v value) exact() (string, bool) {
	for _, p := range v {
		if !p.known || p.glob {
			return "", false
		}
	}
	return v.text(), true
}

// text returns v as it is shown: unknown parts stand as they were written.
func (v value) text() string {
	if len(v) == 1 {
		return v[0].text
	}
	var b strings.Builder
	for _, p := range v {
		b.WriteString(p.text)
	}
	return b.String()
}

// prefix returns the known text before the first unknown part. There is none where a part may lead anywhere.
func (v value) prefix() string {
	if slices.ContainsFunc(v, func(p piece) bool { return p.made }) {
		return ""
	}
	for i, p := range v {
		if !p.known {
			return v[:i].text()
		}
	}
	return v.text()
}

func (v value) size() int {
	n := 0
	for _, p := range v {
		n += len(p.text)
	}
	return n
}

func (v value) decoded() bool {
	return slices.ContainsFunc(v, func(p piece) bool { return p.decoded })
}

// inputs returns the commands whose output is part of v, in order and without repeats.
func (v value) inputs() []int {
	var all []int
	for _, p := range v {
		all = append(all, p.inputs...)
	}
	return sortedSet(all)
}

// with returns v with the given quoting, and with inputs added to each piece.
func (v value) with(quoted bool, inputs []int) value {
	out := make(value, len(v))
	for i, p := range v {
		p.quoted = quoted
		if len(inputs) > 0 {
			p.inputs = slices.Concat(p.inputs, inputs)
		}
		out[i] = p
	}
	return out
}

// equal reports whether both values hold the same text. Unknown parts are the same only when
// both are the very same value.
func (v value) equal(o value) bool {
	if len(v) == len(o) && (len(v) == 0 || &v[0] == &o[0]) {
		return true
	}
	a, okA := v.exact()
	b, okB := o.exact()
	return okA && okB && a == b
}

// place returns v as a path. The random part of a name that mktemp made counts as known: it
// is the same wherever the name is used, and nothing else has it.
func (v value) place() (string, bool) {
	for _, p := range v {
		random := p.data && strings.HasPrefix(p.text, "XXX")
		if p.glob || !p.known && !random {
			return "", false
		}
	}
	return v.text(), true
}

// tail returns the known text after the last unknown part.
func (v value) tail() string {
	for i := len(v) - 1; i >= 0; i-- {
		if !v[i].known {
			return v[i+1:].text()
		}
	}
	return v.text()
}

// trimNewlines removes the line ends that a command substitution drops. Unknown parts may be empty.
func (v value) trimNewlines() value {
	out := slices.Clone(v)
	for i := len(out) - 1; i >= 0; i-- {
		if !out[i].known {
			continue
		}
		if out[i].text = strings.TrimRight(out[i].text, "\n"); out[i].text != "" {
			break
		}
		if len(out) > 1 || len(out[i].inputs) == 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

func allKnown(v value) bool {
	return !slices.ContainsFunc(v, func(p piece) bool { return !p.known })
}

// dynamic reports text that is not known as code: some of it is neither known nor just a name.
func (v value) dynamic() bool {
	return slices.ContainsFunc(v, func(p piece) bool { return (!p.known || p.glob) && !p.data })
}

func hasGlob(text string) bool {
	if strings.ContainsAny(text, "*?") {
		return true
	}
	open := strings.IndexByte(text, '[')
	return open >= 0 && strings.IndexByte(text[open+1:], ']') > 0
}

func sortedSet(all []int) []int {
	if len(all) < 2 {
		return all
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// absolute resolves a path lexically. It is unknown when p is relative and dir is unknown.
func absolute(dir Dir, p string) (string, bool) {
	switch {
	case p == "":
		return "", false
	case path.IsAbs(p):
		return path.Clean(p), true
	case !dir.Known:
		return "", false
	default:
		return path.Join(dir.Path, p), true
	}
}

// holes are the unknown parts of texts that are parsed again.
type holes []piece

// source writes v as text to be parsed again: unknown parts become holes.
func (h *holes) source(v value) string {
	if s, ok := v.exact(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range v {
		if p.known {
			b.WriteString(p.text)
			continue
		}
		b.WriteRune(holeOpen)
		b.WriteString(strconv.Itoa(len(*h)))
		b.WriteRune(holeClose)
		*h = append(*h, p)
	}
	return b.String()
}

// fill turns literal text with holes back into pieces.
func (h holes) fill(text string, quoted bool) value {
	var v value
	for {
		open := strings.IndexRune(text, holeOpen)
		if open < 0 {
			break
		}
		end := strings.IndexRune(text[open:], holeClose)
		if end < 0 {
			break
		}
		n, err := strconv.Atoi(text[open+len(string(holeOpen)) : open+end])
		if err != nil || n < 0 || n >= len(h) {
			break
		}
		if open > 0 {
			v = append(v, piece{text: text[:open], known: true, quoted: quoted})
		}
		hole := h[n]
		hole.quoted = quoted
		v = append(v, hole)
		text = text[open+end+len(string(holeClose)):]
	}
	if text != "" || len(v) == 0 {
		v = append(v, piece{text: text, known: true, quoted: quoted})
	}
	return v
}
