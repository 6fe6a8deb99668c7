package value

import (
	"slices"
	"strconv"
	"strings"
)

// Format formats as printf does, with %s, %b, %d and %%. The format is used again as
// long as arguments are left.
// With plain set only those escapes count that every shell knows.
func Format(f Arg, args []Arg, plain bool) (Value, bool) {
	text, ok := f.Val.Exact()
	if !ok || f.Glob || plain && !plainEscapes(f, args) {
		return nil, false
	}
	var v Value
	add := func(s string) bool {
		text, ok := Unescape(s, true)
		v = append(v, Piece{Text: text, Known: true})
		return ok
	}
	for turn := 0; turn < 1000; turn++ {
		used := 0
		rest := text
		for rest != "" {
			at := strings.IndexByte(rest, '%')
			if at < 0 {
				at = len(rest)
			}
			if at > 0 && !add(rest[:at]) {
				return nil, false
			}
			if at == len(rest) {
				break
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
				add("%")
				continue
			}
			a := Literal("")
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

// plainEscapes reports that the words hold no escape which some shell does not know.
func plainEscapes(f Arg, args []Arg) bool {
	for _, a := range append(slices.Clone(args), f) {
		if strings.Contains(strings.NewReplacer(`\n`, "", `\t`, "", `\\`, "").Replace(a.Text), `\`) {
			return false
		}
	}
	return true
}

func formatOne(verb byte, flags string, a Arg) (Value, bool) {
	if a.Glob || flags != "" && verb != 'd' {
		return nil, false
	}
	text, exact := a.Val.Exact()
	switch verb {
	case 's':
		return a.Val, true
	case 'b':
		out, ok := Unescape(text, false)
		return Known(out), exact && ok
	case 'd', 'i':
		n, err := strconv.ParseInt(text, 10, 32)
		if !exact || err != nil || strconv.FormatInt(n, 10) != text || n < 0 && flags != "" {
			return nil, false
		}
		switch flags {
		case "":
		case "02", "03":
			text = strings.Repeat("0", max(0, int(flags[1]-'0')-len(text))) + text
		default:
			return nil, false
		}
		return Known(text), true
	default:
		return nil, false
	}
}
