package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Getopt takes the options off args as programs do that stop at the first operand: letters
// in short take a value, glued or as the next word, and so do the words in long. It
// returns the values by option ("-u", "--user"), the last one winning, and the operands.
func Getopt(args []value.Arg, short string, long []string) (options map[string]value.Arg, rest []value.Arg) {
	return getopt(args, "", func(name string) commands.Arity {
		if slices.Contains(long, name) || len(name) == 2 && strings.IndexByte(short, name[1]) >= 0 {
			return commands.Next
		}
		return commands.Unknown
	})
}

func getopt(args []value.Arg, style string, arity func(string) commands.Arity) (options map[string]value.Arg, rest []value.Arg) {
	options = map[string]value.Arg{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch text := a.Text; {
		case text == "--" && a.Certainty == value.Exact:
			return options, args[i+1:]
		case len(text) < 2 || text[0] != '-' || a.Certainty == value.Unknown:
			return options, args[i:]
		}
		for _, u := range commands.Read(a.Text, style, arity) {
			v := value.Literal("")
			switch {
			case u.At > 0:
				v = a.Cut(u.At, a.Text[u.At:])
			case u.Next && i+1 < len(args):
				i++
				v = args[i]
			}
			options[u.Name] = v
		}
	}
	return options, nil
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
