package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// runningOptions are parts of the names of options whose value is a program, in commands of all
// kinds: --pre-hook, --exec, --on-download-complete, --password-command, --pipe, --eval.
var runningOptions = []string{"exec", "command", "hook", "pipe", "eval", "program", "rsh", "shell", "pager", "viewer", "browser", "complete", "filter", "cmd", "helper"}

// shellInWords finds a shell that is handed to a command which is not there to start one: as the
// value of an option that runs programs, or as an operand of a command that executes.
func (c *call) shellInWords() {
	if c.cmd.Code.From != shell.CodeNone || c.flags.has(flagEscape) || c.cmd.Elevated && c.base == nil {
		return
	}
	if c.cmd.Name == "find" || c.cmd.Name == "gfind" {
		return // what -exec starts is a command of its own
	}
	for _, o := range c.options {
		if o.given && namesShell(o.value.Text) && runs(o.name) {
			c.escapes()
			return
		}
	}
	words := c.cmd.Words
	for i := 1; i+1 < len(words); i++ {
		if isOption(words[i]) && runs(strings.TrimLeft(words[i].Text, "-")) && namesShell(words[i+1].Text) {
			c.escapes()
			return
		}
	}
	if c.base != nil && c.effects&doesExecute == 0 {
		return
	}
	for i, w := range c.operands {
		if strings.HasPrefix(w.Text, "/") && isShellName(path.Base(w.Text)) && !c.opens(i) {
			c.escapes()
			return
		}
	}
}

// opens reports whether operand i belongs to words that the shell walk has opened.
func (c *call) opens(i int) bool {
	for at := 0; at <= i && c.spec != nil; at++ {
		if c.roleOf(at, false).word == "command" {
			return true
		}
	}
	return false
}

func (c *call) escapes() {
	c.flags.add(flagEscape)
	c.effects |= doesExecute
}

func runs(option string) bool {
	if len(option) < 2 || option == "up" || option == "down" {
		return option == "up" || option == "down"
	}
	for _, part := range runningOptions {
		if strings.Contains(option, part) {
			return true
		}
	}
	return false
}

// namesShell reports whether the text of an option's value starts a shell.
func namesShell(text string) bool {
	for _, name := range []string{"/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return isShellName(first)
}

func isShellName(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh":
		return true
	}
	return false
}

// runInner reads the words from at on as a command of its own: npx PROGRAM, bundle exec PROGRAM.
// What that command does, this one does.
func (c *call) runInner(words []value.Word) {
	for len(words) > 0 && isOption(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || words[0].Certainty != value.Exact {
		return
	}
	inner := *c.cmd
	inner.Name, inner.Words, inner.Redirects, inner.Code = path.Base(words[0].Text), words, nil, shell.Code{}
	if inner.Name == c.cmd.Name {
		return
	}
	sub := newCall(c.table, &inner, source{})
	if !sub.known {
		return
	}
	sub.packageSource()
	c.packages = append(c.packages, sub.packageFacts()...)
	c.effects |= sub.effects
	c.flags.union(sub.flags)
	c.touches = append(c.touches, sub.touches...)
	for _, h := range sub.hosts {
		c.hosts = appendHost(c.hosts, h)
	}
}

// runsOperands is for commands whose operands are another command. npm exec takes away a "--" behind its
// name.
func runsOperands(c *call) {
	words := c.operands
	if len(words) > 1 && words[1].Text == "--" {
		words = slices.Delete(slices.Clone(words), 1, 2)
	}
	c.runInner(words)
}

// climbs reports a word that may lead out of the directory with which it begins: .. follows the unknown part,
// may be made of it, or is in it for all that is known of the commands that print it.
func (w *build) climbs(word value.Word) bool {
	last := word.Prefix[strings.LastIndexByte(word.Prefix, '/')+1:]
	rest := strings.TrimPrefix(word.Text, word.Prefix)
	if last == "." || last == ".." || strings.Contains(withoutUnknown(rest), "..") || strings.HasSuffix(rest, "/.") {
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
			n := parameter(text[i+1:])
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
	for at, word := range c.cmd.Words {
		switch {
		case at == 0 && path.Dir(word.Text) != "." && path.Dir(word.Text) != "/bin" && path.Dir(word.Text) != "/usr/bin",
			at == 0 && strings.HasPrefix(word.Text, "./"),
			word.Certainty != value.Exact && (len(word.Inputs) == 0 || slices.ContainsFunc(word.Inputs, unplain)),
			strings.Contains(word.Text, ".."), spellsCharacters(c.cmd.Name, word.Text):
			return false
		}
	}
	sub := ""
	if len(c.sub) > 0 {
		sub = c.sub[0]
	}
	if slices.Contains(printsPlain, c.cmd.Name) || c.cmd.Name == "git" && slices.Contains(gitPlain, sub) {
		return true
	}
	if !slices.Contains(printsParts, c.cmd.Name) || len(w.inputs[i]) == 0 ||
		slices.ContainsFunc(c.touches, func(t touch) bool { return t.access&reads != 0 }) {
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
