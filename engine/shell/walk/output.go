package walk

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// print records the standard output of a command, where that is known: the
// programs that build or decode text out of known text, and those that print nothing.
func (w *walker) print(inv *invocation, name string) {
	if command.Listed("quiet", name) {
		if speaks(name, inv.args[1:]) {
			w.printUnknown(inv)
		}
		if name != "cp" && name != "mv" && name != "install" && name != "ln" || !w.copyFiles(inv, name) {
			w.changesFiles(inv, name)
		}
		switch name {
		case "mkdir":
			w.makeDirs(inv)
		case "rm", "rmdir", "mv":
			w.removeDirs(inv, name)
		}
		return
	}
	v, ok := w.output(inv, name)
	if !ok || v.Size() > w.lim.Bytes {
		w.changesFiles(inv, name)
		w.printUnknown(inv)
		climbs := slices.ContainsFunc(inv.args, func(a value.Arg) bool { return strings.Contains(a.Text, "..") })
		if n := len(w.ctx.out.text); n > 0 && (command.Listed("evaluators", name) || climbs) {
			w.ctx.out.text[n-1].Made = true
		}
		return
	}
	w.step(v.Size() / bytesPerStep)
	w.ctx.out.text = append(w.ctx.out.text, v.With(false, []int{inv.idx})...)
}

// printUnknown records output that is not known.
func (w *walker) printUnknown(inv *invocation) {
	if w.ctx.out.text.Known() {
		w.ctx.out.text = append(w.ctx.out.text, value.Piece{Inputs: []int{inv.idx}})
	}
}

// speaks reports that a quiet command prints: with -v, -c, --help and their like, or with an argument that may be one.
func speaks(name string, args []value.Arg) bool {
	switch name {
	case ":", "true", "false", "test", "[", "let", "wait":
		return false
	case "umask":
		return len(args) != 1 || args[0].Certainty != value.Exact || strings.HasPrefix(args[0].Text, "-")
	case "enable":
		return true
	}
	return slices.ContainsFunc(args, func(a value.Arg) bool {
		long, isLong := strings.CutPrefix(a.Text, "--")
		switch {
		case a.Certainty != value.Exact && a.Prefix == "":
			return !a.Glob
		case isLong:
			return long != "" && strings.ContainsRune("vhcld", rune(long[0]))
		}
		return strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "vcl")
	})
}

// output evaluates a command whose output follows from known text.
func (w *walker) output(inv *invocation, name string) (value.Value, bool) {
	args := inv.args[1:]
	switch name {
	case "echo":
		return value.Echo(args, w.ctx.st.sh, w.ctx.st.decodes)
	case "printf":
		return w.printf(args)
	case "pwd":
		return value.Line(w.ctx.st.dir.Path), w.ctx.st.dir.Known && len(args) == 0
	case "dirname":
		return value.Dirname(args)
	case "basename":
		return value.Basename(args)
	case "mktemp":
		return w.mktemp(args)
	case "cat", "tee":
		return w.copied(inv, name, args)
	default:
		return nil, false
	}
}

// mktemp makes a name of which the directory is known.
func (w *walker) mktemp(args []value.Arg) (value.Value, bool) {
	options, rest := command.Getopt(args, "p", []string{"--tmpdir", "--suffix"})
	dir := "/tmp"
	tmp := w.ctx.st.lookupVar("TMPDIR")
	if t, ok := tmp.val.Exact(); ok && t != "" && tmp.exported {
		dir = t
	} else if !ok && tmp.exported && !tmp.unset {
		return nil, false
	}
	inTmp := false
	if a, ok := command.Option(options, "-p", "--tmpdir"); ok {
		inTmp = true
		if a.Text != "" {
			if dir, ok = a.Val.Exact(); !ok {
				return nil, false
			}
		}
	}
	if _, ok := options["-t"]; ok {
		inTmp = true
	}
	_, directory := command.Option(options, "-d", "--directory")
	_, dry := command.Option(options, "-u", "--dry-run")
	directory = directory && !dry
	made := func(before, x string) (value.Value, bool) {
		v := value.Value{{Text: before, Known: true}, {Text: w.random(x), Data: true}}
		if abs, ok := absolute(w.ctx.st.dir, v.Text()); ok && directory && w.isDir(shell.Dir{Path: path.Dir(abs), Known: true}) {
			w.ctx.st.made[abs] = true
		}
		return v, true
	}
	if len(rest) == 0 {
		return made(dir+"/tmp.", "XXXXXXXXXX")
	}
	template, ok := rest[0].Val.Exact()
	if !ok {
		return nil, false
	}
	if inTmp {
		template = dir + "/" + template
	}
	at := strings.LastIndex(template, "XXX")
	if at < 0 || strings.Contains(template[at:], "/") {
		return nil, false
	}
	at = len(strings.TrimRight(template[:at], "X"))
	return made(template[:at], template[at:])
}

// random stands for a random part of a name. Each one is another.
func (w *walker) random(x string) string {
	w.temps++
	if w.temps == 1 {
		return x
	}
	return x + strconv.Itoa(w.temps)
}

// copied evaluates cat and tee, which print files or their standard input.
func (w *walker) copied(inv *invocation, name string, args []value.Arg) (value.Value, bool) {
	var flags string
	var files []value.Arg
	for _, a := range args {
		if a.Certainty != value.Exact {
			return nil, false
		}
		if len(a.Text) > 1 && a.Text[0] == '-' {
			flags += " " + a.Text
		} else {
			files = append(files, a)
		}
	}
	in, ok := value.Value(nil), false
	switch {
	case name == "tee" || len(files) == 0:
		if s := w.stdin(); s != nil && len(s.text) > 0 {
			in, ok = s.text, true
		}
	default:
		ok = true
		for _, f := range files {
			text, found := w.content(f.Val)
			ok = ok && found
			in = append(in, text...)
		}
	}
	if name == "tee" {
		w.tee(inv, files, in, ok, flags)
		return in, ok
	}
	return in, ok && flags == ""
}

// tee writes its input to files too.
func (w *walker) tee(inv *invocation, files []value.Arg, in value.Value, ok bool, flags string) {
	if !ok {
		in = value.Opaque("", nil)
	}
	for _, f := range files {
		if p, found := w.fileHere(f); found {
			w.write(p, in, []int{inv.idx}, strings.Contains(flags, "a"))
		}
	}
}
