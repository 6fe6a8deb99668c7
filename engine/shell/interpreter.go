package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// interpreter describes the command line of a program that runs a language.
type interpreter struct {
	lang    string
	shell   bool
	code    []string // options whose value is program text; in a cluster the letter may come last
	short   string   // one-letter options that take a value
	long    []string // other options that take a value
	file    []string // options whose value is a program file
	before  []string // options whose value is a file, or a module, that runs before the program
	first   bool     // the first operand is the program itself: awk
	module  string   // the option after which everything belongs to a module: python -m
	verbs   bool     // a verb stands first: deno run, bun run, go run
	session bool     // without a program it reads standard input
	inspect string   // the letter of the option with which it reads standard input behind a program, too
}

var (
	posixShell = interpreter{lang: "sh", shell: true}
	python     = interpreter{lang: "python", code: []string{"-c"}, short: "WX", module: "-m", session: true, inspect: "i"}
	awk        = interpreter{lang: "awk", code: []string{"-e", "--source"}, short: "Fvolb", long: []string{"--assign", "--field-separator", "--load"}, before: []string{"-i", "--include"}, file: []string{"-f", "--file"}, first: true}
	node       = interpreter{lang: "node", code: []string{"-e", "--eval", "-p", "--print", "-pe"}, short: "C", long: []string{"--conditions", "--env-file"},
		before: []string{"-r", "--require", "--import", "--loader", "--experimental-loader"}, session: true, inspect: "i"}
	lua = interpreter{lang: "lua", code: []string{"-e"}, before: []string{"-l"}, session: true, inspect: "i"}
)

// interpreters lists them by name, without version numbers.
var interpreters = map[string]interpreter{
	"sh": posixShell, "ash": posixShell, "dash": posixShell, "posh": posixShell, "hush": posixShell,
	"bash": {lang: "bash", shell: true}, "rbash": {lang: "bash", shell: true},
	"zsh": {lang: "zsh", shell: true}, "rzsh": {lang: "zsh", shell: true},
	"ksh": {lang: "ksh", shell: true}, "mksh": {lang: "ksh", shell: true}, "rksh": {lang: "ksh", shell: true}, "oksh": {lang: "ksh", shell: true}, "yash": {lang: "sh", shell: true},
	"fish": {lang: "fish", shell: true}, "osh": {lang: "bash", shell: true},
	"csh": {lang: "csh", shell: true}, "tcsh": {lang: "csh", shell: true},
	"python": python, "pypy": python, "ipython": python, "micropython": {lang: "python", code: []string{"-c"}, module: "-m", session: true},
	"perl":  {lang: "perl", code: []string{"-e", "-E"}, short: "ICx", session: true, inspect: "d"},
	"ruby":  {lang: "ruby", code: []string{"-e"}, short: "ICEWT", before: []string{"-r"}, session: true},
	"jruby": {lang: "ruby", code: []string{"-e"}, short: "ICEWT", before: []string{"-r"}, session: true},
	"node":  node, "nodejs": node,
	"bun":     {lang: "node", code: []string{"-e", "--eval", "-p", "--print"}, before: []string{"-r", "--preload"}, verbs: true},
	"deno":    {lang: "node", verbs: true},
	"tsx":     {lang: "node", code: []string{"-e", "--eval"}, before: []string{"-r", "--require", "--import"}},
	"ts-node": {lang: "node", code: []string{"-e", "--eval"}, short: "OPC", before: []string{"-r", "--require"}},
	"php":     {lang: "php", code: []string{"-r", "-B", "-R", "-E"}, short: "cdzS", long: []string{"--run", "--define"}, file: []string{"-f", "-F"}, session: true},
	"awk":     awk, "gawk": awk, "mawk": awk, "nawk": awk, "original-awk": awk,
	"lua": lua, "luajit": lua,
	"R": {lang: "r", code: []string{"-e"}, file: []string{"-f", "--file"}}, "Rscript": {lang: "r", code: []string{"-e"}},
	"julia":     {lang: "julia", code: []string{"-e", "--eval", "-E", "--print"}, short: "pJCtH", before: []string{"-L", "--load"}},
	"osascript": {lang: "applescript", code: []string{"-e"}, short: "ls", session: true},
	"tclsh":     {lang: "tcl", session: true}, "wish": {lang: "tcl", session: true},
	"pwsh":   {lang: "powershell", code: []string{"-c", "-Command", "-command", "-EncodedCommand", "-enc"}, file: []string{"-f", "-File"}, session: true},
	"elixir": {lang: "elixir", code: []string{"-e", "--eval"}}, "groovy": {lang: "groovy", code: []string{"-e"}}, "scala": {lang: "scala", code: []string{"-e"}},
	"guile": {lang: "scheme", code: []string{"-c"}, short: "Lx", before: []string{"-l"}, session: true},
	"emacs": {lang: "elisp", code: []string{"--eval", "-eval"}, short: "udf", before: []string{"-l", "--load", "-load", "--script"}},
	"nu":    {lang: "nu", code: []string{"-c", "--commands"}}, "elvish": {lang: "elvish", code: []string{"-c"}}, "xonsh": {lang: "xonsh", code: []string{"-c"}},
	"ghc": {lang: "haskell", code: []string{"-e"}}, "racket": {lang: "racket", code: []string{"-e"}}, "sbcl": {lang: "lisp", code: []string{"--eval"}}, "erl": {lang: "erlang", code: []string{"-eval"}}, "ocaml": {lang: "ocaml", code: []string{"-e"}},
	"jjs": {lang: "node", session: true}, "jrunscript": {lang: "node", code: []string{"-e"}, short: "flcp", session: true},
}

