package shell

import (
	"strconv"
	"strings"
)

// printf formats known arguments. With -v it assigns instead of printing.
func (w *walker) printf(args []arg) (value, bool) {
	variable := ""
	if len(args) > 1 && args[0].Text == "-v" {
		variable = args[1].Text
		args = args[2:]
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return nil, false
	}
	v, ok := format(args[0], args[1:])
	if variable == "" {
		return v, ok
	}
	if !ok {
		v = unknown("$"+variable, argInputs(args))
	}
	w.assign(variable, v)
	return known(""), true
}

// format does what printf does with %s, %b, %d, %x, %c and %%. The format is used again as
// long as arguments are left.
func format(f arg, args []arg) (value, bool) {
	text, ok := f.val.exact()
	if !ok {
		return nil, false
	}
	decoded := strings.Contains(text, `\x`) || strings.Contains(text, `\0`) || strings.Contains(text, `\1`)
	var v value
	add := func(s string, dec bool) { v = append(v, piece{text: s, known: true, decoded: dec}) }
	for turn := 0; turn < 1000; turn++ {
		used := 0
		rest := text
		for rest != "" {
			at := strings.IndexByte(rest, '%')
			if at < 0 {
				add(unescape(rest, escapes{quotes: true}), decoded)
				break
			}
			if at > 0 {
				add(unescape(rest[:at], escapes{quotes: true}), decoded)
			}
			end := at + 1
			for end < len(rest) && strings.IndexByte("-+ 0123456789.#", rest[end]) >= 0 {
				end++
			}
			if end == len(rest) {
				return nil, false
			}
			verb, flags := rest[end], rest[at+1:end]
			rest = rest[end+1:]
			if verb == '%' {
				add("%", false)
				continue
			}
			a := literalArg("")
			if used < len(args) {
				a = args[used]
			}
			used++
			one, ok := formatOne(verb, flags, a)
			if !ok {
				return nil, false
			}
			v = append(v, one...)
		}
		if used == 0 || used >= len(args) {
			return v, true
		}
		args = args[used:]
	}
	return nil, false
}

func formatOne(verb byte, flags string, a arg) (value, bool) {
	if a.Glob || flags != "" && verb != 'x' && verb != 'd' && verb != 'o' {
		return nil, false
	}
	text, exact := a.val.exact()
	switch verb {
	case 's':
		return a.val, true
	case 'b':
		if !exact {
			return nil, false
		}
		return value{{text: unescape(text, escapes{zeroOctal: true}), known: true, decoded: strings.Contains(text, `\`)}}, true
	case 'q':
		return nil, false
	case 'd', 'i', 'x', 'o', 'c':
		if verb == 'c' && exact && text != "" {
			return known(text[:1]), true
		}
		n, err := strconv.ParseInt(text, 0, 64)
		if !exact || err != nil {
			return nil, false
		}
		base := map[byte]int{'d': 10, 'i': 10, 'x': 16, 'o': 8}[verb]
		out := strconv.FormatInt(n, base)
		if flags == "02" && len(out) < 2 || flags == "03" && len(out) < 3 {
			out = strings.Repeat("0", int(flags[1]-'0')-len(out)) + out
		} else if flags != "" && flags != "02" && flags != "03" {
			return nil, false
		}
		return known(out), true
	default:
		return nil, false
	}
}
