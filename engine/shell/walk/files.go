package walk

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// readCost is the cost of reading a script file, in steps.
const readCost = 200

// pathOf resolves a word to an absolute path.
func (w *walker) pathOf(a value.Arg) (string, bool) {
	text, ok := a.Val.Place()
	if !ok || a.Glob {
		return "", false
	}
	return w.fileAt(text)
}

// fileAt resolves a path to the absolute path of a file: that of a descriptor to the file that it writes to.
func (w *walker) fileAt(text string) (string, bool) {
	if n, ok := fileDescriptor(text); ok && w.ctx.st.fds[n].file != "" {
		return w.ctx.st.fds[n].file, true
	}
	return absolute(w.ctx.st.dir, text)
}

// fileHere is pathOf, also for files in a directory that is not known.
func (w *walker) fileHere(a value.Arg) (string, bool) {
	if abs, ok := w.pathOf(a); ok {
		return abs, true
	}
	text, ok := a.Val.Place()
	abs, found := absolute(w.ctx.st.here(), text)
	return abs, ok && !a.Glob && found
}

// content returns the content of the file that v names: one that this text has written, a
// process substitution, or one that is there.
func (w *walker) content(v value.Value) (value.Value, bool) {
	text, ok := v.Place()
	if !ok {
		return nil, false
	}
	if v, ok := w.streamText(text); ok {
		return v, true
	}
	if text == "-" || standardInput(text) {
		if in := w.stdin(); in != nil && len(in.text) > 0 {
			return in.text, true
		}
		return nil, false
	}
	abs, ok := absolute(w.ctx.st.here(), text)
	if !ok {
		return nil, false
	}
	return w.contentOf(abs)
}

func standardInput(text string) bool {
	return text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0"
}

func (w *walker) contentOf(abs string) (value.Value, bool) {
	if v, ok := w.streamText(abs); ok {
		return v, true
	}
	abs = w.linked(abs)
	f, written := w.lookUp(abs)
	switch {
	case f.touched || !written && (w.ctx.st.stirred || w.ctx.st.strewn[path.Base(abs)]):
		return nil, false
	case len(f.content) > 0:
		return f.content, true
	}
	return w.onDisk(abs)
}

// lastContent returns the content of a file when the text last knew it, for a look at a script that may have
// changed since.
func (w *walker) lastContent(abs string) (value.Value, bool) {
	if v, ok := w.streamText(abs); ok {
		return v, true
	}
	abs = w.linked(abs)
	if f := w.look(abs); len(f.content) > 0 {
		return f.content, true
	}
	return w.onDisk(abs)
}

// onDisk returns the content of a file as it was before the text.
func (w *walker) onDisk(abs string) (value.Value, bool) {
	if w.opts.ReadFile == nil || strings.HasPrefix(abs, unplaced) || !w.step(readCost) {
		return nil, false
	}
	text, ok := w.opts.ReadFile(w.origin(abs))
	if !ok || len(text) > w.lim.Bytes || strings.ContainsRune(text, value.HoleOpen) {
		return nil, false
	}
	w.step(len(text) / bytesPerStep)
	return value.Known(text), true
}

// write records the output of a command to a file.
func (w *walker) write(abs string, content value.Value, by []int, adds bool) {
	st := w.ctx.st
	f := written{content: slices.Clone(content), by: by, touched: st.loose[abs], edited: st.loose[abs]}
	if adds {
		old, ok := st.files[abs]
		if !ok {
			old.content, _ = w.onDisk(abs)
			old.touched, old.edited = st.stirred || strings.HasPrefix(abs, unplaced), st.fed
		}
		f.content = slices.Concat(old.content, content)
		f.by = value.Set(slices.Concat(old.by, by))
		f.touched, f.edited = f.touched || old.touched, f.edited || old.edited
	} else {
		for _, s := range st.fds { // data through these lands somewhere in it
			f.touched = f.touched || s.file == abs
			f.edited = f.edited || f.touched
		}
	}
	f.content, _ = w.bounded(f.content, len(by))
	for i := range f.content {
		f.content[i].Inputs = value.With(f.content[i].Inputs, by)
		if !f.content[i].Known { // it stands on lines of its own
			f.content[i].Text = "\n"
		}
	}
	if len(f.content) == 0 {
		f.content = value.Known("")
	}
	if behind := w.linked(abs); behind != abs {
		f.touched = true // the link may be gone by now
		w.put(behind, f)
	}
	w.put(abs, f)
	w.strew(abs)
}

// maxInputs is how many commands may be noted behind the parts of a file together, and partsPerStep how many
// parts and such notes are written for one step.
const maxInputs, partsPerStep = 5000, 16

// bounded returns a text of which each part gets more inputs, and true; or an unknown text in place of one
// that is too large.
func (w *walker) bounded(text value.Value, more int) (value.Value, bool) {
	inputs := more * len(text)
	for _, p := range text {
		inputs += len(p.Inputs)
	}
	w.step((len(text) + inputs) / partsPerStep)
	if len(text) > maxOutput || inputs > maxInputs || text.Size() > w.lim.Bytes {
		return value.Blurred("", text), false
	}
	return text, true
}

