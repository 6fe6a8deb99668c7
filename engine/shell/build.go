package shell

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// A text that writes a build file and starts the build runs what it wrote. Only files that
// the text itself has written are looked through here: what stands in the project already is
// the project's own.

// buildFile is a file that a program reads, and how commands stand in it.
type buildFile struct {
	names []string // in the working directory; one that begins with a dot is the ending of an operand
	any   bool     // wherever the text has written it
	lang  string   // a language of package inline; "" when recipes finds the commands
	// recipes returns shell texts. args are the operands: targets, names of scripts.
	recipes func(content string, args []string) []string
}

var (
	makefile = buildFile{names: []string{"GNUmakefile", "makefile", "Makefile", ".mk"}, recipes: makeRecipes}
	included = buildFile{names: []string{".mk"}, any: true, recipes: makeRecipes}
	scripts  = buildFile{names: []string{"package.json", "composer.json"}, recipes: packageScripts}
	sources  = buildFile{names: []string{".c", ".cc", ".cpp", ".cxx", ".go", ".rs", ".java", ".kt", ".swift"}, lang: "c"}
	setup    = buildFile{names: []string{"setup.py"}, any: true, lang: "python"}
	modules  = buildFile{names: []string{".py"}, any: true, lang: "python"}
	nodes    = buildFile{names: []string{".js", ".cjs", ".mjs", ".ts"}, any: true, lang: "node"}
	rubies   = buildFile{names: []string{".rb", ".rake", ".gemspec", "Gemfile", "Rakefile", "rakefile"}, any: true, lang: "ruby"}
	gos      = buildFile{names: []string{".go", ".rs"}, any: true, lang: "c"}
	gitFiles = buildFile{names: []string{"config", ".gitconfig"}, any: true, recipes: gitCommands}
	customs  = buildFile{names: []string{"sitecustomize.py", "usercustomize.py"}, any: true, lang: "python"}
)

// buildFiles lists them by program.
var buildFiles = map[string][]buildFile{
	"make": {makefile, included}, "gmake": {makefile, included}, "bmake": {makefile}, "remake": {makefile},
	"npm": {scripts, nodes}, "pnpm": {scripts, nodes}, "yarn": {scripts, nodes}, "bun": {scripts, nodes}, "composer": {scripts},
	"npx": {nodes}, "jest": {nodes}, "vitest": {nodes}, "mocha": {nodes}, "webpack": {nodes}, "vite": {nodes}, "eslint": {nodes}, "rollup": {nodes}, "gulp": {nodes}, "grunt": {nodes}, "next": {nodes},
	"bundle": {rubies}, "rspec": {rubies}, "rails": {rubies}, "gem": {rubies},
	"nox": {modules}, "unittest": {modules}, "git": {gitFiles, {names: gitHooks, any: true, recipes: wholeText}},
	"python": {customs}, "python3": {customs}, "gdb": {{names: []string{".gdb", ".gdbinit"}, any: true, recipes: hatched("gdb")}},
	"sqlite3": {{names: []string{".sql"}, any: true, recipes: hatched("sqlite3")}},
	"vim":     {{names: []string{".vim", ".exrc", ".vimrc"}, any: true, recipes: hatched("vim")}},
	"just":    {{names: []string{"justfile", "Justfile", ".justfile"}, recipes: makeRecipes}}, "task": {{names: []string{"Taskfile.yml", "Taskfile.yaml"}, recipes: listedCommands}},
	"rake": {rubies}, "pytest": {modules}, "pip": {setup}, "pip3": {setup}, "tox": {modules},
	"cmake": {{names: []string{"CMakeLists.txt", ".cmake"}, recipes: cmakeCommands}}, "cargo": {gos},
	"gcc": {sources}, "cc": {sources}, "clang": {sources}, "g++": {sources}, "c++": {sources}, "clang++": {sources}, "tcc": {sources}, "rustc": {sources}, "go": {sources, gos}, "javac": {sources}, "java": {sources}, "kotlinc": {sources}, "swift": {sources}, "swiftc": {sources},
	"direnv": {{names: []string{".envrc"}, recipes: wholeText}},
}

