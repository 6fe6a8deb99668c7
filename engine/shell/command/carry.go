package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Runs returns what a carrier of that name runs when it gets args. Those of xargs and parallel depend on their
// input: ReadXargs and ReadParallel read their command lines.
func (c Carrier) Runs(name string, args []value.Arg, step value.Meter) []Run {
	l := &line{}
	switch c.Shape {
	case "", "chdir", "env", "sudo", "su", "command", "script", "flock":
		l.at = c.place()
		l.carryWords(name, c, args)
	case "find":
		l.find(name, args, step)
	case "ssh":
		l.ssh(name, c, args)
	case "container":
		l.container(name, args, c.Images)
	case "kubectl":
		l.afterDashes(name, args)
	case "git":
		l.git(args)
	case "applet":
		l.applet(name, args)
	case "stdin":
		l.readsCommands(name, c, args)
	case "socat":
		l.socat(args)
	case "netcat":
		l.netcat(name, args)
	case "entr":
		l.entr(args, step)
	case "ip":
		l.ipNetns(args)
	}
	return l.list
}

// place is where a carrier runs its command.
func (c Carrier) place() Run {
	return Run{Elevated: c.Elevated, Behind: c.Background, Away: c.Away, Bare: c.Elevated}
}

// Effect says which files a carrier itself may change, beside what it runs.
type Effect uint8

const (
	ChangesNothing Effect = iota
	ChangesNamed          // those that its words name
	ChangesFiles          // any, below its directory or the places that its words name
)

// Effect returns what c does to files when it gets args.
func (c Carrier) Effect(args []value.Arg) Effect {
	switch c.Shape {
	case "find":
		return ChangesFiles
	case "git":
		if slices.ContainsFunc(args, func(a value.Arg) bool { return commands.Listed("git-writes", a.Text) || a.Certainty != value.Exact }) {
			return ChangesFiles
		}
	case "script":
		return ChangesNamed
	}
	return ChangesNothing
}

// carryWords handles carriers whose command stands behind options and operands.
func (l *line) carryWords(name string, c Carrier, args []value.Arg) {
	via := name
	if len(c.Verbs)+len(c.Others) > 0 {
		var verb string
		if verb, args = c.behindVerb(args); args == nil {
			return
		}
		via = strings.TrimSpace(name + " " + verb)
	}
	options, rest := c.getopt(args)
	switch c.Shape {
	case "env":
		if len(rest) > 0 && rest[0].Text == "-" { // as -i
			rest, options["-i"] = rest[1:], value.Arg{}
		}
		if a, ok := Option(options, "-C", "--chdir"); ok {
			l.at.Dir = &a
		}
		if a, ok := Option(options, "-S", "--split-string"); ok {
			text, ok := a.Val.Exact()
			unsure := !ok || strings.ContainsAny(text, "\\$'\"#`;&|<>()*?[~{\n") // it has a syntax of its own
			l.add(Run{Kind: Text, Lang: "bash", Text: slices.Concat(a.Val, value.Quote(rest)), Via: "env -S", Unsure: unsure})
			return
		}
	case "chdir":
		if len(rest) > 0 {
			l.at.Dir = &rest[0]
		}
	case "su":
		if name != "sg" || !searches(args) {
			l.su(name, options, rest)
		}
		return
	case "sudo":
		if l.sudo(name, options, rest) {
			return
		}
	case "command":
		if _, ok := options["-v"]; ok {
			if v, found := value.Located(rest); found {
				l.add(Run{Kind: Name, Text: v})
			}
			return
		}
		if _, ok := options["-V"]; ok {
			return
		}
	case "script":
		l.typescript(name, args, rest, options)
		return
	case "flock":
		if len(rest) == 0 {
			return
		}
		rest = rest[1:]
		if len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
			l.shell(rest[1].Val, "flock -c")
			return
		}
	}
	for _, o := range c.options.Options("code") {
		if a, ok := options[o]; ok {
			l.shell(a.Val, via+" "+o)
		}
	}
	if len(c.Behind) > 0 {
		rest = wordsAfter(args, c.Behind)
	}
	if c.Skip > 0 {
		if len(rest) <= c.Skip {
			return
		}
		_, rest = c.getopt(rest[c.Skip:])
	}
	l.command(c, options, rest, via)
}

// behindVerb returns the words behind the verb that runs a command, nil where another verb
// stands. The options in front of it stay.
func (c Carrier) behindVerb(args []value.Arg) (string, []value.Arg) {
	_, rest := c.getopt(args)
	if len(rest) == 0 {
		return "", nil
	}
	for _, v := range c.Verbs {
		parts := strings.Fields(v)
		if len(rest) >= len(parts) && slices.EqualFunc(parts, rest[:len(parts)], func(p string, a value.Arg) bool { return a.Text == p }) {
			return v, append([]value.Arg{}, rest[len(parts):]...)
		}
	}
	if len(c.Others) > 0 && rest[0].Certainty == value.Exact && !slices.Contains(c.Others, rest[0].Text) {
		return "", rest
	}
	return "", nil
}

// wordsAfter returns what stands behind the first of these words.
func wordsAfter(args []value.Arg, marks []string) []value.Arg {
	i := slices.IndexFunc(args, func(a value.Arg) bool { return slices.Contains(marks, a.Text) })
	if i < 0 {
		return nil
	}
	return args[i+1:]
}

// withoutVersion takes the version off the package in front: rimraf@5, @scope/tool@latest.
func withoutVersion(args []value.Arg) []value.Arg {
	at := strings.LastIndexByte(args[0].Text, '@')
	if at <= 0 || args[0].Certainty != value.Exact {
		return args
	}
	return slices.Concat([]value.Arg{value.Literal(args[0].Text[:at])}, args[1:])
}

// command adds the command words of a Carrier, after the assignments in front of them.
func (l *line) command(c Carrier, options map[string]value.Arg, rest []value.Arg, via string) {
	for c.Assignments && len(rest) > 0 {
		name, _, found := strings.Cut(rest[0].Prefix, "=")
		if !found || strings.Contains(name, "/") {
			break
		}
		l.at.Assigns = append(l.at.Assigns, value.Assign{Name: name, Value: rest[0].Cut(len(name)+1, rest[0].Text[len(name)+1:]).Word})
		rest = rest[1:]
	}
	if c.Shape == "env" { // -u of sudo is a user
		_, l.at.Empty = Option(options, "-i", "--ignore-environment")
		if a, ok := Option(options, "-u", "--unset"); ok {
			l.at.Unset = &a
		}
	}
	if len(rest) == 0 {
		l.words(nil, via)
		return
	}
	switch {
	case c.Prefix != "" && rest[0].Text == c.Prefix:
		_, rest = c.getopt(rest[1:])
	case c.Versioned:
		rest = withoutVersion(rest)
	case c.Script != "" && strings.HasSuffix(rest[0].Text, ".py"):
		rest = slices.Concat([]value.Arg{value.Literal(c.Script)}, rest)
	}
	if c.Each {
		for _, a := range rest {
			l.shell(a.Val, via)
		}
		return
	}
	if c.Joined && len(rest) > 0 {
		l.shell(value.Join(rest), via)
		return
	}
	l.words(rest, via)
}
