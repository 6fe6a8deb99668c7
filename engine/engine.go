// Package engine is the gate that every request of an agent passes: it turns a request into
// facts, lets policies judge them, records the decision, and only then lets a runner execute.
//
//	Request ─▶ read ─▶ decide ─▶ record ─▶ approve (ask only) ─▶ run ─▶ record ─▶ Outcome
//	           facts   Evaluator Recorder  Approver              Environment
//
// The invariants, in the order in which they matter:
//
//   - One way through. Nothing starts a process, touches a file for an agent or writes an audit
//     record except by way of Gate.
//   - No record, no run. A process starts only after the record of its decision is durable.
//   - Unclear requests are refused. Zero values deny; an error, an unknown value, a timeout or a
//     panic in any part is a Fault, and a Fault denies.
//   - A denial is a value with reasons, never an error.
//
// The package names the parts it needs as interfaces and imports none of their implementations:
// no OPA, no wazero, no Docker, no MCP, no os/exec.
//
// It is not a sandbox: the environment that a Runner opens is.
package engine

import (
	"context"
	"io"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Request is a request to the gate. It carries no trust: every field may come from an agent.
type Request struct {
	Tool      string    // "execute_command", …
	Command   string    // bash text
	Operation Operation // the work of a file tool, in place of a command
	// Touches are places that a tool of another server names, beside Command. Such a request is for Decide
	// and Check.
	Touches    []facts.Touch
	WorkDir    string        // absolute or relative to the workspace; "" for the workspace
	Timeout    time.Duration // 0 for the configured default; capped by the configured maximum
	Background bool          // it is meant to last: its default timeout is the maximum
	Subject    facts.Subject
	// Stdout and Stderr, when not nil, see the output as it comes.
	Stdout, Stderr io.Writer
	// Joined gives the command one stream for both, so that the order of all output stays; it comes as Stdout.
	Joined bool
	// Stdin is the input of the command; nil for none. It is a person's choice and never an agent's: its
	// content is not judged.
	Stdin io.Reader
	// Terminal, when not nil, is one that the command gets for Stdin and Stdout; nothing comes to Stderr
	// then.
	Terminal *Terminal
	// Trial says whether the command runs in a trial, and the fate of its changes.
	Trial TrialMode

	changesOf string // the decision about the command whose changes in a trial are asked about; "" for none
}

// Evaluator judges an input. An error is a fault and denies.
type Evaluator interface {
	// Evaluate must not keep or change in. It ends when ctx does.
	Evaluate(ctx context.Context, in *facts.Input) (Judgement, error)
	// Policy names its policies.
	Policy() PolicyInfo
}

// Changing is an Evaluator that can be replaced while the gate works. A request is judged, as a whole, by
// the one that Current returned at its arrival.
type Changing interface {
	Evaluator
	Current() Evaluator
	// OnChange has f called after each change of Current. There is one f.
	OnChange(f func())
}

// Steady is an Evaluator that may judge inputs alike that differ in the id, the time and the ages of requests
// only. Others see a new input each time.
type Steady interface {
	Evaluator
	Steady() bool
}

// Approver asks a person about a decision with the effect ask. An error, or no answer, refuses.
type Approver interface {
	Approve(ctx context.Context, r ApprovalRequest) (Approval, error)
}

// Recorder keeps audit records. Record returns nil only after all of them are durable, in their order and
// one behind the other. After an error none of them counts.
type Recorder interface {
	Record(ctx context.Context, r ...Record) error
}

// Ledger remembers the actions of a session.
type Ledger interface {
	facts.History
	// Begin notes, before the run, which of in's paths exist; the returned function notes, after it, the
	// paths that were read, created, downloaded and deleted.
	Begin(in *facts.Input, fs facts.FS) (end func(fs facts.FS, exitCode int) error)
}

// Runner opens environments.
type Runner interface {
	// Describe tells policies about the environment that Open would make.
	Describe() facts.Runner
	Open(ctx context.Context, spec EnvironmentSpec) (Environment, error)
}

// Looker is a Runner that can preview the environment of Open without making it, or with less effort. A gate
// that only decides uses it.
type Looker interface {
	Runner
	// Look returns an Environment of the same files and variables, in which nothing can be started.
	Look(ctx context.Context, spec EnvironmentSpec) (Environment, error)
}

// EnvironmentSpec is the specification of an environment.
type EnvironmentSpec struct {
	Agent   string
	Session string
	Layout  facts.Layout // places and permissions, for environments that confine
	// Note, if set, receives the environment's lifecycle events, for its operator's log. It decides nothing.
	// Details marshal to JSON and hold names of variables, never values.
	Note func(event string, details map[string]any)
	// Hidden reports files that the command of a trial cannot read; nil for none.
	Hidden func(path string) bool
}

// Tell notes an event, if anybody takes it down.
func (s EnvironmentSpec) Tell(event string, details map[string]any) {
	if s.Note != nil {
		s.Note(event, details)
	}
}

// Environment runs processes in one place. It is safe for concurrent use.
type Environment interface {
	// Start begins c and returns at once. A command that cannot be started at all (no such directory, no
	// shell) is an error; one that starts and fails is an Exit.
	Start(ctx context.Context, c Command) (Process, error)
	// Prepare completes a command without starting it: the text that will really run, with a configured
	// prefix, and the whole environment of its process. The gate judges the result.
	Prepare(text, workDir string) (Command, error)
	// FS shows the environment's files, as its processes would see them.
	FS() facts.FS
	// Files is how file tools reach them.
	Files() Files
	// Close ends everything that was started and frees the environment.
	Close() error
}

// Remote is an Environment behind a stream, which can break. Once broken it stays so: the gate opens another
// for the next request, and a command judged by the broken one does not start there.
type Remote interface {
	Environment
	// Layout adds the differences between the place and this machine: home, temporary places, the shell.
	Layout(l facts.Layout) facts.Layout
	// Err says why it is broken; nil as long as it is not.
	Err() error
}

// Command is a command for an environment: the text that was judged, never another.
type Command struct {
	ID      string        // the decision id; part of the environment of the process, so that its children can be told
	Text    string        // bash text
	WorkDir string        // absolute
	Env     []string      // complete, NAME=value
	Timeout time.Duration // enforced by the environment
	Grace   time.Duration // between TERM and KILL
	Output  int           // bytes kept per stream, half from its head and half from its tail; all is counted
	// Stdout and Stderr, if not nil, receive the output as it comes, besides the kept part.
	Stdout, Stderr io.Writer
	// Joined makes one stream of both, from which all output comes as Stdout.
	Joined bool
	// Stdin is the input of the process; nil for none at all. An environment may leave a Read behind that
	// does not return after the end of the process.
	Stdin io.Reader
	// Terminal, when not nil, is the size of a terminal of its own that the process gets, at which Stdin
	// types and from which all output comes as Stdout.
	Terminal *WindowSize
	// Elevated says that the text asks for more rights than its user has, by sudo or the like, and that this
	// was judged. An environment that takes away the means of it leaves them to this one command.
	Elevated bool
	// MayMake, when not nil, is asked before the process makes a name at which programs of the user would
	// obey a file (package engine/obeyed), in a directory that was there before it. It may take as long as
	// a decision. An environment that cannot ask makes every name.
	MayMake func(path string) bool
	// MayStart, when not nil, is asked before any program starts that the process or one below it executes;
	// only for the shell of the command itself nobody is asked. It may take as long as a decision. An
	// environment that cannot ask says so in its description.
	MayStart func(p Program) Verdict
	// Seen are the files on the way to WorkDir, if the environment told them with the variables.
	Seen map[string]facts.Node
}

// Program is a program that a process of a command is about to execute.
type Program struct {
	Path string   // absolute, as the process names it
	File string   // its real path
	Dir  string   // the working directory of the process
	Argv []string // its words; the first need not be its name
	By   []string // the interpreters of a script, and their options, which the kernel puts before its path
	ELF  bool     // the file begins as machine code does (elf(5)): no shell reads it as a script
	Set  []string // variables, NAME=value, that differ from those of the command
	Lost []string // names of variables that the command has, and the program does not get
	// Way returns the words of the processes between it and the shell of the command, outermost first, as
	// long as the program waits; nil for none.
	Way func() []string
	// Waits, if not nil, is called before a question about it waits for its answer.
	Waits func()
	// Seen are the files on the ways to places that its words may name, if the environment told them.
	Seen facts.Ways
	// Begun says that it runs already: its file or its words changed after they were judged. A refusal
	// kills it.
	Begun bool
}

// Verdict answers whether a program may start. The zero value refuses.
type Verdict struct {
	May bool
	// Again, when not nil, says that programs with equal fields, but for Way, may start without a question
	// until Over is closed. The environment calls it with their number, at most once and before Wait
	// returns.
	Again func(times int)
	Over  <-chan struct{}
}

// Process is a running command.
type Process interface {
	// Wait blocks until the process and all that it started are gone.
	Wait() Exit
	// Kill ends the whole tree: TERM, the grace period, KILL. It returns at once.
	Kill(reason string)
	// Signal sends a signal to the process group of the command, as a terminal would: to all its processes
	// that did not leave the group. An ended command gets none. An error means that no signal was sent.
	Signal(s Signal) error
	// Resize changes the size of the terminal. An error says that there is none, or cannot be one of this
	// size.
	Resize(s WindowSize) error
	PID() int
	// Output returns the output of both streams that is kept so far.
	Output() (stdout, stderr Stream)
}

// Exit is how a process ended.
type Exit struct {
	Code                 int    // exit status; 128+n after signal n; -1 when it did not start
	Signal               string // "SIGKILL", …; "" when it exited by itself
	TimedOut             bool
	Killed               string // the reason given to Kill, or ""
	Survivors            int    // processes that could not be ended; 0 unless something is very wrong
	Started              time.Time
	Duration             time.Duration
	UserTime, SystemTime time.Duration
	MaxRSS               int64 // bytes; 0 for less than the gateway itself has used, which the kernel does not tell apart
	OOMKills             int   // processes of the environment that the kernel killed meanwhile for want of memory
	// Uncompared counts the programs that ended before they could be compared with the ones that were judged,
	// or that could not be read.
	Uncompared     int
	Stdout, Stderr Stream
	// Error says why the process could not run or why its end is not fully known; nil otherwise.
	Error error
}

// Stream is the kept part of an output stream.
type Stream struct {
	Text    string // valid UTF-8: the head, a line that says how much is left out, the tail
	Bytes   int64  // bytes written by the process
	Dropped int64  // bytes between head and tail that were not kept
	SHA256  string // of all bytes, hex
}

// Outcome is the outcome of a request.
type Outcome struct {
	Decision Decision
	Input    *facts.Input // the facts that were judged
	Approval *Approval    // nil unless the effect was ask
	WorkDir  string
	Fault    *Fault // failure of sallyport itself, for the operator; nil for none
	Exempted []Exempted
	Spent    []Spent // where the time of the decision went: the environment, facts, then each evaluator
	Ran      bool
	Exit     Exit      // meaningful when Ran
	Held     []Held    // files that were moved aside at its end, or refused
	Changes  *Changes  // files that were changed meanwhile; nil where nobody looks
	Programs *Programs // that it started; nil where they are not judged
	Trial    *Tried    // nil for a command that ran for real
}
