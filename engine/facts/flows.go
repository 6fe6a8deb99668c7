package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Names flow from a command that lists files to one that reads or changes them: find -exec, find | xargs,
// rm $(ls …), find | while read. Such a word is not known, but it stands for entries of the places that were
// listed, and the access is judged as one to these.

// maxSources bounds the places from which a name may come. A name from more of them may be any file.
const maxSources = 64

// entries adds the accesses to entries that carriers and other commands listed.
func (w *build) entries(i int, c *call) {
	if c.cmd.Name == "rmdir" {
		return // it takes only what is empty
	}
	reached := map[int]bool{}
	for _, t := range slices.Clone(c.touches) {
		onlyReads := t.access == reads
		if t.word.Certainty == value.Exact || t.role.metadata || !isEntry(t.word) {
			continue
		}
		clear(reached)
		var sources []touch
		add := func(j int) {
			if j != i && j < len(w.calls) && !reached[j] && w.calls[j] != nil {
				reached[j] = true
				sources = append(sources, w.listed(w.calls[j], onlyReads)...)
			}
		}
		for _, j := range t.word.Inputs {
			add(j)
			for _, k := range w.inputs[j] {
				add(k)
			}
		}
		if strings.HasSuffix(t.word.Text, "{}") {
			for _, j := range c.carriers {
				add(j)
			}
		}
		if len(sources) > maxSources {
			sources = []touch{{word: exact("/"), recursive: true}}
		}
		for _, s := range sources {
			found := t
			found.word, found.dir, found.filter, found.recursive = s.word, s.dir, s.filter, t.recursive || s.recursive
			found.sieve = s.sieve
			if t.moved && s.recursive { // entries go, not the place
				found.word, found.filter, found.recursive = entriesOf(s.word, s.filter), "", false
			}
			found.word.Raw = t.word.Raw
			c.touches = append(c.touches, found)
		}
	}
}

// isEntry reports a word that may be a whole name from a listing: nothing is known in front of the unknown
// part, or only the place that was listed.
func isEntry(w value.Word) bool {
	return w.Prefix == "" || strings.HasSuffix(w.Text, "/{}") && len(w.Prefix) == len(w.Text)-len("{}")
}

// entriesOf returns a word for the entries of a place that have a name, "" for one that is not known.
func entriesOf(place value.Word, name string) value.Word {
	text := strings.TrimSuffix(place.Text, "/") + "/"
	if name == "" {
		return value.Word{Text: text + "{}", Prefix: text, Certainty: min(place.Certainty, value.Partial)}
	}
	return value.Word{Text: text + name, Prefix: text + name, Certainty: place.Certainty, Glob: true}
}

// listed returns the places whose entries a command prints, or hands to the command that it carries.
func (w *build) listed(c *call, onlyRead bool) []touch {
	var out []touch
	switch {
	case c.search != nil:
		filter := c.search.filter
		if onlyRead && c.search.sieve.alternatives {
			filter = ""
		}
		for _, root := range c.search.roots {
			out = append(out, touch{word: root, dir: c.dir, recursive: true, filter: filter, sieve: c.search.sieve})
		}
	case c.cmd.Name == "printf" || c.cmd.Name == "echo":
		for _, word := range c.cmd.Words[1:] {
			if word.Glob {
				out = append(out, touch{word: word, dir: c.dir})
			}
		}
	case c.cmd.Name == "git" && c.flags.has(flagListsNames) && len(c.operands) == 0 && len(c.options) == 0:
		out = append(out, touch{word: exact("."), dir: c.dir, recursive: true, sieve: &sieve{tracked: true}})
	case onlyRead && c.cmd.Name == "git" && c.has("o", "others"):
		sieve := &sieve{ignores: c.has("exclude-standard") && !c.has("i", "ignored")}
		out = append(out, touch{word: exact("."), dir: c.dir, recursive: true, sieve: sieve})
	case c.flags.has(flagListsNames):
		hidden := onlyRead && c.cmd.Name != "git" && c.has("a", "all", "A", "almost-all", "f")
		for _, t := range c.touches {
			if t.access != reads || t.word.Certainty != value.Exact {
				continue
			}
			if abs := absolute(t.word.Text, t.dir); abs != "" && !t.word.Glob && !c.has("d", "directory") && !t.recursive {
				if dir, _ := w.view.kind(path.Clean(abs)); dir && t.word.Text != "." {
					continue // the names that ls prints lack it
				} else if dir && hidden {
					t.recursive, t.sieve = true, &sieve{depth: 1}
				} else if dir {
					t.word = entriesOf(t.word, "")
				}
			}
			out = append(out, touch{word: t.word, dir: t.dir, recursive: t.recursive, sieve: t.sieve})
		}
	}
	return out
}

