package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// find adds what -exec and its like run for each file found.
func (l *line) find(name string, args []value.Arg, step value.Meter) {
	var roots []value.Arg
	for _, a := range args {
		if a.Text != "" && strings.ContainsAny(a.Text[:1], "-(!") {
			break
		}
		roots = append(roots, a)
	}
	if strings.HasPrefix(name, "fd") {
		roots = fdRoots(args)
	}
	found := findResult(roots)
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		default:
			continue
		}
		option := args[i].Text
		start := i + 1
		for i++; i < len(args); i++ {
			if args[i].Text == ";" || args[i].Text == "+" && args[i-1].Text == "{}" {
				break
			}
		}
		command := args[start:min(i, len(args))]
		many := i < len(args) && args[i].Text == "+" || option == "-X" || option == "--exec-batch"
		if strings.HasPrefix(name, "fd") && !slices.ContainsFunc(command, func(a value.Arg) bool { return strings.Contains(a.Text, "{") }) {
			command = append(slices.Clone(command), value.OpaqueArg("{}", nil))
		}
		command = Substitute(command, "{}", found, step)
		for i, a := range command {
			if many && strings.Contains(a.Text, "{}") {
				command[i] = value.NewArg(a.Val.With(false, nil), a.Raw)
			}
		}
		l.add(Run{Args: command, Via: name + " " + option, Moved: option == "-execdir" || option == "-okdir"})
	}
}

// FindLists reports that the words of a find print names of the files that it finds, and nothing else.
func FindLists(words []value.Word) bool {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.Text
	}
	return commands.FindLists(texts)
}

// fdRoots are the places where fd searches: the operands behind the pattern.
func fdRoots(args []value.Arg) []value.Arg {
	var operands []value.Arg
	for i := 0; i < len(args); i++ {
		switch text := args[i].Text; {
		case text == "-x" || text == "-X" || text == "--exec" || text == "--exec-batch":
			i = len(args)
		case len(text) > 1 && text[0] == '-':
			if len(text) == 2 && strings.Contains("tedESojc", text[1:]) || text == "--type" || text == "--extension" || text == "--max-depth" || text == "--exclude" {
				i++
			}
		default:
			operands = append(operands, args[i])
		}
	}
	return operands[min(1, len(operands)):]
}

// findResult is the value that {} takes: something below the places where find starts.
func findResult(roots []value.Arg) value.Value {
	if len(roots) == 0 {
		roots = []value.Arg{value.Literal(".")}
	}
	if len(roots) > 1 || roots[0].Certainty == value.Unknown {
		return value.Value{{Text: "{}", Data: true, Inputs: value.Inputs(roots)}}
	}
	text := roots[0].Prefix
	if !strings.HasSuffix(text, "/") {
		text += "/"
	}
	return value.Value{{Text: text, Known: true, Quoted: true, Inputs: roots[0].Inputs}, {Text: "{}", Quoted: true, Data: true}}
}

// entr adds what entr runs when a file changes.
func (l *line) entr(args []value.Arg, step value.Meter) {
	options, rest := Getopt(args, "", nil)
	if _, ok := options["-s"]; ok && len(rest) > 0 {
		l.shell(rest[0].Val, "entr -s")
		return
	}
	l.words(Substitute(rest, "/_", value.Opaque("/_", nil), step), "entr")
}

// longOptions spells out long options that are shortened. It is false where one is not known, or stands for
// several.
func longOptions(args []value.Arg, names []string) ([]value.Arg, bool) {
	out, clear := slices.Clone(args), true
	for i, a := range out {
		if a.Text == "--" || !strings.HasPrefix(a.Text, "-") {
			break
		}
		name, val, glued := strings.Cut(a.Text, "=")
		if !strings.HasPrefix(name, "--") || slices.Contains(names, name) {
			continue
		}
		long := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
		if clear = clear && len(long) == 1; len(long) != 1 {
			continue
		}
		out[i] = value.Literal(long[0])
		if glued {
			out[i] = value.Literal(long[0] + "=" + val)
		}
	}
	return out, clear
}

// SubstituteMark is Substitute for a mark that may not be known: each of args may contain it then.
func SubstituteMark(args []value.Arg, mark value.Arg, v value.Value, step value.Meter) []value.Arg {
	if mark.Certainty == value.Exact {
		return Substitute(args, mark.Text, v, step)
	}
	out := make([]value.Arg, len(args))
	step(2 * len(args))
	for i, a := range args {
		out[i] = value.OpaqueArg(a.Text, v.Inputs())
	}
	return out
}

// Substitute replaces mark in args by v.
func Substitute(args []value.Arg, mark string, v value.Value, step value.Meter) []value.Arg {
	out := make([]value.Arg, len(args))
	step(2 * len(args))
	for i, a := range args {
		out[i] = a
		if mark == "" || !strings.Contains(a.Text, mark) {
			continue
		}
		var made value.Value
		for _, p := range a.Val {
			for p.Known && strings.Contains(p.Text, mark) {
				before, rest, _ := strings.Cut(p.Text, mark)
				if before != "" {
					head := p
					head.Text = before
					made = append(made, head)
				}
				made = append(made, v.With(true, nil)...)
				p.Text = rest
			}
			if p.Text != "" {
				made = append(made, p)
			}
		}
		if !step(made.Cost()) {
			break
		}
		out[i] = value.NewArg(made, a.Raw)
	}
	return out
}