// strew notes the name of a file in a directory that is not known: any file of that name may be it.
func (w *walker) strew(abs string) {
	if !strings.HasPrefix(abs, unplaced) {
		return
	}
	name := path.Base(abs)
	w.ctx.st.strewn[name] = true
	w.step(len(w.ctx.st.files) / 16)
	for other, f := range w.ctx.st.files {
		if path.Base(other) == name && other != abs {
			f.touched, f.edited = true, true
			w.ctx.st.files[other] = f
		}
	}
}

// touch records that a command may have changed a file: edited, when nobody knows how.
func (w *walker) touch(abs string, edited bool) {
	for _, abs := range []string{abs, w.linked(abs)} {
		w.changed(change{abs: abs, file: w.blurFile(abs, edited)})
	}
}

// blurFile is touch for a change that is no part of the journal: of a program that names no file.
func (w *walker) blurFile(abs string, edited bool) written {
	f := w.ctx.st.files[abs]
	f.touched, f.edited = true, f.edited || edited
	w.ctx.st.files[abs] = f
	w.strew(abs)
	return f
}

// edited reports a file that a command may have changed, nobody knows how, with words of this text.
func (w *walker) edited(abs string) bool {
	abs = w.linked(abs)
	f, ok := w.lookUp(abs)
	if !ok {
		for dir := range w.upward(path.Dir(abs)) {
			f.edited = f.edited || w.ctx.st.files[dir].edited
		}
	}
	return f.edited || !ok && (w.ctx.st.fed || w.ctx.st.strewn[path.Base(abs)])
}

// absent reports a file that is not there, and that the text has not made.
func (w *walker) absent(abs string) bool {
	_, written := w.lookUp(abs)
	if written || w.ctx.st.stirred || strings.HasPrefix(abs, unplaced) || w.edited(abs) || w.opts.IsFile == nil {
		return false
	}
	was := w.origin(abs)
	return !w.opts.IsFile(was) && !w.opts.IsDir(was)
}

// changesFiles notes the files that a program may write to.
func (w *walker) changesFiles(inv *invocation, name string) {
	prints := func(
		a value.Arg) bool {
		return strings.HasPrefix(a.Prefix, "-fp") || a.Prefix == "-fls"
	} // of find
	if command.Listed("readers", name) && !slices.ContainsFunc(inv.args, prints) {
		return
	}
	if name == "sed" && (!sedWrites(inv.args) || w.sedInPlace(inv)) {
		return
	}
	if !command.Listed("quiet", name) {
		in := w.stdin()
		flows := in != nil && in.from != shell.CodeNone && (in.from != shell.CodeFile || len(in.cmds) > 0)
		w.stir(inv, flows || w.made(inv) || scripted[name] && len(inv.args) > 1)
	}
	edits := !slices.ContainsFunc(command.BuildFiles(name),
		func(k command.BuildFile) bool { return k.Lang == "c" }) ||
		slices.ContainsFunc(inv.args, func(a value.Arg) bool { return strings.HasPrefix(a.Prefix, "-E") })
	w.touchNamed(inv, edits)
}

// scripted are programs whose arguments are a language in which files can be written.
var scripted = command.Names(
	"sqlite3 duckdb psql mysql mariadb ed red ex vi vim nvim m4 gdb lldb jq yq xsltproc")

// sedWrites reports sed -i, and a script that may write.
func sedWrites(args []value.Arg) bool {
	return slices.ContainsFunc(args, func(a value.Arg) bool {
		return a.Certainty != value.Exact || strings.Contains(a.Text, "w") ||
			strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "i")
	})
}

// codeChanges notes that a program which is not walked command by command may write to files.
func (w *walker) codeChanges(inv *invocation) {
	code := w.commands[inv.idx].Code
	if code.From == shell.CodeNone || command.IsShell(code.Language) && code.Static ||
		code.Language == "awk" && !strings.Contains(value.Join(inv.args).Text(), ">") {
		return
	}
	w.stir(inv, code.From != shell.CodeFile || w.made(inv))
	if !command.IsShell(code.Language) {
		w.touchNamed(inv, true)
	}
}

// stir notes that a command may have changed any file, with words of this text if it was fed. What a
// program does to its own file is its own affair.
func (w *walker) stir(inv *invocation, fed bool) {
	own, _ := absolute(w.ctx.st.here(), inv.args[0].Text)
	if file := w.commands[inv.idx].Code.File.Text; file != "" {
		own, _ = absolute(w.ctx.st.here(), file)
	}
	w.ctx.st.stirred, w.ctx.st.fed = true, w.ctx.st.fed || fed
	w.step(len(w.ctx.st.files) / 8)
	for abs := range w.ctx.st.files {
		if abs != own {
			w.blurFile(abs, fed)
			w.blurFile(w.linked(abs), fed)
		}
	}
}

