package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// containerValues are the options of docker run, exec and compose whose value is the next
// word. An option that is missing here would be taken for a flag and its value for the
// image, so the list follows the manual and not what is common.
const containerValues = " -a -c -e -h -l -m -p -u -v -w -f -H --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns" +
	" --cidfile --cpu-period --cpu-quota --cpu-shares --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --dns --dns-option --dns-search" +
	" --domainname --entrypoint --env --env-file --expose --gpus --group-add --health-cmd --health-interval --hostname --index --ip --ipc --label" +
	" --label-file --link --log-driver --log-opt --mac-address --memory --memory-swap --mount --name --net --network --network-alias --oom-score-adj" +
	" --pid --pids-limit --platform --pod --project-directory --project-name --profile --publish --pull --restart --runtime --scale --security-opt" +
	" --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume --volume-driver --volumes-from" +
	" --workdir --context --config --host --log-level --file "

// container walks the command of docker run and exec.
func (w *walker) container(inv *invocation, name string, args []value.Arg) {
	verb := ""
	entry := value.Arg{}
	i := 0
	for ; i < len(args); i++ {
		text := args[i].Text
		if strings.HasPrefix(text, "-") {
			option, value, glued := strings.Cut(text, "=")
			if option == "--entrypoint" {
				entry = args[i].Cut(len(option)+1, value)
				if !glued && i+1 < len(args) {
					entry = args[i+1]
				}
			}
			if !glued && takesValue(text) {
				i++
			}
			continue
		}
		if verb == "exec" || verb == "run" || verb == "create" {
			break // the image or the container
		}
		if text != "compose" && text != "container" {
			verb = text
			if verb != "exec" && verb != "run" && verb != "create" {
				return
			}
		}
	}
	command := slices.Clone(args[min(i+1, len(args)):])
	if entry.Text != "" {
		command = slices.Concat([]value.Arg{entry}, command)
	}
	away := func(x *context) { x.st = w.foreign() }
	w.inner(inv, command, name+" "+verb, away)
}

// takesValue reports an option whose value is the next word; of one-letter options run
// together the last one counts.
func takesValue(text string) bool {
	if !strings.HasPrefix(text, "--") && len(text) > 2 {
		text = "-" + text[len(text)-1:]
	}
	return strings.Contains(containerValues, " "+text+" ")
}

// afterDashes walks the command of kubectl exec POD -- COMMAND, which also works without
// the dashes.
func (w *walker) afterDashes(inv *invocation, name string, args []value.Arg) {
	i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "exec" || a.Text == "run" || a.Text == "debug" })
	if i < 0 {
		return
	}
	via := name + " " + args[i].Text
	rest := args[i+1:]
	if d := slices.IndexFunc(rest, func(a value.Arg) bool { return a.Text == "--" }); d >= 0 {
		rest = rest[d+1:]
	} else {
		_, rest = getopt(rest, "cnf", []string{"--container", "--namespace", "--context", "--filename"})
		if len(rest) < 2 || strings.HasPrefix(rest[1].Text, "-") {
			return
		}
		rest = rest[1:]
	}
	w.inner(inv, rest, via, func(x *context) { x.st = w.foreign() })
}

// git walks what git runs on behalf of its own options.
func (w *walker) git(inv *invocation, args []value.Arg) {
	code := Code{Language: "sh", From: CodeArgument}
	for i := 0; i+1 < len(args); i++ {
		if args[i].Text != "-c" {
			continue
		}
		// git -c alias.x='!command'
		if key, value, ok := strings.Cut(args[i+1].Text, "="); ok && strings.HasPrefix(key, "alias.") && strings.HasPrefix(value, "!") {
			w.runText(inv, code, args[i+1].Val.After(len(key)+2), "git alias", nil)
		}
	}
	_, rest := getopt(args, "Cc", []string{"--git-dir", "--work-tree", "--namespace", "--exec-path"})
	if len(rest) < 2 {
		return
	}
	switch rest[0].Text {
	case "bisect":
		if rest[1].Text == "run" {
			w.inner(inv, rest[2:], "git bisect run", nil)
		}
	case "submodule":
		_, more := getopt(rest[1:], "", nil)
		if len(more) > 1 && more[0].Text == "foreach" {
			_, more = getopt(more[1:], "", nil)
			w.runText(inv, code, value.Join(more), "git submodule foreach", func(x *context) {
				st := *x.st
				st.place(Dir{})
				x.st = &st
			})
		}
	case "rebase":
		options, _ := getopt(rest[1:], "xsXC", []string{"--exec", "--onto", "--strategy"})
		if a, ok := option(options, "-x", "--exec"); ok {
			w.runText(inv, code, a.Val, "git rebase --exec", nil)
		}
	case "filter-branch":
		for i, a := range rest[1:] {
			if strings.HasSuffix(a.Text, "-filter") && i+2 < len(rest) {
				w.runText(inv, code, rest[i+2].Val, "git filter-branch", nil)
			}
		}
	}
}

