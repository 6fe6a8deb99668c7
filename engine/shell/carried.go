package shell

import "github.com/sallyport-dev/sallyport/engine/shell/value"

// carried is one thing that a command line runs, and the place where it runs.
type carried struct {
	kind  carriedKind
	via   string      // how the command line carries it: "sudo", "find -exec"
	args  []value.Arg // a command; or a file and the words behind it
	text  value.Value // a program, or a name that is printed
	lang  string      // the language of a program
	given bool        // only if there is a standard input

	unsure   bool       // the command line has a syntax of its own for it, of which not all is read
	elevated bool       // it has other rights than the caller
	behind   bool       // it goes on after the caller
	socket   bool       // its input and output are a connection
	bare     bool       // little is known of its environment
	away     bool       // that too, and it has another root
	foreign  bool       // it runs on another machine
	moved    bool       // its directory is not known
	dir      *value.Arg // its directory, if it is another one
	empty    bool       // its environment is empty at first
	unset    *value.Arg // a variable that it does not get
	assigns  []Assign   // variables that it gets
}

// carriedKind says what a command line runs.
type carriedKind uint8

const (
	carriedWords   carriedKind = iota // a command
	carriedText                       // a program among the words
	carriedInput                      // a program on standard input
	carriedFile                       // a program in a file
	carriedSession                    // whatever is typed
	carriedName                       // nothing: it prints the name of a program
)

// line gathers what a command line runs, at the same place.
type line struct {
	at   carried
	list []carried
}

func (l *line) add(r carried) {
	at := l.at
	at.kind, at.via, at.args, at.text, at.lang = r.kind, r.via, r.args, r.text, r.lang
	at.given, at.unsure = r.given, r.unsure
	at.moved, at.foreign = at.moved || r.moved, at.foreign || r.foreign
	at.socket, at.elevated = at.socket || r.socket, at.elevated || r.elevated
	l.list = append(l.list, at)
}

func (l *line) words(args []value.Arg, via string) { l.add(carried{args: args, via: via}) }

func (l *line) shell(text value.Value, via string) {
	l.add(carried{kind: carriedText, lang: "sh", text: text, via: via})
}

func (l *line) input(via string) { l.add(carried{kind: carriedInput, lang: "sh", via: via}) }
