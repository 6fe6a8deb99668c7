package call

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// dialect is a language of lines that makes a program read and write files: that of an editor, or of the
// shell of a database. Names are given as in the manuals: "w[rite]" is w, wr, and so on.
type dialect struct {
	lead   string // the text in front of a command; "" for an address
	ends   string // characters that end a command besides the end of a line
	pipe   string // the text before a program in place of a file
	insert string // commands whose text follows, up to a line with a dot

	writes, reads, edits, executes string // by what they do with their last word
	runs                           string // commands that start a program
	skips                          string // words before a command
	calls                          string // functions that do something to the machine, wherever they stand
	bare                           string // commands that need no lead at the beginning of a statement
	paths                          bool   // a file is a word that looks like a path
}

var (
	exDialect = &dialect{
		ends: "|", pipe: "!", insert: "a[ppend] i[nsert] c[hange]",
		writes: `w[rite] wq x[it] exi[t] sav[eas] up[date] wn[ext] wN[ext] wp[revious] mk[exrc] mks[ession] mkv[imrc] mkvie[w]
			wv[iminfo] wsh[ada] wu[ndo] redi[r] ha[rdcopy]`,
		reads:    "r[ead] rv[iminfo] diffs[plit] diffp[atch]",
		edits:    "e[dit] vi[sual] vie[w] sp[lit] vs[plit] new vne[w] tabe[dit] tabnew sv[iew] ped[it] f[ile]",
		executes: "so[urce] luaf[ile] pyf[ile] py3f[ile] rubyf[ile] perlf[ile]",
		runs: `! sh[ell] te[rminal] term[inal] py[thon] py3 python3 pyx pythonx lua luad[o] rub[y] rubyd[o] perl perld[o] tcl tcld[o] mz[scheme]
			mak[e] lmak[e] cex[pr]`,
		skips: `sil[ent] noa[utocmd] keepj[umps] keepp[atterns] keepa[lt] kee[pmarks] lockm[arks] bufd[o] wind[o] argd[o] tabd[o] verb[ose] exe[cute]
			norm[al] if cal[l]`,
		calls: `system( systemlist( delete( writefile( rename( mkdir( job_start( jobstart( term_start( termopen( libcall( os.execute
			io.popen os.remove io.open uv.spawn`,
	}
	edDialect = &dialect{pipe: "!", insert: "a i c", writes: "w W wq", reads: "r", edits: "e E f", runs: "!"}

	sqliteDialect = &dialect{
		lead: ".", pipe: "|",
		writes: "ou[tput] on[ce] ba[ckup] sa[ve] cl[one] lo[g] tr[ace]", reads: "rea[d] im[port] res[tore]",
		edits: "op[en] ar[chive]", executes: "loa[d] rea[d]",
		runs: "sh[ell] sy[stem] ex[cel]", calls: "load_extension( edit(",
	}
	psqlDialect = &dialect{
		lead: `\`, pipe: "|", writes: "o[ut] w[rite] g gx s lo_export", runs: "!",
		reads: "i[nclude] ir include_relative lo_import", executes: "i[nclude] ir include_relative",
	}
	mysqlDialect = &dialect{
		lead: `\`, writes: "T tee", reads: ". source", executes: ". source",
		runs: "! P pager system", bare: "tee source pager system",
	}

	gdbDialect = &dialect{
		paths: true, writes: "dump append sav[e] gcor[e] generat[e] logging hist[ory] tty", reads: "rest[ore]",
		executes: "so[urce]", skips: "set",
	}
	lldbDialect = &dialect{
		paths: true, writes: "mem[ory] log save", executes: "so[urce]", skips: "proc[ess] session com[mand]",
	}
)

// dialects lists them by program.
var dialects = map[string]*dialect{
	"ed": edDialect, "red": edDialect,
	"vi": exDialect, "vim": exDialect, "nvim": exDialect, "ex": exDialect, "view": exDialect, "gvim": exDialect, "rvim": exDialect, "vimdiff": exDialect,
	"sqlite3": sqliteDialect, "sqlite": sqliteDialect, "duckdb": sqliteDialect, "litecli": sqliteDialect,
	"psql": psqlDialect, "pgcli": psqlDialect, "mysql": mysqlDialect, "mariadb": mysqlDialect,
	"gdb": gdbDialect, "lldb": lldbDialect,
}

// told follows lines of the program's own language.
func (c *Call) told(text string) {
	d := dialects[c.Cmd.Name]
	if d == nil {
		return
	}
	if d.lead != "" {
		c.calling(d, text)
	}
	inserting := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if inserting {
			inserting = line != "."
			continue
		}
		for _, part := range d.split(line) {
			inserting = c.line(d, part) || inserting
		}
	}
}

// calling looks for functions of the program's own language that do something to the machine.
func (c *Call) calling(d *dialect, text string) {
	for name := range strings.FieldsSeq(d.calls) {
		at := strings.Index(text, name)
		if at == 0 || at > 0 && text[at-1] != '_' && !disk.IsLetter(text[at-1]) {
			c.escapes()
		}
	}
}

// split takes a line apart into commands.
func (d *dialect) split(line string) []string {
	switch {
	case d.lead == ".":
		if !strings.HasPrefix(line, ".") {
			return nil
		}
		return []string{line[1:]}
	case d.lead != "":
		parts := strings.Split(line, d.lead)[1:]
		for statement := range strings.SplitSeq(line, ";") {
			statement = strings.TrimSpace(statement)
			if name, _ := commandName(statement, false); named(d.bare, name) {
				parts = append(parts, statement)
			}
		}
		return parts
	case d.ends == "" || strings.HasPrefix(strings.TrimLeft(line, ": %.,$0123456789"), d.pipe):
		return []string{line}
	}
	return strings.Split(line, d.ends)
}

// line follows one command and reports whether text follows that is to be inserted.
func (c *Call) line(d *dialect, text string) bool {
	if d.lead == "" {
		c.calling(d, text)
		text = address(text)
	}
	for range 8 {
		name, rest := commandName(text, d == edDialect)
		if name != "" && named(d.skips, name) {
			text = address(strings.Trim(strings.TrimLeft(rest, "!"), " '\""))
			continue
		}
		if rest != "" && (name == "g" || name == "v" || named("g[lobal] v[global]", name)) && d.lead == "" {
			text = address(strings.TrimLeft(rest, "!"))
			continue
		}
		return c.lineCommand(d, name, rest)
	}
	return false
}

func (c *Call) lineCommand(d *dialect, name, rest string) bool {
	switch {
	case name == "!" || named(d.runs, name):
		c.escapes()
		return false
	case named(d.insert, name):
		return strings.TrimSpace(rest) == ""
	}
	var a term.Access
	for i, names := range []string{d.writes, d.reads, d.edits, d.executes} {
		if named(names, name) {
			a |= []term.Access{term.Writes, term.Reads, term.Reads | term.Writes, term.Executes}[i]
		}
	}
	if a == 0 {
		return false
	}
	if d.ends != "" && !named("r[ead]", name) { // w!FILE is forced, w !PROGRAM is not
		rest = strings.TrimPrefix(rest, "!")
	}
	c.lineFile(d, a, strings.TrimSpace(rest))
	return false
}

// lineFile touches the file that a command names, or notes that it starts a program.
func (c *Call) lineFile(d *dialect, a term.Access, rest string) {
	if d.pipe != "" && strings.HasPrefix(strings.Trim(rest, `'"`), d.pipe) {
		c.escapes()
		return
	}
	for _, word := range strings.Fields(strings.TrimLeft(rest, "> ")) {
		word = strings.Trim(word, `'"`)
		switch {
		case strings.HasPrefix(word, d.pipe) && d.pipe != "":
			c.escapes()
			return
		case strings.HasPrefix(word, "+") || strings.HasPrefix(word, "-") || word == "stdout" || word == "off" || word == "on" || word == "END":
		case d.paths && !LooksLikePath(word):
		default:
			file, home := strings.CutPrefix(word, "~/")
			c.Touches = append(c.Touches, Touch{
				Word: Exact(file), Access: a, Source: "argument", Dir: c.Dir, AtHome: home, Role: Role{Access: a},
			})
			c.Effects |= term.Effect(a)
		}
	}
}

