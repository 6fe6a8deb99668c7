package inline

import (
	"slices"
	"strings"
)

// command reports text or an argv that is run.
func (s *plainScan) command(c Call) {
	if s.runs < 0 {
		s.runs = c.Offset
	}
	if words, ok := exactWords(c.Args); c.Kind == Exec && ok && interactive(words) {
		c.Kind = Spawn
	}
	s.add(c)
}

// report notes the effect of a call of name.
func (s *plainScan) report(name string, r rule, args []literalArg, pos int) {
	c := Call{Kind: r.kind, Name: name, Recursive: r.tree, Offset: pos}
	switch r.role {
	case commands, starts:
		s.runCommand(c, r, args)
	case openings:
		s.openFile(c, args)
	case programs:
		if len(args) > 1 {
			args = slices.Delete(slices.Clone(args), 1, 2)
		}
		if n := len(args); n > 1 && (args[n-1].Text == "0" || args[n-1].raw == "NULL") {
			args = args[:n-1]
		}
		s.runCommand(c, r, args)
	case copying:
		from := c
		from.Kind = Read
		s.touch(from, rule{kind: Read}, args)
		s.touch(c, rule{kind: Write, at: 1}, args)
	case evaluates, loads:
		if r.role == loads && len(args) > 0 && args[0].Exact && isPath(args[0].Text) {
			s.add(Call{Kind: Read, Name: name, Args: []Arg{args[0].Arg}, Offset: pos})
			s.add(Call{Kind: Decode, Name: name, Offset: pos})
		}
		if len(args) == 0 || !args[0].Exact && !s.plainCode(name, args[0].raw, pos) { // a literal has been read as text here
			s.add(c)
		}
	case hides:
		s.add(c)
	case copies:
		if endless(s.src, c.Offset) {
			c.Kind = ForkBomb
		}
		s.add(c)
	case socket:
		s.socket = true
		fallthrough
	default:
		s.touch(c, r, args)
	}
}

