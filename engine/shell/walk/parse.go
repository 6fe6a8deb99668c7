// Package walk turns a shell text into the flat list of the commands that would run.
//
// It walks statements in their order and keeps the state that they leave: variables, functions, directories,
// descriptors and files. It promises that no state is dropped: both sides of a branch stay, also where a
// command may fail, and where they differ the value is unknown. A limit that is reached ends the walk with a
// budget, never with a shorter list that claims to be whole.
//
// Package value knows the possible values of a word, package command the programs that a command line runs,
// and package source the texts that bash reads otherwise. This one runs nothing and judges nothing.
package walk

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/source"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Default limits. They let through every command that people and agents write, and stop
// what only exhausts the reader.
const (
	defaultBytes    = 64 << 10
	defaultNesting  = 100
	defaultDepth    = 12
	defaultCommands = 2000
	defaultSteps    = 100_000
)

// bytesPerStep prices the text that an expansion builds, so that X=$X$X ends in the step
// budget and not in memory.
const bytesPerStep = 64

func withDefaults(l shell.Limits) shell.Limits {
	set := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	set(&l.Bytes, defaultBytes)
	set(&l.Nesting, defaultNesting)
	set(&l.Depth, defaultDepth)
	set(&l.Commands, defaultCommands)
	set(&l.Steps, defaultSteps)
	return l
}

// Parse reads text as bash does and returns every command in it. The error is an *Error.
//
// A program is returned together with the error when nothing could be read, so that a
// caller who drops the error still holds one whose Certainty is Unknown.
func Parse(text string, o shell.Options) (*shell.Program, error) {
	o.Limits = withDefaults(o.Limits)
	w, err := walkText(text, o)
	if err != nil {
		return &shell.Program{Certainty: value.Unknown}, err
	}
	return w.finish(), nil
}

// walkText walks text. The error is an *Error.
func walkText(text string, o shell.Options) (*walker, error) {
	if err := source.Check(text, o.Limits); err != nil {
		return nil, err
	}
	file, err := source.Parse(text, o.POSIX)
	if err != nil {
		return nil, err
	}
	if len(file.Stmts) == 0 {
		return nil, &shell.Error{Kind: shell.ErrEmpty, Offset: -1, Detail: "give a command"}
	}
	if err := source.Invisible(file); err != nil {
		return nil, err
	}
	w := newWalker(text, o)
	w.file = file
	w.lines(file.Stmts)
	w.replay()
	w.uncalled()
	w.replay()
	return w, nil
}

// walker holds the state that is the same for the whole of one Parse.
type walker struct {
	opts      shell.Options
	file      *syntax.File // the text that was asked for
	lim       shell.Limits
	commands  []shell.Command
	failglob  bool   // an option may make a pattern without matches drop the rest of its line
	unclear   bool   // some node was not understood: the program is Unknown
	budget    string // the limit that was reached first
	steps     int
	pipelines int
	temps     int                          // names that mktemp made
	holes     value.Holes                  // unknown parts of texts that are parsed again
	fds       map[string]value.Value       // content of process substitutions, by their path
	defs      []*function                  // functions in the order of their definition
	stay      *state                       // where the current command, if it fails, leaves the shell: set by cd and its like
	dirs      map[int][]string             // of commands whose directory is not known, those that it may be
	expanded  map[*syntax.Word]value.Value // operands of the arithmetic expression that is evaluated
	speaks    speech                       // of the shell's traps
	exiting   changes                      // possible changes of traps of EXIT
	mayEnd    bool                         // this subshell may have ended before the next command: set -e, set -u
	aborts    bool                         // an expansion may fail, after which bash goes on with the next line of the text
	exec      bool                         // exec has changed the descriptors of the shell, for who carries it: command, builtin
	looks     []string                     // files that parts which run beside others have looked at
	journal   []change                     // files that the text has written
	deferred  []deferred                   // parts that may find later changes
	beside    int                          // how many of these the walk is in
	again     bool                         // they are walked a second time
	ctx       context
}

// context is the state at one place of the walk. It is a value: who changes it for a part
// of the tree saves it before and puts it back after.
type context struct {
	st         *state
	src        string // the text that the current nodes point into
	nested     bool   // src is not the text that was asked for: spans are those of the carrier
	start, end int    // that span
	via        []string
	elevated   bool
	background bool
	script     string
	redirs     []shell.Redirect // of enclosing compound commands
	in         *input           // standard input, nil when it is the caller's
	out        *sink            // standard output
	pipe       shell.Pipeline
	marks      []shell.Mark
	depth      int       // nested shells, scripts, functions and substitutions
	nest       int       // nested statements
	running    []string  // functions and scripts that are being walked
	current    int       // the command that is being built, -1 for none
	locals     *[]string // names that the running function has declared; nil outside of functions
	breaks     bool      // in a loop that break ends
	loop       bool      // in a loop whose turns are not walked one by one
}