// interpreterOf finds the interpreter that a name stands for: python3.12 and perl5.36 too.
func interpreterOf(name string) (interpreter, bool) {
	if p, ok := interpreters[name]; ok {
		return p, true
	}
	if p, ok := interpreters[strings.TrimRight(name, "0123456789.-")]; ok {
		return p, true
	}
	lower := strings.ToLower(name) // file systems that fold case: /BIN/SH
	p, ok := interpreters[lower]
	return p, ok && p.shell
}

// interpret finds the program of an interpreter, and walks it where its text is known.
func (w *walker) interpret(inv *invocation, p interpreter) {
	switch {
	case len(inv.args) == 2 && informs(p.lang, inv.args[1].Text):
	case p.shell:
		w.shell(inv, p)
	case p.verbs:
		w.verb(inv, p)
	default:
		w.program(inv, p, inv.args[1:])
	}
	w.printUnknown(inv)
}

// informs reports an option that makes an interpreter tell about itself and end.
func informs(lang, option string) bool {
	switch option {
	case "--version", "--help":
		return true
	case "-v":
		return lang == "node" || lang == "perl" || lang == "ruby" || lang == "php" || lang == "lua"
	case "-V":
		return lang == "python"
	default:
		return false
	}
}

// plainOptions of bash -o and -O change nothing that the walk relies on.
var plainOptions = nameSet("errexit nounset pipefail xtrace verbose noglob nullglob dotglob globstar extglob" +
	" expand_aliases inherit_errexit errtrace functrace history monitor notify hashall onecmd noexec failglob lastpipe")

