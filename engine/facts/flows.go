package facts

import (
	"path"
	"slices"
	"strings"

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

// isEntry reports a word that may be a whole name from a listing: nothing is known in front of the unknown part, or
// only the place that was listed.
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

// plainName reports whether a word that is not known is a name in a directory that is not, a parameter of a script,
// or comes from names that are there and from nothing else: an entry that find hands on, or the output of commands
// that print such names.
func (w *build) plainName(word value.Word, i int) bool {
	return word.Certainty == value.Exact || strings.HasPrefix(word.Raw, "-") || len(word.Inputs) == 0 && positional(word.Text) ||
		w.from(word, i, w.printsNames)
}

// listedName reports whether a word that is not known is the name of an entry of a place that a search or a listing
// goes through.
func (w *build) listedName(word value.Word, i int) bool {
	return w.from(word, i, func(j int) bool { return w.lists(j, map[int]bool{}) })
}

// from reports whether a word comes from a search that hands its entries on, or from commands that print such names.
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
	return (c.flags.has(flagListsNames) || slices.Contains([]string{"which", "pwd", "dirname", "realpath", "tree"}, c.cmd.Name)) &&
		!slices.ContainsFunc(c.cmd.Words, func(word value.Word) bool {
			return word.Certainty != value.Exact && slices.ContainsFunc(word.Inputs, func(j int) bool { return !w.printsNames(j) })
		})
}

// positional reports a word whose unknown parts are parameters that the caller of a script or a function gives.
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