// readsCommands handles programs that take shell text from standard input or from a few of
// their words: at, batch, tmux, vagrant ssh -c.
func (w *walker) readsCommands(inv *invocation, name string, c carrier, args []value.Arg) {
	switch name {
	case "at", "batch":
		options, _ := getopt(args, "fqt", nil)
		_, lists := option(options, "-l", "-d", "-r", "-c")
		if f, ok := options["-f"]; ok {
			w.runFile(inv, "sh", f, nil, false)
		} else if !lists {
			w.stdinProgram(inv, "sh", name, w.change(c))
		}
	case "tmux":
		w.tmux(inv, args)
	case "vagrant":
		if len(args) > 2 && args[0].Text == "ssh" {
			options, _ := getopt(args[1:], "c", []string{"--command"})
			if a, ok := option(options, "-c", "--command"); ok {
				w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, "vagrant ssh -c", func(x *context) { x.st = w.foreign() })
			}
		}
	case "gdb":
		if i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "--args" }); i >= 0 {
			w.inner(inv, args[i+1:], "gdb --args", nil)
		}
	case "expect":
		options, _ := getopt(args, "c", nil)
		if a, ok := options["-c"]; ok {
			w.runInline(inv, Code{Language: "tcl", From: CodeArgument}, a.Val, "expect -c")
		} else if len(args) == 0 {
			w.stdinProgram(inv, "tcl", name, nil)
		}
	}
}

// tmux runs the last word of new-session and its like, and what send-keys types.
func (w *walker) tmux(inv *invocation, args []value.Arg) {
	_, rest := getopt(args, "cfLSTD", nil)
	if len(rest) < 2 {
		return
	}
	code := Code{Language: "sh", From: CodeArgument}
	_, operands := getopt(rest[1:], "cefFnstxyN", nil)
	if len(operands) == 0 {
		return
	}
	switch rest[0].Text {
	case "new", "new-session", "neww", "new-window", "split-window", "splitw", "respawn-pane", "respawn-window", "run-shell", "run", "if-shell", "pipe-pane":
		w.runText(inv, code, value.Join(operands), "tmux "+rest[0].Text, nil)
	case "send-keys", "send":
		keys := slices.DeleteFunc(slices.Clone(operands), func(a value.Arg) bool {
			return a.Text == "Enter" || a.Text == "C-m" || a.Text == "KPEnter"
		})
		if len(keys) < len(operands) && len(keys) > 0 {
			w.runText(inv, code, value.Join(keys), "tmux send-keys", nil)
		}
	}
}

// netcat walks the program behind -e and -c, whose input and output are the connection.
func (w *walker) netcat(inv *invocation, name string, args []value.Arg) {
	options := map[string]value.Arg{}
	for len(args) > 0 { // options may follow the operands
		found, rest := getopt(args, "eciIgGmOopPqsTVwXx", []string{"--exec", "--sh-exec", "--lua-exec", "--source", "--source-port", "--wait", "--proxy"})
		maps.Copy(options, found)
		args = rest[min(1, len(rest)):]
	}
	socket := func(x *context) { x.marks = append(slices.Clone(x.marks), MarkSocketShell) }
	if a, ok := option(options, "-e", "--exec"); ok {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, name+" -e", socket)
	}
	if a, ok := option(options, "-c", "--sh-exec"); ok && a.Text != "" {
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, a.Val, name+" -c", socket)
	}
}

// socat walks EXEC: and SYSTEM: addresses. With a network address on the other side the
// program is driven from there.
func (w *walker) socat(inv *invocation, args []value.Arg) {
	network := slices.ContainsFunc(args, func(a value.Arg) bool {
		kind, _, _ := strings.Cut(strings.ToLower(a.Text), ":")
		return strings.HasPrefix(kind, "tcp") || strings.HasPrefix(kind, "udp") || strings.HasPrefix(kind, "openssl") || strings.HasPrefix(kind, "ssl") || strings.HasPrefix(kind, "sctp")
	})
	for _, a := range args {
		kind, rest, ok := strings.Cut(a.Text, ":")
		upper := strings.ToUpper(kind)
		if !ok || upper != "EXEC" && upper != "SYSTEM" && upper != "SHELL" {
			continue
		}
		text := a.Val.After(len(kind) + 1)
		if a.Certainty == value.Exact {
			rest, _, _ = strings.Cut(rest, ",")
			text = value.Known(strings.Trim(rest, `'"`))
		}
		w.runText(inv, Code{Language: "sh", From: CodeArgument}, text, "socat "+upper, func(x *context) {
			if network {
				x.marks = append(slices.Clone(x.marks), MarkSocketShell)
			}
		})
	}
}
