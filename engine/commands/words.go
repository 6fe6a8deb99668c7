package commands

import (
	_ "embed" // for the lists
	"slices"
	"strings"
	"sync"
)

//go:embed words.yaml
var wordsFile string

// Phrase is words that stand behind one another in a command line, and the effects of the command then.
type Phrase struct {
	Words []string
	Does  string
}

// Phrases returns the lists of phrases by their names. Of a list, the first phrase that fits counts.
var Phrases = sync.OnceValue(func() map[string][]Phrase {
	out := map[string][]Phrase{}
	lists, _ := split(wordsFile, "") // a test reads the file
	for _, list := range lists {
		groups, _ := list.node("")
		for _, g := range groups.fields {
			for _, item := range g.node.list {
				for words := range strings.SplitSeq(item.scalar, ", ") {
					out[list.key] = append(out[list.key], Phrase{strings.Fields(words), g.key})
				}
			}
		}
	}
	return out
})

// Fits reports whether the words of p stand in a command line.
func (p Phrase) Fits(line []string) bool {
	if first := p.Words[0]; first == "SERVICE" || first[0] == '^' {
		return len(line) >= len(p.Words) && p.fits(line)
	}
	for at := range line {
		if len(line)-at >= len(p.Words) && p.fits(line[at:]) {
			return true
		}
	}
	return false
}

func (p Phrase) fits(line []string) bool {
	return !slices.ContainsFunc(p.Words, func(w string) bool {
		word := strings.ToLower(strings.ReplaceAll(line[0], "_", "-"))
		line = line[1:]
		w = strings.TrimPrefix(w, "^")
		text, open := strings.CutSuffix(w, "*")
		text, ends := strings.CutPrefix(text, "*")
		found := open && (ends && strings.Contains(word, text) || strings.HasPrefix(word, text)) || ends && !open &&
			strings.HasSuffix(word, text)
		return w != "SERVICE" && word != w && !found
	})
}

// FindLists reports that the words of a find print names of the files that it finds, and nothing else.
func FindLists(words []string) bool {
	for i, word := range words {
		name, option := strings.CutPrefix(word, "-")
		switch {
		case option && Listed("prints-otherwise", "find:"+name):
			return false
		case word == "-printf" && (i+1 == len(words) || !slices.Contains(nameFormats, words[i+1])):
			return false
		}
	}
	return true
}

// nameFormats are formats of find -printf that print the same as -print and -print0.
var nameFormats = []string{`%p\n`, `%p\0`}
