package inline

import (
	"strings"
	"sync"
)

// The grammars are built when first used: a process that judges one command needs at most one.
var (
	python = sync.OnceValue(pythonGrammar)
	awk    = sync.OnceValue(awkGrammar)
)

// language finds the grammar for the name of a language or of its interpreter, with or
// without a path and a version, or the table of a plain one; nil when there is none.
func language(name string) (*grammar, *lexicon) {
	name = strings.ToLower(name)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
	switch name {
	case "python", "pypy", "ipython", "pythonw", "micropython":
		return python(), nil
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return awk(), nil
	default:
		return nil, plainOf(name)
	}
}
