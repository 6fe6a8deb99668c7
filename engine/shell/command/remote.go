package command

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

// container walks the command of docker run and exec: that of --entrypoint, or of an image that is known to
// be a program, with the words behind it.
func (l *line) container(name string, args []value.Arg, images map[string]string) {
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
			if verb == "unshare" {
				l.words(args[i+1:], name+" unshare")
				return
			}
			if verb != "exec" && verb != "run" && verb != "create" {
				return
			}
		}
	}
	command := slices.Clone(args[min(i+1, len(args)):])
	program := programOf(images, args[min(i, len(args)):])
	named := len(command) > 0 && command[0].Text == program
	if entry.Text == "" && verb != "exec" && program != "" && !named {
		entry = value.Literal(program)
	}
	if entry.Text != "" {
		command = slices.Concat([]value.Arg{entry}, command)
	}
	l.add(Run{Args: command, Via: name + " " + verb, Foreign: true})
}

// programOf is the program of the image in front of args, "" for an image that runs the words behind it.
// Copies in other registries count as the image.
func programOf(images map[string]string, args []value.Arg) string {
	if len(args) == 0 {
		return ""
	}
	image, _, _ := strings.Cut(args[0].Text, "@")
	if tag := strings.LastIndexByte(image, ':'); tag > strings.LastIndexByte(image, '/') {
		image = image[:tag]
	}
	for found := true; found; _, image, found = strings.Cut(image, "/") {
		if program := images[image]; program != "" {
			return program
		}
	}
	return ""
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
func (l *line) afterDashes(name string, args []value.Arg) {
	i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "exec" || a.Text == "run" || a.Text == "debug" })
	if i < 0 {
		return
	}
	via := name + " " + args[i].Text
	rest := args[i+1:]
	if d := slices.IndexFunc(rest, func(a value.Arg) bool { return a.Text == "--" }); d >= 0 {
		rest = rest[d+1:]
	} else {
		_, rest = Getopt(rest, "cnf", []string{"--container", "--namespace", "--context", "--filename"})
		if len(rest) < 2 || strings.HasPrefix(rest[1].Text, "-") {
			return
		}
		rest = rest[1:]
	}
	l.add(Run{Args: rest, Via: via, Foreign: true})
}

// git walks what git runs on behalf of its own options.
func (l *line) git(args []value.Arg) {
	for i := 0; i+1 < len(args); i++ {
		if args[i].Text != "-c" {
			continue
		}
		// git -c alias.x='!command'
		if key, value, ok := strings.Cut(args[i+1].Text, "="); ok && strings.HasPrefix(key, "alias.") && strings.HasPrefix(value, "!") {
			l.shell(args[i+1].Val.After(len(key)+2), "git alias")
		}
	}
	_, rest := Getopt(args, "Cc", []string{"--git-dir", "--work-tree", "--namespace", "--exec-path"})
	if len(rest) < 2 {
		return
	}
	switch rest[0].Text {
	case "bisect":
		if rest[1].Text == "run" {
			l.words(rest[2:], "git bisect run")
		}
	case "submodule":
		_, more := Getopt(rest[1:], "", nil)
		if len(more) > 1 && more[0].Text == "foreach" {
			_, more = Getopt(more[1:], "", nil)
			l.add(Run{Kind: Text, Lang: "sh", Text: value.Join(more), Via: "git submodule foreach", Moved: true})
		}
	case "rebase":
		options, _ := Getopt(rest[1:], "xsXC", []string{"--exec", "--onto", "--strategy"})
		if a, ok := Option(options, "-x", "--exec"); ok {
			l.shell(a.Val, "git rebase --exec")
		}
	case "filter-branch":
		for i, a := range rest[1:] {
			if strings.HasSuffix(a.Text, "-filter") && i+2 < len(rest) {
				l.shell(rest[i+2].Val, "git filter-branch")
			}
		}
	}
}

