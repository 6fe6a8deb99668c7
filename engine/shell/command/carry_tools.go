package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sudo handles what sudo does without a command behind it, and reports whether that is all.
func (l *line) sudo(name string, options map[string]value.Arg, rest []value.Arg) bool {
	if _, ok := Option(options, "-e", "--edit"); ok {
		return true
	}
	if _, ok := Option(options, "-i", "-s", "--login", "--shell"); !ok {
		return false
	}
	if len(rest) == 0 {
		l.input(name)
	} else {
		l.shell(value.Join(rest), "sudo -s")
	}
	return true
}

// typescript handles script(1), in the forms of util-linux and of BSD.
func (l *line) typescript(name string, args, rest []value.Arg, options map[string]value.Arg) {
	for i, a := range rest { // options may follow the file
		if (a.Text == "-c" || a.Text == "--command") && i+1 < len(rest) {
			options["-c"] = rest[i+1]
		}
	}
	if a, ok := Option(options, "-c", "--command"); ok {
		l.shell(a.Val, "script -c")
	} else if i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "--" }); i >= 0 && i+1 < len(args) {
		l.words(args[i+1:], name)
	} else if len(rest) < 2 || !strings.HasPrefix(args[0].Text, "-q") {
		l.add(Run{Kind: Session, Lang: "sh"})
	} else {
		l.words(rest[1:], name) // BSD: script -q FILE COMMAND
	}
}

// su handles su, runuser and sg, where -c gives text and the user may come first.
func (l *line) su(name string, options map[string]value.Arg, rest []value.Arg) {
	code, ok := Option(options, "-c", "--command", "--session-command")
	for i := 0; i < len(rest) && !ok; i++ {
		if rest[i].Text == "-c" && i+1 < len(rest) {
			code, ok = rest[i+1], true
		}
	}
	if ok {
		l.shell(code.Val, name+" -c")
		return
	}
	if _, user := Option(options, "-u", "--user"); user && len(rest) > 0 {
		l.words(rest, name)
		return
	}
	if name == "sg" && len(rest) > 1 {
		l.shell(value.Join(rest[1:]), name)
		return
	}
	l.input(name)
}

// searches reports the words of the other sg, that of ast-grep.
func searches(args []value.Arg) bool {
	line := Start{Args: args}.texts()
	if len(line) == 1 {
		line = append(line, "--") // a verb alone
	}
	return len(args) > 0 && args[0].Certainty == value.Exact &&
		slices.ContainsFunc(commands.Phrases()["ast-grep"], func(p commands.Phrase) bool { return p.Fits(line) })
}

// ssh runs its words, joined, on another machine.
func (l *line) ssh(name string, c Carrier, args []value.Arg) {
	options, rest := c.getopt(args)
	for _, a := range args { // any of several -o
		for _, key := range []string{"ProxyCommand=", "LocalCommand="} {
			if i := strings.Index(a.Text, key); i >= 0 {
				l.shell(a.Val.After(i+len(key)), name+" -o "+strings.TrimSuffix(key, "="))
			}
		}
	}
	if o, ok := options["-o"]; ok && strings.HasPrefix(o.Text, "ProxyCommand ") {
		l.shell(o.Val.After(len("ProxyCommand ")), name+" -o ProxyCommand")
	}
	if len(rest) == 0 {
		return
	}
	host, rest := rest[0], rest[1:]
	via := name + " " + host.Text
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	_, more := c.getopt(rest) // options may follow the host
	if len(more) == 0 {
		if _, forward := Option(options, "-N", "-f"); !forward {
			l.add(Run{Kind: Input, Lang: "sh", Via: via, Given: true, Foreign: true})
		}
		return
	}
	l.add(Run{Kind: Text, Lang: "sh", Text: value.Join(more), Via: via, Foreign: true})
}

// applet runs busybox APPLET.
func (l *line) applet(name string, args []value.Arg) {
	if len(args) == 0 {
		return
	}
	if program, ok := strings.CutPrefix(args[0].Text, "--coreutils-prog="); ok {
		args = slices.Concat([]value.Arg{value.Literal(program)}, args[1:])
	}
	if !strings.HasPrefix(args[0].Text, "--") {
		l.words(args, name)
	}
}

// ipNetns handles ip netns exec NAME COMMAND.
func (l *line) ipNetns(args []value.Arg) {
	i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "exec" })
	if i < 1 || i+2 >= len(args) || args[i-1].Text != "netns" && args[i-1].Text != "vrf" {
		return
	}
	l.add(Run{Args: args[i+2:], Via: "ip netns exec", Elevated: true})
}
