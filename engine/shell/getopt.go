package shell

import (
	"slices"
	"strings"
)

// getopt takes the options off args as programs do that stop at the first operand: letters
// in short take a value, glued or as the next word, and so do the words in long. It
// returns the values by option ("-u", "--user"), the last one winning, and the operands.
func getopt(args []arg, short string, long []string) (options map[string]arg, rest []arg) {
	options = map[string]arg{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.Text
		switch {
		case text == "--" && a.Certainty == Exact:
			return options, args[i+1:]
		case len(text) < 2 || text[0] != '-' || a.Certainty == Unknown:
			return options, args[i:]
		case strings.HasPrefix(text, "--"):
			name, value, glued := strings.Cut(text, "=")
			switch {
			case glued:
				options[name] = a.cutAt(len(name)+1, value)
			case slices.Contains(long, text) && i+1 < len(args):
				i++
				options[text] = args[i]
			default:
				options[text] = literalArg("")
			}
		default:
			i += letters(args[i:], short, long, options)
		}
	}
	return options, nil
}

// letters reads one word of one-letter options and returns how many further words it took.
func letters(args []arg, short string, long []string, options map[string]arg) int {
	a := args[0]
	if slices.Contains(long, a.Text) && len(args) > 1 { // -exec and its like
		options[a.Text] = args[1]
		return 1
	}
	for k := 1; k < len(a.Text); k++ {
		name := "-" + a.Text[k:k+1]
		if strings.IndexByte(short, a.Text[k]) < 0 {
			options[name] = literalArg("")
			continue
		}
		if k+1 < len(a.Text) {
			options[name] = a.cutAt(k+1, a.Text[k+1:])
			return 0
		}
		if len(args) > 1 {
			options[name] = args[1]
			return 1
		}
		options[name] = literalArg("")
	}
	return 0
}

// cutAt returns the argument without its first n bytes.
func (a arg) cutAt(n int, text string) arg {
	if a.Certainty == Exact {
		b := literalArg(text)
		b.Raw, b.Inputs, b.Glob, b.Quoted = a.Raw, a.Inputs, a.Glob, a.Quoted
		b.val = a.val.after(n)
		return b
	}
	return newArg(a.val.after(n), a.Raw)
}

// after returns v without its first n bytes.
func (v value) after(n int) value {
	out := slices.Clone(v)
	for len(out) > 0 && n > 0 {
		if len(out[0].text) > n {
			out[0].text = out[0].text[n:]
			break
		}
		n -= len(out[0].text)
		out = out[1:]
	}
	if len(out) == 0 {
		return known("")
	}
	return out
}

// option returns the first of the named options that was given.
func option(options map[string]arg, names ...string) (arg, bool) {
	for _, n := range names {
		if a, ok := options[n]; ok {
			return a, true
		}
	}
	return arg{}, false
}
