package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// tarValues are tar's short options that take a value.
const tarValues = "fCTXIbgKLNVHF"

// tarLong says what tar's long options are: a letter of letter, or behind = one of value that takes the
// value, behind =? an attached one only.
var tarLong = map[string]string{
	"create": "c", "append": "r", "update": "u", "catenate": "A", "concatenate": "A", "delete": "c", "extract": "x", "get": "x", "list": "t",
	"diff": "d", "compare": "d", "test-label": "t", "absolute-names": "P", "remove-files": "R",
	"file": "=f", "directory": "=C", "cd": "=C", "files-from": "=T", "exclude-from": "=X", "index-file": "=w", "volno-file": "=e",
	"listed-incremental": "=e", "add-file": "=m", "one-top-level": "=?o", "checkpoint-action": "=k",
	"to-command": "=I", "use-compress-program": "=I", "rsh-command": "=I", "info-script": "=I", "new-volume-script": "=I", "rmt-command": "=I",
	"exclude": "=x", "exclude-tag": "=-", "transform": "=-", "xform": "=-", "owner": "=-", "group": "=-", "owner-map": "=X", "group-map": "=X", "mode": "=-",
	"mtime": "=-", "strip-components": "=-", "format": "=-", "blocking-factor": "=-", "record-size": "=-", "tape-length": "=-", "label": "=-", "newer": "=-",
	"newer-mtime": "=-", "after-date": "=-", "suffix": "=-", "sort": "=-", "warning": "=-", "starting-file": "=-", "pax-option": "=-", "level": "=-",
	"checkpoint": "=?-", "backup": "=?-", "totals": "=?-", "occurrence": "=?-", "atime-preserve": "=?-",
}

// tarJob is what a tar command line asks for.
type tarJob struct {
	c        *call
	create   bool
	extract  bool
	remove   bool // --remove-files
	absolute bool // -P: names in an archive go where they say
	listing  int  // lists that name lists
	archives []value.Word
	members  []touch
	sieve    sieve
	into     []shell.Dir
}

// tar reads the options in their three spellings (xzf, -xzf, --extract) and then says what is
// read and written: creating reads the members and writes the archive; extracting reads the
// archive and writes somewhere below the directory.
func tar(c *call) {
	j := &tarJob{c: c}
	words := c.operands
	first := true
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w.Text, "--"):
			i += j.long(words, i)
		case len(w.Text) > 1 && w.Text[0] == '-':
			i += j.short(words, i, cut(w, 1))
		case first && w.Certainty == value.Exact && strings.ContainsAny(w.Text, "cxtruA") && !strings.ContainsAny(w.Text, "/."):
			i += j.bundled(words, i)
		default:
			j.members = append(j.members, touch{word: w, dir: c.dir})
		}
		first = false
	}
	j.finish()
}

func (j *tarJob) long(words []value.Word, i int) int {
	name, _, given := strings.Cut(strings.TrimPrefix(words[i].Text, "--"), "=")
	value, used := value.Word{}, 0
	if given {
		value = cut(words[i], len(name)+3)
	} else if i+1 < len(words) {
		value, used = words[i+1], 1
	}
	mean, ok := tarLong[name]
	for full, m := range tarLong {
		if !ok && len(name) > 2 && strings.HasPrefix(full, name) && (mean == "" || m > mean) {
			mean = m
		}
	}
	kind, takes := strings.CutPrefix(mean, "=")
	kind, attached := strings.CutPrefix(kind, "?")
	switch {
	case mean == "":
		return 0
	case !takes:
		j.letter(kind[0])
		return 0
	case attached && !given:
		return 0
	}
	j.value(kind[0], value)
	return used
}

// harmlessCompressor reports whether the program of -I is one of the usual compressors.
func harmlessCompressor(text string) bool {
	fields := strings.Fields(text)
	return len(fields) > 0 && !strings.ContainsAny(text, ";|&$`<>()\n") && strings.Contains(" gzip pigz bzip2 pbzip2 xz pixz zstd pzstd zstdmt lz4 lzip lzop brotli lzma ", " "+fields[0]+" ")
}

// short reads a cluster behind one dash; the value of an option is the rest of the word or the next word.
func (j *tarJob) short(words []value.Word, i int, cluster value.Word) int {
	for at := 0; at < len(cluster.Text); at++ {
		b := cluster.Text[at]
		if strings.IndexByte(tarValues, b) < 0 {
			j.letter(b)
			continue
		}
		if rest := cut(cluster, at+1); rest.Text != "" {
			j.value(b, rest)
			return 0
		}
		if i+1 < len(words) {
			j.value(b, words[i+1])
			return 1
		}
	}
	return 0
}

// bundled reads the old spelling: the values follow the word in the order of their letters.
func (j *tarJob) bundled(words []value.Word, i int) int {
	used := 0
	for _, b := range []byte(words[i].Text) {
		if strings.IndexByte(tarValues, b) < 0 {
			j.letter(b)
		} else if i+1+used < len(words) {
			used++
			j.value(b, words[i+used])
		}
	}
	return used
}

func (j *tarJob) letter(b byte) {
	switch b {
	case 'c', 'r', 'u', 'A':
		j.create = true
	case 'x':
		j.extract = true
	case 'P':
		j.absolute = true
	case 'R':
		j.remove = true
	}
}

