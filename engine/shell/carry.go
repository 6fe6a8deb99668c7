package shell

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// carry walks what a carrier runs: in a process of its own, but for what runs builtins of this shell.
func (w *walker) carry(inv *invocation, name string, c carrier) {
	if name == "builtin" && w.ctx.st.sh { // no command of some shells
		after := w.branch(w.ctx.st, func() { w.carried(inv, name, c) })
		w.settle(w.merge(w.ctx.st, after))
	} else if c.special == commandLine || name == "builtin" {
		w.carried(inv, name, c)
	} else {
		w.subshell(func() { w.carried(inv, name, c) })
	}
}

func (w *walker) carried(inv *invocation, name string, c carrier) {
	change := w.change(c)
	args := inv.args[1:]
	switch c.special {
	case plain, envLine, sudoLine, suLine, commandLine, scriptLine, flockLine:
		w.carryWords(inv, name, c, args, change)
	case xargsLine:
		w.xargs(inv, name, c)
	case parallelLine:
		w.parallel(inv, name, c)
	case findLine:
		w.find(inv, name)
		w.changesFiles(inv, name)
	case sshLine:
		w.ssh(inv, name, c)
	case containerLine:
		w.container(inv, name, args)
	case kubectlLine:
		w.afterDashes(inv, name, args)
	case gitLine:
		w.git(inv, args)
		if slices.ContainsFunc(args, func(a value.Arg) bool { return gitWrites[a.Text] || a.Certainty != value.Exact }) {
			w.changesFiles(inv, name)
		}
	case appletLine:
		w.applet(inv, name, args)
	case stdinLine:
		w.readsCommands(inv, name, c, args)
	case socatLine:
		w.socat(inv, args)
	case netcatLine:
		w.netcat(inv, name, args)
	case entrLine:
		w.entr(inv, args)
	case ipLine:
		w.ipNetns(inv, args)
	}
	w.printUnknown(inv)
}

// gitWrites are the subcommands of git that change files of the work tree.
var gitWrites = nameSet("apply am checkout switch restore pull merge rebase stash reset clone cherry-pick" +
	" revert read-tree checkout-index submodule worktree mv archive format-patch")

// change returns what the carrier does to the context of its command.
func (w *walker) change(c carrier) func(*context) {
	return func(x *context) {
		x.elevated = x.elevated || c.elevated
		x.background = x.background || c.behind
		if !c.away && !c.elevated {
			return
		}
		x.st = w.spawn(x.st)
		if c.away {
			x.st.place(Dir{})
			x.st.old = Dir{}
		}
		x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
	}
}

// environment returns change with the variables that env, or sudo, sets for its command.
func (w *walker) environment(change func(*context), options map[string]value.Arg, assigns []Assign) func(*context) {
	_, empty := option(options, "-i", "--ignore-environment")
	gone, unsets := option(options, "-u", "--unset")
	if !empty && !unsets && len(assigns) == 0 {
		return change
	}
	return func(x *context) {
		change(x)
		x.st = w.spawn(x.st)
		if empty {
			x.st.base, x.st.whole, x.st.vars = nil, false, map[string]variable{}
		}
		if unsets {
			x.st.vars[gone.Text] = variable{unset: true}
		}
		for _, a := range assigns {
			x.st.vars[a.Name] = variable{val: a.Value.Value(), exported: true}
		}
	}
}

