package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// BuildFile is a file that a program reads, and how commands stand in it.
type BuildFile struct {
	Names []string // in the working directory; one that begins with a dot is the ending of an operand
	Any   bool     // wherever the text has written it
	Lang  string   // the language that it is written in; "" when Recipes finds the commands
	// Recipes returns shell texts. args are the operands: targets, names of scripts.
	Recipes func(content string, args []string) []string
	// tasks finds the commands that a command line starts.
	tasks func(content string, s Start) tasks
	up    bool // the file may lie above the working directory
	// shells says that a shell is started for each of its commands, here.
	shells bool
}

// HasTasks reports a file of which a command line starts a part.
func (k BuildFile) HasTasks() bool { return k.tasks != nil }

// Shells reports a file whose commands all begin with the start of a shell.
func (k BuildFile) Shells() bool { return k.shells }

// Above reports a file that may also lie above the working directory.
func (k BuildFile) Above() bool { return k.up }

// Started returns the shell texts that a command line starts in a file of this kind, and whether these are
// all and all is known of them.
func (k BuildFile) Started(content string, s Start) (texts []value.Value, whole bool) {
	t := k.tasks(content, s)
	return t.texts, !t.open
}

// BuildFiles returns the files that a program of that name reads.
func BuildFiles(name string) []BuildFile { return buildFiles[name] }

// MakeRules returns the rules that --eval gives among the operands of make. Escapes finds the commands of
// $(shell …).
func MakeRules(name string, operands []string) (recipes []string) {
	for i, text := range operands {
		rules, ok := strings.CutPrefix(text, "--eval=")
		if text == "--eval" && i+1 < len(operands) {
			rules, ok = operands[i+1], true
		}
		if ok && strings.HasSuffix(name, "make") && !strings.HasPrefix(rules, "$(shell ") {
			recipes = append(recipes, allRecipes(rules, nil)...)
		}
	}
	return recipes
}

// StoredScript returns where a script begins in operand i, which a command stores in a manifest of packages:
// that of npm pkg set scripts.NAME=TEXT and of composer config scripts.NAME TEXT. It is -1 for any other
// operand, and whole says that the operand holds all scripts.
func StoredScript(name string, operands []string, i int) (at int, whole bool) {
	if name == "composer" {
		stores := i > 0 && slices.Contains(operands[:i], "config") && strings.HasPrefix(operands[i-1], "scripts.")
		return map[bool]int{true: 0, false: -1}[stores], false
	}
	set := slices.Index(operands, "set")
	if set < 0 || set >= i || !slices.Contains(operands[:set], "pkg") {
		return -1, false
	}
	key, _, found := strings.Cut(operands[i], "=")
	if !found || !strings.HasPrefix(key, "scripts") {
		return -1, false
	}
	return len(key) + 1, key == "scripts"
}

// generated are the commands of the lines //go:generate, which go generate runs (go help generate).
func generated(content string, args []string) []string {
	if !slices.Contains(args, "generate") {
		return nil
	}
	var out []string
	for line := range strings.Lines(content) {
		text, found := strings.CutPrefix(line, "//go:generate")
		if !found {
			continue
		}
		if words := strings.Fields(text); len(words) > 2 && words[0] == "-command" {
			text = strings.Join(words[2:], " ")
		}
		out = append(out, text)
	}
	return out
}

var (
	generators = BuildFile{Names: []string{".go"}, Any: true, Recipes: generated}

	makefile = BuildFile{Names: []string{"GNUmakefile", "makefile", "Makefile", ".mk"}, tasks: makeTasks, shells: true}
	included = BuildFile{Names: []string{".mk"}, Any: true, Recipes: allRecipes}
	scripts  = BuildFile{
		Names: []string{"package.json", "composer.json"},
		tasks: scriptTasks, up: true,
	}
	justfile = BuildFile{
		Names: []string{"justfile", "Justfile", ".justfile"},
		tasks: justTasks, up: true,
	}
	taskfile = BuildFile{
		Names: []string{"Taskfile.yml", "Taskfile.yaml"}, tasks: taskTasks, up: true,
	}
	sources  = BuildFile{Names: []string{".c", ".cc", ".cpp", ".cxx", ".go", ".rs", ".java", ".kt", ".swift"}, Lang: "c"}
	setup    = BuildFile{Names: []string{"setup.py"}, Any: true, Lang: "python"}
	modules  = BuildFile{Names: []string{".py"}, Any: true, Lang: "python"}
	nodes    = BuildFile{Names: []string{".js", ".cjs", ".mjs", ".ts"}, Any: true, Lang: "node"}
	rubies   = BuildFile{Names: []string{".rb", ".rake", ".gemspec", "Gemfile", "Rakefile", "rakefile"}, Any: true, Lang: "ruby"}
	gos      = BuildFile{Names: []string{".go", ".rs"}, Any: true, Lang: "c"}
	gitFiles = BuildFile{Names: []string{"config", ".gitconfig"}, Any: true, Recipes: GitCommands}
	customs  = BuildFile{Names: []string{"sitecustomize.py", "usercustomize.py"}, Any: true, Lang: "python"}
)

