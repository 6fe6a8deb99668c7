// Package wire is the protocol between sallyport and a supervisor elsewhere: in a container, on another
// machine, behind any stream of bytes that reaches one.
//
// Serve stands where commands run and hands an environment of that place to the other end. Connect stands in
// sallyport and returns it as an engine.Environment, which the gate cannot tell from one of this machine but
// for the time that an answer takes.
//
//	sallyport                              elsewhere
//	engine.Gate ─▶ wire.Environment ══ stream ══ wire.Serve ─▶ runners/local ─▶ runners/supervisor
//
// # The protocol
//
// Each side first sends a line with its version, the supervisor before sallyport, then one frame:
// sallyport's settings, and the supervisor's description of its place.
// A runner plugin can send a line of its own before all that: the facts of the place that it made ([Told]).
// Then comes yamux: streams that sallyport opens, each with flow control of its own,
// so that the output of one command cannot hold up another. A stream begins with a frame that states
// its purpose:
//
//   - calls: a request and its reply, one after the other. Contents of files follow in chunks. A file is
//     replaced within one call, by a draft that is renamed when it is whole: nothing renames otherwise.
//   - process: starts one command; then orders (kill, a signal of a closed list, the size of its
//     terminal, show the kept output, answer a question) one way, reports the other. An order that cannot be
//     carried out ends it. A report can ask whether the command may make a certain name, or
//     whether a program may start.
//     The last report is the exit, with the kept output behind it.
//   - output: the output of that command as it comes, raw, if requested.
//   - input: the input of the command, raw, if it has any. At a terminal that is the typed text.
//
// A frame is a length and one JSON document with known fields only. Text that is no UTF-8 arrives as
// it was: the text that runs must be the one that was judged.
//
// # Trust
//
// The supervisor serves the peer at the other end, which has started it. When the end goes
// away, silently too, everything is ended that it started. Time limits are kept by the supervisor and
// need nobody at the other end.
//
// Sallyport takes an environment for hostile: sizes, counts, names and times are bounded, it accepts
// no stream from there, no wait is unbounded, and a broken rule breaks the
// connection. It cannot know whether answers are true. A broken Environment stays broken: a command
// judged by its answers does not start after it came back, and no command is ever sent twice.
package wire

import "time"

// Version is the version of the protocol. Both sides must have the same.
const Version = 10

const (
	// greeting begins the line by which each side names itself.
	greeting = "sallyport-supervisor/"
	// maxFrame bounds a frame: a text of 64 KiB and as large an environment as Linux takes have room.
	maxFrame = 4 << 20
	// maxChunk bounds a chunk of a file or of kept output.
	maxChunk = 64 << 10
	// maxWords bounds text that is meant for people.
	maxWords = 4 << 10
	// maxEntries bounds the directory entries in one frame, and maxListing those of a directory.
	maxEntries = 1 << 10
	maxListing = 1 << 20
	// maxContent bounds the result of ReadFile.
	maxContent = 1 << 20
	// maxVariables bounds the variables of an environment.
	maxVariables = 10_000
	// maxQuestions bounds the questions about names that one command asks.
	maxQuestions = 1000
	// maxStarts bounds the questions about programs of one command that wait for an answer, and maxWay the
	// processes that each names.
	maxStarts = 256
	maxWay    = 16
	// maxLooks bounds the programs of one command whose files are looked up at once.
	maxLooks = 8
	// maxRepeats bounds the answers of one command that hold for equal questions.
	maxRepeats = 1 << 12
	// maxStreams bounds the streams that a supervisor serves at once.
	maxStreams = 1 << 12
)

const (
	// answerTime is how long an answer may take that is expected at once.
	answerTime = 30 * time.Second
	// greetTime is how long a supervisor waits to be greeted.
	greetTime = time.Minute
	// aliveEvery is how often each side looks whether the other is still there, and writeTime is how
	// long that and a single write may take.
	aliveEvery = 15 * time.Second
	writeTime  = 40 * time.Second
	// endMargin is the time that a supervisor gets, past the timeout and the grace period of a command, to
	// report its end: more than the minute that it takes at most to end the command's processes.
	endMargin = 90 * time.Second
	// drainTime bounds the wait for a slow reader of output after the command has ended.
	drainTime = 10 * time.Second
)
