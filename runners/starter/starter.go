// Package starter is the program that a supervisor starts in place of a command's shell, if it is to see each
// program that the command starts. It installs the filter on itself (package notify), hands the listener to
// the supervisor, and becomes the shell.
//
// The supervisor cannot install the filter on a thread of its own: the thread stands still until its child
// executes a program (vfork(2)), the runtime of Go waits for the thread when it collects garbage, and the
// child waits for the supervisor, which does not get to answer.
//
// It judges nothing and confines nothing.
package starter

import "errors"

// Flag and ParentFlag are the first argument of the programs that begin a command, and that stand between it
// and its supervisor.
const (
	Flag       = "--start"
	ParentFlag = "--parent"
)

// Options are the calls that the filter hands over; see notify.Listen.
type Options struct{ Record bool }

// errReady is the answer to a program that did not hand over a listener.
var errReady = errors.New("the program that starts commands ended, or handed over no listener")

// Words are the arguments of the program that becomes another program, at a path, with other words.
func Words(program string, o Options, path string, argv []string) []string {
	record := "changes"
	if !o.Record {
		record = "names"
	}
	return append([]string{program, Flag, record, path}, argv...)
}
