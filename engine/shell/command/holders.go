package command

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Programs that run a command which they are handed in an option, a variable or a line of
// their own language. The command is walked as if the shell ran it here; what else the
// program does is not this package's business.

// commandVariables hold a command that some program runs.
var commandVariables = sync.OnceValue(func() map[string]bool {
	v := commands.Variables()
	return Names(strings.Join(slices.Concat(v["walked"], v["command"]), " "))
})

// optionVariables name files that an interpreter, or git, loads before its work.
var optionVariables = map[string]string{
	"NODE_OPTIONS": "node", "RUBYOPT": "ruby", "PERL5OPT": "perl", "PYTHONSTARTUP": "python",
	"GIT_CONFIG_GLOBAL": "git", "GIT_CONFIG_SYSTEM": "git", "GIT_CONFIG": "git",
}

// SplitName is the name of a piece that split writes: its second operand, or x, and a suffix.
func SplitName(args []value.Arg) value.Value {
	_, operands := Getopt(args, "abClnt", nil)
	prefix := value.Known("x")
	if len(operands) > 1 {
		prefix = operands[1].Val
	}
	return append(slices.Clone(prefix), value.Piece{Text: "aa", Data: true})
}

// Held returns the commands that options of a program hold, as a table says; nil for the one that comes with
// the program.
func Held(t *commands.Table, name string, args []value.Arg) []Run {
	var l line
	row := orBuiltin(t).Command(name)
	if row == nil {
		return nil
	}
	for _, option := range row.Holds {
		for i, a := range args {
			if name, shell, _ := strings.Cut(a.Text, "="); name == "SHELL" && IsShell(path.Base(shell)) {
				continue // the shell of make's recipes gets a command
			}
			if a.Text == option && i+1 < len(args) {
				l.shell(args[i+1].Val, name+" "+option)
				continue
			}
			glued, ok := strings.CutPrefix(a.Prefix, option)
			letter := len(option) == 2 && option[0] == '-'
			if ok && glued != "" && (glued[0] == '=' || letter) {
				rest := a.Val.After(len(option))
				l.shell(rest.After(len(rest.Prefix())-len(strings.TrimLeft(rest.Prefix(), "=|!"))), name+" "+option)
			}
		}
	}
	return l.list
}

// HoldsCommand reports a variable that holds a command which some program runs.
func HoldsCommand(variable string) bool {
	return commandVariables()[variable]
}

// LoadsFiles returns the language of the program that loads the files which a variable names, "git" for
// settings of git, or "".
func LoadsFiles(variable string) string { return optionVariables[variable] }
