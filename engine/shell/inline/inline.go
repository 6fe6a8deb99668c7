// Package inline looks through the text of a program in another language than the shell's
// for what it would do to the machine: the commands it runs, the files it deletes, writes
// and reads, the hosts it talks to.
//
// It is a lexical scanner with a table of call patterns: it knows comments, string literals,
// imports, constant variables and literals put together from parts, so that a name in a
// string or a comment is never mistaken for a call. It is not a parser, it runs nothing, and
// it judges nothing. What it cannot see it reports as not known, it never guesses; a program
// that wants to hide can do so, and then Dynamic is mostly all that is left to see.
//
// It imports nothing of this module.
package inline

// Limit is the number of bytes of a program that are looked through. What lies behind is
// reported as one Dynamic call named "limit".
const Limit = 256 << 10

// The work is bounded in steps, never in time; a spent budget ends in a Dynamic call named "limit".
const (
	maxSteps  = 2 << 20 // tokens and values visited
	maxFold   = 4 << 20 // bytes of text put together from parts
	maxText   = 64 << 10
	maxDepth  = 64 // nesting of one expression
	maxNested = 4  // programs inside programs: exec("exec(…)"), interpolations
	maxCalls  = 4096
	maxAlts   = 8 // values that one variable may have
)

// Kind says what a call does.
type Kind string

const (
	Shell       Kind = "shell"        // Args[0] is text that a shell runs
	Exec        Kind = "exec"         // Args are the argv of a program that is started without a shell
	Delete      Kind = "delete"       // Args are paths
	Write       Kind = "write"        // Args are paths that are created or overwritten
	Append      Kind = "append"       // Args are paths that are added to
	Read        Kind = "read"         // Args are paths
	Rename      Kind = "rename"       // Args are the old paths and, last, the new one
	Chmod       Kind = "chmod"        // Args are paths, Mode the new mode
	Chown       Kind = "chown"        // Args are paths
	Link        Kind = "link"         // Args are the target and the new name
	Mkdir       Kind = "mkdir"        // Args are paths
	Network     Kind = "network"      // connects or fetches; Args[0] is a URL, "host:port" or a host
	Upload      Kind = "upload"       // sends data; Args as for Network
	Listen      Kind = "listen"       // waits for connections; Args[0] is "host:port" where known
	Socket      Kind = "socket"       // makes a raw socket
	SocketShell Kind = "socket_shell" // a shell or command whose input or output is a socket
	Fork        Kind = "fork"         // starts a copy of itself
	ForkBomb    Kind = "fork_bomb"    // does so in an endless loop
	Spawn       Kind = "spawn"        // Exec of an interactive shell, or the interpreter's own prompt: then without Args
	Dynamic     Kind = "dynamic"      // runs code, or calls a function, that is not known here
	Signal      Kind = "signal"       // Args are the process ids, Mode the signal: "9", "KILL", "SIGKILL"
	Env         Kind = "env"          // reads the whole environment
	Decode      Kind = "decode"       // reads data, or a library, that may run code as it is read; Args are its files where known
)

// Arg is an argument of a call as far as it is known.
type Arg struct {
	Text  string // the value; its known beginning when Exact is false
	Exact bool   // all of it is known
	Glob  bool   // Text is a pattern with *, ? or [ that stands for the names of files; then Exact is false
}

// Call is one thing that the program would do, if that line runs.
type Call struct {
	Kind      Kind
	Name      string // the function as resolved: "os.system", "shutil.rmtree", "`"
	Args      []Arg  // a variable with several possible values gives several paths, or several calls
	Mode      string // with Chmod: octal digits without prefix, or a symbolic mode; with Signal: the signal; "" when not known
	Recursive bool   // the access reaches everything below
	Dir       *Arg   // with Shell and Exec: the directory it runs in, when the program sets one
	Offset    int    // in bytes, where the call stands in the scanned text
}

// Paths in Args are as the program sees them, with two additions: a leading "~" stands for
// the home directory where the program asks for that directory (a file that really is named
// "~" is given as "./~"), and a relative path after a change of directory is joined to it.

// Supported reports whether Scan knows the language: "python", "perl", "ruby", "node",
// "php", "lua", "awk", … or a usual other name of one, such as "python3.12" or "deno".
func Supported(lang string) bool {
	g, p := language(lang)
	return g != nil || p != nil
}

// Scan returns what src does, in the order of appearance. A language that is not supported
// gives one Dynamic call, since nothing is known about its text.
func Scan(lang, src string) []Call {
	if !Supported(lang) {
		return []Call{{Kind: Dynamic, Name: "language"}}
	}
	b := &budget{limit: maxSteps}
	cut := len(src) > Limit
	if cut {
		src = src[:Limit]
	}
	calls := scanText(lang, src, b)
	if cut || b.spent() {
		calls = append(calls, Call{Kind: Dynamic, Name: "limit", Offset: len(src)})
	}
	return calls
}

// scanText looks through a text of a language that is supported.
func scanText(lang, src string, b *budget) []Call {
	g, p := language(lang)
	if p != nil {
		return scanPlain(p, src, b)
	}
	return scanProgram(g, src, b, nil, 0)
}

// budget counts the work of one Scan, over all nested programs. Every loop that can run over the same text
// again, once for each of its beginnings, calls step or work.
type budget struct{ limit, steps, fold, calls int }

func (b *budget) step() bool {
	b.steps++
	return b.steps <= b.limit
}

// work counts a search through n bytes, which is faster than n steps.
func (b *budget) work(n int) { b.steps += n / 16 }

func (b *budget) spent() bool {
	return b.steps > b.limit || b.fold > maxFold || b.calls > maxCalls
}