// touchNamed touches the files that the arguments may name: alone, behind = or behind the letter of an
// option.
func (w *walker) touchNamed(inv *invocation, edits bool) {
	running := w.commands[inv.idx].Code.File.Text
	if edits && slices.ContainsFunc(inv.args[min(1, len(inv.args)):], w.wroteIt) {
		w.stir(inv, true)
	}
	for _, a := range inv.args[min(1, len(inv.args)):] {
		text, ok := a.Val.Place()
		if !ok || a.Glob {
			w.stir(inv, false)
		}
		if !ok || a.Glob || text == running {
			continue
		}
		names := []string{text}
		if _, behind, found := strings.Cut(text, "="); found {
			names = append(names, behind)
		}
		if len(text) > 2 && text[0] == '-' {
			names = append(names, text[2:])
		}
		for _, name := range names {
			if abs, ok := w.fileHere(value.Literal(name)); ok {
				w.touch(abs, edits)
			}
		}
	}
}

// made reports a program, or the file that it runs, that the text has written or built.
func (w *walker) made(inv *invocation) bool {
	for _, name := range []string{inv.args[0].Text, w.commands[inv.idx].Code.File.Text} {
		abs, ok := absolute(w.ctx.st.here(), name)
		f := w.look(abs)
		if ok && strings.ContainsAny(name, "./") && (len(f.content) > 0 || f.touched) {
			return true
		}
	}
	return false
}

// wroteIt reports a word that names a file which this text has written.
func (w *walker) wroteIt(a value.Arg) bool {
	abs, ok := w.pathOf(a)
	f, written := w.lookUp(abs)
	return ok && written && (len(f.content) > 0 || f.edited)
}

// copyFiles copies the knowledge of one file to another: cp, mv, install, ln. It reports whether all
// is known.
func (w *walker) copyFiles(inv *invocation, name string) bool {
	long := []string{"--target-directory", "--mode", "--owner", "--group", "--suffix"}
	options, operands := command.Getopt(inv.args[1:], "tmogS", long)
	to, into := command.Option(options, "-t", "--target-directory")
	if !into && len(operands) > 1 {
		to, operands = operands[len(operands)-1], operands[:len(operands)-1]
		into = len(operands) > 1
	}
	dest, ok := w.pathOf(to)
	_, symbolic := command.Option(options, "-s", "--symbolic")
	for _, from := range operands {
		if from.Glob || !ok {
			return false
		}
		at := dest
		source, _ := w.pathOf(from)
		if into || strings.HasPrefix(source, dest+"/") || w.isDir(shell.Dir{Path: dest, Known: true}) {
			at = path.Join(dest, path.Base(from.Text))
		}
		if symbolic && name == "ln" && from.Certainty == value.Exact && !path.IsAbs(from.Text) {
			from = value.Literal(path.Join(path.Dir(at), from.Text))
		}
		ok = w.copyFile(from, at, name == "ln", name == "mv")
	}
	return ok && len(operands) > 0
}

// copyFile makes to a copy of from, or a link to it.
func (w *walker) copyFile(from value.Arg, to string, link, gone bool) bool {
	text := from.Val.Text()
	if from.Certainty == value.Exact && command.SystemProgram(path.Clean(text)) ||
		from.Certainty != value.Exact && !from.Val.Dynamic() && strings.Contains(from.Val.Tail(), "/") {
		w.put(to, written{program: text})
		return true
	}
	abs, ok := w.pathOf(from)
	st := w.ctx.st
	f, written := w.lookUp(w.linked(abs))
	delete(st.files, to)
	switch {
	case !ok:
		return false
	case link:
		w.move(moved{abs, to, true})
	case written:
		w.put(to, f)
	case strings.HasPrefix(abs, "/dev/"):
		content, known := w.content(from.Val)
		w.write(to, content, content.Inputs(), false)
		if !known {
			w.touch(to, true)
		}
	default:
		w.move(moved{w.origin(abs), to, false})
		w.step((len(st.moved) + len(st.files)) / 8)
		for file, f := range maps.Clone(st.files) {
			if rest, below := strings.CutPrefix(file, abs+"/"); below {
				w.put(path.Join(to, rest), f)
			}
		}
	}
	if gone {
		w.touch(abs, false)
	}
	return true
}

// moved is a new place of a file or a tree.
type moved struct {
	from, to string
	link     bool
}

// maxPath bounds a path in bytes, as Linux does (PATH_MAX in limits.h).
const maxPath = 4096

// origin is where a file lay on the disk that the text has not written, but moved. Moves of a place into one
// around it could make a path of any length: a text with such a path is not understood.
func (w *walker) origin(abs string) string {
	for _, m := range slices.Backward(w.ctx.st.moved) {
		if abs = m.back(abs); len(abs) > maxPath {
			w.unclear = true
			break
		}
	}
	return abs
}

func (m moved) back(abs string) string {
	if rest, ok := strings.CutPrefix(abs, m.to); ok && (rest == "" || rest[0] == '/') {
		return m.from + rest
	}
	return abs
}

// linked is the file behind the links that the text made.
func (w *walker) linked(abs string) string {
	for _, m := range slices.Backward(w.ctx.st.moved) {
		if m.link {
			abs = m.back(abs)
		}
	}
	return abs
}
