package call

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

func rpm(c *Call) {
	switch {
	case c.Has("q", "query", "V", "verify"):
	case c.Has("e", "erase"):
		c.Flags.Add(term.FlagPackageRemove)
		c.Effects |= term.System
	case c.Has("i", "U", "F", "install", "upgrade", "freshen"):
		c.Flags.Add(term.FlagPackageInstall)
		c.Effects |= term.System
	}
	for _, w := range c.Operands {
		c.curlURL(w)
	}
}

// curlURL notes that a word is fetched when it is a URL.
func (c *Call) curlURL(w value.Word) {
	if strings.Contains(w.Text, "://") {
		c.host(w.Text)
		c.Effects |= term.Network
		c.Flags.Add(term.FlagDownloads)
	}
}

func (c *Call) remoteWork() {
	c.Flags.Add(term.FlagRemote)
	c.Effects |= term.Network
}

// pythonModule: python -m NAME is the program NAME.
func pythonModule(c *Call) {
	scriptTask(c)
	switch module := c.Value("m"); {
	case commands.Listed("python-servers", module):
		c.Flags.Add(term.FlagListens)
		c.Effects |= term.Network
	case commands.Listed("python-programs", module):
		for i, w := range c.Cmd.Words {
			if w.Text == "-m" {
				c.runInner(c.Cmd.Words[i+1:])
				return
			}
		}
	}
}

// perlInPlace: perl -i CODE FILES writes the files.
func perlInPlace(c *Call) {
	first := 1
	if c.noFirst {
		first = 0
	}
	if c.Cmd.Name == "perl" && c.Has("n", "p", "a") && len(c.Operands) > first {
		for _, w := range c.Operands[first:] {
			c.magic(w)
		}
	}
	if !c.Flags.Has(term.FlagInPlace) {
		return
	}
	c.Touches = c.Touches[:0]
	for i, w := range c.Operands {
		if i >= first {
			c.path(w, term.Reads|term.Writes)
		}
	}
}

// magic: the loop that -n and -p put around a program opens its arguments as open with two does.
func (c *Call) magic(w value.Word) {
	text := strings.TrimSpace(w.Text)
	switch {
	case strings.HasPrefix(text, "|") || strings.HasSuffix(text, "|"):
		c.escapes()
	case strings.HasPrefix(text, ">"):
		c.path(Exact(strings.TrimLeft(text, "> ")), term.Writes)
		c.Effects |= term.Write
	}
}

// taskWords: some names of tasks are the same in every project.
func taskWords(c *Call) {
	for _, word := range slices.Concat(c.Sub, Texts(c.Operands)) {
		_, task, found := strings.Cut(word, ":")
		if !found || c.Cmd.Name == "rake" || c.Cmd.Name == "rails" || strings.HasPrefix(c.Cmd.Name, "mvn") {
			task = word
		} else if i := strings.LastIndexByte(task, ':'); i >= 0 {
			task = task[i+1:] // gradle :app:publish
		}
		switch {
		case commands.Listed("empty-tasks", task):
			c.destroys()
		case commands.Listed("publish-tasks", task) && c.Cmd.Name != "rails" && c.Cmd.Name != "ant" && c.Cmd.Name != "rake" || task == "release" && c.Cmd.Name == "rake":
			c.Flags.Add(term.FlagPublishes)
			c.Flags.Add(term.FlagUploads)
			c.remoteWork()
		}
	}
}

// EmptiesData compares the words of a command with those.
func (c *Call) EmptiesData() {
	list := commands.Empties()[c.Cmd.Name]
	if list == nil || c.Flags.Has(term.FlagDryRun) || c.Has("dry-run", "sql", "help") {
		return
	}
	all := " " + strings.Join(Texts(c.Cmd.Words[1:]), " ") + " "
	if slices.ContainsFunc(list, func(phrase string) bool {
		phrase, end := strings.CutSuffix(phrase, "$")
		return !end && strings.Contains(all, " "+phrase+" ") || end && strings.HasSuffix(all, " "+phrase+" ")
	}) {
		c.destroys()
	}
}

func scriptTask(c *Call) {
	words := Texts(c.Cmd.Words)
	for i, word := range words[:len(words)-1] {
		name, task := path.Base(word), words[i+1]
		if slices.Contains(commands.Empties()["script "+name], task) || name == "manage.py" && task == "migrate" && words[len(words)-1] == "zero" {
			c.destroys()
		}
	}
}