// readsCommands handles programs that take shell text from standard input or from a few of
// their words: at, batch, tmux, vagrant ssh -c.
func (l *line) readsCommands(name string, c Carrier, args []value.Arg) {
	switch name {
	case "at", "batch":
		options, _ := Getopt(args, "fqt", nil)
		_, lists := Option(options, "-l", "-d", "-r", "-c")
		if f, ok := options["-f"]; ok {
			l.add(Run{Kind: File, Lang: "sh", Args: []value.Arg{f}})
		} else if !lists {
			l.at = c.place()
			l.input(name)
		}
	case "tmux", "byobu":
		l.tmux(args)
	case "screen":
		l.screen(c, args)
	case "vagrant":
		if len(args) > 2 && args[0].Text == "ssh" {
			options, _ := Getopt(args[1:], "c", []string{"--command"})
			if a, ok := Option(options, "-c", "--command"); ok {
				l.add(Run{Kind: Text, Lang: "sh", Text: a.Val, Via: "vagrant ssh -c", Foreign: true})
			}
		}
	case "gdb":
		if i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "--args" }); i >= 0 {
			l.words(args[i+1:], "gdb --args")
		}
	case "expect":
		options, _ := Getopt(args, "c", nil)
		if a, ok := options["-c"]; ok {
			l.add(Run{Kind: Text, Lang: "tcl", Text: a.Val, Via: "expect -c"})
		} else if len(args) == 0 {
			l.add(Run{Kind: Input, Lang: "tcl", Via: name})
		}
	}
}

// tmux runs the last word of new-session and its like, and what send-keys types.
func (l *line) tmux(args []value.Arg) {
	_, rest := Getopt(args, "cfLSTD", nil)
	if len(rest) < 2 {
		return
	}
	_, operands := Getopt(rest[1:], "cefFnstxyN", nil)
	if len(operands) == 0 {
		return
	}
	switch rest[0].Text {
	case "new", "new-session", "neww", "new-window", "split-window", "splitw", "respawn-pane", "respawn-window", "run-shell", "run", "if-shell", "pipe-pane":
		l.shell(value.Join(operands), "tmux "+rest[0].Text)
	case "send-keys", "send":
		keys := slices.DeleteFunc(slices.Clone(operands), func(a value.Arg) bool {
			return a.Text == "Enter" || a.Text == "C-m" || a.Text == "KPEnter"
		})
		if len(keys) < len(operands) && len(keys) > 0 {
			l.shell(value.Join(keys), "tmux send-keys")
		}
	}
}

// screen runs the words behind its options. Behind -X stands a command of its own: stuff types a text into a
// window, exec starts a program in one, with or without a word of marks (!, .!.) in front, screen opens one.
func (l *line) screen(c Carrier, args []value.Arg) {
	options, rest := c.getopt(args)
	if _, sends := options["-X"]; !sends {
		l.words(rest, "screen")
		return
	}
	if len(rest) < 2 {
		return
	}
	switch via := "screen -X " + rest[0].Text; rest[0].Text {
	case "stuff":
		typed := strings.NewReplacer(`\n`, "\n", "^M", "\n", `\015`, "\n", `\r`, "\n")
		text := value.Join(rest[1:])
		if known, ok := text.Exact(); ok {
			text = value.Known(typed.Replace(known))
		}
		l.shell(text, via)
	case "exec":
		if strings.Trim(rest[1].Text, "!.:|") == "" {
			rest = rest[1:]
		}
		l.words(rest[1:], via)
	case "screen":
		_, words := c.getopt(rest[1:])
		l.words(words, via)
	}
}

// netcat walks the program behind -e and -c, whose input and output are the connection.
func (l *line) netcat(name string, args []value.Arg) {
	options := map[string]value.Arg{}
	for len(args) > 0 { // options may follow the operands
		found, rest := Getopt(args, "eciIgGmOopPqsTVwXx", []string{"--exec", "--sh-exec", "--lua-exec", "--source", "--source-port", "--wait", "--proxy"})
		maps.Copy(options, found)
		args = rest[min(1, len(rest)):]
	}
	l.at.Socket = true
	if a, ok := Option(options, "-e", "--exec"); ok {
		l.shell(a.Val, name+" -e")
	}
	if a, ok := Option(options, "-c", "--sh-exec"); ok && a.Text != "" {
		l.shell(a.Val, name+" -c")
	}
}

// socat walks EXEC: and SYSTEM: addresses. With a network address on the other side the
// program is driven from there.
func (l *line) socat(args []value.Arg) {
	l.at.Socket = slices.ContainsFunc(args, func(a value.Arg) bool {
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
		l.shell(text, "socat "+upper)
	}
}
