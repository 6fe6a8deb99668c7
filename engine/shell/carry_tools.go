package shell

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sudo handles what sudo does without a command behind it, and reports whether that is all.
func (w *walker) sudo(inv *invocation, name string, options map[string]value.Arg, rest []value.Arg, change func(*context)) bool {
	if _, ok := option(options, "-e", "--edit"); ok {
		return true
	}
	if _, ok := option(options, "-i", "-s", "--login", "--shell"); !ok {
		return false
	}
	if len(rest) == 0 {
		w.stdinProgram(inv, "sh", name, change)
	} else {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, value.Join(rest), "sudo -s", change)
	}
	return true
}

// typescript handles script(1), in the forms of util-linux and of BSD.
func (w *walker) typescript(inv *invocation, name string, args, rest []value.Arg, options map[string]value.Arg, change func(*context)) {
	for i, a := range rest { // options may follow the file
		if (a.Text == "-c" || a.Text == "--command") && i+1 < len(rest) {
			options["-c"] = rest[i+1]
		}
	}
	if a, ok := option(options, "-c", "--command"); ok {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, "script -c", change)
	} else if i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "--" }); i >= 0 && i+1 < len(args) {
		w.inner(inv, args[i+1:], name, change)
	} else if len(rest) < 2 || !strings.HasPrefix(args[0].Text, "-q") {
		w.session(inv, "sh")
	} else {
		w.inner(inv, rest[1:], name, change) // BSD: script -q FILE COMMAND
	}
}

// su handles su, runuser and sg, where -c gives text and the user may come first.
func (w *walker) su(inv *invocation, name string, options map[string]value.Arg, rest []value.Arg, change func(*context)) {
	code, ok := option(options, "-c", "--command", "--session-command")
	for i := 0; i < len(rest) && !ok; i++ {
		if rest[i].Text == "-c" && i+1 < len(rest) {
			code, ok = rest[i+1], true
		}
	}
	if ok {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, code.Val, name+" -c", change)
		return
	}
	if _, user := option(options, "-u", "--user"); user && len(rest) > 0 {
		w.inner(inv, rest, name, change)
		return
	}
	if name == "sg" && len(rest) > 1 {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, value.Join(rest[1:]), name, change)
		return
	}
	w.stdinProgram(inv, "sh", name, change)
}

// ssh runs its words, joined, on another machine.
func (w *walker) ssh(inv *invocation, name string, c carrier) {
	options, rest := getopt(inv.args[1:], c.short, nil)
	for _, a := range inv.args[1:] { // any of several -o
		for _, key := range []string{"ProxyCommand=", "LocalCommand="} {
			if i := strings.Index(a.Text, key); i >= 0 {
				w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val.After(i+len(key)), name+" -o "+strings.TrimSuffix(key, "="), nil)
			}
		}
	}
	if o, ok := options["-o"]; ok && strings.HasPrefix(o.Text, "ProxyCommand ") {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, o.Val.After(len("ProxyCommand ")), name+" -o ProxyCommand", nil)
	}
	if len(rest) == 0 {
		return
	}
	host, rest := rest[0], rest[1:]
	via := name + " " + host.Text
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	away := func(x *context) {
		x.st = w.foreign()
	}
	_, more := getopt(rest, c.short, nil) // options may follow the host
	if len(more) == 0 {
		if _, forward := option(options, "-N", "-f"); !forward && w.stdin() != nil {
			w.stdinProgram(inv, "sh", via, away)
		}
		return
	}
	w.runText(inv, Code{Language: "sh", From: CodeArgument}, value.Join(more), via, away)
}

// foreign is the state on another machine: nothing is known there.
func (w *walker) foreign() *state {
	st := w.child("sh")
	st.base, st.whole, st.vars = nil, false, map[string]variable{}
	st.place(Dir{})
	st.old, st.stack = Dir{}, nil
	st.disk = newDisk()
	st.removed = true
	return st
}

// applet runs busybox APPLET.
func (w *walker) applet(inv *invocation, name string, args []value.Arg) {
	if len(args) > 0 && !strings.HasPrefix(args[0].Text, "--") {
		w.inner(inv, args, name, nil)
	}
}

// ipNetns handles ip netns exec NAME COMMAND.
func (w *walker) ipNetns(inv *invocation, args []value.Arg) {
	i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "exec" })
	if i < 1 || i+2 >= len(args) || args[i-1].Text != "netns" && args[i-1].Text != "vrf" {
		return
	}
	w.inner(inv, args[i+2:], "ip netns exec", func(x *context) { x.elevated = true })
}