// plainName reports whether a word that is not known is a name in a directory that is not, a parameter of a
// script, or comes from names that are there and from nothing else: an entry that find hands on, or the
// output of commands that print such names.
func (w *build) plainName(word value.Word, i int) bool {
	return word.Certainty == value.Exact || strings.HasPrefix(word.Raw, "-") || len(word.Inputs) == 0 && positional(word.Text) ||
		w.from(word, i, w.printsNames)
}

// listedName reports whether a word that is not known is the name of an entry of a place that a search or a
// listing goes through.
func (w *build) listedName(word value.Word, i int) bool {
	return w.from(word, i, func(j int) bool { return w.lists(j, map[int]bool{}) })
}

// from reports whether a word comes from a search that hands its entries on, or from commands that print such
// names.
func (w *build) from(word value.Word, i int, names func(int) bool) bool {
	if i < 0 || i >= len(w.calls) || w.calls[i] == nil {
		return false
	}
	c, inputs := w.calls[i], word.Inputs
	if len(inputs) == 0 && (word.Text == "" || strings.Contains(word.Text, "{}")) && len(c.cmd.Via) > 0 {
		if slices.ContainsFunc(c.cmd.Via, func(via string) bool {
			return strings.HasPrefix(via, "find -") || strings.HasPrefix(via, "fd -")
		}) {
			return true
		}
		inputs = w.inputs[i]
	}
	return len(inputs) > 0 && !slices.ContainsFunc(inputs, func(j int) bool { return !names(j) })
}

// passesOn are programs that print lines of their input, or read them, and add nothing.
var passesOn = []string{"egrep", "fgrep", "grep", "head", "mapfile", "read", "readarray", "sort", "tail", "uniq", "xargs"}

// lists reports a command that prints names of entries, or lines of their output.
func (w *build) lists(i int, seen map[int]bool) bool {
	if i >= len(w.calls) || w.calls[i] == nil || seen[i] {
		return false
	}
	seen[i] = true
	c := w.calls[i]
	if c.flags.has(flagListsNames) {
		return !slices.ContainsFunc(c.cmd.Words, func(word value.Word) bool { return spellsCharacters(c.cmd.Name, word.Text) })
	}
	return slices.Contains(passesOn, c.cmd.Name) && len(w.inputs[i]) > 0 &&
		!slices.ContainsFunc(w.inputs[i], func(j int) bool { return j != i && !w.lists(j, seen) })
}

// printsNames reports a command whose output is names of files that are there, or parts of such names.
func (w *build) printsNames(i int) bool {
	if w.plain(i, map[int]bool{}) {
		return true
	}
	if i >= len(w.calls) || w.calls[i] == nil {
		return false
	}
	c := w.calls[i]
	returnsWords := c.cmd.Name == "dirname" || c.cmd.Name == "realpath"
	return (c.flags.has(flagListsNames) || slices.Contains([]string{"which", "pwd", "dirname", "realpath", "tree"}, c.cmd.Name)) &&
		!slices.ContainsFunc(c.cmd.Words, func(word value.Word) bool {
			return returnsWords && word.Certainty == value.Exact && leaves(word.Text) ||
				word.Certainty != value.Exact && slices.ContainsFunc(word.Inputs, func(j int) bool { return !w.printsNames(j) })
		})
}

// leaves reports a path that need not lie below the directory from which it is taken.
func leaves(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, "..")
}

// positional reports a word whose unknown parts are parameters that the caller of a script or a function
// gives.
func positional(text string) bool {
	found := false
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			return false
		}
		if text[i] == '$' && i+1 < len(text) {
			n := parameter(text[i+1:])
			name := strings.TrimLeft(text[i+1:i+1+n], "{")
			if name == "" || !strings.Contains("0123456789@*#", name[:1]) {
				return false
			}
			i, found = i+n, true
		}
	}
	return found
}