// shell reads the command line of a shell.
func (w *walker) shell(inv *invocation, p interpreter) {
	name := w.commands[inv.idx].Name
	args := inv.args[1:]
	command, fromStdin := false, false
	var glued, rc value.Arg
	interactive, login, traced, strict, ends := false, false, false, false, false
	i := 0
options:
	for ; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "--" || text == "-":
			i++
			break options
		case (text == "--rcfile" || text == "--init-file") && i+1 < len(args):
			i++
			rc = args[i]
		case text == "--posix" && p.lang == "bash":
			p.lang = "sh"
		case text == "--emulate" && p.lang == "zsh":
			i++
		case p.lang == "fish" && (text == "-C" || text == "--init-command") && i+1 < len(args):
			i++
			w.childShell(inv, p.lang, args[i], nil, name+" -C")
		case p.lang == "fish" && strings.HasPrefix(text, "--init-command="):
			_, value, _ := strings.Cut(text, "=")
			w.childShell(inv, p.lang, args[i].Cut(len("--init-command="), value), nil, name+" -C")
		case text == "--command" || strings.HasPrefix(text, "--command="):
			command = true
			if _, value, ok := strings.Cut(text, "="); ok {
				glued = args[i].Cut(len("--command="), value)
			}
		case strings.HasPrefix(text, "--"):
			login, traced = login || text == "--login", traced || text == "--verbose"
		case len(text) > 1 && (text[0] == '-' || text[0] == '+') && args[i].Certainty != value.Unknown:
			letters := text[1:]
			if c := strings.IndexByte(letters, 'c'); c >= 0 && text[0] == '-' {
				command = true
				// -c"rm x" glued is no option cluster
				if strings.ContainsAny(letters[c+1:], " ;|&$/()'\"\t\n") {
					glued = args[i].Cut(c+2, letters[c+1:])
				}
			}
			fromStdin = fromStdin || text[0] == '-' && strings.Contains(letters, "s")
			interactive = interactive || text[0] == '-' && strings.Contains(letters, "i")
			login = login || text[0] == '-' && strings.Contains(letters, "l")
			traced = traced || strings.ContainsAny(letters, "xvo")
			strict = strict || strings.ContainsAny(letters, "uo")
			ends = ends || strings.ContainsAny(letters, "eo")
			w.unclear = w.unclear || glued.Text == "" && strings.ContainsAny(letters, "aBCHkP")
			if glued.Text == "" && strings.ContainsAny(letters, "oO") {
				values := args[min(i+1, len(args)):]
				i += strings.Count(letters, "o") + strings.Count(letters, "O")
				for _, a := range values[:min(len(values), strings.Count(letters, "o")+strings.Count(letters, "O"))] {
					switch {
					case a.Text == "posix" || a.Text == "xpg_echo":
						p.lang = "sh" // it reads and prints as other shells do
					case !plainOptions[a.Text]:
						w.unclear = true
					}
				}
			}
		default:
			break options
		}
	}
	rest := args[min(i, len(args)):]
	if rc.Text != "" && (interactive || !command && len(rest) == 0) {
		defer w.keepUnseen(inv, w.runBefore(inv, p.lang, rc))
	}
	for _, file := range w.startupFiles(interactive, login) {
		defer w.keepUnseen(inv, w.runBefore(inv, p.lang, file))
	}
	st, was := w.ctx.st, *w.ctx.st
	st.traced, st.nounset, st.errexit = was.traced || traced, was.nounset || strict, was.errexit || ends
	defer func() { st.traced, st.nounset, st.errexit = was.traced, was.nounset, was.errexit }()
	via := name + " -c"
	switch {
	case command && glued.Text != "":
		w.childShell(inv, p.lang, glued, rest, via)
	case command && len(rest) > 0:
		w.childShell(inv, p.lang, rest[0], rest[1:], via)
	case command:
		w.commands[inv.idx].Code = Code{Language: p.lang, From: CodeArgument}
	case len(rest) > 0 && !fromStdin && rest[0].Text != "/dev/stdin" && rest[0].Text != "/dev/fd/0":
		w.runFile(inv, p.lang, rest[0], rest[1:], false)
	default:
		w.stdinProgram(inv, p.lang, name, func(c *context) { bindParams(c.st, append([]value.Arg{value.Literal(name)}, rest...)) })
	}
}

// startupFiles are the files that a shell runs first, as far as the text has written them or set the variables that
// name them.
func (w *walker) startupFiles(interactive, login bool) []value.Arg {
	st := w.ctx.st
	var files []value.Arg
	for _, name := range []string{"BASH_ENV", "ENV"} {
		if v := st.vars[name]; v.exported && !v.unset && interactive == (name == "ENV") {
			if _, found := w.content(v.val); found {
				files = append(files, value.NewArg(v.val, "$"+name))
			}
		}
	}
	var names []string
	if interactive {
		names = []string{".bashrc"}
	}
	if login {
		names = append(names, ".bash_profile", ".bash_login", ".profile")
	}
	home, _ := st.lookupVar("HOME").val.Exact()
	for _, name := range names {
		if abs, ok := absolute(st.dir, home+"/"+name); ok && len(st.files[abs].content) > 0 {
			files = append(files, value.Literal(abs))
		}
	}
	return files
}

