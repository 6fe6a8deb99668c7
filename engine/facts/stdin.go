package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// fedPrograms take a program from a file that may be the standard input, or from a URL, and run it; the shell walk does
// not know their language.
var fedPrograms = strings.Fields(`Rscript R deno bun julia tsx ts-node groovy groovysh jshell scala kotlin elixir iex erl escript ghci
	runghc runhaskell ocaml sbcl clisp ecl racket guile gosh chicken csi gst octave matlab scilab maxima gap sage nu xonsh elvish murex janet bb clojure
	clj hy gnuplot gs ghostscript qjs quickjs gjs jsc mujs swipl gforth raku perl6 crystal nim nimble dart swift v just make gmake bmake gdb lldb cmake
	ansible-playbook nix-instantiate nix-build nix-shell bpftrace expect tclsh wish pwsh powershell m4 dc ed ex vim nvim emacs psql sqlite3 mysql mariadb
	mongosh duckdb terraform fennel haxe wasmtime wasmer java luajit wolframscript pike rexx snobol4 yosys ngspice tmux
	screen crontab at batch irb pry ipython ammonite amm osascript`)

// readsAlone are those of them that take the standard input without being told so.
var readsAlone = strings.Fields(`R julia jshell scala groovysh iex erl ghci ocaml sbcl clisp ecl racket guile gosh csi gst octave matlab scilab maxima gap sage nu
	xonsh elvish murex janet bb clojure clj hy gnuplot gs ghostscript qjs quickjs gjs jsc mujs swipl gforth raku perl6 expect tclsh wish pwsh powershell
	m4 dc ed ex tsx ts-node deno wolframscript irb pry amm osascript`)

// runsFed marks an interpreter whose program comes from the network without having been a file: curl URL | Rscript -.
func (w *build) runsFed(i int, c *call) {
	cmd := c.cmd
	if !slices.Contains(fedPrograms, cmd.Name) || len(cmd.Words) == 0 {
		return
	}
	plain := 0
	for _, word := range cmd.Words[1:] {
		switch {
		case word.Text == "-" || isStdin(word.Text):
			if w.fromNetwork(w.inputs[i]) {
				c.flags.add(flagRunsDownloaded)
			}
		case isProcessSubstitution(word):
			if w.fromNetwork(w.reaching(word)) {
				c.flags.add(flagRunsDownloaded)
			}
		case strings.Contains(word.Text, "://") && slices.Contains([]string{"deno", "bun", "groovy", "jshell", "swipl", "kotlin"}, cmd.Name):
			c.flags.add(flagRunsDownloaded)
		}
		if !isOption(word) {
			plain++
		}
	}
	if plain == 0 && slices.Contains(readsAlone, cmd.Name) && !c.has("e", "eval", "c", "version") && c.fed() && w.fromNetwork(w.inputs[i]) {
		c.flags.add(flagRunsDownloaded)
	}
}

// isStdin reports names of the standard input and of other descriptors that a shell has opened.
func isStdin(text string) bool {
	return text == "/dev/stdin" || strings.HasPrefix(text, "/dev/fd/") || strings.HasPrefix(text, "/proc/self/fd/")
}

// checks are the options with which an interpreter only checks the grammar of a program; with further options it may do more.
var checks = map[string]string{
	"bash": "n", "sh": "n", "dash": "n", "zsh": "n", "ksh": "n", "mksh": "n", "ash": "n", "node": "check c", "php": "l", "ruby": "c",
}

// checksOnly reports that nothing of the program runs: bash -n FILE. "+n" takes it back.
func (c *call) checksOnly() bool {
	list := checks[c.cmd.Name]
	if list == "" || len(c.options) == 0 || slices.ContainsFunc(c.cmd.Words, func(w value.Word) bool { return strings.HasPrefix(w.Text, "+") }) {
		return false
	}
	return !slices.ContainsFunc(c.options, func(o optionUse) bool { return !listedWord(list, o.name) })
}
