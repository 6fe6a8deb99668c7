package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Getopt takes the options off args as programs do that stop at the first operand: letters
// in short take a value, glued or as the next word, and so do the words in long. It
// returns the values by option ("-u", "--user"), the last one winning, and the operands.
func Getopt(args []value.Arg, short string, long []string) (options map[string]value.Arg, rest []value.Arg) {
	options = map[string]value.Arg{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.Text
		switch {
		case text == "--" && a.Certainty == value.Exact:
			return options, args[i+1:]
		case len(text) < 2 || text[0] != '-' || a.Certainty == value.Unknown:
			return options, args[i:]
		case strings.HasPrefix(text, "--"):
			name, val, glued := strings.Cut(text, "=")
			switch {
			case glued:
				options[name] = a.Cut(len(name)+1, val)
			case slices.Contains(long, text) && i+1 < len(args):
				i++
				options[text] = args[i]
			default:
				options[text] = value.Literal("")
			}
		default:
			i += letters(args[i:], short, long, options)
		}
	}
	return options, nil
}

// letters reads one word of one-letter options and returns how many further words it took.
func letters(args []value.Arg, short string, long []string, options map[string]value.Arg) int {
	a := args[0]
	if slices.Contains(long, a.Text) && len(args) > 1 { // -exec and its like
		options[a.Text] = args[1]
		return 1
	}
	for k := 1; k < len(a.Text); k++ {
		name := "-" + a.Text[k:k+1]
		if strings.IndexByte(short, a.Text[k]) < 0 {
			options[name] = value.Literal("")
			continue
		}
		if k+1 < len(a.Text) {
			options[name] = a.Cut(k+1, a.Text[k+1:])
			return 0
		}
		if len(args) > 1 {
			options[name] = args[1]
			return 1
		}
		options[name] = value.Literal("")
	}
	return 0
}

// Option returns the first of the named options that was given.
func Option(options map[string]value.Arg, names ...string) (value.Arg, bool) {
	for _, n := range names {
		if a, ok := options[n]; ok {
			return a, true
		}
	}
	return value.Arg{}, false
}
