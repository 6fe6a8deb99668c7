package confirm

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// Record is one command that ran.
type Record struct {
	Exe, Parent string   // the file that was run, and the program of the parent process
	Cwd, Pwd    string   // the directory, and how $PWD spells it
	Input       string   // the standard input where all of it was there: "pipe:…" or "file:…"
	Argv        []string // with the name that the command was given
}

// Run is the behaviour of one text.
type Run struct {
	Ended   string // "status N", or the guard that ended it
	Records []Record
	Changed []string // regular files that are new or changed
	Gone    []string // whatever of the fixture is no longer there
}

// Program is one text with the shell that runs it.
type Program struct {
	Text string
	Sh   bool // dash, as sh
	Mode int  // not 0: some commands fail, by this seed
	Ops  []string
	From string
}

// Verdict says how the list and the run stand to each other.
type Verdict uint8

// The verdicts. An opaque program runs text that the reader has not seen, and has said so.
const (
	Exact Verdict = iota
	Covered
	Opaque
	NotUnderstood
	Disagrees
)

func (v Verdict) String() string {
	return [...]string{"exact", "partial", "opaque", "not understood", "disagreement"}[v]
}

// Comparison is the verdict on one program. Faults says, one a line, whatever is not covered.
type Comparison struct {
	Verdict Verdict
	Faults  []string
	List    []shell.Command
	Allowed bool // it did harm, and the policies allow it; Compare does not ask them
}

// Read lists a program's commands. The reason is "" where the text was understood.
func Read(p Program) (*shell.Program, string) {
	prog, err := walk.Parse(p.Text, options(p.Sh))
	switch {
	case err != nil:
		return prog, err.Error()
	case prog.Budget != "":
		return prog, "budget " + prog.Budget
	}
	lowest := value.Exact
	for _, c := range prog.Commands {
		lowest = min(lowest, c.Certainty)
	}
	if prog.Certainty < lowest {
		return prog, "not understood"
	}
	return prog, ""
}

// Compare holds a run against the list of its text.
func Compare(p Program, r Run) Comparison {
	prog, why := Read(p)
	if why != "" {
		return Comparison{Verdict: NotUnderstood}
	}
	c := Comparison{List: prog.Commands}
	for _, rec := range r.Records {
		v, fault := command(prog.Commands, rec)
		c.Verdict = max(c.Verdict, v)
		if fault != "" {
			c.Faults = append(c.Faults, fault)
		}
	}
	if !slices.ContainsFunc(r.Records, writes) {
		for _, f := range r.Changed {
			if !written(prog.Commands, f) {
				c.Faults = append(c.Faults, fmt.Sprintf("file %q", f))
			}
		}
	}
	if len(c.Faults) > 0 {
		c.Verdict = Disagrees
		if slices.ContainsFunc(prog.Commands, opaque) {
			c.Verdict = Opaque
		}
	}
	return c
}

// opaque reports an entry for text that the reader has not seen, or for a command that may be a shell.
func opaque(c shell.Command) bool {
	return len(c.Words) > 0 && c.Certainty == value.Unknown || c.Code.Truncated ||
		slices.Contains(c.Marks, shell.MarkDynamicCode) || slices.Contains(c.Marks, shell.MarkDynamicProgram) ||
		c.Code.From != shell.CodeNone && !c.Code.Static
}

func isShell(exe string) bool { return exe == "bash" || exe == "sh" || exe == "dash" }

// command looks for entries that cover a record.
func command(list []shell.Command, r Record) (Verdict, string) {
	name := path.Base(r.Exe)
	// A shell that system(3) started in a program that is no shell: each command of that shell has its own
	// record.
	if isShell(name) && !isShell(r.Parent) && r.Parent != "driver" && len(r.Argv) == 3 && r.Argv[1] == "-c" {
		return Exact, ""
	}
	vectors := [][]string{r.Argv, append([]string{name}, r.Argv[1:]...), append([]string{r.Exe},
		r.Argv[1:]...)}
	// A script: the kernel puts its interpreter in front.
	for i := 1; i < min(3, len(r.Argv)); i++ {
		if strings.Contains(r.Argv[i], "/") && (isShell(name) || name == "env") {
			vectors = append(vectors, r.Argv[i:], append([]string{path.Base(r.Argv[i])}, r.Argv[i+1:]...))
		}
	}
	args, dir, in, best := false, false, false, Disagrees
	for _, c := range list {
		if !slices.ContainsFunc(vectors, func(v []string) bool { return covers(c.Words, v) }) {
			continue
		}
		args = true
		if !at(c, r) {
			continue
		}
		dir = true
		if !stdin(c, r) {
			continue
		}
		in = true
		v := Covered
		if c.Certainty == value.Exact && c.Dir.Known {
			v = Exact
		}
		best = min(best, v)
	}
	switch {
	case !args:
		return Disagrees, fmt.Sprintf("argv %q", r.Argv)
	case !dir:
		return Disagrees, fmt.Sprintf("directory %q of %q", r.Cwd, r.Argv)
	case !in:
		return Disagrees, fmt.Sprintf("input %q of %q", r.Input, r.Argv)
	}
	return best, ""
}

// randomPart stands for the part of a name that mktemp chooses.
const randomPart = "XXX"

