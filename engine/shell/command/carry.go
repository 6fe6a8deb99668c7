package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Runs returns what a carrier of that name runs when it gets args. Those of xargs and parallel depend on their
// input: ReadXargs and ReadParallel read their command lines.
func (c Carrier) Runs(name string, args []value.Arg, step value.Meter) []Run {
	l := &line{}
	switch c.special {
	case plain, envLine, sudoLine, suLine, commandLine, scriptLine, flockLine:
		l.at = c.place()
		l.carryWords(name, c, args)
	case findLine:
		l.find(name, args, step)
	case sshLine:
		l.ssh(name, c, args)
	case containerLine:
		l.container(name, args)
	case kubectlLine:
		l.afterDashes(name, args)
	case gitLine:
		l.git(args)
	case appletLine:
		l.applet(name, args)
	case stdinLine:
		l.readsCommands(name, c, args)
	case socatLine:
		l.socat(args)
	case netcatLine:
		l.netcat(name, args)
	case entrLine:
		l.entr(args, step)
	case ipLine:
		l.ipNetns(args)
	}
	return l.list
}

// place is where a carrier runs its command.
func (c Carrier) place() Run {
	return Run{Elevated: c.elevated, Behind: c.behind, Away: c.away, Bare: c.elevated}
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
	switch c.special {
	case findLine:
		return ChangesFiles
	case gitLine:
		if slices.ContainsFunc(args, func(a value.Arg) bool { return gitWrites[a.Text] || a.Certainty != value.Exact }) {
			return ChangesFiles
		}
	case scriptLine:
		return ChangesNamed
	}
	return ChangesNothing
}

// gitWrites are the subcommands of git that change files of the work tree.
var gitWrites = Names("apply am checkout switch restore pull merge rebase stash reset clone cherry-pick" +
	" revert read-tree checkout-index submodule worktree mv archive format-patch")

// carryWords handles carriers whose command stands behind options and operands.
func (l *line) carryWords(name string, c Carrier, args []value.Arg) {
	via := name
	if len(c.verbs)+len(c.others) > 0 {
		var verb string
		if verb, args = c.behindVerb(args); args == nil {
			return
		}
		via = strings.TrimSpace(name + " " + verb)
	}
	options, rest := Getopt(args, c.short, c.long)
	switch c.special {
	case envLine:
		if a, ok := Option(options, "-C", "--chdir"); ok {
			l.at.Dir = &a
		}
		if a, ok := Option(options, "-S", "--split-string"); ok {
			text, ok := a.Val.Exact()
			unsure := !ok || strings.ContainsAny(text, "\\$'\"#`;&|<>()*?[~{\n") // it has a syntax of its own
			l.add(Run{Kind: Text, Lang: "bash", Text: slices.Concat(a.Val, value.Quote(rest)), Via: "env -S", Unsure: unsure})
			return
		}
	case suLine:
		l.su(name, options, rest)
		return
	case sudoLine:
		if l.sudo(name, options, rest) {
			return
		}
	case commandLine:
		if _, ok := options["-v"]; ok {
			if v, found := value.Located(rest); found {
				l.add(Run{Kind: Name, Text: v})
			}
			return
		}
		if _, ok := options["-V"]; ok {
			return
		}
	case scriptLine:
		l.typescript(name, args, rest, options)
		return
	case flockLine:
		if len(rest) == 0 {
			return
		}
		rest = rest[1:]
		if len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
			l.shell(rest[1].Val, "flock -c")
			return
		}
	}
	for _, o := range c.code {
		if a, ok := options[o]; ok {
			l.shell(a.Val, via+" "+o)
		}
	}
	if len(c.after) > 0 {
		rest = wordsAfter(args, c.after)
	}
	if c.skip > 0 {
		if len(rest) <= c.skip {
			return
		}
		_, rest = Getopt(rest[c.skip:], c.short, c.long)
	}
	l.command(c, options, rest, via)
}

// behindVerb returns the words behind the verb that runs a command, nil where another verb
// stands. The options in front of it stay.
func (c Carrier) behindVerb(args []value.Arg) (string, []value.Arg) {
	_, rest := Getopt(args, c.short, c.long)
	if len(rest) == 0 {
		return "", nil
	}
	for _, v := range c.verbs {
		parts := strings.Fields(v)
		if len(rest) >= len(parts) && slices.EqualFunc(parts, rest[:len(parts)], func(p string, a value.Arg) bool { return a.Text == p }) {
			return v, append([]value.Arg{}, rest[len(parts):]...)
		}
	}
	if c.others != "" && rest[0].Certainty == value.Exact && !slices.Contains(strings.Fields(c.others), rest[0].Text) {
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
	for c.assigns && len(rest) > 0 {
		name, _, found := strings.Cut(rest[0].Prefix, "=")
		if !found || strings.Contains(name, "/") {
			break
		}
		l.at.Assigns = append(l.at.Assigns, value.Assign{Name: name, Value: rest[0].Cut(len(name)+1, rest[0].Text[len(name)+1:]).Word})
		rest = rest[1:]
	}
	if c.special == envLine { // -u of sudo is a user
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
	case c.prefix != "" && rest[0].Text == c.prefix:
		_, rest = Getopt(rest[1:], c.short, c.long)
	case c.versioned:
		rest = withoutVersion(rest)
	case c.script != "" && strings.HasSuffix(rest[0].Text, ".py"):
		rest = slices.Concat([]value.Arg{value.Literal(c.script)}, rest)
	}
	if c.each {
		for _, a := range rest {
			l.shell(a.Val, via)
		}
		return
	}
	if c.text && len(rest) > 0 {
		l.shell(value.Join(rest), via)
		return
	}
	l.words(rest, via)
}