// childShell walks the text of sh -c, with $0, $1, … bound to the words behind it.
func (w *walker) childShell(inv *invocation, lang string, text value.Arg, rest []value.Arg, via string) {
	w.runText(inv, Code{Language: lang, From: CodeArgument}, text.Val, via, func(c *context) {
		c.st = w.child(lang)
		bindParams(c.st, rest)
	})
}

// bindParams sets $0, $1, … to the words behind a program.
func bindParams(st *state, rest []value.Arg) {
	if len(rest) == 0 {
		return
	}
	st.zero = rest[0].Val
	st.bindArgs(rest[1:])
	st.bind(st.params, st.bound && rest[0].Spelled())
}

// program reads the command line of an interpreter that is no shell.
func (w *walker) program(inv *invocation, p interpreter, args []value.Arg) {
	name := w.commands[inv.idx].Name
	var code []value.Value
	var sets value.Value // variables of awk -v, as program text
	via := ""
	i := 0
	for ; i < len(args); i++ {
		text := args[i].Text
		if text == "-" || len(text) < 2 || text[0] != '-' || args[i].Certainty == value.Unknown {
			break
		}
		if text == "--" {
			i++
			break
		}
		if p.inspects(text) && w.stdin() != nil {
			defer w.inspected(inv, p.lang, name)
		}
		o := p.option(args[i:])
		switch {
		case o.module:
			if rest := args[i+1:]; len(text) > 2 && strings.HasSuffix(text, p.module[1:]) || text == p.module {
				w.pythonModule(inv, p, rest)
			} else if at := strings.IndexByte(text, p.module[1]); at > 0 {
				w.pythonModule(inv, p, append([]value.Arg{args[i].Cut(at+1, text[at+1:])}, rest...))
			}
			return
		case o.isCode:
			code = append(code, o.value.Val)
			via = name + " " + o.name
		case o.isFile:
			w.runFile(inv, p.lang, o.value, nil, false)
			return
		}
		if p.first && (o.name == "-v" || o.name == "--assign") {
			sets = slices.Concat(sets, awkVariable(o.value))
		}
		if slices.Contains(p.before, o.name) || o.name == "-M" {
			defer w.keepUnseen(inv, w.preload(inv, p, o))
		}
		if name, _, _ := strings.Cut(o.value.Text, "="); p.lang == "php" && phpFiles[name] {
			defer w.keepUnseen(inv, w.runBefore(inv, p.lang, o.value.Cut(len(name)+1, o.value.Text[len(name)+1:])))
		}
		i += o.words
	}
	args = args[min(i, len(args)):]
	switch {
	case len(code) > 0:
		v := code[0]
		for _, more := range code[1:] {
			v = slices.Concat(v, value.Known("\n"), more)
		}
		w.runInline(inv, Code{Language: p.lang, From: CodeArgument}, v, via)
	case p.first && len(args) > 0:
		for _, a := range args[1:] { // an operand may assign, too: awk '{ print > f }' f=out.txt data
			sets = slices.Concat(sets, awkVariable(a))
		}
		w.runInline(inv, Code{Language: p.lang, From: CodeArgument}, slices.Concat(sets, args[0].Val), name)
	case len(args) > 0 && args[0].Text != "-" && args[0].Text != "/dev/stdin":
		w.runFile(inv, p.lang, args[0], args[1:], false)
		if !w.commands[inv.idx].Code.Static {
			w.runModule(inv, p.lang, args[0].Text, name)
		}
		w.embedded(inv, baseName(args[0].Text), args[1:])
	case p.session:
		w.stdinProgram(inv, p.lang, name, nil)
	}
}

