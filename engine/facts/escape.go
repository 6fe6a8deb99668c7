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
	c.effects |= sub.effects
	c.flags.union(sub.flags)
	c.touches = append(c.touches, sub.touches...)
	for _, h := range sub.hosts {
		c.hosts = appendHost(c.hosts, h)
	}
}

// runsOperands is for commands whose operands are another command. npm exec takes away a "--" behind its name.
func runsOperands(c *call) {
	words := c.operands
	if len(words) > 1 && words[1].Text == "--" {
		words = slices.Delete(slices.Clone(words), 1, 2)
	}
	c.runInner(words)
}
