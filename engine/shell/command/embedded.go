package command

import (
	"slices"
	"strings"
	"unicode"

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
	"powershell": {{"powershell", "", "-Command"}, {"powershell", "", "-c"}},
	"mysqlsh":    {{"python", "--py", "-e"}, {"node", "--js", "-e"}}, "gdb": {{"python", "", "-x"}},
	"blender": {{"python", "", "--python-expr"}}, "mongosh": {{"node", "", "--eval"}},
	"mongo": {{"node", "", "--eval"}}, "zx": {{"node", "", "<"}}, "jshell": {{"java", "", "<"}},
}

// ModuleFiles are the files that a name may stand for where a language looks for a module.
func ModuleFiles(lang, name string) []string {
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

// loading are the words with which languages load a module.
var loading = Names("import from require require_relative load __import__ import_module use")

// Mentions reports whether a line of text imports name.
func Mentions(text, name string) bool {
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

// Embedded returns the program text among args, and on standard input if it is given.
func Embedded(name string, args []value.Arg) []Run {
	var l line
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
		text := func(v value.Value) { l.add(Run{Kind: Text, Lang: e.lang, Text: v, Via: via}) }
		switch e.option {
		case "<":
			l.add(Run{Kind: Input, Lang: e.lang, Via: name, Given: true})
		case "":
			if _, operands := Getopt(rest, "e", []string{"--environment"}); len(operands) > 0 {
				text(operands[0].Val)
			}
		default:
			for i, a := range rest {
				if a.Text == e.option && i+1 < len(rest) {
					text(rest[i+1].Val)
				} else if strings.HasPrefix(a.Prefix, e.option+"=") {
					text(a.Val.After(len(e.option) + 1))
				}
			}
		}
	}
	return l.list
}
