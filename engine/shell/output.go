package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// print records what a command writes to its standard output, where that is known: the
// programs that build or decode text out of known text, and those that print nothing.
func (w *walker) print(inv *invocation, name string) {
	if quiet[name] {
		switch name {
		case "cp", "mv", "install", "ln":
			if w.copyFile(inv) {
				return
			}
		}
		w.touchArguments(inv, name)
		return
	}
	v, ok := w.output(inv, name)
	if !ok || v.size() > w.lim.Bytes {
		w.touchArguments(inv, name)
		w.printUnknown(inv)
		return
	}
	w.step(v.size() / bytesPerStep)
	w.ctx.out.text = append(w.ctx.out.text, v.with(false, []int{inv.idx})...)
}

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
		if w.opts.POSIX && slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.Text, `\`) }) {
			return nil, false // some shells decode escapes without -e
		}
		return echo(args)
	case "printf":
		return w.printf(args)
	case "pwd":
		return w.ctx.st.lookupVar("PWD").val, w.ctx.st.dir.Known && len(args) == 0
	case "dirname", "basename":
		return pathPart(name, args)
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

func echo(args []arg) (value, bool) {
	escapesOn, newline := false, true
	for len(args) > 0 && args[0].Certainty == Exact && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
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
	if escapesOn {
		for i, p := range v {
			if p.known && strings.Contains(p.text, `\`) {
				text, stop := unescapeStop(p.text, escapes{zeroOctal: true, stop: true})
				v[i].text, v[i].decoded = text, true
				if stop {
					return v[:i+1], true
				}
			}
		}
	}
	if newline {
		v = append(v, piece{text: "\n", known: true})
	}
	return v, true
}

// printf formats known arguments. With -v it assigns instead of printing.
func (w *walker) printf(args []arg) (value, bool) {
	variable := ""
	if len(args) > 1 && args[0].Text == "-v" {
		variable = args[1].Text
		args = args[2:]
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return nil, false
	}
	v, ok := format(args[0], args[1:])
	if variable == "" {
		return v, ok
	}
	if !ok {
		v = unknown("$"+variable, argInputs(args))
	}
	w.assign(variable, v)
	return known(""), true
}

// format does what printf does with %s, %b, %d, %x, %c and %%. The format is used again as
// long as arguments are left.
func format(f arg, args []arg) (value, bool) {
	text, ok := f.val.exact()
	if !ok {
		return nil, false
	}
	decoded := strings.Contains(text, `\x`) || strings.Contains(text, `\0`) || strings.Contains(text, `\1`)
	var v value
	add := func(s string, dec bool) { v = append(v, piece{text: s, known: true, decoded: dec}) }
	for turn := 0; turn < 1000; turn++ {
		used := 0
		rest := text
		for rest != "" {
			at := strings.IndexByte(rest, '%')
			if at < 0 {
				add(unescape(rest, escapes{quotes: true}), decoded)
				break
			}
			if at > 0 {
				add(unescape(rest[:at], escapes{quotes: true}), decoded)
			}
			end := at + 1
			for end < len(rest) && strings.IndexByte("-+ 0123456789.#", rest[end]) >= 0 {
				end++
			}
			if end == len(rest) {
				return nil, false
			}
			verb, flags := rest[end], rest[at+1:end]
			rest = rest[end+1:]
			if verb == '%' {
				add("%", false)
				continue
			}
			a := literalArg("")
			if used < len(args) {
				a = args[used]
			}
			used++
			one, ok := formatOne(verb, flags, a)
			if !ok {
				return nil, false
			}
			v = append(v, one...)
		}
		if used == 0 || used >= len(args) {
			return v, true
		}
		args = args[used:]
	}
	return nil, false
}

func formatOne(verb byte, flags string, a arg) (value, bool) {
	if a.Glob || flags != "" && verb != 'x' && verb != 'd' && verb != 'o' {
		return nil, false
	}
	text, exact := a.val.exact()
	switch verb {
	case 's':
		return a.val, true
	case 'b':
		if !exact {
			return nil, false
		}
		return value{{text: unescape(text, escapes{zeroOctal: true}), known: true, decoded: strings.Contains(text, `\`)}}, true
	case 'q':
		return nil, false
	case 'd', 'i', 'x', 'o', 'c':
		if verb == 'c' && exact && text != "" {
			return known(text[:1]), true
		}
		n, err := strconv.ParseInt(text, 0, 64)
		if !exact || err != nil {
			return nil, false
		}
		base := map[byte]int{'d': 10, 'i': 10, 'x': 16, 'o': 8}[verb]
		out := strconv.FormatInt(n, base)
		if flags == "02" && len(out) < 2 || flags == "03" && len(out) < 3 {
			out = strings.Repeat("0", int(flags[1]-'0')-len(out)) + out
		} else if flags != "" && flags != "02" && flags != "03" {
			return nil, false
		}
		return known(out), true
	default:
		return nil, false
	}
}

func pathPart(name string, args []arg) (value, bool) {
	if len(args) == 0 || strings.HasPrefix(args[0].Text, "-") || args[0].Glob {
		return nil, false
	}
	text, ok := args[0].val.exact()
	if !ok {
		// Of a path whose beginning is known its directory's beginning is.
		dir := path.Dir(args[0].Prefix)
		if name == "dirname" && dir != "." {
			return value{{text: dir, known: true}, {}}, true
		}
		return nil, false
	}
	if name == "dirname" {
		return line(path.Dir(strings.TrimRight(text, "/") + map[bool]string{true: "/x"}[strings.Trim(text, "/") == "" && text != ""])), true
	}
	base := path.Base(text)
	if len(args) > 1 {
		suffix, ok := args[1].val.exact()
		if !ok {
			return nil, false
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
	}
	return line(base), true
}

// mktemp makes a name of which the directory is known.
func (w *walker) mktemp(args []arg) (value, bool) {
	options, rest := getopt(args, "p", []string{"--tmpdir", "--suffix"})
	dir := "/tmp"
	if t, ok := w.ctx.st.lookupVar("TMPDIR").val.exact(); ok && t != "" {
		dir = t
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
	if len(rest) == 0 {
		return value{{text: dir + "/tmp.", known: true}, {text: w.random("XXXXXXXXXX"), data: true}}, true
	}
	template, ok := rest[0].val.exact()
	if !ok {
		return nil, false
	}
	if inTmp {
		template = dir + "/" + template
	}
	at := strings.Index(template, "XXX")
	if at < 0 {
		return nil, false
	}
	return value{{text: template[:at], known: true}, {text: w.random(template[at:]), data: true}}, true
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

// filter evaluates programs that turn standard input, or a file, into other text.
func (w *walker) filter(inv *invocation, name string, args []arg) (value, bool) {
	var flags string
	var files []arg
	for _, a := range args {
		if a.Certainty != Exact {
			return nil, false
		}
		if len(a.Text) > 1 && a.Text[0] == '-' {
			flags += " " + a.Text
		} else if a.Text != "-" {
			files = append(files, a)
		}
	}
	in, ok := value(nil), false
	switch {
	case name == "tr" || name == "openssl" || name == "tee" || len(files) == 0:
		if s := w.stdin(); s != nil && len(s.text) > 0 {
			in, ok = s.text, true
		}
	default:
		ok = true
		for _, f := range files {
			text, found := w.content(f.val)
			ok = ok && found
			in = append(in, text...)
		}
	}
	if name == "tee" {
		w.tee(inv, files, in, ok, flags)
		return in, ok
	}
	if !ok {
		return nil, false
	}
	if name == "cat" {
		return in, flags == ""
	}
	text, exact := in.exact()
	if !exact {
		return nil, false
	}
	out, ok := decode(name, flags, args, files, text)
	return value{{text: out, known: true, decoded: true}}, ok
}

// tee writes its input to files too.
func (w *walker) tee(inv *invocation, files []arg, in value, ok bool, flags string) {
	if !ok {
		in = unknown("", nil)
	}
	for _, f := range files {
		if p, found := w.pathOf(f); found {
			w.write(p, in, []int{inv.idx}, strings.Contains(flags, "a"))
		}
	}
}

func decode(name, flags string, args, files []arg, text string) (string, bool) {
	switch name {
	case "base64":
		if !strings.Contains(flags, "d") && !strings.Contains(flags, "D") {
			return base64.StdEncoding.EncodeToString([]byte(text)) + "\n", len(text) < 57
		}
		return base64Text(text)
	case "openssl":
		if !strings.Contains(flags, "-d") || !strings.Contains(flags, "64") && !slices.ContainsFunc(files, func(a arg) bool { return a.Text == "base64" }) {
			return "", false
		}
		return base64Text(text)
	case "xxd":
		if !strings.Contains(flags, "-r") || !strings.Contains(flags, "p") {
			return "", false
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
		return string(b), err == nil
	case "rev", "tac":
		lines := strings.SplitAfter(text, "\n")
		if name == "tac" {
			slices.Reverse(lines)
			return strings.Join(lines, ""), flags == ""
		}
		for i, l := range lines {
			r := []rune(strings.TrimSuffix(l, "\n"))
			slices.Reverse(r)
			lines[i] = string(r) + l[len(strings.TrimSuffix(l, "\n")):]
		}
		return strings.Join(lines, ""), true
	case "tr":
		return translate(flags, args, text)
	default:
		return "", false
	}
}

func base64Text(text string) (string, bool) {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(text)
	return string(b), err == nil
}

// translate does tr SET1 SET2 and tr -d SET1 for plain characters and ranges.
func translate(flags string, args []arg, text string) (string, bool) {
	var sets []string
	for _, a := range args {
		if len(a.Text) > 1 && a.Text[0] == '-' {
			continue
		}
		set, ok := characters(a.Text)
		if !ok {
			return "", false
		}
		sets = append(sets, set)
	}
	switch {
	case flags == " -d" && len(sets) == 1:
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(sets[0], r) {
				return -1
			}
			return r
		}, text), true
	case flags == "" && len(sets) == 2 && sets[1] != "":
		from, to := []rune(sets[0]), []rune(sets[1])
		return strings.Map(func(r rune) rune {
			i := -1
			for k, c := range from {
				if c == r {
					i = k
				}
			}
			if i < 0 {
				return r
			}
			return to[min(i, len(to)-1)]
		}, text), true
	default:
		return "", false
	}
}

// characters spells out a set of tr.
func characters(set string) (string, bool) {
	set = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9", "[:space:]", " \t\n\v\f\r").Replace(set)
	if strings.Contains(set, "[:") || strings.Contains(set, "[=") {
		return "", false
	}
	r := []rune(unescape(set, escapes{}))
	var b strings.Builder
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i] <= r[i+2] && r[i+2]-r[i] < 256 {
			for c := r[i]; c <= r[i+2]; c++ {
				b.WriteRune(c)
			}
			i += 2
			continue
		}
		b.WriteRune(r[i])
	}
	return b.String(), true
}
