package facts

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// dpkg and rpm: what asks and what changes.
func dpkg(c *call) {
	if c.flags.has(flagPackageInstall) || c.flags.has(flagPackageRemove) {
		c.effects |= doesWrite
	}
}

func rpm(c *call) {
	switch {
	case c.has("q", "query", "V", "verify"):
	case c.has("e", "erase"):
		c.flags.add(flagPackageRemove)
		c.effects |= doesSystem
	case c.has("i", "U", "F", "install", "upgrade", "freshen"):
		c.flags.add(flagPackageInstall)
		c.effects |= doesSystem
	}
	for _, w := range c.operands {
		c.curlURL(w)
	}
}

// curlURL notes that a word is fetched when it is a URL.
func (c *call) curlURL(w value.Word) {
	if strings.Contains(w.Text, "://") {
		c.host(w.Text)
		c.effects |= doesNetwork
		c.flags.add(flagDownloads)
	}
}

// pacman's mode is its first letter.
func pacman(c *call) {
	switch {
	case c.has("R", "remove"):
		c.flags.add(flagPackageRemove)
	case c.has("S", "sync") && !c.has("s", "i", "g", "l") || c.has("U", "upgrade"):
		if len(c.operands) > 0 || c.has("u") {
			c.flags.add(flagPackageInstall)
			c.flags.add(flagDownloads)
			c.effects |= doesNetwork
		}
	case c.has("Q", "query"):
		c.effects = doesRead
	}
}

// removeWords: package managers with few words; the first says whether it adds or removes.
func removeWords(c *call) {
	switch c.operand(0) {
	case "list", "ls", "search", "info", "show", "which", "version", "versions", "current", "help", "env", "path", "":
		c.flags.remove(flagPackageInstall)
		c.flags.remove(flagDownloads)
		c.effects = c.effects&^doesNetwork | doesRead
	case "remove", "uninstall", "rm", "delete", "purge", "autoremove":
		c.flags.remove(flagPackageInstall)
		c.flags.remove(flagDownloads)
		c.flags.add(flagPackageRemove)
	}
}

// npmPublish: what shares a row with removing, but works on the registry.
func npmPublish(c *call) {
	switch c.sub[len(c.sub)-1] {
	case "unpublish":
		c.flags.remove(flagPackageRemove)
		c.flags.add(flagDestroysData)
		c.remoteWork()
	case "deprecate", "dist-tag", "owner", "access", "publish", "deploy":
		c.flags.remove(flagPackageRemove)
		if c.operand(0) == "ls" || c.operand(0) == "list" {
			return // who owns a package, and how its versions are called
		}
		c.flags.add(flagPublishes)
		c.remoteWork()
	}
}

func (c *call) remoteWork() {
	c.flags.add(flagRemote)
	c.effects |= doesNetwork
}

// publishWord: tools where one word makes the difference.
func publishWord(c *call) {
	switch c.operand(0) {
	case "publish", "push", "upload", "copy", "release", "login":
		c.flags.add(flagPublishes)
		c.flags.add(flagUploads)
		c.remoteWork()
	case "delete", "rm", "remove", "prune":
		c.flags.add(flagDestroysData)
	}
}

// makeTargets: the names of targets tell little, these tell something.
func makeTargets(c *call) {
	for _, w := range c.operands {
		if w.Text == "install" {
			c.effects |= doesWrite
		}
	}
}

// serverTest: a configuration test starts no server.
func serverTest(c *call) {
	if c.has("t", "T", "V", "v") {
		c.effects &^= doesNetwork
		c.flags.remove(flagListens)
	}
}

// pythonModule: python -m NAME is the program NAME.
func pythonModule(c *call) {
	scriptTask(c)
	switch c.value("m") {
	case "http.server", "SimpleHTTPServer", "pyftpdlib", "smtpd":
		c.flags.add(flagListens)
		c.effects |= doesNetwork
	case "pip", "ensurepip", "pipx", "uv", "aider", "py_spy", "alembic", "twine", "pipenv", "poetry":
		for i, w := range c.cmd.Words {
			if w.Text == "-m" {
				c.runInner(c.cmd.Words[i+1:])
				return
			}
		}
	}
}

// perlInPlace: perl -i CODE FILES writes the files.
func perlInPlace(c *call) {
	first := 1
	if c.noFirst {
		first = 0
	}
	if c.cmd.Name == "perl" && c.has("n", "p", "a") && len(c.operands) > first {
		for _, w := range c.operands[first:] {
			c.magic(w)
		}
	}
	if !c.flags.has(flagInPlace) {
		return
	}
	c.touches = c.touches[:0]
	for i, w := range c.operands {
		if i >= first {
			c.path(w, reads|writes)
		}
	}
}

