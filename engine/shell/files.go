package shell

import (
	"path"
	"slices"
	"strings"
)

// readCost is what reading a script file costs in steps.
const readCost = 200

// pathOf resolves a word to an absolute path.
func (w *walker) pathOf(a arg) (string, bool) {
	text, ok := a.val.place()
	if !ok || a.Glob {
		return "", false
	}
	return absolute(w.ctx.st.dir, text)
}

// content returns the content of the file that v names: one that this text has written, a
// process substitution, or one that is there.
func (w *walker) content(v value) (value, bool) {
	text, ok := v.place()
	if !ok {
		return nil, false
	}
	if fd, ok := w.fds[text]; ok {
		return fd, true
	}
	if text == "-" || standardInput(text) {
		if in := w.stdin(); in != nil && len(in.text) > 0 {
			return in.text, true
		}
		return nil, false
	}
	abs, ok := absolute(w.ctx.st.dir, text)
	if !ok {
		return nil, false
	}
	content, ok := w.contentOf(abs)
	if f, written := w.ctx.st.files[abs]; f.touched || f.edited || !written && w.ctx.st.stale {
		return append(unknown("\n", f.by), content...), true
	}
	return content, ok
}

func standardInput(text string) bool {
	return text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0"
}

func (w *walker) contentOf(abs string) (value, bool) {
	if fd, ok := w.fds[abs]; ok {
		return fd, true
	}
	f, written := w.ctx.st.files[abs]
	if written && !f.touched && !f.pipe && f.program == "" {
		return f.content, true
	}
	content, ok := w.stored(abs)
	if written && len(f.content) > 0 {
		return slices.Concat(f.content, known("\n"), content), true
	}
	return content, ok
}

// stored returns the content of a file that is there.
func (w *walker) stored(abs string) (value, bool) {
	if w.opts.ReadFile == nil || !w.step(readCost) {
		return nil, false
	}
	text, ok := w.opts.ReadFile(abs)
	if !ok || len(text) > w.lim.Bytes || strings.ContainsRune(text, holeOpen) {
		return nil, false
	}
	w.step(len(text) / bytesPerStep)
	return known(text), true
}

// write records what a command writes to a file.
func (w *walker) write(abs string, content value, by []int, adds bool) {
	st := w.ctx.st
	old := st.files[abs]
	f := written{content: slices.Clone(content), by: by, edited: old.open, open: old.open}
	if adds {
		before := old.content
		if len(before) == 0 {
			before, _ = w.contentOf(abs)
		}
		f.content = slices.Concat(before, content)
		f.by = sortedSet(slices.Concat(old.by, by))
		f.touched, f.edited = old.touched, old.edited || old.open
	}
	for i := range f.content {
		f.content[i].inputs = sortedSet(slices.Concat(f.content[i].inputs, by))
		if !f.content[i].known { // it stands on lines of its own
			f.content[i].text = "\n"
		}
	}
	if f.content.size() > w.lim.Bytes {
		f.content = unknown("", by)
	}
	st.files[abs] = f
}

// touch records that a command may have changed a file, nobody knows how.
func (w *walker) touch(abs string) {
	f := w.ctx.st.files[abs]
	f.touched, f.edited = true, true
	w.ctx.st.files[abs] = f
}

// touchArguments notes the files that a program may write to. Those that only read, or
// change no content, are few and well known.
func (w *walker) touchArguments(inv *invocation, name string) {
	switch name {
	case "chmod", "chown", "ls", "cat", "head", "tail", "less", "more", "wc", "stat", "file", "grep", "rg", "test", "[", "echo",
		"printf", "diff", "cmp", "mkdir", "which", "type", "md5sum", "sha256sum", "uniq", "cut", "true", "shellcheck":
		return
	}
	w.ctx.st.stale = true
	for _, a := range inv.args[min(1, len(inv.args)):] {
		text, ok := a.val.exact()
		if !ok || text == "" {
			continue
		}
		if _, value, glued := strings.Cut(text, "="); glued {
			text = value
		}
		if p, ok := absolute(w.ctx.st.dir, text); ok {
			w.touch(p)
		}
	}
}

// copyFile makes what is known of one file known of another: cp, mv, install, ln.
func (w *walker) copyFile(inv *invocation) bool {
	_, operands := getopt(inv.args[1:], "tmogS", nil)
	if len(operands) != 2 {
		return false
	}
	to, ok := w.pathOf(operands[1])
	if !ok {
		return false
	}
	if from := operands[0].val.text(); operands[0].Certainty == Exact && systemProgram(path.Clean(from)) || operands[0].Certainty != Exact && !operands[0].val.dynamic() && strings.Contains(operands[0].val.tail(), "/") {
		w.ctx.st.files[to] = written{program: from}
		return true
	}
	content, ok := w.content(operands[0].val)
	if !ok {
		return false
	}
	w.write(to, content, content.inputs(), false)
	return true
}
