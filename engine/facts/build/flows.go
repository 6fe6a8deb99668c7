package build

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Names flow from a command that lists files to one that reads or changes them: find -exec, find | xargs,
// rm $(ls …), find | while read. Such a word is not known, but it stands for entries of the places that were
// listed, and the access is judged as one to these.

// maxSources bounds the places from which a name may come. A name from more of them may be any file.
const maxSources = 64

// entries adds the accesses to entries that carriers and other commands listed.
func (w *build) entries(i int, c *call.Call) {
	if c.Cmd.Name == "rmdir" {
		return // it takes only empty ones
	}
	reached := map[int]bool{}
	for _, t := range slices.Clone(c.Touches) {
		onlyReads := t.Access == term.Reads
		if t.Word.Certainty == value.Exact || t.Role.Metadata || !isEntry(t.Word) {
			continue
		}
		clear(reached)
		var sources []call.Touch
		add := func(j int) {
			if j != i && j < len(w.calls) && !reached[j] && w.calls[j] != nil {
				reached[j] = true
				sources = append(sources, w.listed(w.calls[j], onlyReads)...)
			}
		}
		for _, j := range t.Word.Inputs {
			add(j)
			for _, k := range w.inputs[j] {
				add(k)
			}
		}
		if strings.HasSuffix(t.Word.Text, "{}") {
			for _, j := range c.Carriers {
				add(j)
			}
		}
		if len(sources) > maxSources {
			sources = []call.Touch{{Word: call.Exact("/"), Recursive: true}}
		}
		for _, s := range sources {
			found := t
			found.Word, found.Dir, found.Filter, found.Recursive = s.Word, s.Dir, s.Filter, t.Recursive || s.Recursive
			found.Sieve = s.Sieve
			if t.Moved && s.Recursive { // entries go, not the place
				found.Word, found.Filter, found.Recursive = entriesOf(s.Word, s.Filter), "", false
			}
			found.Word.Raw = t.Word.Raw
			c.Touches = append(c.Touches, found)
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
func (w *build) listed(c *call.Call, onlyRead bool) []call.Touch {
	var out []call.Touch
	switch {
	case c.Search != nil:
		filter := c.Search.Filter
		if onlyRead && c.Search.Sieve.Alternatives {
			filter = ""
		}
		for _, root := range c.Search.Roots {
			out = append(out, call.Touch{Word: root, Dir: c.Dir, Recursive: true, Filter: filter, Sieve: c.Search.Sieve})
		}
	case c.Cmd.Name == "printf" || c.Cmd.Name == "echo":
		for _, word := range c.Cmd.Words[1:] {
			if word.Glob {
				out = append(out, call.Touch{Word: word, Dir: c.Dir})
			}
		}
	case c.Cmd.Name == "git" && c.Flags.Has(term.FlagListsNames) && len(c.Operands)+len(c.Options) == 0:
		tracked := &call.Sieve{Tracked: true}
		out = append(out, call.Touch{Word: call.Exact("."), Dir: c.Dir, Recursive: true, Sieve: tracked})
	case onlyRead && c.Cmd.Name == "git" && c.Has("o", "others"):
		sieve := &call.Sieve{Ignores: c.Has("exclude-standard") && !c.Has("i", "ignored")}
		out = append(out, call.Touch{Word: call.Exact("."), Dir: c.Dir, Recursive: true, Sieve: sieve})
	case c.Flags.Has(term.FlagListsNames):
		hidden := onlyRead && c.Cmd.Name != "git" && c.Has("a", "all", "A", "almost-all", "f")
		for _, t := range c.Touches {
			if t.Access != term.Reads || t.Word.Certainty != value.Exact {
				continue
			}
			if abs := disk.Absolute(t.Word.Text, t.Dir); abs != "" && !t.Word.Glob && !c.Has("d", "directory") && !t.Recursive {
				if dir, _ := w.view.Kind(path.Clean(abs)); dir && t.Word.Text != "." {
					continue // the names that ls prints lack it
				} else if dir && hidden {
					t.Recursive, t.Sieve = true, &call.Sieve{Depth: 1}
				} else if dir {
					t.Word = entriesOf(t.Word, "")
				}
			}
			out = append(out, call.Touch{Word: t.Word, Dir: t.Dir, Recursive: t.Recursive, Sieve: t.Sieve})
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
// listing goes through. A name counts in the directory in which it was printed, as a whole, and without a way
// up behind it.
func (w *build) listedName(word value.Word, i int) bool {
	return !word.Cut && !strings.Contains(call.WithoutUnknown(word.Text), "..") &&
		w.from(word, i, func(j int) bool { return w.lists(j, w.calls[i].Cmd.Dir, map[int]bool{}) })
}

// from reports whether a word comes from a search that hands its entries on, or from commands that print such
// names.
func (w *build) from(word value.Word, i int, names func(int) bool) bool {
	if i < 0 || i >= len(w.calls) || w.calls[i] == nil {
		return false
	}
	c, inputs := w.calls[i], word.Inputs
	if len(inputs) == 0 && (word.Text == "" || strings.Contains(word.Text, "{}")) && len(c.Cmd.Via) > 0 {
		if slices.ContainsFunc(c.Cmd.Via, func(via string) bool {
			return strings.HasPrefix(via, "find -") || strings.HasPrefix(via, "fd -")
		}) {
			return true
		}
		inputs = w.inputs[i]
	}
	return len(inputs) > 0 && !slices.ContainsFunc(inputs, func(j int) bool { return !names(j) })
}

// lists reports a command that prints names of entries, or lines of the output of one such command.
func (w *build) lists(i int, dir shell.Dir, seen map[int]bool) bool {
	if i >= len(w.calls) || w.calls[i] == nil || seen[i] {
		return false
	}
	seen[i] = true
	c := w.calls[i]
	reads := func(t call.Touch) bool { return t.Access&term.Reads != 0 && !patterns(c, t) }
	otherwise := func(o call.OptionUse) bool {
		name := strings.TrimLeft(cmp.Or(o.Full, o.Name), "-")
		return commands.Listed("prints-otherwise", c.Cmd.Name+":"+name)
	}
	if commands.Listed("prints-otherwise", c.Cmd.Name) || slices.ContainsFunc(c.Options, otherwise) {
		return false
	}
	if c.Flags.Has(term.FlagListsNames) {
		spells := func(word value.Word) bool { return spellsCharacters(c.Cmd.Name, word.Text) }
		unclear := func(t call.Touch) bool { return reads(t) && t.Word.Certainty != value.Exact }
		return c.Dir == dir && !strings.Contains(c.Cmd.Words[0].Text, "/") &&
			!slices.ContainsFunc(c.Cmd.Words, spells) && !slices.ContainsFunc(c.Touches, unclear)
	}
	return commands.Listed("passes-on", c.Cmd.Name) && len(w.inputs[i]) > 0 &&
		!c.Flags.Has(term.FlagRecursive) &&
		!slices.ContainsFunc(c.Touches, reads) && !slices.ContainsFunc(c.Cmd.Redirects, replaces) &&
		!slices.ContainsFunc(w.inputs[i], func(j int) bool { return j != i && !w.lists(j, dir, seen) })
}

// patterns reports the touch of a file of patterns: grep does not print its lines.
func patterns(c *call.Call, t call.Touch) bool {
	return slices.ContainsFunc(c.Options, func(o call.OptionUse) bool {
		return o.Given && (o.Name == "f" || o.Name == "file") && o.Value.Text == t.Word.Text
	})
}

// replaces reports a redirect by which a command reads other text than the output of another: a file that is
// named by that, or text around it.
func replaces(r shell.Redirect) bool {
	switch r.Mode {
	case shell.RedirectRead, shell.RedirectReadWrite:
		return r.FD == 0 && r.Target.Certainty != value.Exact
	case shell.RedirectHere:
		return r.Body.Cut || r.Body.Prefix != "" || strings.Trim(call.WithoutUnknown(r.Body.Text), "\n") != ""
	default:
		return false
	}
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
	returnsWords := c.Cmd.Name == "dirname" || c.Cmd.Name == "realpath"
	return (c.Flags.Has(term.FlagListsNames) || slices.Contains([]string{"which", "pwd", "dirname", "realpath", "tree"}, c.Cmd.Name)) &&
		!slices.ContainsFunc(c.Cmd.Words, func(word value.Word) bool {
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
			n := call.Parameter(text[i+1:])
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

// code describes the program that a command interprets, and its origin.
func (w *build) code(cmd *shell.Command, c *call.Call, inputs []int) facts.Code {
	k := cmd.Code
	code := facts.Code{Language: k.Language, From: string(k.From), Resolved: k.Static && !k.Truncated}
	if k.From == shell.CodeNone || k.From == shell.CodeSession && call.Informs(cmd, nil) || c.ChecksOnly() {
		return facts.Code{}
	}
	c.Effects |= term.Execute
	code.Origin = w.origin(cmd, c, inputs)
	if code.Origin == "network" && k.From == shell.CodeFile && !call.IsProcessSubstitution(k.File) {
		c.Flags.Add(term.FlagRunsDownloaded)
	}
	return code
}

// origin names the least trusted source of the program: the network, a decoder, this very
// text, something not known, a file, the text.
func (w *build) origin(cmd *shell.Command, c *call.Call, inputs []int) string {
	if cmd.Code.From == shell.CodeSession {
		return ""
	}
	sources := inputs
	switch cmd.Code.From {
	case shell.CodeFile:
		sources = w.reaching(cmd.Code.File)
	case shell.CodeArgument:
		// The program's input is its data. Its text is among its words.
		sources = nil
		for _, word := range cmd.Words {
			sources = append(sources, w.reaching(word)...)
		}
	}
	if w.fromNetwork(sources) {
		return "network"
	}
	script := ""
	if cmd.Code.From == shell.CodeFile && !call.IsProcessSubstitution(cmd.Code.File) {
		script = w.realOf(cmd.Code.File, cmd.Dir)
	}
	switch {
	case w.fetchedAt(script):
		return "network"
	case w.any(sources, term.FlagDecodes):
		return "decoded"
	case w.fromDownload(sources) || !cmd.Code.Static && w.opensFetched(cmd):
		return "downloaded"
	case w.written[script]:
		return "generated"
	case cmd.Code.Static && cmd.Code.From != shell.CodeFile:
		return "text"
	case cmd.Code.From == shell.CodeFile && !call.IsProcessSubstitution(cmd.Code.File):
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
		return i < len(w.calls) && (w.calls[i].Effects&term.Network != 0 || w.calls[i].Flags.Has(term.FlagSocket))
	})
}

// fromDownload reports whether one of the commands reads a file that came from the network.
func (w *build) fromDownload(inputs []int) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		if i >= len(w.calls) {
			return false
		}
		return w.opensFetched(w.calls[i].Cmd) || slices.ContainsFunc(w.calls[i].Touches, func(t call.Touch) bool {
			return t.Access&term.Reads != 0 && w.isFetched(t.Word, t.Dir)
		})
	})
}

// opensFetched reports a command with a redirect from a file that came from the network.
func (w *build) opensFetched(cmd *shell.Command) bool {
	return slices.ContainsFunc(cmd.Redirects, func(r shell.Redirect) bool {
		return r.Mode == shell.RedirectRead && w.isFetched(r.Target, cmd.OpenedIn(r))
	})
}

// isFetched reports a word that names a file which came from the network, in this text or in the session.
func (w *build) isFetched(word value.Word, dir shell.Dir) bool {
	return w.fetchedAt(w.realOf(word, dir))
}

func (w *build) fetchedAt(real string) bool {
	return w.fetched[real] || w.history != nil && real != "" && w.history.Downloaded(real)
}

// realOf returns the real path that a word names, "" where it is not known.
func (w *build) realOf(word value.Word, dir shell.Dir) string {
	abs := disk.Absolute(word.Text, dir)
	if abs == "" || word.Certainty != value.Exact {
		return ""
	}
	real, _ := w.view.Real(abs, false)
	return real
}

func (w *build) any(inputs []int, f term.Flag) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		return i < len(w.calls) && w.calls[i].Flags.Has(f)
	})
}

// readsFiles reports whether all that flows in is the content of files that are known.
func (w *build) readsFiles(inputs []int) bool {
	found := false
	for _, i := range inputs {
		if i >= len(w.calls) {
			return false
		}
		for _, t := range w.calls[i].Touches {
			found = found || t.Access&term.Reads != 0 && t.Word.Certainty == value.Exact
		}
	}
	return found
}

// readsFrom reports whether the standard input of a command is a file.
func readsFrom(cmd *shell.Command) bool {
	return slices.ContainsFunc(cmd.Redirects, func(r shell.Redirect) bool { return r.Mode == shell.RedirectRead && r.FD == 0 })
}

// downloads marks a command that executes, in any way, a file that came from the network, or installs it.
func (w *build) downloads(i int, c *call.Call) {
	installs := c.Flags.Has(term.FlagPackageInstall)
	runs := func(p *facts.Path) bool {
		return p.Access == "execute" || installs && p.Access == "read" && path.Ext(p.Path) != ""
	}
	if w.ofDownload(i, runs) {
		c.Flags.Add(term.FlagRunsDownloaded)
	}
}

// decoded marks downloads that a program reads in a way that runs the code in them: a file that it opens, its
// input, or else its own download.
func (w *build) decoded() {
	reading := func(p *facts.Path) bool { return p.Access == "read" }
	for i := range w.calls {
		if !slices.Contains(w.calls[i].Cmd.Marks, shell.MarkDecodes) {
			continue
		}
		var reads, fetches []int
		for j, c := range w.calls {
			switch {
			case !slices.Contains(c.Carriers, i):
			case c.Flags.Has(term.FlagDownloads):
				fetches = append(fetches, j)
			case c.Effects&term.Read != 0:
				reads = append(reads, j)
			}
		}
		if len(reads) == 0 {
			reads = fetches
		}
		if w.fromNetwork(w.inputs[i]) || w.fromDownload(w.inputs[i]) {
			reads = append(reads, i)
		}
		for _, j := range reads {
			c := w.calls[j]
			if j == i || c.Flags.Has(term.FlagDownloads) || w.ofDownload(j, reading) {
				c.Flags.Add(term.FlagRunsDownloaded)
				w.in.Commands[j].Flags = c.Flags.List(term.FlagNames)
			}
		}
	}
}

// ofDownload reports a command with an access to a file that came from the network.
func (w *build) ofDownload(i int, is func(*facts.Path) bool) bool {
	return slices.ContainsFunc(w.in.Commands[i].Paths, func(p int) bool {
		path := &w.in.Paths[p]
		return is(path) && slices.Contains(path.Labels, term.LabelNames[term.LabelDownloaded])
	})
}

// runsFed marks an interpreter whose program comes from the network without having been a file: curl URL |
// Rscript -.
func (w *build) runsFed(i int, c *call.Call) {
	cmd := c.Cmd
	if !commands.Listed("fed-programs", cmd.Name) || len(cmd.Words) == 0 {
		return
	}
	plain := 0
	for _, word := range cmd.Words[1:] {
		switch {
		case word.Text == "-" || isStdin(word.Text):
			if w.fromNetwork(w.inputs[i]) {
				c.Flags.Add(term.FlagRunsDownloaded)
			}
		case call.IsProcessSubstitution(word):
			if w.fromNetwork(w.reaching(word)) {
				c.Flags.Add(term.FlagRunsDownloaded)
			}
		case strings.Contains(word.Text, "://") && slices.Contains([]string{"deno", "bun", "groovy", "jshell", "swipl", "kotlin"}, cmd.Name):
			c.Flags.Add(term.FlagRunsDownloaded)
		}
		if !call.IsOption(word) {
			plain++
		}
	}
	if len(c.Operands) < 2 && commands.Listed("reads-statements", cmd.Name) && c.Fed() &&
		!c.Has("e", "execute", "c", "command") && (w.any(w.inputs[i], term.FlagDownloads) ||
		w.any(w.inputs[i], term.FlagSocket) || w.opensFetched(cmd) || w.fromDownload(w.inputs[i])) {
		c.Flags.Add(term.FlagRunsDownloaded)
	}
	if plain == 0 && commands.Listed("reads-alone", cmd.Name) && !c.Has("e", "eval", "c", "version") && c.Fed() && w.fromNetwork(w.inputs[i]) {
		c.Flags.Add(term.FlagRunsDownloaded)
	}
}

// isStdin reports names of the standard input and of other descriptors that a shell has opened.
func isStdin(text string) bool {
	return text == "/dev/stdin" || strings.HasPrefix(text, "/dev/fd/") || strings.HasPrefix(text, "/proc/self/fd/")
}