// magic: the loop that -n and -p put around a program opens its arguments as open with two does.
func (c *call) magic(w value.Word) {
	text := strings.TrimSpace(w.Text)
	switch {
	case strings.HasPrefix(text, "|") || strings.HasSuffix(text, "|"):
		c.escapes()
	case strings.HasPrefix(text, ">"):
		c.path(exact(strings.TrimLeft(text, "> ")), writes)
		c.effects |= doesWrite
	}
}

// nodeModule: a module that is loaded first may be a text of its own.
func nodeModule(c *call) {
	for _, o := range c.options {
		if o.given && strings.HasPrefix(o.value.Text, "data:") && o.name != "e" && o.name != "eval" && o.name != "p" && o.name != "print" {
			c.escapes()
		}
	}
}

// Tasks of build tools that publish what they built, and tasks of frameworks that empty a database.
var (
	publishTasks = []string{"deploy", "publish", "publishSigned", "release:perform", "deploy:deploy", "deploy:deploy-file", "uploadArchives", "publishPlugins", "publishToSonatype", "publishAllPublicationsToMavenRepository", "release"}
	emptyTasks   = []string{"db:drop", "db:drop:all", "db:reset", "db:purge", "db:truncate_all", "db:migrate:reset", "db:seed:replant"}
)

// taskWords: some names of tasks are the same in every project.
func taskWords(c *call) {
	for _, w := range c.operands {
		_, task, found := strings.Cut(w.Text, ":")
		if !found || c.cmd.Name == "rake" || c.cmd.Name == "rails" || strings.HasPrefix(c.cmd.Name, "mvn") {
			task = w.Text
		} else if i := strings.LastIndexByte(task, ':'); i >= 0 {
			task = task[i+1:] // gradle :app:publish
		}
		switch {
		case slices.Contains(emptyTasks, task):
			c.destroys()
		case slices.Contains(publishTasks, task) && c.cmd.Name != "rails" && c.cmd.Name != "ant" && c.cmd.Name != "rake" || task == "release" && c.cmd.Name == "rake":
			c.flags.add(flagPublishes)
			c.flags.add(flagUploads)
			c.remoteWork()
		}
	}
}

// printsOnly: patchelf --print-rpath FILE, upx -t, chrpath -l.
func printsOnly(c *call) {
	for _, o := range c.options {
		if strings.HasPrefix(o.name, "print-") || (c.cmd.Name == "upx" || c.cmd.Name == "chrpath") && (o.name == "t" || o.name == "l") {
			c.effects = doesRead
			c.each(writes, func(t *touch) { t.access = reads })
		}
	}
}

// scriptTasks are tasks of frameworks whose tool is a script of the project: php artisan, python manage.py.
var scriptTasks = map[string][]string{
	"artisan":   {"migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe"},
	"console":   {"doctrine:database:drop", "doctrine:schema:drop"},
	"manage.py": {"flush", "reset_db", "reset_schema", "drop_test_database"},
}

// emptying are words of the tools of databases and their frameworks, in their order, that empty one or go
// back to nothing; "$" stands for the end of the command.
var emptying = map[string][]string{
	"alembic": {"downgrade base"}, "flask": {"db downgrade base"}, "django-admin": {"flush", "reset_db", "zero"}, "manage.py": {"zero"},
	"mix": {"ecto.drop", "ecto.reset", "ecto.rollback --all"}, "migrate": {"drop", "down$"},
	"sqlx": {"database drop", "database reset", "db drop"}, "dotnet": {"ef database drop", "ef database update 0"}, "dotnet-ef": {"database drop", "database update 0"},
	"edgedb": {"database drop", "database wipe", "branch drop", "branch wipe", "instance destroy"}, "gel": {"database drop", "branch drop", "branch wipe", "instance destroy"},
	"aerich": {"downgrade"}, "yoyo": {"rollback"}, "goose": {"down-to 0", "reset"}, "diesel": {"migration revert --all", "migration redo --all"},
	"sea-orm-cli": {"migrate fresh", "migrate reset", "migrate refresh"}, "hasura": {"metadata clear"},
	"hanami": {"db drop"}, "symfony": {"doctrine:database:drop", "doctrine:schema:drop"}, "console": {"doctrine:schema:drop"}, "wp": {"db reset", "db drop", "db clean", "site empty"},
	"drush":   {"sql:drop", "sql-drop", "site:install"},
	"airflow": {"db reset", "db clean", "dags delete"}, "superset": {"db downgrade"}, "mlflow": {"gc", "db downgrade", "experiments delete"},
	"dvc": {"gc", "destroy"}, "celery": {"purge"}, "rq": {"empty"}, "ray": {"down"}, "dagster": {"instance reset", "run wipe"}, "prefect": {"database reset", "server database reset"},
}

