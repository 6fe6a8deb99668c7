package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// grepDefault: grep -r without a file reads the working directory; so does rg.
func grepDefault(c *call) {
	if c.has("l", "files-with-matches", "L", "files-without-match", "files") {
		c.flags.add(flagListsNames)
	}
	if strings.HasPrefix("recurse", cmp.Or(c.value("d", "directories"), "-")) && strings.HasSuffix(c.cmd.Name, "grep") {
		c.flags.add(flagRecursive)
		c.each(reads, func(t *touch) { t.recursive = true })
	}
	files := len(c.operands)
	if !c.noFirst {
		files--
	}
	if files <= 0 && c.flags.has(flagRecursive) && c.cmd.Pipeline.Index == 0 {
		c.touch(exact("."), role{access: reads, recursive: true})
	}
	c.sift(c.sifted())
	c.searched()
	if c.base.flags.has(flagRecursive) {
		// rg and ag look through directories by nature; it is no option of theirs.
		c.flags.remove(flagRecursive)
	}
}

// searched: a search below directories, limited to names of secret files, reads these.
func (c *call) searched() {
	var roots []value.Word
	for _, t := range c.touches {
		if t.recursive && t.access == reads && t.word.Certainty == value.Exact {
			roots = append(roots, t.word)
		}
	}
	for _, o := range c.options {
		if !o.given || o.full != "--include" && o.full != "--glob" && o.full != "--iglob" && o.full != "-g" {
			continue
		}
		var labels bitset
		if atlases().names(&labels, "/x/"+strings.Trim(path.Base(o.value.Text), "*?")); !labels.meets(credentialLabels) && !labels.has(labelEnvFile) {
			continue
		}
		for _, root := range roots {
			file := exact(path.Join(root.Text, path.Base(o.value.Text)))
			file.Glob = strings.ContainsAny(o.value.Text, "*?[")
			c.path(file, reads)
		}
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

// awkAssignments: name=value among the files is not a file, unless the program prints to what the name stands for.
// -i inplace writes them.
func awkAssignments(c *call) {
	kept := c.touches[:0]
	for _, t := range slices.Clone(c.touches) {
		name, _, ok := strings.Cut(t.word.Text, "=")
		if ok && !strings.ContainsAny(name, "/.") {
			program := strings.Join(strings.Fields(c.operand(0)), "")
			if strings.Contains(program, "print") && (strings.Contains(program, ">"+name+"}") || strings.Contains(program, ">"+name+";")) {
				t.word, t.access = cut(t.word, len(name)+1), writes
				c.effects |= doesWrite
				kept = append(kept, t)
			}
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

func (c *call) dropTouch(w value.Word) {
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

// editorScript: -c, +COMMAND and, in Ex mode, the input tell an editor what to do.
func editorScript(c *call) {
	for _, w := range c.cmd.Words[1:] {
		if strings.HasPrefix(w.Text, ":") { // wherever it stands: -es and -s take words in more than one way
			c.told(w.Text)
		}
	}
	for _, o := range c.options {
		if o.given && (o.name == "S" || o.name == "u") {
			c.told(c.source.text(o.value))
		}
	}
	if c.has("s") && c.cmd.Name != "ex" && !c.has("e", "E") {
		c.escapes() // keys, of a file
	}
	kept := c.touches[:0]
	var told []string
	for _, t := range c.touches {
		if text, ok := strings.CutPrefix(t.word.Text, "+"); ok {
			told = append(told, text)
			continue
		}
		kept = append(kept, t)
	}
	c.touches = kept
	for _, text := range told {
		c.told(text)
	}
	c.tells(" c cmd ")
}

// edScript: the commands of ed come in.
func edScript(c *call) { c.tells("") }

// lispStarts: the Lisp that an editor is given may start programs, as its functions with these names do.
func lispStarts(c *call) {
	for _, o := range c.options {
		if !o.given || !strings.Contains(" e eval f funcall ", " "+o.name+" ") {
			continue
		}
		for _, name := range []string{"shell", "process", "term", "compile", "load", "eval-"} {
			if o.value.Certainty != value.Exact || strings.Contains(o.value.Text, name) {
				c.escapes()
			}
		}
	}
}
