package command

import (
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// XargsLine is the command line of xargs.
type XargsLine struct {
	Command  []value.Arg // what it runs
	Replace  bool        // each item takes the place of Mark
	Mark     value.Arg
	Reads    bool // the items are in File, and the command has the standard input of xargs
	File     value.Arg
	Terminal bool   // the command reads of the terminal
	Known    bool   // it is known how the input is split
	Split    string // what ends an item; "" for blanks, or lines if it replaces
	Each     int    // at most so many items go to one command; 0 for all, -1 for a number that is not known
}

// Xargs reports a carrier whose command gets words of its input, as xargs does.
func (c Carrier) Xargs() bool { return c.Shape == "xargs" }

// Parallel reports a carrier that runs its command once for each of its arguments.
func (c Carrier) Parallel() bool { return c.Shape == "parallel" }

// ReadXargs reads the words behind xargs.
func (c Carrier) ReadXargs(words []value.Arg) XargsLine {
	args, clear := longOptions(words, c.options.Names())
	options, rest := c.getopt(args)
	if len(rest) == 0 {
		rest = []value.Arg{value.Literal("echo")}
	}
	l := XargsLine{Command: rest}
	l.Mark, l.Replace = Option(options, "-I", "--replace")
	if i, ok := options["-i"]; ok {
		l.Mark, l.Replace = i, true
	}
	if l.Replace && l.Mark.Text == "" {
		l.Mark = value.Literal("{}")
	}
	l.File, l.Reads = Option(options, "-a", "--arg-file")
	_, l.Terminal = Option(options, "-o", "--open-tty")
	_, null := Option(options, "-0", "--null")
	d, delimiter := Option(options, "-d", "--delimiter")
	_, eof := Option(options, "-E", "-e", "--eof")
	l.Known = !eof && clear
	if null {
		l.Split = "\x00"
	} else if delimiter {
		l.Split, l.Known = value.Unescape(d.Text, false)
	}
	n, each := Option(options, "-n", "--max-args")
	size, err := strconv.Atoi(n.Text)
	_, lines := Option(options, "-L", "-l", "--max-lines")
	switch {
	case lines || each && (err != nil || size < 1):
		l.Each = -1
	case each:
		l.Each = size
	}
	return l
}

// ParallelLine is the command line of parallel.
type ParallelLine struct {
	Command, Items []value.Arg // the items stand behind :::
	Quoted         bool        // a shell gets the words of the command as they are
	Lines          bool        // the items are the lines of standard input
}

// ReadParallel reads the words behind parallel.
func (c Carrier) ReadParallel(words []value.Arg) ParallelLine {
	options, rest := c.getopt(words)
	l := ParallelLine{Command: rest}
	_, l.Quoted = Option(options, "-q", "--quote")
	for i, a := range rest {
		if !strings.HasPrefix(a.Text, ":::") {
			continue
		}
		if a.Text == ":::" || a.Text == ":::+" {
			l.Items = rest[i+1:]
		}
		l.Command = rest[:i]
		return l
	}
	harmless := 0
	for _, name := range []string{"-q", "--quote", "-j", "--jobs"} {
		if _, ok := options[name]; ok {
			harmless++
		}
	}
	l.Lines = len(options) == harmless
	return l
}