// address skips the text before a command of an editor: line numbers, marks, patterns.
func address(text string) string {
	for text = strings.TrimLeft(text, ": \t"); text != ""; {
		switch b := text[0]; {
		case strings.IndexByte("0123456789.$%,;+- \t:*", b) >= 0:
			text = text[1:]
		case b == '\'' && len(text) > 1:
			text = text[2:]
		case b == '/' || b == '?':
			s := sedReader{text: text[1:]}
			s.upTo(b)
			text = s.text
		default:
			return text
		}
	}
	return text
}

// commandName splits the name of a command from the rest. In ed it is one letter, and wq.
func commandName(text string, single bool) (name, rest string) {
	if strings.HasPrefix(text, "!") || strings.HasPrefix(text, ".") {
		return text[:1], text[1:]
	}
	end := 0
	for end < len(text) {
		letter := text[end] == '_' || 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z'
		if digit := text[end] >= '0' && text[end] <= '9'; !letter && (!digit || end < 2) {
			break
		}
		end++
	}
	if single && end > 1 && !strings.HasPrefix(text, "wq") {
		end = 1
	}
	return text[:end], text[end:]
}

// named reports whether a list has a name: "w[rite]" stands for all that begin so, from w on.
func named(list, name string) bool {
	for full := range strings.FieldsSeq(list) {
		head, tail, _ := strings.Cut(full, "[")
		tail, end, _ := strings.Cut(tail, "]")
		if name != "" && strings.HasPrefix(name, head) && strings.HasPrefix(head+tail+end, name) {
			return true
		}
	}
	return false
}

