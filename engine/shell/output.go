package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// print records what a command writes to its standard output, where that is known: the
// programs that build or decode text out of known text, and those that print nothing.
func (w *walker) print(inv *invocation, name string) {
	if quiet[name] {
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
	if !ok || v.size() > w.lim.Bytes {
		w.changesFiles(inv, name)
		w.printUnknown(inv)
		climbs := slices.ContainsFunc(inv.args, func(a arg) bool { return strings.Contains(a.Text, "..") })
		if n := len(w.ctx.out.text); n > 0 && (evaluators[name] || climbs) {
			w.ctx.out.text[n-1].made = true
		}
		return
	}
	if name == "openssl" || name == "xxd" { // which can write to a file
		w.touchNamed(inv, true)
	}
	w.step(v.size() / bytesPerStep)
	w.ctx.out.text = append(w.ctx.out.text, v.with(false, []int{inv.idx})...)
}

// evaluators are the programs of which output follows the result: what they print, and this does not, is made of
// their words and their input.
var evaluators = nameSet("echo printf dirname basename tr rev tac cat base64 base32 xxd openssl head tail cut sed awk sort uniq")

// printUnknown records output that is not known.
func (w *walker) printUnknown(inv *invocation) {
	if allKnown(w.ctx.out.text) {
		w.ctx.out.text = append(w.ctx.out.text, piece{inputs: []int{inv.idx}})
	}
}

// quiet commands write nothing to standard output when all goes well.
var quiet = map[string]bool{
	"mkdir": true, "rm": true, "rmdir": true, "cp": true, "mv": true, "ln": true, "touch": true, "chmod": true, "chown": true, "install": true,
	"true": true, "false": true, ":": true, "test": true, "[": true, "sleep": true, "kill": true, "wait": true, "umask": true, "mkfifo": true,
	"let": true, "enable": true, "disown": true, "truncate": true, "unlink": true,
}

// output evaluates a command whose output follows from known text.
func (w *walker) output(inv *invocation, name string) (value, bool) {
	args := inv.args[1:]
	switch name {
	case "echo":
		return echo(args, w.ctx.st.sh, w.ctx.st.decodes)
	case "printf":
		return w.printf(args)
	case "pwd":
		return line(w.ctx.st.dir.Path), w.ctx.st.dir.Known && len(args) == 0
	case "dirname":
		return dirname(args)
	case "basename":
		return basename(args)
	case "mktemp":
		return w.mktemp(args)
	case "seq":
		return seq(args)
	case "which":
		return located(args)
	case "cat", "tac", "rev", "base64", "base32", "xxd", "tr", "openssl", "tee":
		return w.filter(inv, name, args)
	default:
		return nil, false
	}
}

func line(text string) value { return known(text + "\n") }

// echo joins its arguments. Shells differ in their options and escapes: with sh set it may be any shell, and with
// decodes bash may decode escapes without an option.
func echo(args []arg, sh, decodes bool) (value, bool) {
	if (sh || decodes) && slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.Text, `\`) }) {
		return nil, false
	}
	escapesOn, newline := false, true
	for len(args) > 0 && args[0].Certainty == Exact && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		if sh && args[0].Text != "-n" {
			return nil, false
		}
		for _, c := range args[0].Text[1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapesOn = true
			case 'E':
				escapesOn = false
			}
		}
		args = args[1:]
	}
	if slices.ContainsFunc(args, func(a arg) bool { return a.Glob }) {
		return nil, false
	}
	v := joined(args)
	for i, p := range v {
		if escapesOn && p.known && strings.Contains(p.text, `\`) {
			text, ok := unescape(p.text, escapes{zeroOctal: true})
			if !ok {
				return nil, false
			}
			v[i].text, v[i].decoded = text, true
		}
	}
	if newline {
		v = append(v, piece{text: "\n", known: true})
	}
	return v, true
}

// dirname and basename take one path apart by its letters: a part .. stays one.
func dirname(args []arg) (value, bool) {
	if len(args) != 1 || strings.HasPrefix(args[0].Text, "-") || args[0].Glob {
		return nil, false
	}
	text, exact := args[0].val.exact()
	if !exact {
		text = args[0].Prefix // the directory of the known beginning is known
	}
	dir := strings.TrimRight(text, "/")
	cut := strings.LastIndexByte(dir, '/')
	switch {
	case cut >= 0:
		dir = strings.TrimRight(dir[:cut], "/")
	case dir != "" || text == "":
		dir = "."
	}
	if dir == "" {
		dir = "/"
	}
	if !exact && cut <= 0 {
		return nil, false
	}
	if !exact {
		return value{{text: dir, known: true}, {}}, true
	}
	return line(dir), true
}

func basename(args []arg) (value, bool) {
	if len(args) == 0 || len(args) > 2 || strings.HasPrefix(args[0].Text, "-") {
		return nil, false
	}
	if slices.ContainsFunc(args, func(a arg) bool { return a.Certainty != Exact || a.Glob }) {
		return nil, false
	}
	base := strings.TrimRight(args[0].Text, "/")
	if base == "" && args[0].Text != "" {
		return line("/"), true
	}
	base = base[strings.LastIndexByte(base, '/')+1:]
	if len(args) == 2 && base != args[1].Text {
		base = strings.TrimSuffix(base, args[1].Text)
	}
	return line(base), true
}

// mktemp makes a name of which the directory is known.
func (w *walker) mktemp(args []arg) (value, bool) {
	options, rest := getopt(args, "p", []string{"--tmpdir", "--suffix"})
	dir := "/tmp"
	tmp := w.ctx.st.lookupVar("TMPDIR")
	if t, ok := tmp.val.exact(); ok && t != "" && tmp.exported {
		dir = t
	} else if !ok && tmp.exported && !tmp.unset {
		return nil, false
	}
	inTmp := false
	if a, ok := option(options, "-p", "--tmpdir"); ok {
		inTmp = true
		if a.Text != "" {
			if dir, ok = a.val.exact(); !ok {
				return nil, false
			}
		}
	}
	if _, ok := options["-t"]; ok {
		inTmp = true
	}
	_, directory := option(options, "-d", "--directory")
	_, dry := option(options, "-u", "--dry-run")
	directory = directory && !dry
	made := func(before, x string) (value, bool) {
		v := value{{text: before, known: true}, {text: w.random(x), data: true}}
		if abs, ok := absolute(w.ctx.st.dir, v.text()); ok && directory && w.isDir(Dir{Path: path.Dir(abs), Known: true}) {
			w.ctx.st.made[abs] = true
		}
		return v, true
	}
	if len(rest) == 0 {
		return made(dir+"/tmp.", "XXXXXXXXXX")
	}
	template, ok := rest[0].val.exact()
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

// located is the path of a program: its directory is not known, its name is.
func located(args []arg) (value, bool) {
	if len(args) != 1 || args[0].Certainty != Exact || strings.ContainsAny(args[0].Text, "/- \t\n") {
		return nil, false
	}
	return value{{data: true}, {text: "/" + args[0].Text + "\n", known: true}}, true
}

func seq(args []arg) (value, bool) {
	n := []int64{1, 1, 1}
	for i, a := range args {
		text, ok := a.val.exact()
		x, err := strconv.ParseInt(text, 10, 32)
		if !ok || err != nil || i > 2 {
			return nil, false
		}
		n[i] = x
	}
	from, step, to := int64(1), int64(1), n[0]
	switch len(args) {
	case 0:
		return nil, false
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	}
	if step <= 0 || (to-from)/step > 1000 {
		return nil, false
	}
	var b strings.Builder
	for ; from <= to; from += step {
		b.WriteString(strconv.FormatInt(from, 10) + "\n")
	}
	return known(b.String()), true
}