// inspects reports a word with the option after which standard input is code, too.
func (p interpreter) inspects(text string) bool {
	letters, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if strings.HasPrefix(text, "--") {
		return p.inspect == "i" && letters == "interactive"
	}
	if end := strings.IndexAny(letters, "ceEpmMI"); end >= 0 {
		letters = letters[:end]
	}
	return p.inspect != "" && strings.Contains(letters, p.inspect)
}

// inspected walks the code that an interpreter reads from standard input when its program has ended.
func (w *walker) inspected(inv *invocation, lang, name string) {
	before := w.commands[inv.idx].Code
	w.stdinProgram(inv, lang, name, nil)
	if code := &w.commands[inv.idx].Code; before.From != CodeNone && (code.Static || !before.Static) {
		*code = before
	}
}

// awkVariable is what NAME=VALUE sets, as program text.
func awkVariable(a value.Arg) value.Value {
	name, text, found := strings.Cut(a.Text, "=")
	if !found || a.Certainty != value.Exact || !syntax.ValidName(name) {
		return nil
	}
	return value.Known("BEGIN{" + name + "=\"" + strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), "\n", `\n`) + "\"}\n")
}

// phpFiles are settings that name a file to run before or after the program.
var phpFiles = nameSet("auto_prepend_file auto_append_file")

// preload reads the code that an interpreter runs before its program: a file, a module that this text has
// written, or with Perl the words behind -M, which are code: use NAME …;
func (w *walker) preload(inv *invocation, p interpreter, o optionUse) Code {
	via := w.commands[inv.idx].Name + " " + o.name
	text := o.value.Text
	if o.name == "-M" {
		if text, ok := o.value.Val.Exact(); ok && strings.ContainsAny(text, ";({") {
			w.runInline(inv, Code{Language: p.lang, From: CodeArgument}, value.Known("use "+text+";"), via)
		}
		module, _, _ := strings.Cut(text, "=")
		w.runModule(inv, p.lang, module, via)
		return Code{}
	}
	if w.runModule(inv, p.lang, text, via) {
		return Code{}
	}
	// A name without a path is a library of the interpreter's.
	if module := strings.IndexByte("./", (text + "x")[0]) < 0 && o.value.Certainty == value.Exact; module &&
		!(p.lang == "awk" && strings.HasSuffix(text, ".awk")) && loadsModules[p.lang] {
		return Code{}
	}
	return w.runBefore(inv, p.lang, o.value)
}

// loadsModules are the languages in which the name of a library can stand for a file to load.
var loadsModules = nameSet("node ruby lua awk")

// runBefore looks through a file that runs before the program, and returns its Code where that is not known.
func (w *walker) runBefore(inv *invocation, lang string, file value.Arg) Code {
	w.runFile(inv, lang, file, nil, false)
	code := w.commands[inv.idx].Code
	w.commands[inv.idx].Code = Code{}
	if code.Static {
		return Code{}
	}
	return code
}

// keepUnseen makes code that could not be read the code of the command. Other code does not replace it.
func (w *walker) keepUnseen(inv *invocation, code Code) {
	if code.From != CodeNone {
		w.commands[inv.idx].Code = code
	}
}

// verb handles deno eval TEXT, deno run FILE and bun run FILE.
func (w *walker) verb(inv *invocation, p interpreter) {
	args := inv.args[1:]
	if len(args) == 0 {
		w.commands[inv.idx].Code = Code{Language: p.lang, From: CodeSession}
		return
	}
	switch args[0].Text {
	case "eval":
		_, rest := getopt(args[1:], "", []string{"--ext"})
		if len(rest) > 0 {
			w.runInline(inv, Code{Language: p.lang, From: CodeArgument}, rest[0].Val, w.commands[inv.idx].Name+" eval")
		}
	case "run":
		_, rest := getopt(args[1:], "", []string{"--config"})
		if len(rest) > 0 && strings.Contains(rest[0].Text, ".") {
			w.runFile(inv, p.lang, rest[0], rest[1:], false)
		}
	default:
		if strings.HasPrefix(args[0].Text, "-") || strings.Contains(args[0].Text, ".") {
			w.program(inv, p, args)
		}
	}
}