// kill: a signal, then process ids. A negative id is a process group, -1 is everybody.
func kill(c *Call) {
	first, sawIDs, rest := true, false, false
	for i := 0; i < len(c.Operands); i++ {
		w := c.Operands[i]
		switch {
		case !rest && w.Text == "--":
			rest = true
			continue
		case !rest && (w.Text == "-l" || w.Text == "-L" || strings.HasPrefix(w.Text, "--list") || w.Text == "--table"):
			c.Effects &^= term.Process
			return
		case !rest && (w.Text == "-s" || w.Text == "-n" || w.Text == "--signal" || w.Text == "-q"):
			i++
			first = false
			continue
		case !rest && first && IsOption(w):
			// The first word with a dash is the signal: "kill -9 …". "kill -1" alone sends none.
			first = false
			if w.Text == "-1" && len(c.Operands) == 1 {
				c.Flags.Add(term.FlagKillsAll)
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

func (c *Call) victim(w value.Word) {
	c.signalsOwn(w)
	switch {
	case w.Text == "-1":
		c.Flags.Add(term.FlagKillsAll)
	case w.Text == "1":
		c.Flags.Add(term.FlagKillsInit)
	case strings.HasPrefix(w.Raw, "$(jobs ") || strings.HasPrefix(w.Raw, "`jobs ") || strings.HasPrefix(w.Raw, "\"$(jobs "):
		// the jobs of this shell
	case strings.HasPrefix(w.Text, "%") || w.Text == "$!" || w.Text == "$$" || w.Text == "${!}":
		// a job of this shell, its last child, or itself
	case w.Certainty != value.Exact && len(w.Inputs) > 0 && !c.portUsers(w):
		c.Flags.Add(term.FlagKillsUnknown)
	}
}

// pkill: a pattern that matches everything kills everything.
func pkill(c *Call) {
	words := c.Operands
	killall(c)
	if len(words) == 0 {
		if !c.Has("F", "pidfile", "P", "parent", "g", "pgroup", "s", "session", "t", "terminal") {
			c.Flags.Add(term.FlagKillsAll)
		}
		return
	}
	switch words[len(words)-1].Text {
	case ".", ".*", "", "^", "$", ".+", "^.*$", "^.*":
		c.Flags.Add(term.FlagKillsAll)
	}
}

// env alone prints the environment.
func env(c *Call) {
	for _, w := range c.Cmd.Words[1:] {
		if !IsOption(w) || strings.HasPrefix(w.Text, "--split-string") || strings.HasPrefix(w.Text, "-S") {
			if name, _, ok := strings.Cut(w.Text, "="); ok && !strings.Contains(name, "/") {
				continue
			}
			return
		}
	}
	c.Flags.Add(term.FlagDumpsEnv)
}

// debugger: -ex takes a command of the debugger, most of which only look.
func debugger(c *Call) {
	if c.attaches() {
		c.Flags.Add(term.FlagProcessMemory)
	}
	for _, o := range c.Options {
		one := slices.Contains([]string{"ex", "eval-command", "iex", "init-eval-command", "one-line"}, o.Name)
		if o.Given && listedWord("x command ix init-command s S source source-before-file", o.Name) {
			c.told(c.source.text(o.Value))
		}
		if !o.Given || !one && !(c.Cmd.Name == "lldb" && (o.Name == "o" || o.Name == "O")) {
			continue
		}
		text := strings.TrimSpace(o.Value.Text)
		c.told(text)
		verb := text
		if end := strings.IndexAny(text, " \t\n/("); end >= 0 {
			verb = text[:end]
		}
		if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "|") || commands.Listed("debugger-starts", verb) ||
			commands.Listed("debugger-calls", verb) && strings.Contains(text, "(") {
			c.escapes()
		}
	}
}

// attaches reports a debugger, tracer or profiler that is let into a process that runs already: -p PID,
// strace -fp PID, gdb PROGRAM PID, perf record -a.
func (c *Call) attaches() bool {
	if c.Cmd.Name == "strace" || c.Cmd.Name == "ltrace" {
		return c.Has("p", "attach") // the program behind it has options of its own
	}
	for _, w := range c.Cmd.Words[1:] {
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case slices.Contains([]string{"-p", "-pid", "--pid", "--attach", "--attach-pid", "--attach-name"}, name):
			return true
		case c.Cmd.Name == "perf" && (name == "-a" || name == "--all-cpus"), c.Cmd.Name == "lldb" && name == "-n":
			return true
		case name == "--args":
			return false
		}
	}
	words := c.Cmd.Words
	last := words[len(words)-1].Text
	return c.Cmd.Name == "gdb" && len(words) > 2 && last != "" && strings.Trim(last, "0123456789") == ""
}

// goRun: go run MODULE@VERSION fetches the module.
func goRun(c *Call) {
	if len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "@") {
		c.Packages = []facts.Package{c.packageOf("golang", c.Operands[0])}
		c.Effects |= term.Network
		c.Flags.Add(term.FlagDownloads)
		c.Flags.Add(term.FlagPackageInstall)
	}
}

// heapDump: the memory of a process, as a file; other questions to it only tell sizes and names.
func heapDump(c *Call) {
	for _, w := range c.Cmd.Words[1:] {
		if strings.HasPrefix(w.Text, "-dump") || strings.Contains(w.Text, "heap_dump") || w.Text == "dumpheap" || w.Text == "load" ||
			strings.HasPrefix(w.Text, "JVMTI.") {
			c.Flags.Add(term.FlagProcessMemory)
		}
	}
}

// ownProgram is the longest name of a program of Sallyport. A pattern that is part of it finds one.
const ownProgram = "sallyport-supervisor"

func isOwn(pattern string) bool {
	return strings.Contains(pattern, "sallyport") || len(pattern) > 3 && strings.Contains(ownProgram, strings.Trim(pattern, "^$.*"))
}

// parentID is part of the names of a parent's process id: $PPID, os.getppid(), process.ppid, ps -o ppid=,
// PPid in /proc/self/status. A text that asks for it and signals a process that is not known is taken to
// signal that one.
const parentID = "ppid"

// signalsOwn marks a signal to Sallyport, which is the parent of its commands.
func (c *Call) signalsOwn(w value.Word) {
	own := isOwn(w.Text) || strings.Contains(strings.ToLower(w.Raw), parentID) || strings.Trim(w.Text, "-") == strconv.Itoa(os.Getpid())
	if w.Certainty != value.Exact {
		own = own || strings.Contains(strings.ToLower(c.source.Request), parentID)
	}
	for _, i := range w.Inputs {
		if i < len(c.source.Cmds) {
			own = own || slices.ContainsFunc(Texts(c.source.Cmds[i].Words), isOwn)
		}
	}
	if own {
		c.Flags.Add(term.FlagSelfControl)
	}
}

// killall: names of programs.
func killall(c *Call) {
	for _, w := range c.Operands {
		c.signalsOwn(w)
	}
}

// portUsers reports a word that lists the users of one unprivileged port: $(lsof -t -i:3000).
func (c *Call) portUsers(w value.Word) bool {
	return len(w.Inputs) == 1 && w.Inputs[0] < len(c.source.Cmds) && usesPort(Texts(c.source.Cmds[w.Inputs[0]].Words))
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

// freedAgent reads the values that let an agent act without asking, and settings that are given as
// name=value.
func freedAgent(c *Call) {
	for _, o := range c.Options {
		if !o.Given {
			continue
		}
		value := strings.ToLower(o.Value.Text)
		switch o.Name {
		case "config", "c":
			name, set, _ := strings.Cut(value, "=")
			if strings.Contains(name, "approval") && strings.Trim(set, `"'`) == "never" || strings.HasPrefix(name, "sandbox") ||
				strings.HasPrefix(name, "mcp_servers") || strings.HasPrefix(name, "hooks") ||
				strings.HasPrefix(name, "features.") && strings.Contains(name, "hooks") ||
				strings.HasSuffix(name, "trust_level") || name == "notify" {
				c.Flags.Add(term.FlagFreesAgent)
			}
		case "allowedTools", "allowed-tools", "allow-tool":
			if strings.ContainsAny(value, "*") || strings.Contains(value, "bash") || strings.Contains(value, "shell") ||
				strings.Contains(value, "write") || strings.Contains(value, "edit") {
				c.Flags.Add(term.FlagFreesAgent)
			}
		default:
			if o.Name == "permission-prompt-tool" || commands.Listed("frees-agents", o.Name+"="+value) {
				c.Flags.Add(term.FlagFreesAgent)
			}
		}
	}
}

func listedWord(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
