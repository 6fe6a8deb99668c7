package inline

import (
	"strings"
	"sync"
)

// The grammars are built when first used: a process that judges one command needs at most one.
var python = sync.OnceValue(pythonGrammar)

// language finds the grammar for the name of a language or of its interpreter, with or
// without a path and a version; nil when there is none.
func language(name string) *grammar {
	name = strings.ToLower(name)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	switch strings.TrimRight(name, "0123456789.-") {
	case "python", "pypy", "ipython", "pythonw", "micropython":
		return python()
	default:
		return nil
	}
}