// closure returns for each command the commands whose output reaches it, directly or through
// others, sorted.
func closure(cmds []shell.Command) [][]int {
	out := make([][]int, len(cmds))
	seen := make([]int, len(cmds)) // the command for which an index was last seen, plus one
	var stack []int
	for i := range cmds {
		reached := []int{}
		stack = append(stack[:0], cmds[i].Inputs...)
		for len(stack) > 0 {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if j < 0 || j >= len(cmds) || seen[j] == i+1 || j == i {
				continue
			}
			seen[j] = i + 1
			reached = append(reached, j)
			stack = append(stack, cmds[j].Inputs...)
		}
		slices.Sort(reached)
		out[i] = reached
	}
	return out
}

// code says what program a command interprets and where that comes from.
func (w *build) code(cmd *shell.Command, c *call, inputs []int) Code {
	k := cmd.Code
	code := Code{Language: k.Language, From: string(k.From), Resolved: k.Static && !k.Truncated}
	if k.From == shell.CodeNone || k.From == shell.CodeSession && informs(cmd, nil) || c.checksOnly() {
		return Code{}
	}
	c.effects |= doesExecute
	code.Origin = w.origin(cmd, c, inputs)
	if code.Origin == "network" && k.From == shell.CodeFile && !isProcessSubstitution(k.File) {
		c.flags.add(flagRunsDownloaded)
	}
	return code
}

// origin names the least trusted source of the program: the network, a decoder, this very
// text, something not known, a file, the text.
func (w *build) origin(cmd *shell.Command, c *call, inputs []int) string {
	if cmd.Code.From == shell.CodeSession {
		return ""
	}
	sources := inputs
	switch cmd.Code.From {
	case shell.CodeFile:
		sources = w.reaching(cmd.Code.File)
	case shell.CodeArgument:
		// What flows into the program is its data. Its text is among its words.
		sources = nil
		for _, word := range cmd.Words {
			sources = append(sources, w.reaching(word)...)
		}
	}
	if w.fromNetwork(sources) {
		return "network"
	}
	written := false
	if cmd.Code.From == shell.CodeFile && cmd.Code.File.Certainty == value.Exact && !isProcessSubstitution(cmd.Code.File) {
		if abs := absolute(cmd.Code.File.Text, cmd.Dir); abs != "" {
			real, _ := w.view.real(abs, false)
			if w.fetched[real] || w.history != nil && w.history.Downloaded(real) {
				return "network"
			}
			written = w.written[real]
		}
	}
	switch {
	case w.any(sources, flagDecodes):
		return "decoded"
	case written:
		return "generated"
	case cmd.Code.Static && cmd.Code.From != shell.CodeFile:
		return "text"
	case cmd.Code.From == shell.CodeFile && !isProcessSubstitution(cmd.Code.File):
		if cmd.Code.File.Certainty == value.Exact {
			return "file"
		}
		return "dynamic"
	case w.readsFiles(sources) || cmd.Code.From == shell.CodeStdin && len(sources) == 0 && readsFrom(cmd):
		return "file"
	default:
		return "dynamic"
	}
}

// reaching returns the commands whose output is part of a word, with those behind them.
func (w *build) reaching(word value.Word) []int {
	out := slices.Clone(word.Inputs)
	for _, i := range word.Inputs {
		if i >= 0 && i < len(w.inputs) {
			out = append(out, w.inputs[i]...)
		}
	}
	return out
}

// fromNetwork reports whether one of the commands reaches over the network.
func (w *build) fromNetwork(inputs []int) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		return i < len(w.calls) && w.calls[i].effects&doesNetwork != 0
	})
}

func (w *build) any(inputs []int, f flag) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		return i < len(w.calls) && w.calls[i].flags.has(f)
	})
}

// readsFiles reports whether all that flows in is the content of files that are known.
func (w *build) readsFiles(inputs []int) bool {
	found := false
	for _, i := range inputs {
		if i >= len(w.calls) {
			return false
		}
		for _, t := range w.calls[i].touches {
			found = found || t.access&reads != 0 && t.word.Certainty == value.Exact
		}
	}
	return found
}

// readsFrom reports whether the standard input of a command is a file.
func readsFrom(cmd *shell.Command) bool {
	return slices.ContainsFunc(cmd.Redirects, func(r shell.Redirect) bool { return r.Mode == shell.RedirectRead && r.FD == 0 })
}

// downloads marks a command that executes, by whatever way, a file that came from the network.
func (w *build) downloads(i int, c *call) {
	for _, p := range w.in.Commands[i].Paths {
		path := &w.in.Paths[p]
		if path.Access == "execute" && slices.Contains(path.Labels, labelNames[labelDownloaded]) {
			c.flags.add(flagRunsDownloaded)
		}
	}
}

