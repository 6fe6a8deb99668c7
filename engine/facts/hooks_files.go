package facts

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// exact makes a word of text that a hook knows.
func exact(text string) shell.Word {
	return shell.Word{Text: text, Prefix: text, Raw: text, Certainty: shell.Exact, Quoted: true}
}

// path notes a word as a path with an access.
func (c *call) path(w shell.Word, a access) { c.touch(w, role{access: a}) }

// each changes the touches of operands and options that have an access.
func (c *call) each(a access, change func(*touch)) {
	for i := range c.touches {
		if c.touches[i].access&a != 0 {
			change(&c.touches[i])
		}
	}
}

// shred: with a device it is a disk write; with -u the file goes.
func shred(c *call) {
	remove := c.effects&doesDelete != 0 && c.cmd.Name != "shred" || c.has("u", "remove")
	c.effects &^= doesDelete
	c.each(writes, func(t *touch) {
		if remove {
			t.access |= deletes
		}
		t.access &^= reads
	})
	if remove {
		c.effects |= doesDelete
	}
	c.deviceWrites()
}

// deviceWrites adds disk_write when a command of this kind writes to a disk by its name.
func (c *call) deviceWrites() {
	c.each(writes|deletes, func(t *touch) {
		if isDisk(t.word) {
			c.flags.add(flagDiskWrite)
		}
	})
}

// isDisk reports whether a word is the well-known name of a block device.
func isDisk(w shell.Word) bool {
	text := w.Text
	if !strings.HasPrefix(text, "/dev/") {
		return false
	}
	var labels bitset
	atlases().labels(&labels, path.Clean(text), "")
	return labels.has(labelDiskDevice)
}

// move: what is moved is not lost, unless it goes to the null device.
func move(c *call) {
	for _, w := range c.operands {
		if w.Certainty == shell.Exact && path.Clean(w.Text) == "/dev/null" {
			return
		}
	}
	c.each(deletes, func(t *touch) { t.moved = true })
}

// link: the target of ln -s is looked at later, by whoever follows the link. With one operand
// the link lies in the directory.
func link(c *call) {
	if len(c.operands) == 1 {
		_, base := parent("/" + strings.TrimSuffix(c.operands[0].Text, "/"))
		if base != "" && c.operands[0].Certainty == shell.Exact && !c.noLast {
			c.touch(exact(base), role{access: writes, ofLink: true})
		}
	}
	if !c.has("s", "symbolic") {
		return
	}
	// A relative target is relative to the link, not to the working directory.
	if len(c.operands) < 2 {
		return
	}
	dest := c.operands[len(c.operands)-1]
	abs := absolute(dest.Text, c.dir)
	if abs == "" || dest.Certainty != shell.Exact {
		return
	}
	dir, _ := parent(path.Clean(abs))
	if strings.HasSuffix(dest.Text, "/") || dest.Text == "." || dest.Text == ".." {
		dir = path.Clean(abs)
	}
	c.each(reads, func(t *touch) { t.dir = shell.Dir{Path: dir, Known: true} })
}

// installMode: install -m 4755 makes a setuid program; install -d makes directories.
func installMode(c *call) {
	modeOption(c)
	if c.has("d", "directory") {
		c.each(reads, func(t *touch) { t.access = writes })
	}
}

func modeOption(c *call) {
	if m := c.value("m", "mode"); m != "" {
		c.flags.union(modeFlags(m))
	}
}

// testFile: test -f FILE looks at a file. Comparisons of strings do not.
func testFile(c *call) {
	for i, w := range c.operands {
		if len(w.Text) == 2 && w.Text[0] == '-' && strings.IndexByte("bcdefghkprstuwxGLNOS", w.Text[1]) >= 0 && i+1 < len(c.operands) {
			c.touch(c.operands[i+1], role{access: reads, metadata: true})
			c.effects |= doesRead
		}
	}
}

// find: roots, then an expression. -exec has been opened by the shell walk.
func find(c *call) {
	words := c.operands
	i := 0
	for i < len(words) && (words[i].Text == "-H" || words[i].Text == "-L" || words[i].Text == "-P" || strings.HasPrefix(words[i].Text, "-O")) {
		i++
	}
	start := i
	for i < len(words) && !isOption(words[i]) && !strings.Contains("( ! ) ,", words[i].Text) {
		i++
	}
	roots := words[start:i]
	if len(roots) == 0 {
		roots = []shell.Word{exact(".")}
	}
	c.effects |= doesRead
	filter, remove := c.findExpression(words[i:])
	for _, r := range roots {
		c.touches = append(c.touches, touch{word: r, access: reads, source: "argument", dir: c.dir, role: role{access: reads, metadata: true}, recursive: true})
		if remove {
			c.flags.add(flagRecursive)
			c.touches = append(c.touches, touch{word: r, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes}, recursive: true, filter: filter})
		}
	}
}