// emptiesData compares the words of a command with those.
func (c *call) emptiesData() {
	list := emptying[c.cmd.Name]
	if list == nil || c.flags.has(flagDryRun) || c.has("dry-run", "sql", "help") {
		return
	}
	all := " " + strings.Join(texts(c.cmd.Words[1:]), " ") + " "
	if slices.ContainsFunc(list, func(phrase string) bool {
		phrase, end := strings.CutSuffix(phrase, "$")
		return !end && strings.Contains(all, " "+phrase+" ") || end && strings.HasSuffix(all, " "+phrase+" ")
	}) {
		c.destroys()
	}
}

func scriptTask(c *call) {
	words := texts(c.cmd.Words)
	for i, word := range words[:len(words)-1] {
		name, task := path.Base(word), words[i+1]
		if slices.Contains(scriptTasks[name], task) || name == "manage.py" && task == "migrate" && words[len(words)-1] == "zero" {
			c.destroys()
		}
	}
}

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
		one := slices.Contains([]string{"ex", "eval-command", "one-line"}, o.name)
		if !o.given || !one && !(c.cmd.Name == "lldb" && (o.name == "o" || o.name == "O")) {
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

// attaches reports a debugger, tracer or profiler that is let into a process that runs already: -p PID,
// strace -fp PID, gdb PROGRAM PID, perf record -a.
func (c *call) attaches() bool {
	if c.cmd.Name == "strace" || c.cmd.Name == "ltrace" {
		return c.has("p", "attach") // the program behind it has options of its own
	}
	for _, w := range c.cmd.Words[1:] {
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case slices.Contains([]string{"-p", "-pid", "--pid", "--attach", "--attach-pid", "--attach-name"}, name):
			return true
		case c.cmd.Name == "perf" && (name == "-a" || name == "--all-cpus"), c.cmd.Name == "lldb" && name == "-n":
			return true
		case name == "--args":
			return false
		}
	}
	words := c.cmd.Words
	last := words[len(words)-1].Text
	return c.cmd.Name == "gdb" && len(words) > 2 && last != "" && strings.Trim(last, "0123456789") == ""
}

// goRun: go run MODULE@VERSION fetches the module.
func goRun(c *call) {
	if len(c.operands) > 0 && strings.Contains(c.operands[0].Text, "@") {
		c.packages = []Package{c.packageOf("golang", c.operands[0])}
		c.effects |= doesNetwork
		c.flags.add(flagDownloads)
		c.flags.add(flagPackageInstall)
	}
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

// parentID is part of the names of a parent's process id: $PPID, os.getppid(), process.ppid, ps -o ppid=,
// PPid in /proc/self/status. A text that asks for it and signals a process that is not known is taken to
// signal that one.
const parentID = "ppid"

// signalsOwn marks a signal to Sallyport, which is the parent of its commands.
func (c *call) signalsOwn(w value.Word) {
	own := isOwn(w.Text) || strings.Contains(strings.ToLower(w.Raw), parentID) || strings.Trim(w.Text, "-") == strconv.Itoa(os.Getpid())
	if c.source.w != nil && w.Certainty != value.Exact {
		own = own || strings.Contains(strings.ToLower(c.source.w.in.Request.Command), parentID)
	}
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

// free are values of options with which an agent acts without asking, by option.
var free = map[string]string{
	"permission-mode": "bypasspermissions dontask auto", "permission-prompt-tool": "*",
	"sandbox": "danger-full-access disabled", "s": "danger-full-access", "ask-for-approval": "never", "a": "never",
	"approval-mode": "yolo auto_edit", "auto": "high",
}

// freedAgent reads the values that let an agent act without asking, and settings that are given as
// name=value.
func freedAgent(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		value := strings.ToLower(o.value.Text)
		switch o.name {
		case "config", "c":
			name, set, _ := strings.Cut(value, "=")
			if strings.Contains(name, "approval") && strings.Trim(set, `"'`) == "never" || strings.HasPrefix(name, "sandbox") ||
				strings.HasPrefix(name, "mcp_servers") || strings.HasPrefix(name, "hooks") ||
				strings.HasPrefix(name, "features.") && strings.Contains(name, "hooks") ||
				strings.HasSuffix(name, "trust_level") || name == "notify" {
				c.flags.add(flagFreesAgent)
			}
		case "allowedTools", "allowed-tools", "allow-tool":
			if strings.ContainsAny(value, "*") || strings.Contains(value, "bash") || strings.Contains(value, "shell") ||
				strings.Contains(value, "write") || strings.Contains(value, "edit") {
				c.flags.add(flagFreesAgent)
			}
		default:
			if list := free[o.name]; list == "*" || listedWord(list, value) {
				c.flags.add(flagFreesAgent)
			}
		}
	}
}

func listedWord(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