// source is where the texts that a command reads come from: its standard input, files that the
// same text has written, and files that are there.
type source struct {
	w     *build
	cmds  []shell.Command
	at    int
	depth int // of what flows from command to command
}

// text is the content of what a word names, as far as it is known: "-" is the standard input.
func (s source) text(word value.Word) string {
	if s.w == nil {
		return ""
	}
	cmd := &s.cmds[s.at]
	switch {
	case word.Text == "-" || word.Text == "/dev/stdin" || word.Text == "/dev/fd/0":
		return s.input(cmd)
	case isProcessSubstitution(word) || strings.HasPrefix(word.Text, "/dev/fd/") && len(word.Inputs) > 0:
		return s.outputs(word.Inputs)
	case word.Certainty != value.Exact:
		return ""
	}
	file := absolute(word.Text, cmd.Dir)
	if file == "" {
		return ""
	}
	file = clean(file)
	if text, written := s.written(file); written {
		return text
	}
	text, whole, err := s.w.fs.ReadFile(file, scriptBytes)
	if err != nil || !whole {
		return ""
	}
	return string(text)
}

// input is what flows into a command.
func (s source) input(cmd *shell.Command) string {
	for _, r := range slices.Backward(cmd.Redirects) {
		switch {
		case r.Mode == shell.RedirectHere:
			return r.Body.Text
		case r.Mode == shell.RedirectRead && r.FD == 0 && r.Target.Text != "-" && r.Target.Text != "/dev/stdin":
			return s.text(r.Target)
		}
	}
	if cmd.Pipeline.Index == 0 {
		return ""
	}
	return s.outputs(slices.DeleteFunc(slices.Clone(cmd.Inputs), func(j int) bool {
		return j < 0 || j >= len(s.cmds) || s.cmds[j].Pipeline.ID != cmd.Pipeline.ID || s.cmds[j].Pipeline.Index != cmd.Pipeline.Index-1
	}))
}

// written is what the commands before this one have redirected into a file.
func (s source) written(file string) (text string, found bool) {
	for i := range s.cmds[:s.at] {
		for _, r := range s.cmds[i].Redirects {
			if r.Mode != shell.RedirectWrite && r.Mode != shell.RedirectAppend || r.Target.Certainty != value.Exact {
				continue
			}
			if to := absolute(r.Target.Text, s.cmds[i].Dir); to == "" || clean(to) != file {
				continue
			}
			text += s.outputs([]int{i})
			found = true
		}
	}
	return text, found
}

// outputs is what the commands print, of those that print their words or what flows in.
func (s source) outputs(list []int) string {
	var b strings.Builder
	for _, i := range list {
		if i < 0 || i >= len(s.cmds) || s.depth > 4 {
			continue
		}
		cmd := &s.cmds[i]
		from := source{s.w, s.cmds, i, s.depth + 1}
		words := texts(cmd.Words)
		switch cmd.Name {
		case "echo", "print":
			b.WriteString(strings.ReplaceAll(strings.Join(words[1:], " "), `\n`, "\n"))
		case "printf":
			b.WriteString(printed(words[1:]))
		case "cat", "tee":
			b.WriteString(from.input(cmd))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// printed is what printf makes of a format and its arguments; a conversion other than %s counts as one.
func printed(words []string) string {
	if len(words) == 0 {
		return ""
	}
	format, rest := strings.ReplaceAll(words[0], `\n`, "\n"), words[1:]
	var b strings.Builder
	for {
		before := len(rest)
		for i, part := range strings.Split(format, "%") {
			if i == 0 {
				b.WriteString(part)
				continue
			}
			end := strings.IndexAny(part, "sbqdiuxXcefg")
			if end < 0 {
				b.WriteString(part)
				continue
			}
			if len(rest) > 0 {
				b.WriteString(rest[0])
				rest = rest[1:]
			}
			b.WriteString(part[end+1:])
		}
		if len(rest) == 0 || len(rest) == before {
			return b.String()
		}
	}
}

// fedPrograms take a program from a file that may be the standard input, or from a URL, and run it; the shell
// walk does not know their language.
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

// runsFed marks an interpreter whose program comes from the network without having been a file: curl URL |
// Rscript -.
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

// checks are the options with which an interpreter only checks the grammar of a program; with further options
// it may do more.
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