// tells gives the program the texts of its own language: those of options and operands, and its input.
func (c *Call) tells(options string) {
	for _, o := range c.Options {
		if o.Given && strings.Contains(options, " "+o.Name+" ") {
			c.told(o.Value.Text)
		}
	}
	c.told(c.source.text(value.Word{Text: "-"}))
}

// sedScript: a script of sed can run programs (the command e, the flag e of s///), write files (w, W, the
// flag w) and read them (r, R); see sed(1) of GNU. Other commands touch nothing.
func sedScript(c *Call) {
	script := ""
	for _, o := range c.Options {
		switch {
		case !o.Given:
		case o.Name == "e" || o.Full == "--expression":
			script += "\n" + o.Value.Text
		case o.Name == "f" || o.Full == "--file":
			script += "\n" + c.source.text(o.Value)
		}
	}
	if script == "" && !c.noFirst {
		script = c.operand(0)
	}
	s := sedReader{text: script}
	for s.next() {
		if s.runs {
			c.Flags.Add(term.FlagEscape)
			c.Effects |= term.Execute
		}
		if s.file != "" {
			c.path(Exact(s.file), s.access)
			c.Effects |= term.Effect(s.access)
		}
	}
	sedInPlace(c)
}

// sedReader goes through the commands of a script one by one.
type sedReader struct {
	text string
	runs bool   // the command runs a program
	file string // the file that the command names

	access term.Access // the access to that
}

// next reads one command and reports whether there was one.
func (s *sedReader) next() bool {
	s.runs, s.file = false, ""
	s.text = strings.TrimLeft(s.text, " \t\n;{}")
	s.address()
	if s.text == "" {
		return false
	}
	command := s.text[0]
	s.text = s.text[1:]
	switch command {
	case 'e':
		s.line()
		s.runs = true
	case 'w', 'W':
		s.file, s.access = s.line(), term.Writes
	case 'r', 'R':
		s.file, s.access = s.line(), term.Reads
	case 'a', 'i', 'c': // a backslash at its end continues the text on the next line
		for strings.HasSuffix(s.line(), "\\") && s.text != "" {
		}
	case ':', 'b', 't', 'T', '#':
		s.line()
	case 's', 'y':
		s.substitute(command == 's')
	}
	return true
}

// address skips the text in front of a command: numbers, $, /patterns/ and their separators.
func (s *sedReader) address() {
	for s.text != "" {
		switch b := s.text[0]; {
		case strings.IndexByte("0123456789$,~+! \tI", b) >= 0:
			s.text = s.text[1:]
		case b == '/':
			s.text = s.text[1:]
			s.upTo('/')
		case b == '\\' && len(s.text) > 1:
			delimiter := s.text[1]
			s.text = s.text[2:]
			s.upTo(delimiter)
		default:
			return
		}
	}
}

// substitute reads s/pattern/replacement/flags or y/from/to/.
func (s *sedReader) substitute(flags bool) {
	if s.text == "" {
		return
	}
	delimiter := s.text[0]
	s.text = s.text[1:]
	s.upTo(delimiter)
	s.upTo(delimiter)
	for flags && s.text != "" && s.text[0] != ';' && s.text[0] != '\n' && s.text[0] != '}' {
		flag := s.text[0]
		s.text = s.text[1:]
		switch flag {
		case 'e':
			s.runs = true
		case 'w':
			s.file, s.access = s.line(), term.Writes
			return
		}
	}
}

// upTo skips the text before an unescaped delimiter, and the delimiter.
func (s *sedReader) upTo(delimiter byte) {
	for i := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case delimiter:
			s.text = s.text[i+1:]
			return
		}
	}
	s.text = ""
}

// line takes the rest of the line.
func (s *sedReader) line() string {
	line, rest, _ := strings.Cut(s.text, "\n")
	s.text = rest
	return strings.TrimSpace(line)
}
