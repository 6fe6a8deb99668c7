package inline

import (
	"embed"
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

// luaQuotes are the characters that open a literal in Lua.
const luaQuotes = "\"'["

// plainNames are the names of interpreters and languages, and the plain language that they stand for.
var plainNames = map[string]string{
	"node": "node", "nodejs": "node", "javascript": "node", "js": "node", "typescript": "node", "ts": "node",
	"deno": "node", "bun": "node", "tsx": "node", "ts-node": "node", "jrunscript": "node", "jjs": "node",
	"perl": "perl", "ruby": "ruby", "jruby": "ruby", "irb": "ruby", "php": "php", "lua": "lua", "luajit": "lua",
	"texlua": "lua", "nvim-lua": "lua", "r": "r", "rscript": "r",
	"c": "native", "c++": "native", "cpp": "native", "cc": "native", "go": "native", "golang": "native",
	"java": "native", "jshell": "native", "groovy": "native", "kotlin": "native", "rust": "native",
	"tcc": "native",
}

// plainTables are the rules of the plain languages, one kind of call on each line of a file. The names follow
// the documentation of Node 22, Deno 2, Perl 5.40, Ruby 3.4, PHP 8.4, Lua 5.4, R 4.5, Go 1.24, Java 24 and
// Rust 1.86.
//
//go:embed languages
var plainTables embed.FS

// plainLanguages say how literals and names of each language are written.
var plainLanguages = map[string]lexicon{
	"node": {shape: shape{ident: "$", quote: "\"'`", value: "$"}, mentions: true, env: "process.env",
		indirect: "]"},
	"perl": {shape: shape{quote: "\"'", value: "$@"}, loose: true, backticks: true, env: "%ENV",
		indirect: "&$}"},
	"ruby": {shape: shape{quote: "\"'", value: "#"}, loose: true, backticks: true},
	"php": {shape: shape{quote: "\"'", value: "${"}, backticks: true, mentions: true, folds: true,
		env: "$_ENV", indirect: "$])"},
	"lua":    {shape: shape{quote: luaQuotes}, mentions: true, indirect: "]"},
	"r":      {shape: shape{ident: ".", quote: "\"'"}, mentions: true, tilde: true},
	"native": {shape: shape{quote: "\"`"}},
}
