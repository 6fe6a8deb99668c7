package call

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// tarValues are tar's short options that take a value.
const tarValues = "fCTXIbgKLNVHF"

// tarJob is the task of a tar command line.
type tarJob struct {
	c        *Call
	create   bool
	extract  bool
	remove   bool // --remove-files
	absolute bool // -P: names in an archive go where they say
	listing  int  // lists that name lists
	archives []value.Word
	members  []Touch
	sieve    Sieve
	into     []shell.Dir
}

// tar reads the options in their three spellings (xzf, -xzf, --extract) and then says what is
// read and written: creating reads the members and writes the archive; extracting reads the
// archive and writes somewhere below the directory.
func tar(c *Call) {
	j := &tarJob{c: c}
	words := c.Operands
	first := true
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w.Text, "--"):
			i += j.long(words, i)
		case len(w.Text) > 1 && w.Text[0] == '-':
			i += j.short(words, i, Cut(w, 1))
		case first && w.Certainty == value.Exact && strings.ContainsAny(w.Text, "cxtruA") && !strings.ContainsAny(w.Text, "/."):
			i += j.bundled(words, i)
		default:
			j.members = append(j.members, Touch{Word: w, Dir: c.Dir})
		}
		first = false
	}
	j.finish()
}

func (j *tarJob) long(words []value.Word, i int) int {
	name, _, given := strings.Cut(strings.TrimPrefix(words[i].Text, "--"), "=")
	value, used := value.Word{}, 0
	if given {
		value = Cut(words[i], len(name)+3)
	} else if i+1 < len(words) {
		value, used = words[i+1], 1
	}
	mean, exact := "", false
	for _, option := range commands.Words("tar-options") {
		full, m, _ := strings.Cut(option, "=")
		if full == name || !exact && len(name) > 2 && strings.HasPrefix(full, name) && m > mean {
			mean, exact = m, full == name
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
		if rest := Cut(cluster, at+1); rest.Text != "" {
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
		j.c.path(w, term.Reads)
		j.listed(w)
	case 'X':
		j.c.path(w, term.Reads)
	case 'x':
		j.sieve.keepOut(w, true)
	case 'w':
		j.c.path(w, term.Writes)
	case 'e', 'g':
		j.c.path(w, term.Reads|term.Writes)
	case 'm':
		j.members = append(j.members, Touch{Word: w, Dir: j.c.Dir})
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
		words := []value.Word{Exact(strings.TrimRight(line, "\n"))}
		switch name := words[0].Text; {
		case name == "":
		case strings.HasPrefix(name, "--"):
			j.long(words, 0)
		case strings.HasPrefix(name, "-"):
			j.short(words, 0, Cut(words[0], 1))
		default:
			j.members = append(j.members, Touch{Word: words[0], Dir: j.c.Dir})
		}
	}
	for _, name := range j.c.handed(w, text) {
		j.members = append(j.members, Touch{Word: name, Dir: j.c.Dir})
	}
}

func (j *tarJob) escape() {
	j.c.Flags.Add(term.FlagEscape)
	j.c.Effects |= term.Execute
}

// chdir changes the directory for the members that follow, not for the archive.
func (j *tarJob) chdir(w value.Word) {
	j.c.Dir = disk.Enter(j.c.Dir, w)
	j.into = append(j.into, j.c.Dir)
}

func (j *tarJob) finish() {
	c := j.c
	a := term.Reads
	if j.create {
		a = term.Writes
		c.Effects |= term.Write
	}
	for _, w := range j.archives {
		if w.Text == "-" {
			continue
		}
		if host, remote := RemoteHost(w.Text); remote {
			c.Hosts = AppendHost(c.Hosts, host)
			c.Effects |= term.Network
			continue
		}
		c.Touches = append(c.Touches, Touch{Word: w, Access: a, Source: "argument", Dir: c.Cmd.Dir})
		if j.create && isDisk(w) {
			c.Flags.Add(term.FlagDiskWrite)
		}
	}
	switch {
	case j.create:
		for _, m := range j.members {
			m.Access, m.Source, m.Recursive = term.Reads, "argument", true
			m.Sieve = &j.sieve
			if j.remove {
				m.Access |= term.Deletes
				c.Effects |= term.Delete
			}
			c.Touches = append(c.Touches, m)
		}
	case j.extract:
		c.Effects |= term.Write
		into := c.Dir
		if len(j.into) > 0 {
			into = j.into[len(j.into)-1]
		}
		w := Exact(".")
		if j.absolute {
			w = value.Word{} // any path that the archive names
		}
		c.Touches = append(c.Touches, Touch{Word: w, Access: term.Writes, Source: "argument", Dir: into})
	}
}

// zip: -m moves the files into the archive, and -r is about them, not about the archive.
func zip(c *Call) {
	c.each(term.Writes, func(t *Touch) { t.Recursive = false })
	c.sift(c.sifted())
	if !c.Has("m", "move") {
		return
	}
	c.each(term.Reads, func(t *Touch) { t.Access |= term.Deletes })
}

// gzip replaces a file by its packed form. It decodes when it unpacks to its output.
func gzip(c *Call) {
	name := c.Cmd.Name
	unpack := strings.HasPrefix(name, "un") || strings.HasPrefix(name, "gun") || strings.HasPrefix(name, "bun") || c.Has("d", "decompress", "uncompress")
	if unpack {
		c.Flags.Add(term.FlagDecodes)
	}
	toOutput := c.Has("c", "stdout", "to-stdout", "t", "test", "l", "list")
	keeps := toOutput || c.Has("k", "keep") || strings.HasPrefix(name, "zstd") || strings.HasPrefix(name, "unzstd") || strings.HasPrefix(name, "lz4") || name == "brotli"
	c.Effects |= term.Read
	c.each(term.Reads|term.Writes, func(t *Touch) {
		if t.Access == term.Writes {
			return
		}
		t.Access = term.Reads
		if !toOutput {
			t.Access |= term.Writes
		}
		if !keeps {
			t.Moved = true // the content stays, in another form
		}
	})
	if toOutput || len(c.Operands) == 0 {
		c.Effects &^= term.Write
	}
}

// cpioNames reads the names of the packed files from the input.
func cpioNames(c *Call) {
	if c.Has("o", "create", "p", "pass-through") {
		c.readsListed(Exact("-"), Exact(""))
	}
	for _, o := range c.Options {
		if o.Given && (o.Name == "F" || o.Full == "--file") && c.Has("o", "create") {
			c.path(o.Value, term.Writes)
		}
	}
}

// readsListed reads the files that a list names, below a directory if there is one.
func (c *Call) readsListed(list, below value.Word) {
	text := strings.TrimSpace(c.source.text(list))
	for line := range strings.Lines(text) {
		c.path(part(below, path.Join(below.Text, strings.TrimSpace(line))), term.Reads)
	}
	for _, name := range c.handed(list, text) {
		c.path(name, term.Reads)
	}
}

// handed is a word for the names in a list without a known text that other commands print for this one; none
// where no command prints for it.
func (c *Call) handed(list value.Word, text string) []value.Word {
	if strings.TrimSpace(text) != "" || list.Text != "-" || c.source.Inputs == nil {
		return nil
	}
	inputs := c.source.Inputs[c.source.At]
	if len(inputs) == 0 {
		return nil
	}
	return []value.Word{{Raw: "-", Inputs: inputs, Certainty: value.Unknown}}
}

// part is a word that was made of a known word, and an unknown one otherwise.
func part(of value.Word, text string) value.Word {
	if of.Certainty != value.Exact {
		return value.Word{Raw: of.Raw, Inputs: of.Inputs, Certainty: value.Unknown}
	}
	return Exact(text)
}

// grepDefault: grep -r without a file reads the working directory; so does rg.
func grepDefault(c *Call) {
	if c.Has("l", "files-with-matches", "L", "files-without-match", "files") {
		c.Flags.Add(term.FlagListsNames)
	}
	if strings.HasPrefix("recurse", cmp.Or(c.Value("d", "directories"), "-")) && strings.HasSuffix(c.Cmd.Name, "grep") {
		c.Flags.Add(term.FlagRecursive)
		c.each(term.Reads, func(t *Touch) { t.Recursive = true })
	}
	files := len(c.Operands)
	if !c.noFirst {
		files--
	}
	if files <= 0 && c.Flags.Has(term.FlagRecursive) && c.Cmd.Pipeline.Index == 0 {
		c.touch(Exact("."), Role{Access: term.Reads, recursive: true})
	}
	c.sift(c.sifted())
	c.searched()
	if c.Base.flags.Has(term.FlagRecursive) {
		// rg and ag look through directories by nature; it is no option of theirs.
		c.Flags.Remove(term.FlagRecursive)
	}
}

// searched: a search below directories, limited to names of secret files, reads these.
func (c *Call) searched() {
	var roots []value.Word
	for _, t := range c.Touches {
		if t.Recursive && t.Access == term.Reads && t.Word.Certainty == value.Exact {
			roots = append(roots, t.Word)
		}
	}
	for _, o := range c.Options {
		if !o.Given || o.Full != "--include" && o.Full != "--glob" && o.Full != "--iglob" && o.Full != "-g" {
			continue
		}
		var labels term.Set
		if places.Atlases().Names(&labels, "/x/"+strings.Trim(path.Base(o.Value.Text), "*?")); !labels.Meets(places.CredentialLabels) && !labels.Has(term.LabelEnvFile) {
			continue
		}
		for _, root := range roots {
			file := Exact(path.Join(root.Text, path.Base(o.Value.Text)))
			file.Glob = strings.ContainsAny(o.Value.Text, "*?[")
			c.path(file, term.Reads)
		}
	}
}

// sedInPlace: with -i the files are written; with -n or without -i they are only read.
func sedInPlace(c *Call) {
	if !c.Flags.Has(term.FlagInPlace) {
		return
	}
	first := len(c.Operands)
	if !c.noFirst {
		first--
	}
	if first <= 0 {
		return
	}
	c.each(term.Reads, func(t *Touch) {
		for _, w := range c.Operands[len(c.Operands)-first:] {
			if w.Raw == t.Word.Raw {
				t.Access |= term.Writes
			}
		}
	})
}

// awkAssignments: name=value among the files is not a file, unless the program prints to what the name stands
// for.
// -i inplace writes them.
func awkAssignments(c *Call) {
	kept := c.Touches[:0]
	for _, t := range slices.Clone(c.Touches) {
		name, _, ok := strings.Cut(t.Word.Text, "=")
		if ok && !strings.ContainsAny(name, "/.") {
			program := strings.Join(strings.Fields(c.operand(0)), "")
			if strings.Contains(program, "print") && (strings.Contains(program, ">"+name+"}") || strings.Contains(program, ">"+name+";")) {
				t.Word, t.Access = Cut(t.Word, len(name)+1), term.Writes
				c.Effects |= term.Write
				kept = append(kept, t)
			}
			continue
		}
		if c.Value("i", "include") == "inplace" {
			t.Access |= term.Writes
			c.Flags.Add(term.FlagInPlace)
		}
		kept = append(kept, t)
	}
	c.Touches = kept
}

// jqPairs: --arg NAME VALUE takes two words, --slurpfile NAME FILE the second of them a file.
func jqPairs(c *Call) {
	for i, w := range c.Cmd.Words {
		if i+2 >= len(c.Cmd.Words) {
			break
		}
		file := w.Text == "--slurpfile" || w.Text == "--rawfile"
		if !file && w.Text != "--arg" && w.Text != "--argjson" {
			continue
		}
		value := c.Cmd.Words[i+2]
		// The generic reading took the value for the filter, and the filter for a file.
		c.dropTouch(value)
		if file {
			c.path(value, term.Reads)
		}
	}
	if len(c.Operands) > 0 && (c.Has("arg") || c.Has("argjson") || c.Has("slurpfile") || c.Has("rawfile")) {
		for _, w := range c.Operands {
			if strings.ContainsAny(w.Text, "$|{}[]()") || strings.HasPrefix(w.Text, ".") && !strings.Contains(w.Text, "/") {
				c.dropTouch(w)
			}
		}
	}
}

func (c *Call) dropTouch(w value.Word) {
	for i, t := range c.Touches {
		if t.Word.Raw == w.Raw && t.Word.Text == w.Text {
			c.Touches = append(c.Touches[:i], c.Touches[i+1:]...)
			return
		}
	}
}

// editorScript: -c, +COMMAND and, in Ex mode, the input are commands for an editor.
func editorScript(c *Call) {
	for _, w := range c.Cmd.Words[1:] {
		if strings.HasPrefix(w.Text, ":") { // wherever it stands: -es and -s take words in more than one way
			c.told(w.Text)
		}
	}
	for _, o := range c.Options {
		if o.Given && (o.Name == "S" || o.Name == "u") {
			c.told(c.source.text(o.Value))
		}
		if o.Given && o.Name == "i" && o.Value.Text != "NONE" {
			c.path(o.Value, term.Reads|term.Writes)
		}
		if file := strings.TrimLeft(o.Value.Text, "0123456789"); o.Given && o.Name == "V" && file != "" {
			c.path(Cut(o.Value, len(o.Value.Text)-len(file)), term.Writes)
		}
	}
	if c.Has("s") && c.Cmd.Name != "ex" && !c.Has("e", "E") {
		c.escapes() // keys, of a file
	}
	kept := c.Touches[:0]
	var told []string
	for _, t := range c.Touches {
		if text, ok := strings.CutPrefix(t.Word.Text, "+"); ok {
			told = append(told, text)
			continue
		}
		kept = append(kept, t)
	}
	c.Touches = kept
	for _, text := range told {
		c.told(text)
	}
	c.tells(" c cmd ")
}

// edScript: the commands of ed come in.
func edScript(c *Call) { c.tells("") }

// lispStarts: the Lisp that an editor is given may start programs, as its functions with these names do.
func lispStarts(c *Call) {
	for _, o := range c.Options {
		if !o.Given || !strings.Contains(" e eval f funcall ", " "+o.Name+" ") {
			continue
		}
		text := strings.ReplaceAll(o.Value.Text, "byte-compile", "") // it starts nothing, unlike compile
		for _, name := range []string{"shell", "process", "term", "compile", "load", "eval-"} {
			if o.Value.Certainty != value.Exact || strings.Contains(text, name) {
				c.escapes()
			}
		}
	}
}
