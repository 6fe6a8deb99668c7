package inline

import (
	"strings"
	"sync"
)

// The grammars are built when first used: a process that judges one command needs at most one.
var (
	python     = sync.OnceValue(pythonGrammar)
	node       = sync.OnceValue(nodeGrammar)
	perl       = sync.OnceValue(perlGrammar)
	ruby       = sync.OnceValue(rubyGrammar)
	php        = sync.OnceValue(phpGrammar)
	lua        = sync.OnceValue(luaGrammar)
	awk        = sync.OnceValue(awkGrammar)
	rLanguage  = sync.OnceValue(rGrammar)
	native     = sync.OnceValue(nativeGrammar)
	tcl        = sync.OnceValue(tclGrammar)
	apple      = sync.OnceValue(appleGrammar)
	powershell = sync.OnceValue(powershellGrammar)
)

// language finds the grammar for the name of a language or of its interpreter, with or
// without a path and a version; nil when there is none.
func language(name string) *grammar {
	name = strings.ToLower(name)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	switch strings.TrimRight(name, "0123456789.-") {
	case "python", "pypy", "ipython", "pythonw", "micropython":
		return python()
	case "node", "nodejs", "javascript", "js", "typescript", "ts", "deno", "bun", "tsx", "ts-node", "jrunscript", "jjs":
		return node()
	case "perl":
		return perl()
	case "ruby", "jruby", "irb":
		return ruby()
	case "php":
		return php()
	case "lua", "luajit", "texlua", "nvim-lua":
		return lua()
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return awk()
	case "r", "rscript":
		return rLanguage()
	case "c", "c++", "cpp", "cc", "go", "golang", "java", "jshell", "groovy", "kotlin", "rust", "tcc":
		return native()
	case "tcl", "tclsh", "expect", "wish":
		return tcl()
	case "applescript", "osascript":
		return apple()
	case "powershell", "pwsh":
		return powershell()
	default:
		return nil
	}
}
