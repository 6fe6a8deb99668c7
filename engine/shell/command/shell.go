package command

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// shellLine is the command line of a shell as far as it is read.
type shellLine struct {
	lang   string
	glued  value.Arg // the text of -c in the same word
	stdin  bool
	before []Run
	Options
}

// readShell reads the command line of a shell.
func (p Interpreter) readShell(name string, args []value.Arg) Interpretation {
	l := shellLine{lang: p.Language}
	i := 0
	for ; i < len(args); i++ {
		text := args[i].Text
		if text == "--" || text == "-" {
			i++
			break
		}
		if !strings.HasPrefix(text, "--") && (len(text) < 2 || text[0] != '-' && text[0] != '+' || args[i].Certainty == value.Unknown) &&
			!(p.Language == "fish" && text == "-C") {
			break
		}
		i += l.option(name, args[i:])
	}
	rest := args[min(i, len(args)):]
	out := Interpretation{Run: Run{Lang: l.lang, Via: name + " -c"}, Before: l.before, Options: l.Options}
	switch {
	case l.Command && l.glued.Text != "":
		out.Kind, out.Text, out.Args = Text, l.glued.Val, rest
	case l.Command && len(rest) > 0:
		out.Kind, out.Text, out.Args = Text, rest[0].Val, rest[1:]
	case l.Command:
		out.Kind = Text
	case len(rest) > 0 && !l.stdin && rest[0].Text != "/dev/stdin" && rest[0].Text != "/dev/fd/0":
		out.Kind, out.Args = File, rest
	default:
		out.Kind, out.Via = Input, name
		out.Args = append([]value.Arg{value.Literal(name)}, rest...)
	}
	if !l.Interactive && (l.Command || len(rest) > 0) {
		out.Options.RC = nil
	}
	return out
}

// option reads the option in args[0] and returns how many further words it took.
func (l *shellLine) option(name string, args []value.Arg) int {
	text := args[0].Text
	long, val, glued := strings.Cut(text, "=")
	switch {
	case (text == "--rcfile" || text == "--init-file") && len(args) > 1:
		l.RC = &args[1]
		return 1
	case text == "--posix" && l.lang == "bash":
		l.lang = "sh"
	case text == "--emulate" && l.lang == "zsh":
		return 1
	case l.lang == "fish" && (text == "-C" || text == "--init-command") && len(args) > 1:
		l.before = append(l.before, Run{Kind: Text, Lang: l.lang, Text: args[1].Val, Via: name + " -C"})
		return 1
	case l.lang == "fish" && long == "--init-command" && glued:
		l.before = append(l.before, Run{Kind: Text, Lang: l.lang, Text: args[0].Cut(len(long)+1, val).Val, Via: name + " -C"})
	case long == "--command":
		l.Command = true
		if glued {
			l.glued = args[0].Cut(len(long)+1, val)
		}
	case strings.HasPrefix(text, "--"):
		l.Login, l.Traced = l.Login || text == "--login", l.Traced || text == "--verbose"
	default:
		return l.letters(args)
	}
	return 0
}

// letters reads a word of one-letter options and returns how many further words it took.
func (l *shellLine) letters(args []value.Arg) int {
	letters, minus := args[0].Text[1:], args[0].Text[0] == '-'
	if c := strings.IndexByte(letters, 'c'); c >= 0 && minus {
		l.Command = true
		// -c"rm x" glued is no option cluster
		if strings.ContainsAny(letters[c+1:], " ;|&$/()'\"\t\n") {
			l.glued = args[0].Cut(c+2, letters[c+1:])
		}
	}
	l.stdin = l.stdin || minus && strings.Contains(letters, "s")
	l.Interactive = l.Interactive || minus && strings.Contains(letters, "i")
	l.Login = l.Login || minus && strings.Contains(letters, "l")
	l.Traced = l.Traced || strings.ContainsAny(letters, "xvo")
	l.Nounset = l.Nounset || strings.ContainsAny(letters, "uo")
	l.Errexit = l.Errexit || strings.ContainsAny(letters, "eo")
	if l.glued.Text != "" {
		return 0
	}
	l.Unclear = l.Unclear || strings.ContainsAny(letters, "aBCHkP")
	values := strings.Count(letters, "o") + strings.Count(letters, "O")
	for _, a := range args[1:min(len(args), 1+values)] {
		switch {
		case a.Text == "posix" || a.Text == "xpg_echo":
			l.lang = "sh" // it reads and prints as other shells do
		case !commands.Listed("shell-options", a.Text):
			l.Unclear = true
		}
	}
	return values
}
