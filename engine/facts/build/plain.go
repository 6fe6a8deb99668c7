package build

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// climbs reports a word that may lead out of the directory with which it begins: .. follows the unknown part,
// may be made of it, or is in it for all that is known of the commands that print it.
func (w *build) climbs(word value.Word) bool {
	last := word.Prefix[strings.LastIndexByte(word.Prefix, '/')+1:]
	rest := strings.TrimPrefix(word.Text, word.Prefix)
	if last == "." || last == ".." || strings.Contains(call.WithoutUnknown(rest), "..") || strings.HasSuffix(rest, "/.") {
		return true
	}
	if len(word.Inputs) == 0 && !strings.HasSuffix(rest, "{}") && unclear(rest) {
		return true
	}
	return slices.ContainsFunc(word.Inputs, func(i int) bool { return !w.plain(i, map[int]bool{}) })
}

// unclear reports text with an expansion that may be more than a number.
func unclear(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			return true
		}
		if text[i] == '$' && i+1 < len(text) {
			n := call.Parameter(text[i+1:])
			if name := strings.Trim(text[i+1:i+1+n], "{}"); name[:min(1, len(name))] != "#" && !slices.Contains(numbers, name) {
				return true
			}
			i += n
		}
	}
	return false
}

// numbers are the parameters of bash that hold nothing else.
var numbers = []string{"$", "!", "?", "RANDOM", "SECONDS", "PPID", "UID", "EUID", "BASHPID", "EPOCHSECONDS", "LINENO"}

// plain reports a command whose output holds no .. that it was not given: it prints names of files that are
// there, numbers and dates, or parts of the lines that such commands print.
func (w *build) plain(i int, seen map[int]bool) bool {
	if i >= len(w.calls) || w.calls[i] == nil || seen[i] {
		return false
	}
	seen[i] = true
	c := w.calls[i]
	unplain := func(j int) bool { return j != i && !w.plain(j, seen) }
	for at, word := range c.Cmd.Words {
		switch {
		case at == 0 && path.Dir(word.Text) != "." && path.Dir(word.Text) != "/bin" && path.Dir(word.Text) != "/usr/bin",
			at == 0 && strings.HasPrefix(word.Text, "./"),
			word.Certainty != value.Exact && (len(word.Inputs) == 0 || slices.ContainsFunc(word.Inputs, unplain)),
			strings.Contains(word.Text, ".."), spellsCharacters(c.Cmd.Name, word.Text):
			return false
		}
	}
	sub := ""
	if len(c.Sub) > 0 {
		sub = c.Sub[0]
	}
	if slices.Contains(printsPlain, c.Cmd.Name) || c.Cmd.Name == "git" && slices.Contains(gitPlain, sub) {
		return true
	}
	if !slices.Contains(printsParts, c.Cmd.Name) || len(w.inputs[i]) == 0 ||
		slices.ContainsFunc(c.Touches, func(t call.Touch) bool { return t.Access&term.Reads != 0 }) {
		return false
	}
	return !slices.ContainsFunc(w.inputs[i], unplain)
}

// spellsCharacters reports an argument by which a command may print a dot that no input holds: as it stands,
// or as an octal, hexadecimal or decimal escape of find, stat, tr, sed and awk.
func spellsCharacters(name, text string) bool {
	digits := "0123456789"
	if name == "sed" {
		digits = "" // \1 is a part of the line
	}
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' && strings.IndexByte("xodcu"+digits, text[i+1]) >= 0 {
			return true
		}
	}
	return slices.Contains(makesText, name) && strings.Contains(strings.ReplaceAll(text, `\.`, ""), ".")
}

var (
	printsPlain = []string{
		"basename", "cksum", "date", "du", "file", "find", "hostname", "id", "ls", "md5sum", "mktemp", "nproc", "seq", "sha1sum",
		"sha256sum", "stat", "uname", "uuidgen", "wc", "whoami",
	}
	gitPlain    = []string{"branch", "describe", "ls-files", "rev-list", "rev-parse", "symbolic-ref", "tag"}
	printsParts = []string{"cat", "cut", "egrep", "fgrep", "grep", "head", "mapfile", "read", "readarray", "sort", "tail", "uniq", "xargs", "tr", "sed", "awk"}
	makesText   = []string{"tr", "sed", "awk"} // they print text of their words, too
)
