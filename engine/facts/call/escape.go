package call

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// shellInWords finds a shell that is handed to a command which is not there to start one: as the
// value of an option that runs programs, or as an operand of a command that executes.
func (c *Call) shellInWords() {
	if c.Cmd.Code.From != shell.CodeNone || c.Flags.Has(term.FlagEscape) || c.Cmd.Elevated && c.Base == nil {
		return
	}
	if c.Cmd.Name == "find" || c.Cmd.Name == "gfind" {
		return // the program of -exec is a command of its own
	}
	for _, o := range c.Options {
		if o.Given && namesShell(o.Value.Text) && runs(o.Name) {
			c.escapes()
			return
		}
	}
	words := c.Cmd.Words
	for i := 1; i+1 < len(words); i++ {
		if IsOption(words[i]) && runs(strings.TrimLeft(words[i].Text, "-")) && namesShell(words[i+1].Text) {
			c.escapes()
			return
		}
	}
	if c.Base != nil && c.Effects&term.Execute == 0 {
		return
	}
	for i, w := range c.Operands {
		if strings.HasPrefix(w.Text, "/") && isShellName(path.Base(w.Text)) && !c.opens(i) {
			c.escapes()
			return
		}
	}
}

// opens reports whether operand i belongs to words that the shell walk has opened.
func (c *Call) opens(i int) bool {
	for at := 0; at <= i && c.Spec != nil; at++ {
		if c.RoleOf(at, false).Word == "command" {
			return true
		}
	}
	return false
}

func (c *Call) escapes() {
	c.Flags.Add(term.FlagEscape)
	c.Effects |= term.Execute
}

func runs(option string) bool {
	if len(option) < 2 || option == "up" || option == "down" {
		return option == "up" || option == "down"
	}
	for _, part := range commands.Words("running-options") {
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
// This command does all that the other does.
func (c *Call) runInner(words []value.Word) {
	for len(words) > 0 && IsOption(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 && words[0].Certainty == value.Exact {
		c.inner(words)
	}
}

// inner adds the effects, flags and paths of a command with those words.
func (c *Call) inner(words []value.Word) {
	inner := *c.Cmd
	inner.Name, inner.Words, inner.Redirects, inner.Code = path.Base(words[0].Text), words, nil, shell.Code{}
	if inner.Name == c.Cmd.Name {
		return
	}
	sub := New(c.Table, &inner, Source{})
	if !sub.Known {
		return
	}
	sub.PackageSource()
	c.Packages = append(c.Packages, sub.PackageFacts()...)
	c.Effects |= sub.Effects
	c.Flags.Union(sub.Flags)
	c.Touches = append(c.Touches, sub.Touches...)
	for _, h := range sub.Hosts {
		c.Hosts = AppendHost(c.Hosts, h)
	}
}

// runsOperands is for commands whose operands are another command. npm exec takes away a "--" behind its
// name.
func runsOperands(c *Call) {
	words := c.Operands
	if len(words) > 1 && words[1].Text == "--" {
		words = slices.Delete(slices.Clone(words), 1, 2)
	}
	if len(words) > 0 && strings.Contains(words[0].Text, "://") && !c.Flags.Has(term.FlagPackageInstall) {
		c.Flags.Add(term.FlagRunsDownloaded) // a script by its URL, not a package
	}
	c.runInner(words)
}

// WithoutUnknown leaves the parameters and substitutions of a word out, as if they were empty.
func WithoutUnknown(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '`':
			if end := strings.IndexByte(text[i+1:], '`'); end >= 0 {
				i += end + 1
			}
		case text[i] == '$' && i+1 < len(text):
			i += Parameter(text[i+1:])
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// Parameter returns the length of the expansion behind a dollar sign.
func Parameter(text string) int {
	closing := map[byte]byte{'{': '}', '(': ')'}[text[0]]
	if closing == 0 {
		n := 0
		for n < len(text) && (disk.IsLetter(text[n]) || text[n] == '_' || '0' <= text[n] && text[n] <= '9') {
			n++
		}
		return max(n, 1)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