// build walks what stands in the build files of this text that a program would read.
func (w *walker) build(inv *invocation, name string) {
	kinds := buildFiles[name]
	if len(kinds) == 0 {
		return
	}
	dir := w.ctx.st.dir
	var operands []string
	for i, a := range inv.args[1:] {
		if (a.Text == "-C" || a.Text == "--directory" || a.Text == "--prefix") && i+2 < len(inv.args) {
			to, ok := w.pathOf(inv.args[i+2])
			dir = Dir{Path: to, Known: ok}
		}
		operands = append(operands, a.Text)
	}
	w.evaluated(inv, name, operands)
	for _, k := range kinds {
		for _, abs := range w.buildPaths(k, dir, inv.args[1:]) {
			w.buildWith(inv, k, abs, operands)
		}
	}
}

// evaluated walks the rules that make --eval gives.
func (w *walker) evaluated(inv *invocation, name string, operands []string) {
	for i, text := range operands {
		rules, ok := strings.CutPrefix(text, "--eval=")
		if text == "--eval" && i+1 < len(operands) {
			rules, ok = operands[i+1], true
		}
		if !ok || !strings.HasSuffix(name, "make") || strings.HasPrefix(rules, "$(shell ") { // which make runs wherever it stands
			continue
		}
		for _, recipe := range makeRecipes(rules, nil) {
			w.aside(inv, value.Known(recipe), name+" --eval")
		}
	}
}

// buildPaths are the files of the kind that the text has written, or hands over as a descriptor.
func (w *walker) buildPaths(k buildFile, dir Dir, args []value.Arg) []string {
	var out []string
	for _, n := range k.names {
		if abs, ok := absolute(dir, n); ok && (n[0] != '.' || n == ".envrc" || n == ".justfile") {
			out = append(out, abs)
		}
	}
	for i, a := range args {
		if k.any {
			break
		}
		text := a.Text
		stdin := text == "-" || text == "-f-" || text == "/dev/stdin"
		named := i > 0 && (args[i-1].Text == "-f" || args[i-1].Text == "-P") || slices.Contains(k.names, path.Ext(text)) && path.Ext(text) != ""
		switch {
		case stdin:
			out = append(out, "-")
		case w.opened(text):
			out = append(out, text)
		case named:
			if abs, ok := w.pathOf(a); ok {
				out = append(out, abs)
			}
		}
	}
	for abs := range w.ctx.st.files {
		named := func(name string) bool { return strings.HasSuffix(abs, "/"+name) || path.Ext(abs) == name }
		if k.any && slices.ContainsFunc(k.names, named) {
			out = append(out, abs)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gitHooks are the files that git runs by itself.
var gitHooks = strings.Fields("hooks/" + strings.Join(strings.Fields("applypatch-msg pre-applypatch post-applypatch pre-commit"+
	" pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update"+
	" post-receive post-update reference-transaction pre-auto-gc post-rewrite fsmonitor-watchman post-index-change"), " hooks/"))

// gitCommands are the commands in a configuration of git: the values of the keys that name a program.
func gitCommands(content string, _ []string) []string {
	var out []string
	for line := range strings.SplitSeq(content, "\n") {
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
		if command, alias := strings.CutPrefix(value, "!"); alias || gitKeys[key] {
			out = append(out, command)
		}
	}
	return out
}

// gitKeys are keys whose value git runs.
var gitKeys = command.Names("fsmonitor sshcommand pager editor askpass clean smudge process textconv command cmd helper" +
	" program gitproxy uploadpack receivepack driver external alternaterefscommand packobjectshook")

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

// buildWith walks one build file, if the text has written it.
func (w *walker) buildWith(inv *invocation, k buildFile, abs string, operands []string) {
	content, _ := w.streamText(abs)
	if f, ok := w.ctx.st.files[abs]; ok {
		content = f.content
		if !k.any && f.edited && !strings.HasPrefix(path.Base(abs), ".") && k.lang != "c" {
			w.mark(inv.idx, MarkDynamicCode)
		}
	}
	if in := w.stdin(); abs == "-" && in != nil {
		content = in.text
	}
	running := "build " + abs
	if len(content) == 0 || slices.Contains(w.ctx.running, running) {
		return
	}
	saved := w.ctx
	w.ctx.running = append(slices.Clone(w.ctx.running), running)
	defer func() { w.ctx = saved }()
	c := &w.commands[inv.idx]
	c.Inputs = value.Set(slices.Concat(c.Inputs, content.Inputs()))
	via := w.commands[inv.idx].Name + " " + path.Base(abs)
	if k.recipes == nil {
		code := w.commands[inv.idx].Code
		w.runInline(inv, Code{Language: k.lang, From: CodeFile}, content, via)
		w.commands[inv.idx].Code = code
		return
	}
	for _, text := range k.recipes(content.Text(), operands) {
		if !w.step(1 + len(text)/bytesPerStep) {
			return
		}
		w.aside(inv, value.Known(text), via)
	}
}

func wholeText(content string, _ []string) []string { return []string{content} }

// makeRecipes are the lines of recipes, and what $(shell …) runs.
func makeRecipes(content string, _ []string) []string {
	vars := map[string]string{}
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(content, "\\\n", " "), "\n") {
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "$(shell ")
			if !found {
				break
			}
			out = append(out, makeExpand(balanced(after), vars))
			rest = after
		}
		recipe := strings.TrimLeft(line, " \t")
		if recipe == line { // not indented: a variable, or a rule that may carry a command
			if _, value, found := strings.Cut(line, "!="); found {
				out = append(out, makeExpand(value, vars))
			} else if name, value, found := strings.Cut(line, "="); found && !strings.Contains(name, ";") {
				vars[strings.TrimRight(name, " :?+")] = strings.TrimSpace(value)
				continue
			}
			_, recipe, _ = strings.Cut(line, ";")
		}
		if recipe = strings.TrimLeft(recipe, "@-+ \t"); recipe != "" {
			out = append(out, makeExpand(recipe, vars))
		}
	}
	return out
}

