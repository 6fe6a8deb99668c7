package command

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// runs is what rows of the table say that a program runs.
type runs = commands.Runs

// Carrier is a program that runs another command, as its rows in the command table describe it.
type Carrier struct {
	runs
	options *commands.Command
}

// Interpreter is a program that runs a language, as its rows in the command table describe it.
type Interpreter struct {
	runs
	options *commands.Command
}

// getopt takes the options of c off args.
func (c Carrier) getopt(args []value.Arg) (options map[string]value.Arg, rest []value.Arg) {
	given, rest := getopt(args, c.options.Style, c.options.Arity)
	for name, v := range given { // an option that is written shorter
		if full, _, ok := c.options.Find(name); ok && full != name {
			given[full] = v
		}
	}
	return given, rest
}

// CarrierOf finds the carrier of that name in a table, nil for the one that comes with the program.
func CarrierOf(t *commands.Table, name string) (Carrier, bool) {
	c := orBuiltin(t).Command(name)
	if c == nil || c.Runs == nil || c.Runs.Language != "" && !c.Runs.Carries() {
		return Carrier{}, false
	}
	return Carrier{*c.Runs, c}, true
}

func orBuiltin(t *commands.Table) *commands.Table {
	if t == nil {
		return commands.Builtin()
	}
	return t
}

// InterpreterOf finds the interpreter that a name stands for: python3.12 and perl5.36 too.
func InterpreterOf(t *commands.Table, name string) (Interpreter, bool) {
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.-"), strings.ToLower(name)} {
		// The last one is for file systems that fold case: /BIN/SH.
		c := orBuiltin(t).Command(n)
		if c != nil && c.Runs != nil && c.Runs.Language != "" && (n != strings.ToLower(name) || n == name || c.Runs.Shell) {
			return Interpreter{*c.Runs, c}, true
		}
	}
	return Interpreter{}, false
}

// Wraps reports a name that stands for an interpreter, or for a carrier that does nothing else.
func Wraps(name string) bool {
	c, carries := CarrierOf(nil, name)
	_, interprets := InterpreterOf(nil, name)
	return carries && len(c.Verbs) == 0 || interprets
}