func (j *tarJob) value(b byte, w value.Word) {
	switch b {
	case 'f':
		j.archives = append(j.archives, w)
	case 'C':
		j.chdir(w)
	case 'T':
		j.c.path(w, reads)
		j.listed(w)
	case 'X':
		j.c.path(w, reads)
	case 'x':
		j.sieve.keepOut(w, true)
	case 'w':
		j.c.path(w, writes)
	case 'e', 'g':
		j.c.path(w, reads|writes)
	case 'm':
		j.members = append(j.members, touch{word: w, dir: j.c.dir})
	case 'o':
		j.chdir(w)
	case 'k':
		if strings.HasPrefix(w.Text, "exec") {
			j.escape()
		}
	case 'I', 'F':
		if !harmlessCompressor(w.Text) {
			j.escape()
		}
	}
}

// listed reads the names in a list, as far as that is known. Options may stand among them.
func (j *tarJob) listed(w value.Word) {
	if j.listing++; j.listing > 4 {
		return
	}
	text := j.c.source.text(w)
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\x00", "\n")
	}
	for line := range strings.Lines(text) {
		words := []value.Word{exact(strings.TrimRight(line, "\n"))}
		switch name := words[0].Text; {
		case name == "":
		case strings.HasPrefix(name, "--"):
			j.long(words, 0)
		case strings.HasPrefix(name, "-"):
			j.short(words, 0, cut(words[0], 1))
		default:
			j.members = append(j.members, touch{word: words[0], dir: j.c.dir})
		}
	}
}

func (j *tarJob) escape() {
	j.c.flags.add(flagEscape)
	j.c.effects |= doesExecute
}

// chdir changes the directory for the members that follow, not for the archive.
func (j *tarJob) chdir(w value.Word) {
	j.c.dir = enter(j.c.dir, w)
	j.into = append(j.into, j.c.dir)
}

func (j *tarJob) finish() {
	c := j.c
	a := reads
	if j.create {
		a = writes
		c.effects |= doesWrite
	}
	for _, w := range j.archives {
		if w.Text == "-" {
			continue
		}
		if host, remote := remoteHost(w.Text); remote {
			c.hosts = appendHost(c.hosts, host)
			c.effects |= doesNetwork
			continue
		}
		c.touches = append(c.touches, touch{word: w, access: a, source: "argument", dir: c.cmd.Dir})
		if j.create && isDisk(w) {
			c.flags.add(flagDiskWrite)
		}
	}
	switch {
	case j.create:
		for _, m := range j.members {
			m.access, m.source, m.recursive = reads, "argument", true
			m.sieve = &j.sieve
			if j.remove {
				m.access |= deletes
				c.effects |= doesDelete
			}
			c.touches = append(c.touches, m)
		}
	case j.extract:
		c.effects |= doesWrite
		into := c.dir
		if len(j.into) > 0 {
			into = j.into[len(j.into)-1]
		}
		w := exact(".")
		if j.absolute {
			w = value.Word{} // whatever the archive names
		}
		c.touches = append(c.touches, touch{word: w, access: writes, source: "argument", dir: into})
	}
}

// unzip writes into -d DIR or the working directory, unless it only lists.
func unzip(c *call) {
	if c.has("l", "t", "v", "Z", "p", "c") {
		c.effects &^= doesWrite
		return
	}
	if !c.has("d") {
		c.touch(exact("."), role{access: writes})
	}
}

// zip: -m moves the files into the archive, and -r is about them, not about the archive.
func zip(c *call) {
	c.each(writes, func(t *touch) { t.recursive = false })
	c.sift(c.sifted())
	if !c.has("m", "move") {
		return
	}
	c.each(reads, func(t *touch) { t.access |= deletes })
}

// gzip replaces a file by its packed form. It decodes when it unpacks to its output.
func gzip(c *call) {
	name := c.cmd.Name
	unpack := strings.HasPrefix(name, "un") || strings.HasPrefix(name, "gun") || strings.HasPrefix(name, "bun") || c.has("d", "decompress", "uncompress")
	if unpack {
		c.flags.add(flagDecodes)
	}
	toOutput := c.has("c", "stdout", "to-stdout", "t", "test", "l", "list")
	keeps := toOutput || c.has("k", "keep") || strings.HasPrefix(name, "zstd") || strings.HasPrefix(name, "unzstd") || strings.HasPrefix(name, "lz4") || name == "brotli"
	c.effects |= doesRead
	c.each(reads|writes, func(t *touch) {
		if t.access == writes {
			return
		}
		t.access = reads
		if !toOutput {
			t.access |= writes
		}
		if !keeps {
			t.moved = true // the content stays, in another form
		}
	})
	if toOutput || len(c.operands) == 0 {
		c.effects &^= doesWrite
	}
}

// cpioNames reads the names of the packed files from the input.
func cpioNames(c *call) {
	if !c.has("o", "create", "p", "pass-through") {
		return
	}
	for line := range strings.Lines(c.source.text(exact("-"))) {
		c.path(exact(strings.TrimSpace(line)), reads)
	}
}

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

// awkAssignments: name=value among the files is not a file, unless the program prints to what the name stands
// for.
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