// makeExpand fills in the variables of a makefile. Those that it does not know become
// variables of the shell that are not known either.
func makeExpand(text string, vars map[string]string) string {
	const dollar = "\x00"
	text = strings.ReplaceAll(text, "$$", dollar)
	for name, value := range vars {
		if name != "" && len(text)+len(value) < 1<<16 {
			text = strings.NewReplacer("$("+name+")", value, "${"+name+"}", value).Replace(text)
		}
	}
	for _, automatic := range []string{"$@", "$<", "$^", "$?", "$*"} {
		text = strings.ReplaceAll(text, automatic, "${BASH_NAME}")
	}
	return strings.ReplaceAll(text, dollar, "$")
}

// packageScripts are the scripts of a package.json that the operands start, with those that
// come before and after them.
func packageScripts(content string, args []string) []string {
	var file struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal([]byte(content), &file) != nil {
		return nil
	}
	var out []string
	for _, name := range startedScripts(args) {
		switch script := file.Scripts[name].(type) {
		case string:
			out = append(out, script)
		case []any:
			for _, s := range script {
				if text, ok := s.(string); ok {
					out = append(out, text)
				}
			}
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
	if len(args) == 0 {
		return startedScripts([]string{"install"})
	}
	return names
}

// listedCommands are the items of the lists in a Taskfile.
func listedCommands(content string, _ []string) []string {
	var out []string
	for _, line := range strings.Split(content, "\n") {
		line = strings.TrimSpace(line)
		if _, list, found := strings.Cut(line, "cmds: ["); found {
			out = append(out, strings.Split(strings.TrimRight(list, " ]"), ",")...)
			continue
		}
		item, found := strings.CutPrefix(line, "- ")
		if !found {
			item, found = strings.CutPrefix(line, "cmd: ")
		}
		if found {
			out = append(out, strings.Trim(strings.TrimPrefix(item, "cmd: "), `"'`))
		}
	}
	return out
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
