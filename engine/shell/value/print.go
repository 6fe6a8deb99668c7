package value

import (
	"slices"
	"strconv"
	"strings"
)

// Line is what a program prints that prints one line.
func Line(text string) Value { return Known(text + "\n") }

// Echo joins its arguments. Shells differ in their options and escapes: with sh set it may be any shell, and with
// decodes bash may decode escapes without an option.
func Echo(args []Arg, sh, decodes bool) (Value, bool) {
	if (sh || decodes) && slices.ContainsFunc(args, func(a Arg) bool { return strings.Contains(a.Text, `\`) }) {
		return nil, false
	}
	escapesOn, newline := false, true
	for len(args) > 0 && args[0].Certainty == Exact && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		if sh && args[0].Text != "-n" {
			return nil, false
		}
		for _, c := range args[0].Text[1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapesOn = true
			case 'E':
				escapesOn = false
			}
		}
		args = args[1:]
	}
	if slices.ContainsFunc(args, func(a Arg) bool { return a.Glob }) {
		return nil, false
	}
	v := Join(args)
	for i, p := range v {
		if escapesOn && p.Known && strings.Contains(p.Text, `\`) {
			text, ok := Unescape(p.Text, Escapes{ZeroOctal: true})
			if !ok {
				return nil, false
			}
			v[i].Text, v[i].Decoded = text, true
		}
	}
	if newline {
		v = append(v, Piece{Text: "\n", Known: true})
	}
	return v, true
}

// Dirname is what dirname prints. Like Basename it takes one path apart by its letters: a part .. stays one.
func Dirname(args []Arg) (Value, bool) {
	if len(args) != 1 || strings.HasPrefix(args[0].Text, "-") || args[0].Glob {
		return nil, false
	}
	text, exact := args[0].Val.Exact()
	if !exact {
		text = args[0].Prefix // the directory of the known beginning is known
	}
	dir := strings.TrimRight(text, "/")
	cut := strings.LastIndexByte(dir, '/')
	switch {
	case cut >= 0:
		dir = strings.TrimRight(dir[:cut], "/")
	case dir != "" || text == "":
		dir = "."
	}
	if dir == "" {
		dir = "/"
	}
	if !exact && cut <= 0 {
		return nil, false
	}
	if !exact {
		return Value{{Text: dir, Known: true}, {}}, true
	}
	return Line(dir), true
}

// Basename is what basename prints.
func Basename(args []Arg) (Value, bool) {
	if len(args) == 0 || len(args) > 2 || strings.HasPrefix(args[0].Text, "-") {
		return nil, false
	}
	if slices.ContainsFunc(args, func(a Arg) bool { return a.Certainty != Exact || a.Glob }) {
		return nil, false
	}
	base := strings.TrimRight(args[0].Text, "/")
	if base == "" && args[0].Text != "" {
		return Line("/"), true
	}
	base = base[strings.LastIndexByte(base, '/')+1:]
	if len(args) == 2 && base != args[1].Text {
		base = strings.TrimSuffix(base, args[1].Text)
	}
	return Line(base), true
}

// Located is the path of a program: its directory is not known, its name is.
func Located(args []Arg) (Value, bool) {
	if len(args) != 1 || args[0].Certainty != Exact || strings.ContainsAny(args[0].Text, "/- \t\n") {
		return nil, false
	}
	return Value{{Data: true}, {Text: "/" + args[0].Text + "\n", Known: true}}, true
}

// Seq is what seq prints.
func Seq(args []Arg) (Value, bool) {
	n := []int64{1, 1, 1}
	for i, a := range args {
		text, ok := a.Val.Exact()
		x, err := strconv.ParseInt(text, 10, 32)
		if !ok || err != nil || i > 2 {
			return nil, false
		}
		n[i] = x
	}
	from, step, to := int64(1), int64(1), n[0]
	switch len(args) {
	case 0:
		return nil, false
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	}
	if step <= 0 || (to-from)/step > 1000 {
		return nil, false
	}
	var b strings.Builder
	for ; from <= to; from += step {
		b.WriteString(strconv.FormatInt(from, 10) + "\n")
	}
	return Known(b.String()), true
}
