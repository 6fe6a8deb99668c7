package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
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
func (c *call) curlURL(w shell.Word) {
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

// bcFiles: bc reads programs from files; expr, seq and units have no files.
func bcFiles(c *call) {
	if c.cmd.Name != "bc" && c.cmd.Name != "dc" {
		return
	}
	for _, w := range c.operands {
		c.path(w, reads)
		c.effects |= doesRead
	}
}

// pythonModule: python -m NAME is the program NAME.
func pythonModule(c *call) {
	scriptTask(c)
	switch c.value("m") {
	case "http.server", "SimpleHTTPServer", "pyftpdlib", "smtpd":
		c.flags.add(flagListens)
		c.effects |= doesNetwork
	case "pip", "ensurepip", "pipx", "uv", "aider", "py_spy", "alembic":
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
func (c *call) magic(w shell.Word) {
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
	"manage.py": {"flush", "reset_db", "reset_schema"},
}

func scriptTask(c *call) {
	words := texts(c.cmd.Words)
	for i, word := range words[:len(words)-1] {
		if slices.Contains(scriptTasks[path.Base(word)], words[i+1]) {
			c.destroys()
		}
	}
}
