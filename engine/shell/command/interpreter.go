package command

import "strings"

// Interpreter describes the command line of a program that runs a language.
type Interpreter struct {
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
	posixShell = Interpreter{lang: "sh", shell: true}
	python     = Interpreter{lang: "python", code: []string{"-c"}, short: "WX", module: "-m", session: true, inspect: "i"}
	awk        = Interpreter{lang: "awk", code: []string{"-e", "--source"}, short: "Fvolb", long: []string{"--assign", "--field-separator", "--load"}, before: []string{"-i", "--include"}, file: []string{"-f", "--file"}, first: true}
	node       = Interpreter{lang: "node", code: []string{"-e", "--eval", "-p", "--print", "-pe"}, short: "C", long: []string{"--conditions", "--env-file"},
		before: []string{"-r", "--require", "--import", "--loader", "--experimental-loader"}, session: true, inspect: "i"}
	lua = Interpreter{lang: "lua", code: []string{"-e"}, before: []string{"-l"}, session: true, inspect: "i"}
)

// interpreters lists them by name, without version numbers.
var interpreters = map[string]Interpreter{
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

// InterpreterOf finds the interpreter that a name stands for: python3.12 and perl5.36 too.
func InterpreterOf(name string) (Interpreter, bool) {
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