// buildFiles lists them by program.
var buildFiles = map[string][]BuildFile{
	"make": {makefile, included}, "gmake": {makefile, included}, "bmake": {makefile}, "remake": {makefile},
	"npm": {scripts, nodes}, "pnpm": {scripts, nodes}, "yarn": {scripts, nodes}, "bun": {scripts, nodes}, "composer": {scripts},
	"npx": {nodes}, "jest": {nodes}, "vitest": {nodes}, "mocha": {nodes}, "webpack": {nodes}, "vite": {nodes}, "eslint": {nodes}, "rollup": {nodes}, "gulp": {nodes}, "grunt": {nodes}, "next": {nodes},
	"bundle": {rubies}, "rspec": {rubies}, "rails": {rubies}, "gem": {rubies},
	"nox": {modules}, "unittest": {modules}, "git": {gitFiles, {Names: gitHooks, Any: true, Recipes: wholeText}},
	"python": {customs}, "python3": {customs}, "gdb": {{Names: []string{".gdb", ".gdbinit"}, Any: true, Recipes: hatched("gdb")}},
	"sqlite3": {{Names: []string{".sql"}, Any: true, Recipes: hatched("sqlite3")}},
	"vim":     {{Names: []string{".vim", ".exrc", ".vimrc"}, Any: true, Recipes: hatched("vim")}},
	"just":    {justfile},
	"task":    {taskfile},
	"run-s":   {scripts}, "run-p": {scripts}, "npm-run-all": {scripts},
	"rake": {rubies}, "pytest": {modules}, "pip": {setup}, "pip3": {setup}, "tox": {modules},
	"cmake": {{Names: []string{"CMakeLists.txt", ".cmake"}, Recipes: cmakeCommands}}, "cargo": {gos},
	"gcc": {sources}, "cc": {sources}, "clang": {sources}, "g++": {sources}, "c++": {sources}, "clang++": {sources}, "tcc": {sources}, "rustc": {sources}, "go": {sources, gos, generators}, "javac": {sources}, "java": {sources}, "kotlinc": {sources}, "swift": {sources}, "swiftc": {sources},
	"docker": {compose("compose"), containerfile}, "podman": {compose("compose"), containerfile},
	"nerdctl": {compose("compose"), containerfile}, "buildah": {containerfile},
	"docker-compose": {compose("")}, "podman-compose": {compose("")},
	"kubectl": {kubeconfig}, "helm": {kubeconfig}, "oc": {kubeconfig}, "k9s": {kubeconfig},
	"m4":       {{Names: []string{".m4"}, Any: true, Recipes: hatched("m4")}},
	"rtorrent": {{Names: []string{".rtorrent.rc", "rtorrent.rc"}, Any: true, Recipes: rtorrentCommands}},
	"rustup":   {{Names: []string{"bin/cargo", "bin/rustc"}, Any: true, Recipes: wholeText}},
	"direnv":   {{Names: []string{".envrc"}, Recipes: wholeText}},
}

// gitHooks are the files that git runs by itself.
var gitHooks = strings.Fields("hooks/" + strings.Join(strings.Fields("applypatch-msg pre-applypatch post-applypatch pre-commit"+
	" pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update"+
	" post-receive post-update reference-transaction pre-auto-gc post-rewrite fsmonitor-watchman post-index-change"), " hooks/"))

// GitCommands are the commands in a configuration of git: the values of the keys that name a program.
func GitCommands(content string, _ []string) []string {
	var out []string
	for line := range strings.SplitSeq(content, "\n") {
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
		if command, alias := strings.CutPrefix(value, "!"); alias || commands.Listed("git-keys", key) {
			out = append(out, command)
		}
	}
	return out
}

// hatched finds the commands in a file of a program's own language.
func hatched(name string) func(string, []string) []string {
	return func(content string, _ []string) []string {
		var out []string
		for line := range strings.SplitSeq(content, "\n") {
			for _, e := range hatches[name] {
				if text, ok := e.find(line); ok {
					out = append(out, text)
				}
			}
		}
		return out
	}
}

func wholeText(content string, _ []string) []string { return []string{content} }

// rtorrentCommands are the commands of "execute = NAME,ARGUMENT,…" and its like, schedules among them.
func rtorrentCommands(content string, _ []string) []string {
	var out []string
	for line := range strings.Lines(content) {
		if _, text, found := strings.Cut(line, "execute"); found {
			_, text, _ = strings.Cut(text, "=")
			out = append(out, strings.ReplaceAll(strings.Trim(text, " \t\n\""), ",", " "))
		}
	}
	return out
}

// startedScripts are the names of the scripts that a command line starts.
func startedScripts(args []string) []string {
	var names []string
	for _, a := range args {
		switch a {
		case "install", "i", "ci", "add", "":
			names = append(names, "preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "pre-install-cmd", "post-install-cmd", "post-update-cmd")
		case "pack", "publish":
			names = append(names, "prepublishOnly", "prepack", "postpack", "publish", "postpublish")
		case "t", "tst":
			a = "test"
		}
		names = append(names, "pre"+a, a, "post"+a)
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") { // without a verb, yarn installs
		names = append(names, startedScripts([]string{"install"})...)
	}
	return names
}

// cmakeCommands are the commands of execute_process and its like.
func cmakeCommands(content string, _ []string) []string {
	var out []string
	for rest, found := content, true; found; {
		if _, rest, found = strings.Cut(rest, "COMMAND "); found {
			out = append(out, balanced(rest))
		}
	}
	return out
}