// findExpression reads the tests and actions. filter is the one name that an entry must have to
// be deleted, "" when there is none.
func (c *call) findExpression(words []shell.Word) (filter string, remove bool) {
	alternatives := false
	for i := 0; i < len(words); i++ {
		next := func() shell.Word {
			if i+1 < len(words) {
				i++
				return words[i]
			}
			return shell.Word{}
		}
		switch words[i].Text {
		case "-delete":
			remove = true
		case "-o", "-or", "!", "-not", ",":
			alternatives = true
		case "-name", "-iname":
			if w := next(); w.Certainty == shell.Exact && !isEverything(w.Text) {
				filter = w.Text
			}
		case "-path", "-wholename", "-ipath", "-regex", "-iregex":
			if w := next(); w.Certainty == shell.Exact && filter == "" {
				if _, base := parent("/" + w.Text); !isEverything(base) && !strings.HasPrefix(base, ".*") && !strings.ContainsAny(base, `\(|`) {
					filter = base
				}
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.path(next(), writes)
		case "-newer", "-anewer", "-cnewer", "-samefile":
			c.touch(next(), role{access: reads, metadata: true})
		case "-files0-from":
			c.path(next(), reads)
		case "-exec", "-execdir", "-ok", "-okdir":
			c.effects |= doesExecute
			for i < len(words) && words[i].Text != ";" && words[i].Text != "+" {
				i++
			}
		}
	}
	if alternatives {
		// With -o or ! a name no longer bounds what is deleted, unless all alternatives are names;
		// the filter stays as a sample of them, but only if nothing is negated.
		for _, w := range words {
			if w.Text == "!" || w.Text == "-not" {
				return "", remove
			}
		}
	}
	return filter, remove
}

// rsync: --delete empties the destination of what the source lacks; -a is recursive.
func rsync(c *call) {
	if rsh := strings.TrimSpace(c.value("e", "rsh")); rsh != "" && rsh != "ssh" && !strings.HasPrefix(rsh, "ssh ") {
		c.escapes()
	}
	if len(c.operands) < 2 {
		return
	}
	deletesThere := false
	for _, o := range c.options {
		deletesThere = deletesThere || strings.HasPrefix(o.name, "del")
	}
	if !c.has("remove-source-files") && !deletesThere {
		c.effects &^= doesDelete
	}
	dest := c.operands[len(c.operands)-1]
	if _, remote := remoteHost(dest.Text); deletesThere && !remote {
		c.touches = append(c.touches, touch{word: dest, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes}, recursive: true})
	}
	if c.has("remove-source-files") {
		c.each(reads, func(t *touch) { t.access |= deletes; t.moved = true })
	}
	c.effects |= doesRead
}

// dd: key=value operands.
func dd(c *call) {
	for _, w := range c.operands {
		key, _, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		value := cut(w, len(key)+1)
		switch key {
		case "if":
			c.path(value, reads)
		case "of":
			c.path(value, writes)
			if isDisk(value) {
				c.flags.add(flagDiskWrite)
			}
		}
	}
}

// ddTarget: programs whose second operand is what they write.
func ddTarget(c *call) { c.deviceWrites() }

// partition: listing is not writing. Without a device the program picks its own.
func partition(c *call) {
	if c.has("l", "list", "p", "print", "v", "verify", "V", "i", "info", "dump", "J", "json") || c.operand(1) == "print" || c.cmd.Name == "partprobe" || c.cmd.Name == "partx" {
		c.effects &^= doesWrite
		c.each(writes, func(t *touch) { t.access = reads; t.role.metadata = true })
		c.effects |= doesRead
		return
	}
	c.flags.add(flagDiskWrite)
	for _, w := range c.operands {
		if w.Text == "mklabel" || w.Text == "mktable" || w.Text == "mkpart" || w.Text == "rm" {
			c.flags.add(flagFormatsDisk)
		}
	}
}

