package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// kill: a signal, then process ids. A negative id is a process group, -1 is everybody.
func kill(c *call) {
	first, sawIDs, rest := true, false, false
	for i := 0; i < len(c.operands); i++ {
		w := c.operands[i]
		switch {
		case !rest && w.Text == "--":
			rest = true
			continue
		case !rest && (w.Text == "-l" || w.Text == "-L" || strings.HasPrefix(w.Text, "--list") || w.Text == "--table"):
			c.effects &^= doesProcess
			return
		case !rest && (w.Text == "-s" || w.Text == "-n" || w.Text == "--signal" || w.Text == "-q"):
			i++
			first = false
			continue
		case !rest && first && isOption(w):
			// The first word with a dash is the signal: "kill -9 …". "kill -1" alone sends none.
			first = false
			if w.Text == "-1" && len(c.operands) == 1 {
				c.flags.add(flagKillsAll)
			}
			continue
		}
		first = false
		sawIDs = true
		c.victim(w)
	}
	if !sawIDs {
		return
	}
}

func (c *call) victim(w shell.Word) {
	switch {
	case w.Text == "-1":
		c.flags.add(flagKillsAll)
	case w.Text == "1":
		c.flags.add(flagKillsInit)
	case strings.HasPrefix(w.Raw, "$(jobs ") || strings.HasPrefix(w.Raw, "`jobs ") || strings.HasPrefix(w.Raw, "\"$(jobs "):
		// the jobs of this shell
	case strings.HasPrefix(w.Text, "%") || w.Text == "$!" || w.Text == "$$" || w.Text == "${!}":
		// a job of this shell, its last child, or itself
	case w.Certainty != shell.Exact && len(w.Inputs) > 0:
		c.flags.add(flagKillsUnknown)
	}
}

// pkill: a pattern that matches everything kills everything.
func pkill(c *call) {
	words := c.operands
	if len(words) == 0 {
		if !c.has("F", "pidfile", "P", "parent", "g", "pgroup", "s", "session", "t", "terminal") {
			c.flags.add(flagKillsAll)
		}
		return
	}
	switch words[len(words)-1].Text {
	case ".", ".*", "", "^", "$", ".+", "^.*$", "^.*":
		c.flags.add(flagKillsAll)
	}
}

// wrapper: the shell walk has opened what it carries. env alone prints the environment.
func wrapper(c *call) {
	switch c.cmd.Name {
	case "env":
		for _, w := range c.cmd.Words[1:] {
			if !isOption(w) || w.Text == "-S" || strings.HasPrefix(w.Text, "--split-string") || strings.HasPrefix(w.Text, "-S") {
				if name, _, ok := strings.Cut(w.Text, "="); ok && !strings.Contains(name, "/") {
					continue
				}
				return
			}
		}
		c.flags.add(flagDumpsEnv)
	case "nohup", "setsid", "nice", "timeout", "exec", "command", "builtin", "stdbuf", "disown":
	default:
		c.effects |= doesExecute
	}
}

func printenv(c *call) {
	if len(c.operands) == 0 {
		c.flags.add(flagDumpsEnv)
	}
}

// debuggerStarts are the commands of gdb and lldb that run something, debuggerCalls those that do so
// when there is a call in their expression: print system("sh").
var (
	debuggerStarts = []string{"shell", "python", "py", "guile", "make", "pipe", "source", "script", "platform"}
	debuggerCalls  = []string{"call", "print", "p", "expr", "expression", "eval", "printf", "output"}
)

// debugger: -ex takes a command of the debugger, most of which only look.
func debugger(c *call) {
	for _, o := range c.options {
		if !o.given || o.name != "ex" && o.name != "eval-command" && o.name != "one-line" {
			continue
		}
		text := strings.TrimSpace(o.value.Text)
		verb, _, _ := strings.Cut(text, " ")
		if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "|") || slices.Contains(debuggerStarts, verb) ||
			slices.Contains(debuggerCalls, verb) && strings.Contains(text, "(") {
			c.escapes()
		}
	}
}
