// Package shell describes the commands that a shell text would run, for those who judge it.
//
// It holds the types that package walk fills: every simple command anywhere in a text, with unquoted words, known
// constants filled in, wrappers and nested shells opened, redirects, the directory each command runs in, and how sure
// all of that is. Zero values claim nothing: a command without certainty is unknown.
//
// It is no interpreter, and it has no functions but the texts of its errors.
package shell

import (
	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// RedirectMode is the access of a redirect to its target.
type RedirectMode uint8

const (
	RedirectNone      RedirectMode = iota
	RedirectRead                   // <
	RedirectWrite                  // >, >|, &>
	RedirectAppend                 // >>, &>>
	RedirectReadWrite              // <>
	RedirectDup                    // >&1, <&3: Target names a descriptor, not a file
	RedirectHere                   // <<, <<-, <<<: Body holds the text
)

// Redirect is one redirection of a command or of the compound command around it.
type Redirect struct {
	FD     int // the descriptor that is redirected; -1 when it is given by a variable
	Mode   RedirectMode
	Target value.Word // the file or descriptor
	Body   value.Word // here-document or here-string text
	From   *Dir       // the directory of the shell that opens the file; nil for the command's own
}

// Pipeline places a command in a pipeline. Length 1 stands for no pipeline.
type Pipeline struct {
	ID     int
	Index  int
	Length int
}

// Dir is a working directory. Known false means that a cd went somewhere this package cannot tell.
type Dir struct {
	Path  string // absolute and clean
	Known bool
}

// CodeFrom says where an interpreter gets its program from.
type CodeFrom string

const (
	CodeNone     CodeFrom = ""         // the command interprets nothing
	CodeArgument CodeFrom = "argument" // bash -c TEXT, python -c TEXT, eval TEXT, trap TEXT
	CodeStdin    CodeFrom = "stdin"    // a pipe or an open standard input
	CodeHeredoc  CodeFrom = "heredoc"  // a here-document or here-string
	CodeFile     CodeFrom = "file"     // a script file, source FILE, process substitution
	CodeSession  CodeFrom = "session"  // an interactive interpreter: no program given at all
)

// OpenedIn returns the directory in which the file of a redirect of c is opened.
func (c *Command) OpenedIn(r Redirect) Dir {
	if r.From != nil {
		return *r.From
	}
	return c.Dir
}

// Code is the program that a command hands to an interpreter.
type Code struct {
	Language  string     // "bash", "sh", "python", "perl", "ruby", "node", "php", "awk", "lua", …; "" with CodeNone
	From      CodeFrom   // where the program comes from
	File      value.Word // the script file with CodeFile
	Static    bool       // the program's text was known and was looked through; its commands are in Program.Commands
	Truncated bool       // part of the program was not looked through: too long, too deep or not readable
}

// Mark is a structural finding that only the walk over the text can make.
type Mark string

const (
	MarkForkBomb    Mark = "fork_bomb"    // replicates itself: a function, script or program that starts itself twice or in the background, without end
	MarkSocketShell Mark = "socket_shell" // an interpreter or shell whose input or output is a network socket
	MarkSocket      Mark = "socket"       // opens /dev/tcp or /dev/udp, or a socket in inline code
	MarkDynamicCode Mark = "dynamic_code" // runs text as code that is not known: eval "$x", bash -c "$x", source <(…)
	// MarkDynamicProgram starts programs, or has a shell run text, that is not known; its own code does
	// nothing unknown.
	MarkDynamicProgram Mark = "dynamic_program"

	MarkShadow      Mark = "shadow"       // defines a function or alias that hides an ordinary command
	MarkHistory     Mark = "history"      // tampers with the shell's history (HISTFILE, history -c)
	MarkDecodes     Mark = "decodes"      // reads data, or a library, in a way that runs the code in it: an unpickling
	MarkNeverCalled Mark = "never_called" // stands in a function that this text does not call
)

// Command is one simple command. Words[0] is the command word as written after expansion.
type Command struct {
	Name       string         // base name of the command word, "" when it is not known
	Words      []value.Word   // argv, or nil for a bare assignment or redirect
	Assigns    []value.Assign // assignments for this command, or made by it
	Handed     []value.Assign // variables of Steering that the text set or removed before, and that it gets
	Redirects  []Redirect     // its own and those of enclosing compound commands
	Via        []string       // its carriers, outermost first: "sudo", "bash -c", "xargs", "find -exec", "heredoc", "python -c", "script ./x.sh"
	Elevated   bool           // under sudo, su, doas, pkexec, run0, …
	Script     string         // the script file in which it stands; "" when it stands in the text that was asked for
	Pipeline   Pipeline
	Dir        Dir
	Certainty  value.Certainty // Exact, Partial (some argument is not) or Unknown (the command word is not)
	Inputs     []int           // indexes of commands whose output reaches it: pipe, process or command substitution, here-document, variable
	Code       Code
	Marks      []Mark
	Background bool // started with &, coproc, nohup, setsid, disown
	Start, End int  // byte offsets into the text that was asked for; those of the carrier for nested ones
}

// Steering are the variables by which Sallyport, and the agents that it guards, find their configuration and
// each other's programs. A star stands for any end.
const Steering = "SALLYPORT_* HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR PATH"

// Limits bound the work of Parse in steps, never in time. The zero value means the defaults.
type Limits struct {
	Bytes    int // length of the text; default 64 KiB
	Nesting  int // depth of brackets, substitutions and quotes checked before any parser sees the text; default 100
	Depth    int // depth of nested shells, scripts, functions and substitutions that are followed; default 12
	Commands int // number of commands; default 2000
	Steps    int // words expanded and nodes visited, over all; default 200000
}

// Options are the facts that Parse may know about the place where the text would run. The zero value knows
// nothing.
type Options struct {
	Dir    string            // absolute working directory
	Env    map[string]string // variables of the child process
	Whole  bool              // Env holds all of them: another variable has no value
	POSIX  bool              // judge with the POSIX grammar: the environment has no bash
	Stdin  bool              // the text gets a standard input, of which nothing is known
	Judged bool              // each program that comes of the text is judged when it starts
	Limits Limits
	// ReadFile returns the content of a script file that would run, if it exists, is a regular file and is
	// not longer than Limits.Bytes. Nil follows no script files.
	ReadFile func(path string) (content string, ok bool)
	// IsDir and IsFile report a directory, or something else, at an absolute path. Nil knows of neither.
	IsDir, IsFile func(path string) bool
	// Table says which programs run others, and how. Nil is the one that comes with the program.
	Table *commands.Table
}

// Program is the effect of a text.
type Program struct {
	Commands  []Command       // in the order of appearance, nested ones after their carrier
	Certainty value.Certainty // the lowest certainty of Commands; Unknown after an error or a spent budget
	Budget    string          // the limit that was reached ("commands", "depth", "steps"), or ""
}

// ErrorKind says why a text cannot be judged. The values are part of the policy input (shell.error).
type ErrorKind string

const (
	ErrEmpty    ErrorKind = "empty"           // nothing but blanks and comments
	ErrTooLong  ErrorKind = "too_long"        // longer than Limits.Bytes
	ErrNUL      ErrorKind = "nul_byte"        // bash drops NUL bytes: the text judged would not be the text run
	ErrCR       ErrorKind = "carriage_return" // a bare CR is a separator to some readers and not to bash
	ErrEncoding ErrorKind = "invalid_utf8"
	ErrControl  ErrorKind = "control_character" // invisible or direction-changing characters outside quotes
	ErrNesting  ErrorKind = "nesting"           // deeper than Limits.Nesting
	ErrSyntax   ErrorKind = "syntax"
)

// Error is the reason why Parse could not read a text. Offset is in bytes, -1 where it has no place.
type Error struct {
	Kind   ErrorKind
	Offset int
	Detail string
}

// Error is a problem of a text and its place.
func (e *Error) Error() string {
	s := "parse command: " + string(e.Kind)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