// speech is the output of traps.
type speech int

const (
	silent speech = iota
	atEnd         // to the output of the shell that set them
	always        // to those of its subshells too
)

// sink gathers the output of commands to one standard output.
type sink struct {
	cmds []int
	text value.Value // an unknown part with no text stands for output that is not known
}

// input is where a standard input comes from.
type input struct {
	cmds   []int
	from   shell.CodeFrom // CodeStdin, CodeHeredoc or CodeFile
	file   value.Word     // with CodeFile
	text   value.Value
	static bool   // text is known
	via    string // how commands in the text are carried: "heredoc", "base64 -d"
	socket bool
	edited bool   // a file that the text may have changed
	path   string // that file
}

// parts reports that lines of the input need not be lines that its commands print: these name a file that
// holds it, or stand in a text.
func (in *input) parts() bool {
	switch {
	case in == nil:
		return false
	case in.from == shell.CodeFile:
		return in.file.Certainty != value.Exact
	case in.from != shell.CodeHeredoc:
		return in.text.Cut()
	}
	unknown := 0
	for _, p := range in.text {
		if !p.Known {
			unknown++
		} else if strings.Trim(p.Text, "\n") != "" {
			unknown = 2
		}
	}
	return unknown > 1 || in.text.Cut()
}

func newWalker(text string, o shell.Options) *walker {
	st := &state{
		spots: new(int),
		base:  o.Env, whole: o.Whole, vars: map[string]variable{}, funcs: map[string][]*function{}, aliases: map[string]string{},
		sockets: map[int]bool{}, fds: map[int]stream{},
		disk: newDisk(),
	}
	st.zero = value.Known("bash") // the text runs as bash -c TEXT
	if o.POSIX {
		st.zero, st.sh = value.Known("sh"), true
	}
	if o.Dir != "" {
		st.dir = shell.Dir{Path: o.Dir, Known: true}
	}
	if old, ok := o.Env["OLDPWD"]; ok {
		st.old = shell.Dir{Path: old, Known: true}
	}
	w := &walker{opts: o, lim: o.Limits, fds: map[string]value.Value{}, dirs: map[int][]string{}}
	w.ctx = context{st: st, src: text, out: &sink{}, current: -1}
	if o.Stdin {
		w.ctx.in = &input{from: shell.CodeStdin, text: value.Opaque("", nil), via: "standard input"}
	}
	return w
}

// step spends n steps and reports whether the walk may go on.
func (w *walker) step(n int) bool {
	w.steps += n
	if w.steps > w.lim.Steps {
		w.spend("steps")
	}
	return w.budget == ""
}

// pay spends the steps for a value that was built, and reports whether the walk may go on.
func (w *walker) pay(v value.Value) bool {
	return w.step(v.Cost())
}

// spend records that a limit was reached; the first one is kept, and the walk ends.
func (w *walker) spend(limit string) {
	if w.budget == "" {
		w.budget = limit
	}
}

// reserve makes room for the next command, before those nested in it.
func (w *walker) reserve() (int, bool) {
	if !w.step(1) {
		return 0, false
	}
	if len(w.commands) >= w.lim.Commands {
		w.spend("commands")
		return 0, false
	}
	w.commands = append(w.commands, shell.Command{})
	return len(w.commands) - 1, true
}

func (w *walker) mark(idx int, m shell.Mark) {
	if idx >= 0 && !slices.Contains(w.commands[idx].Marks, m) {
		w.commands[idx].Marks = append(w.commands[idx].Marks, m)
	}
}

func (w *walker) hasMark(idx int, m shell.Mark) bool {
	return idx >= 0 && idx < len(w.commands) && slices.Contains(w.commands[idx].Marks, m)
}

// finish builds the program from the findings.
func (w *walker) finish() *shell.Program {
	w.socketShells()
	commands, ok := alternatives(w.commands, w.dirs, w.lim.Commands)
	if !ok {
		w.spend("commands")
	}
	p := &shell.Program{Commands: commands, Certainty: value.Exact, Budget: w.budget}
	for i := range p.Commands {
		p.Certainty = min(p.Certainty, p.Commands[i].Certainty)
	}
	if w.budget != "" || w.unclear || len(p.Commands) == 0 {
		p.Certainty = value.Unknown
	}
	return p
}
