package value

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds turns bash's offset and length into indexes: negative ones count from the end.
func Bounds(from, length, n, none int) (lo, hi int, ok bool) {
	if from < 0 {
		from += n
	}
	if from < 0 || from > n {
		return 0, 0, from > n
	}
	hi = n
	switch {
	case length == none:
	case length < 0:
		hi = n + length
	default:
		hi = min(n, from+length)
	}
	return from, hi, hi >= from
}

// ChangeCase returns s as ${s^}, ${s^^}, ${s,} or ${s,,} does.
func ChangeCase(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	if op == syntax.UpperFirst {
		return string(unicode.ToUpper(r)) + s[size:]
	}
	return string(unicode.ToLower(r)) + s[size:]
}
