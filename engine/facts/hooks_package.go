package facts

import (
	"path"
	"slices"
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

// emptying are words of the tools of databases and their frameworks, in their order, that empty one or go back to nothing;
// "$" stands for the end of the command.
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