// covers reports whether words may stand for an argument vector.
func covers(words []value.Word, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	w, rest := words[0], words[1:]
	prefix, many := w.Prefix, !w.Quoted || w.Glob
	switch {
	case w.Certainty == value.Exact && !w.Glob:
		return len(argv) > 0 && (argv[0] == w.Text || isPipe(argv[0]) && isPipe(w.Text)) && covers(rest, argv[1:])
	case w.Certainty == value.Exact:
		for i := 0; i < len(argv) && (matches(w.Text, argv[i]) || argv[i] == w.Text); i++ {
			if covers(rest, argv[i+1:]) {
				return true
			}
		}
		return covers(rest, argv) // shopt -s nullglob
	case w.Glob && covers(rest, argv): // shopt -s nullglob
		return true
	case w.Glob:
		prefix = prefix[:max(0, min(len(prefix), indexOr(prefix, "*?[\\")))]
	}
	listed := strings.HasSuffix(w.Text, "{}")
	if (prefix == "" || listed) && many && covers(rest, argv) { // xargs may find nothing
		return true
	}
	if listed { // the place that was listed is an entry too
		prefix = strings.TrimSuffix(prefix, "/")
	}
	if strings.Contains(w.Text, randomPart) { // where mktemp fails, it prints nothing
		if many && covers(rest, argv) || len(argv) > 0 && argv[0] == "" && covers(rest, argv[1:]) {
			return true
		}
	}
	if len(argv) == 0 || !strings.HasPrefix(argv[0], prefix) {
		return false
	}
	for i := 1; i <= len(argv); i++ {
		if covers(rest, argv[i:]) {
			return true
		}
		if !many {
			return false
		}
	}
	return false
}

// isPipe reports the path of a process substitution. Bash chooses its number by the descriptors that are
// open.
func isPipe(path string) bool {
	return len(path) == len("/dev/fd/63") && strings.HasPrefix(path, "/dev/fd/6")
}

// random are the places of a directory's path that mktemp chooses.
var random = regexp.MustCompile(`XXX+\d*`)

func indexOr(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// matches is a loose match of a pattern: a bracket is any character, and a star any text.
func matches(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	switch pattern[0] {
	case '*':
		for i := 0; i <= len(s); i++ {
			if matches(pattern[1:], s[i:]) {
				return true
			}
		}
		return false
	case '[':
		if end := strings.IndexByte(pattern[1:], ']'); end > 0 && s != "" {
			return matches(pattern[end+2:], s[1:])
		}
	case '?':
		return s != "" && matches(pattern[1:], s[1:])
	case '\\':
		if len(pattern) > 1 {
			pattern = pattern[1:]
		}
	}
	return s != "" && s[0] == pattern[0] && matches(pattern[1:], s[1:])
}

// at reports whether the entry's directory may be that of the record, which may be gone.
func at(c shell.Command, r Record) bool {
	return r.Cwd == "" || !c.Dir.Known || c.Dir.Path == r.Cwd || c.Dir.Path == r.Pwd ||
		real(c.Dir.Path) == r.Cwd ||
		strings.Contains(c.Dir.Path, randomPart) && matches(random.ReplaceAllString(c.Dir.Path, "*"), r.Cwd)
}

// stdin reports whether the record's input may be that of the entry. The redirects of an entry are its own
// and those around it; a loop may have read a part of the input.
func stdin(c shell.Command, r Record) bool {
	_, text, known := strings.Cut(r.Input, ":")
	if !known || len(text) >= 64<<10 {
		return true
	}
	bodies := 0
	for _, d := range c.Redirects {
		switch {
		case d.FD != 0 && d.FD != -1:
		case d.Mode != shell.RedirectHere || d.Body.Certainty != value.Exact,
			strings.HasSuffix(strings.TrimSuffix(d.Body.Text, "\n")+"\n", text),
			strings.HasSuffix(d.Body.Text, text), strings.HasSuffix(d.Body.Text+"\n", text): // of a here-string
			return true
		default:
			bodies++
		}
	}
	return bodies == 0 || c.Pipeline.Index > 0
}

// writes reports a command that changes files by itself: then a changed file proves nothing about redirects.
func writes(r Record) bool {
	switch path.Base(r.Exe) {
	case "cp", "mv", "tee", "sed", "touch", "sort", "dd", "install", "mktemp", "ln", "tar", "patch",
		"truncate",
		"split", "csplit", "python3", "perl", "awk", "mawk", "find", "shred", "ed", "ex", "uniq", "chmod",
		"xxd",
		"base64", "rm", "rmdir", "mkdir", "gzip", "gunzip", "bzip2", "busybox", "time":
		return true
	}
	return false
}

// written reports whether some redirect may have written the file.
func written(list []shell.Command, file string) bool {
	for _, c := range list {
		for _, d := range c.Redirects {
			switch d.Mode {
			case shell.RedirectWrite, shell.RedirectAppend, shell.RedirectReadWrite:
			default:
				continue
			}
			if d.Target.Certainty != value.Exact || d.Target.Glob {
				return true // "build/$a" is any file: $a may be ../../x
			}
			name := d.Target.Text
			if !path.IsAbs(name) {
				dir := c.OpenedIn(d)
				if !dir.Known {
					return true
				}
				name = dir.Path + "/" + name
			}
			if name = path.Clean(name); name == file || real(name) == file {
				return true
			}
		}
	}
	return false
}
