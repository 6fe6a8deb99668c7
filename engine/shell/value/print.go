package value

import (
	"slices"
	"strings"
)

// Line is the output of a program that prints one line.
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
			text, ok := Unescape(p.Text, false)
			if !ok {
				return nil, false
			}
			v[i].Text = text
		}
	}
	if newline {
		v = append(v, Piece{Text: "\n", Known: true})
	}
	return v, true
}

// Dirname is the output of dirname. Like Basename it takes one path apart by its letters: a part .. stays
// one.
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

// Basename is the output of basename.
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
