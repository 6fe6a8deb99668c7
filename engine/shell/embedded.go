package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// embedding is a place on the command line of a program that is no interpreter at which
// program text stands.
type embedding struct {
	lang   string
	verb   string // the word that must stand before it, "" for none
	option string // the option whose value it is; "" for the operand behind the verb, "<" for standard input
}

// embeddings lists them by program; "manage.py" and "artisan" are scripts of projects.
var embeddings = map[string][]embedding{
	"rails": {{"ruby", "runner", ""}, {"ruby", "r", ""}, {"ruby", "console", "<"}, {"ruby", "c", "<"}}, "mix": {{"elixir", "run", "-e"}}, "irb": {{"ruby", "", "<"}}, "pry": {{"ruby", "", "-e"}, {"ruby", "", "<"}},
	"manage.py": {{"python", "shell", "-c"}, {"python", "shell", "--command"}, {"python", "shell", "<"}, {"python", "shell_plus", "-c"}}, "django-admin": {{"python", "shell", "-c"}, {"python", "shell", "--command"}}, "flask": {{"python", "shell", "<"}},
	"artisan": {{"php", "tinker", "--execute"}}, "wp": {{"php", "eval", ""}}, "drush": {{"php", "php-eval", ""}, {"php", "php:eval", ""}, {"php", "ev", ""}, {"php", "eval", ""}},
	"powershell.exe": {{"powershell", "", "-Command"}, {"powershell", "", "-c"}}, "powershell": {{"powershell", "", "-Command"}, {"powershell", "", "-c"}}, "pwsh.exe": {{"powershell", "", "-Command"}, {"powershell", "", "-c"}},
	"mysqlsh": {{"python", "--py", "-e"}, {"node", "--js", "-e"}}, "gdb": {{"python", "", "-x"}}, "blender": {{"python", "", "--python-expr"}}, "mongosh": {{"node", "", "--eval"}}, "mongo": {{"node", "", "--eval"}}, "zx": {{"node", "", "<"}}, "jshell": {{"java", "", "<"}},
}

// embedded looks through the program text among args.
func (w *walker) embedded(inv *invocation, name string, args []value.Arg) {
	for _, e := range embeddings[name] {
		rest := args
		if e.verb != "" {
			i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == e.verb })
			if i < 0 {
				continue
			}
			rest = args[i+1:]
		}
		via := strings.TrimSpace(name + " " + e.verb)
		code := Code{Language: e.lang, From: CodeArgument}
		switch e.option {
		case "<":
			if in := w.stdin(); in != nil && in.from != CodeNone && hasCode(in.text) {
				w.stdinProgram(inv, e.lang, name, nil)
			}
		case "":
			if _, operands := command.Getopt(rest, "e", []string{"--environment"}); len(operands) > 0 {
				w.runInline(inv, code, operands[0].Val, via)
			}
		default:
			for i, a := range rest {
				if a.Text == e.option && i+1 < len(rest) {
					w.runInline(inv, code, rest[i+1].Val, via)
				} else if strings.HasPrefix(a.Prefix, e.option+"=") {
					w.runInline(inv, code, a.Val.After(len(e.option)+1), via)
				}
			}
		}
	}
}

// moduleFiles are the files that a name may stand for where a language looks for a module.
func moduleFiles(lang, name string) []string {
	switch lang {
	case "python":
		if strings.Trim(name, "./") == "" {
			return []string{"__main__.py"}
		}
		name = strings.ReplaceAll(strings.TrimSuffix(name, ".py"), ".", "/")
		return []string{name + ".py", name + "/__main__.py", name + "/__init__.py"}
	case "node":
		return []string{name, name + ".js", name + ".mjs", name + ".cjs", name + "/index.js"}
	case "ruby":
		return []string{name, name + ".rb"}
	case "lua":
		return []string{strings.ReplaceAll(name, ".", "/") + ".lua"}
	case "perl":
		return []string{strings.ReplaceAll(name, "::", "/") + ".pm", name, name + ".pl"}
	case "awk":
		return []string{name, name + ".awk"}
	default:
		return nil
	}
}

// runModule looks through a module that this text has written. It reports whether there is one.
func (w *walker) runModule(inv *invocation, lang, name, via string) bool {
	for _, file := range moduleFiles(lang, name) {
		abs, ok := absolute(w.ctx.st.here(), file)
		f, written := w.ctx.st.files[abs]
		running := "module " + abs
		if !ok || !written || len(f.content) == 0 || slices.Contains(w.ctx.running, running) {
			continue
		}
		saved := w.ctx
		w.ctx.running = append(slices.Clone(w.ctx.running), running)
		code := w.commands[inv.idx].Code
		w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, via+" "+file)
		if code.From != CodeNone {
			w.commands[inv.idx].Code = code
		}
		w.ctx = saved
		return true
	}
	return false
}

// imports looks through the modules which program text imports and this text has written.
func (w *walker) imports(inv *invocation, lang, text, via string) {
	if len(w.ctx.st.files) == 0 || moduleFiles(lang, "x") == nil {
		return
	}
	for _, abs := range slices.Sorted(maps.Keys(w.ctx.st.files)) {
		f, running := w.ctx.st.files[abs], "module "+abs
		runs := func(r string) bool { return r == running || strings.HasPrefix(r, "script "+abs+" ") }
		if len(f.content) == 0 || slices.ContainsFunc(w.ctx.running, runs) {
			continue
		}
		loads := func(name string) bool {
			return name != "" && w.step(1+len(text)/bytesPerStep) && mentions(text, name)
		}
		if !slices.ContainsFunc(strings.Split(strings.TrimSuffix(abs, path.Ext(abs)), "/"), loads) {
			continue
		}
		saved, code := w.ctx, w.commands[inv.idx].Code
		w.ctx.running = append(slices.Clone(w.ctx.running), running)
		w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, via+" "+path.Base(abs))
		w.ctx, w.commands[inv.idx].Code = saved, code
	}
}

// loading are the words with which languages load a module.
var loading = command.Names("import from require require_relative load __import__ import_module use")

// mentions reports whether a line of text imports name.
func mentions(text, name string) bool {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		loads := false
		for _, word := range strings.FieldsFunc(line, func(r rune) bool {
			return !strings.ContainsRune("_-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			if loads && word == name {
				return true
			}
			loads = loads || loading[word]
		}
	}
	return false
}