// isPath reports the name of a file, not of a package.
func isPath(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// plainCode reports code that stands in this text, or in a file of the project.
func (s *plainScan) plainCode(name, raw string, pos int) bool {
	behind := strings.TrimLeft(s.src[min(pos+len(name), len(s.src)):], " (")
	for _, start := range []string{"{", "function", "fn", "static fn", "do |", "do\n"} {
		if strings.HasPrefix(behind, start) {
			return true
		}
	}
	return name == "require" && (strings.HasPrefix(raw, "path.") || strings.HasPrefix(raw, "__dirname") || strings.HasPrefix(raw, "`${__dirname"))
}

// runCommand reports a command.
func (s *plainScan) runCommand(c Call, r rule, args []literalArg) {
	args = args[min(r.at, len(args)):]
	inShell := r.role == commands && len(args) < 2
	for len(args) > 0 && args[len(args)-1].options() && !strings.Contains(args[len(args)-1].raw, "args") {
		inShell = inShell || r.role == commands || strings.Contains(args[len(args)-1].raw, "shell")
		args = args[:len(args)-1]
	}
	if len(args) == 0 {
		args = []literalArg{{}}
	}
	for _, a := range args {
		c.Args = append(c.Args, a.Arg)
	}
	switch c.Kind = Exec; {
	case inShell && len(args) > 1: // one text, made of all of them
		c.Kind, c.Args = Shell, []Arg{{Text: args[0].Text}}
	case inShell:
		c.Kind = Shell
	}
	s.command(c)
}

// openFile reports a file that is opened, in one of the ways "name", mode or handle, mode, name or handle, ">name".
func (s *plainScan) openFile(c Call, args []literalArg) {
	name, mode := Arg{}, ""
	known := false
	for _, a := range args {
		switch trimmed := strings.TrimSpace(a.Text); {
		case !a.literal:
		case strings.ContainsAny(trimmed, "|"):
			s.command(Call{Kind: Shell, Name: c.Name, Args: []Arg{{Text: strings.Trim(trimmed, "|- "), Exact: a.Exact && strings.Trim(trimmed, "|- ") != ""}}, Offset: c.Offset})
			return
		case strings.Trim(trimmed, "<>+") == "" && trimmed != "" || known && isMode(trimmed):
			mode = trimmed
		case !known:
			name, known = a.Arg, true
			rest := strings.TrimLeft(trimmed, "<>+ ")
			if rest != trimmed {
				mode, name.Text = trimmed[:len(trimmed)-len(rest)], rest
			}
		}
	}
	switch {
	case strings.Contains(mode, ">>") || strings.HasPrefix(mode, "a"):
		c.Kind = Append
	case mode == "" || strings.HasPrefix(mode, "r") && !strings.Contains(mode, "+") || strings.HasPrefix(mode, "<"):
		c.Kind = Read
	}
	if strings.Contains(name.Text, "://") {
		c.Kind = Network
	}
	c.Args = []Arg{name}
	s.add(c)
}

// isMode reports a mode of fopen and its like.
func isMode(text string) bool {
	return text != "" && len(text) <= 3 && strings.IndexByte("rwax", text[0]) >= 0 && strings.Trim(text[1:], "bt+") == ""
}

// touch reports an access to the files that the arguments name.
func (s *plainScan) touch(c Call, r rule, args []literalArg) {
	digits := func(a Arg) bool { return a.Exact && a.Text != "" && strings.Trim(a.Text, "0123456789") == "" }
	for i, a := range args[min(r.at, len(args)):] {
		if strings.HasPrefix(a.Text, "~") && a.Exact && !s.tilde {
			a.Text = "./" + a.Text
		}
		if !a.options() && !a.keyword() && (r.all || i == 0) && !(c.Kind == Chown && digits(a.Arg)) {
			c.Args = append(c.Args, a.Arg)
		}
	}
	if len(c.Args) == 0 && c.Kind != Env && c.Kind != Socket {
		c.Args = []Arg{{}}
	}
	switch c.Kind {
	case Chmod:
		c.Mode, c.Args = modeAmong(c.Args)
	case Signal: // kill(SIGNAL, processes) or kill(process, SIGNAL)
		if r.at > 0 {
			c.Mode = args[0].Text
		} else if len(c.Args) > 1 {
			c.Mode, c.Args = c.Args[len(c.Args)-1].Text, c.Args[:len(c.Args)-1]
		}
	case Delete:
		c.Recursive = c.Recursive || slices.ContainsFunc(args, func(a literalArg) bool { return strings.Contains(a.raw, "recursive") })
	case Read, Write, Append:
		if strings.Contains(c.Args[0].Text, "://") {
			c.Kind = map[bool]Kind{true: Network, false: Upload}[c.Kind == Read]
		}
	case Socket, Listen, Network, Upload:
		if file, ok := s.socketFile(c, args); ok {
			c.Args = []Arg{file}
			if c.Kind = Read; r.kind == Listen {
				c.Kind = Write
			}
			break
		}
		if len(c.Args) == 0 || !c.Args[0].Exact {
			if c.Kind == Socket {
				c.Args = nil
			}
			break
		}
		switch {
		case digits(c.Args[0]) && c.Kind == Listen:
			c.Args[0].Text = ":" + c.Args[0].Text
		case digits(c.Args[0]):
			c.Args = nil
			s.add(c)
			return
		case c.Kind == Socket:
			c.Kind = Network
		}
		if len(args) > r.at+1 && digits(args[r.at+1].Arg) {
			c.Args[0].Text += ":" + args[r.at+1].Text
		}
	}
	s.add(c)
}

// socketFile finds a socket of the file system among the arguments of a call, or in an object of options.
func (s *plainScan) socketFile(c Call, args []literalArg) (Arg, bool) {
	keys := []string{"socketPath"}
	if c.Kind == Socket || c.Kind == Listen {
		keys = append(keys, "path")
	}
	for _, a := range args {
		text, unix := strings.CutPrefix(a.Text, "unix:")
		plain := strings.HasPrefix(text, "/") && (c.Kind == Socket || c.Kind == Listen || c.Name == "net.Dial")
		if a.literal && (unix || plain) {
			a.Text = strings.TrimPrefix(text, "//")
			return a.Arg, true
		}
		for _, key := range keys {
			at := strings.Index(a.raw, key)
			if from := at + len(key); a.options() && at >= 0 {
				if quote := strings.IndexAny(a.raw[from:], s.quote); quote >= 0 && quote < 4 {
					found, _ := (&plainScan{lexicon: s.lexicon, src: a.raw, b: s.b}).literal(from + quote)
					return found, true
				}
			}
		}
	}
	return Arg{}, false
}

// modeAmong takes the mode, which is a number, out of the arguments of chmod.
func modeAmong(args []Arg) (string, []Arg) {
	if len(args) < 2 {
		return "", args
	}
	for _, at := range []int{0, len(args) - 1} {
		if text := args[at].Text; args[at].Exact && text != "" && strings.Trim(text, "01234567") == "" {
			return strings.TrimPrefix(text, "0"), append(append([]Arg{}, args[:at]...), args[at+1:]...)
		}
	}
	return "", args
}

// endless reports a loop around the place pos that may have no end: one that begins in front of it, or right behind
// it. A text with a word that leaves a loop or waits in it has none.
func endless(src string, pos int) bool {
	near := src[:min(len(src), pos+24)]
	has := func(word string) bool { return strings.Contains(near, word) }
	return slices.ContainsFunc(strings.Fields("while loop until for(;;) itertools.count iter(int"), has) &&
		!slices.ContainsFunc(strings.Fields("wait accept break last return exit"), func(word string) bool { return strings.Contains(src, word) })
}
