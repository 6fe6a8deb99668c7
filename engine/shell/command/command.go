// Package command says what a command line runs: which of the words of sudo, find, ssh, git, python or sh are a command,
// program text or a program's file, and where it runs.
//
// It promises that every place of a command line which its tables describe is named, also where a word is known in part
// only; a word that is not known is left to the caller, who knows what it may be. Its functions are pure: they take
// a name and arguments, and keep, read and start nothing.
//
// It knows no statements, variables, files or directories, and it judges nothing: what a command means is the business
// of package facts, and the order of commands that of package shell.
package command

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Run is one thing that a command line runs, and the place where it runs.
type Run struct {
	Kind  Kind
	Via   string      // how the command line carries it: "sudo", "find -exec"
	Args  []value.Arg // a command; or a file, a module or a program's name and the words behind it
	Text  value.Value // a program, or a name that is printed
	Lang  string      // the language of a program
	Given bool        // only if there is a standard input

	Unsure   bool           // the command line has a syntax of its own for it, of which not all is read
	Elevated bool           // it has other rights than the caller
	Behind   bool           // it goes on after the caller
	Socket   bool           // its input and output are a connection
	Bare     bool           // little is known of its environment
	Away     bool           // that too, and it has another root
	Foreign  bool           // it runs on another machine
	Moved    bool           // its directory is not known
	Dir      *value.Arg     // its directory, if it is another one
	Empty    bool           // its environment is empty at first
	Unset    *value.Arg     // a variable that it does not get
	Assigns  []value.Assign // variables that it gets
}

// Kind says what a command line runs.
type Kind uint8

const (
	Words   Kind = iota // a command
	Text                // a program among the words
	Input               // a program on standard input
	File                // a program in a file
	Module              // a program that the language finds by its name
	Session             // whatever is typed
	Name                // nothing: it prints the name of a program
	Nothing             // nothing
)

// line gathers what a command line runs, at the same place.
type line struct {
	at   Run
	list []Run
}

func (l *line) add(r Run) {
	at := l.at
	at.Kind, at.Via, at.Args, at.Text, at.Lang = r.Kind, r.Via, r.Args, r.Text, r.Lang
	at.Given, at.Unsure = r.Given, r.Unsure
	at.Moved, at.Foreign = at.Moved || r.Moved, at.Foreign || r.Foreign
	at.Socket, at.Elevated = at.Socket || r.Socket, at.Elevated || r.Elevated
	l.list = append(l.list, at)
}

func (l *line) words(args []value.Arg, via string) { l.add(Run{Args: args, Via: via}) }

func (l *line) shell(text value.Value, via string) {
	l.add(Run{Kind: Text, Lang: "sh", Text: text, Via: via})
}

func (l *line) input(via string) { l.add(Run{Kind: Input, Lang: "sh", Via: via}) }

// Names is the set of the names in a list that blanks separate.
func Names(list string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(list) {
		out[name] = true
	}
	return out
}

// Listed reports whether a list of words of the table's package has a word.
func Listed(list, word string) bool { return commands.Listed(list, word) }

// Base is the name of a program without its directory.
func Base(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	return path.Base(text)
}
