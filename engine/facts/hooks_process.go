package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
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

func (c *call) victim(w value.Word) {
	c.signalsOwn(w)
	switch {
	case w.Text == "-1":
		c.flags.add(flagKillsAll)
	case w.Text == "1":
		c.flags.add(flagKillsInit)
	case strings.HasPrefix(w.Raw, "$(jobs ") || strings.HasPrefix(w.Raw, "`jobs ") || strings.HasPrefix(w.Raw, "\"$(jobs "):
		// the jobs of this shell
	case strings.HasPrefix(w.Text, "%") || w.Text == "$!" || w.Text == "$$" || w.Text == "${!}":
		// a job of this shell, its last child, or itself
	case w.Certainty != value.Exact && len(w.Inputs) > 0 && !c.portUsers(w):
		c.flags.add(flagKillsUnknown)
	}
}

// pkill: a pattern that matches everything kills everything.
func pkill(c *call) {
	words := c.operands
	killall(c)
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
	if c.attaches() {
		c.flags.add(flagProcessMemory)
	}
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

// attaches reports a debugger, tracer or profiler that is let into a process that runs already: -p PID, strace -fp PID,
// gdb PROGRAM PID, perf record -a.
func (c *call) attaches() bool {
	clusters := c.cmd.Name == "strace" || c.cmd.Name == "ltrace"
	for _, w := range c.cmd.Words[1:] {
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case !isOption(w):
			if clusters {
				return false // the program behind it has options of its own
			}
		case slices.Contains([]string{"-p", "-pid", "--pid", "--attach", "--attach-pid", "--attach-name"}, name):
			return true
		case c.cmd.Name == "perf" && (name == "-a" || name == "--all-cpus"), c.cmd.Name == "lldb" && name == "-n":
			return true
		case clusters && name[1] != '-' && strings.Contains(name, "p"):
			return strings.Trim(name, "-CDFcdfhiknqrtTvVwxXyYzZpP0123456789") == ""
		case name == "--args":
			return false
		}
	}
	words := c.cmd.Words
	last := words[len(words)-1].Text
	return c.cmd.Name == "gdb" && len(words) > 2 && last != "" && strings.Trim(last, "0123456789") == ""
}

// heapDump: the memory of a process, as a file; other questions to it only tell sizes and names.
func heapDump(c *call) {
	for _, w := range c.cmd.Words[1:] {
		if strings.HasPrefix(w.Text, "-dump") || strings.Contains(w.Text, "heap_dump") || w.Text == "dumpheap" || w.Text == "load" ||
			strings.HasPrefix(w.Text, "JVMTI.") {
			c.flags.add(flagProcessMemory)
		}
	}
}

// ownProgram is the longest name of a program of Sallyport. A pattern that is part of it finds one.
const ownProgram = "sallyport-supervisor"

func isOwn(pattern string) bool {
	return strings.Contains(pattern, "sallyport") || len(pattern) > 3 && strings.Contains(ownProgram, strings.Trim(pattern, "^$.*"))
}

// signalsOwn marks a signal to Sallyport, which is the parent of its commands.
func (c *call) signalsOwn(w value.Word) {
	own := isOwn(w.Text) || strings.Contains(w.Raw, "$PPID") || strings.Contains(w.Raw, "${PPID}")
	for _, i := range w.Inputs {
		if i < len(c.source.cmds) {
			own = own || slices.ContainsFunc(texts(c.source.cmds[i].Words), isOwn)
		}
	}
	if own {
		c.flags.add(flagSelfControl)
	}
}

// killall: names of programs.
func killall(c *call) {
	for _, w := range c.operands {
		c.signalsOwn(w)
	}
}

// portUsers reports a word that lists the users of one unprivileged port: $(lsof -t -i:3000).
func (c *call) portUsers(w value.Word) bool {
	return len(w.Inputs) == 1 && w.Inputs[0] < len(c.source.cmds) && usesPort(texts(c.source.cmds[w.Inputs[0]].Words))
}

func usesPort(words []string) bool {
	if words[0] != "lsof" || !slices.ContainsFunc(words, func(w string) bool { return w == "-t" || strings.HasPrefix(w, "-ti") }) {
		return false
	}
	port := 0
	for _, w := range words[1:] {
		_, number, found := strings.Cut(w, ":")
		if n, err := strconv.Atoi(number); found && err == nil {
			port = n
		} else if w != "-t" && w != "-i" && w != "-ti" && w != "-sTCP:LISTEN" {
			return false
		}
	}
	return port >= 1024
}
