package value

import (
	"strconv"
	"strings"
)

// Unknown parts of a text that is parsed a second time (eval "rm $x") stand in it as
// HoleOpen, a number, HoleClose. Both are Unicode noncharacters, which no text that was
// asked for may hold, so that a hole cannot be forged.
const (
	HoleOpen  = '\uFDD0'
	HoleClose = '\uFDD1'
)

// Holes are the unknown parts of texts that are parsed again.
type Holes []Piece

// Source writes v as text to be parsed again: unknown parts become holes.
func (h *Holes) Source(v Value) string {
	if s, ok := v.Exact(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range v {
		if p.Known {
			b.WriteString(p.Text)
			continue
		}
		b.WriteRune(HoleOpen)
		b.WriteString(strconv.Itoa(len(*h)))
		b.WriteRune(HoleClose)
		*h = append(*h, p)
	}
	return b.String()
}

// Fill turns literal text with holes back into pieces.
func (h Holes) Fill(text string, quoted bool) Value {
	var v Value
	for {
		open := strings.IndexRune(text, HoleOpen)
		if open < 0 {
			break
		}
		end := strings.IndexRune(text[open:], HoleClose)
		if end < 0 {
			break
		}
		n, err := strconv.Atoi(text[open+len(string(HoleOpen)) : open+end])
		if err != nil || n < 0 || n >= len(h) {
			break
		}
		if open > 0 {
			v = append(v, Piece{Text: text[:open], Known: true, Quoted: quoted})
		}
		hole := h[n]
		hole.Quoted = quoted
		v = append(v, hole)
		text = text[open+end+len(string(HoleClose)):]
	}
	if text != "" || len(v) == 0 {
		v = append(v, Piece{Text: text, Known: true, Quoted: quoted})
	}
	return v
}