// carryWords handles carriers whose command stands behind options and operands.
func (w *walker) carryWords(inv *invocation, name string, c carrier, args []value.Arg, change func(*context)) {
	via := name
	if len(c.verbs)+len(c.others) > 0 {
		var verb string
		if verb, args = c.behindVerb(args); args == nil {
			return
		}
		via = strings.TrimSpace(name + " " + verb)
	}
	options, rest := getopt(args, c.short, c.long)
	switch c.special {
	case envLine:
		if a, ok := option(options, "-C", "--chdir"); ok {
			change = w.movesTo(a, change)
		}
		if a, ok := option(options, "-S", "--split-string"); ok {
			if text, ok := a.Val.Exact(); !ok || strings.ContainsAny(text, "\\$'\"#`;&|<>()*?[~{\n") {
				w.mark(inv.idx, MarkDynamicCode) // it has a syntax of its own
			}
			w.runText(inv, Code{Language: "bash", From: CodeArgument}, append(a.Val, value.Quote(rest)...), "env -S", change)
			return
		}
	case suLine:
		w.su(inv, name, options, rest, change)
		return
	case sudoLine:
		if w.sudo(inv, name, options, rest, change) {
			return
		}
	case commandLine:
		if _, ok := options["-v"]; ok {
			if v, found := value.Located(rest); found {
				w.ctx.out.text = v.With(false, []int{inv.idx})
			}
			return
		}
		if _, ok := options["-V"]; ok {
			return
		}
	case scriptLine:
		w.typescript(inv, name, args, rest, options, change)
		w.touchNamed(inv, true)
		return
	case flockLine:
		if len(rest) == 0 {
			return
		}
		rest = rest[1:]
		if len(rest) > 1 && (rest[0].Text == "-c" || rest[0].Text == "--command") {
			w.runText(inv, Code{Language: "sh", From: CodeArgument}, rest[1].Val, "flock -c", change)
			return
		}
	}
	for _, o := range c.code {
		if a, ok := options[o]; ok {
			w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, via+" "+o, change)
		}
	}
	if len(c.after) > 0 {
		rest = wordsAfter(args, c.after)
	}
	if c.skip > 0 {
		if len(rest) <= c.skip {
			return
		}
		_, rest = getopt(rest[c.skip:], c.short, c.long)
	}
	w.words(inv, c, options, rest, via, change)
}

// movesTo returns change with the command running in the directory dir.
func (w *walker) movesTo(dir value.Arg, change func(*context)) func(*context) {
	return func(x *context) {
		change(x)
		x.st = w.spawn(x.st)
		to, ok := w.pathOf(dir)
		x.st.place(Dir{Path: to, Known: ok})
	}
}

// behindVerb returns the words behind the verb that runs a command, nil where another verb
// stands. The options in front of it stay.
func (c carrier) behindVerb(args []value.Arg) (string, []value.Arg) {
	_, rest := getopt(args, c.short, c.long)
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

// words runs the command words of a carrier, after the assignments in front of them.
func (w *walker) words(inv *invocation, c carrier, options map[string]value.Arg, rest []value.Arg, via string, change func(*context)) {
	var assigns []Assign
	for c.assigns && len(rest) > 0 {
		name, _, found := strings.Cut(rest[0].Prefix, "=")
		if !found || strings.Contains(name, "/") {
			break
		}
		assigns = append(assigns, Assign{Name: name, Value: rest[0].Cut(len(name)+1, rest[0].Text[len(name)+1:]).Word})
		rest = rest[1:]
	}
	own := &w.commands[inv.idx]
	own.Assigns = append(slices.Clone(own.Assigns), assigns...)
	w.heldVariables(inv, assigns)
	if c.assigns {
		if c.special != envLine {
			options = nil // -u of sudo is a user
		}
		change = w.environment(change, options, assigns)
	}
	if len(rest) == 0 {
		return
	}
	switch {
	case c.prefix != "" && rest[0].Text == c.prefix:
		_, rest = getopt(rest[1:], c.short, c.long)
	case c.versioned:
		rest = withoutVersion(rest)
	case c.script != "" && strings.HasSuffix(rest[0].Text, ".py"):
		rest = slices.Concat([]value.Arg{value.Literal(c.script)}, rest)
	}
	if c.each {
		for _, a := range rest {
			w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, via, change)
		}
		return
	}
	if c.text && len(rest) > 0 {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, value.Join(rest), via, change)
		return
	}
	w.inner(inv, rest, via, change)
}