// diskutil names disks without /dev/.
func diskutil(c *call) {
	if len(c.operands) == 0 || !c.flags.has(flagDiskWrite) {
		return
	}
	last := c.operands[len(c.operands)-1]
	if !strings.Contains(last.Text, "/") && last.Certainty == shell.Exact {
		c.path(exact("/dev/"+last.Text), writes)
		return
	}
	c.path(last, writes)
}

// grepDefault: grep -r without a file reads the working directory; so does rg.
func grepDefault(c *call) {
	files := len(c.operands)
	if !c.noFirst {
		files--
	}
	if files <= 0 && c.flags.has(flagRecursive) && c.cmd.Pipeline.Index == 0 {
		c.touch(exact("."), role{access: reads, recursive: true})
	}
	if c.base.flags.has(flagRecursive) {
		// rg and ag look through directories by nature; it is no option of theirs.
		c.flags.remove(flagRecursive)
	}
}

// sedInPlace: with -i the files are written; with -n or without -i they are only read.
func sedInPlace(c *call) {
	if !c.flags.has(flagInPlace) {
		return
	}
	first := len(c.operands)
	if !c.noFirst {
		first--
	}
	if first <= 0 {
		return
	}
	c.each(reads, func(t *touch) {
		for _, w := range c.operands[len(c.operands)-first:] {
			if w.Raw == t.word.Raw {
				t.access |= writes
			}
		}
	})
}

// awkAssignments: name=value among the files is not a file. -i inplace writes them.
func awkAssignments(c *call) {
	kept := c.touches[:0]
	for _, t := range c.touches {
		name, _, ok := strings.Cut(t.word.Text, "=")
		if ok && !strings.ContainsAny(name, "/.") {
			continue
		}
		if c.value("i", "include") == "inplace" {
			t.access |= writes
			c.flags.add(flagInPlace)
		}
		kept = append(kept, t)
	}
	c.touches = kept
}

// jqPairs: --arg NAME VALUE takes two words, --slurpfile NAME FILE the second of them a file.
func jqPairs(c *call) {
	for i, w := range c.cmd.Words {
		if i+2 >= len(c.cmd.Words) {
			break
		}
		file := w.Text == "--slurpfile" || w.Text == "--rawfile"
		if !file && w.Text != "--arg" && w.Text != "--argjson" {
			continue
		}
		value := c.cmd.Words[i+2]
		// The generic reading took the value for the filter, and the filter for a file.
		c.dropTouch(value)
		if file {
			c.path(value, reads)
		}
	}
	if len(c.operands) > 0 && (c.has("arg") || c.has("argjson") || c.has("slurpfile") || c.has("rawfile")) {
		for _, w := range c.operands {
			if strings.ContainsAny(w.Text, "$|{}[]()") || strings.HasPrefix(w.Text, ".") && !strings.Contains(w.Text, "/") {
				c.dropTouch(w)
			}
		}
	}
}

func (c *call) dropTouch(w shell.Word) {
	for i, t := range c.touches {
		if t.word.Raw == w.Raw && t.word.Text == w.Text {
			c.touches = append(c.touches[:i], c.touches[i+1:]...)
			return
		}
	}
}

// patchTree: without an operand patch writes what the patch names, somewhere below.
func patchTree(c *call) {
	if len(c.operands) == 0 {
		c.touch(exact("."), role{access: writes})
	}
}

// xxd -r turns text into bytes; as hexdump its second operand is not written.
func xxd(c *call) {
	if c.cmd.Name == "xxd" {
		if c.has("r") {
			c.flags.add(flagDecodes)
		}
		return
	}
	c.each(writes, func(t *touch) { t.access = reads })
}

// editorEscape: vim -c ':!sh', +'!sh' and :py start programs; -c and + with other words do not.
func editorEscape(c *call) {
	check := func(text string) {
		text = strings.TrimLeft(text, ":+ ")
		if strings.Contains(text, "!") || strings.Contains(text, "system(") || strings.Contains(text, "shell") || strings.HasPrefix(text, "py") ||
			strings.HasPrefix(text, "lua") || strings.HasPrefix(text, "ruby") || strings.HasPrefix(text, "perl") || strings.Contains(text, "term") {
			c.flags.add(flagEscape)
			c.effects |= doesExecute
		}
	}
	for _, o := range c.options {
		if (o.name == "c" || o.name == "cmd") && o.given {
			check(o.value.Text)
		}
	}
	kept := c.touches[:0]
	for _, t := range c.touches {
		if strings.HasPrefix(t.word.Text, "+") {
			check(t.word.Text)
			continue
		}
		kept = append(kept, t)
	}
	c.touches = kept
}
