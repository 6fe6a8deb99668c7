package build

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// runsBefore reports that command j certainly runs before command i, in the same shell: plain commands alone
// stand before it, or i needs its success. With success, only the latter counts. It holds of the text itself
// alone, not of scripts and texts inside it.
func (w *build) runsBefore(j, i int, success bool) bool {
	a, b := w.calls[j].Cmd, w.calls[i].Cmd
	if j > i || a.Script != "" || len(a.Via) > 0 || a.Background || a.Pipeline.Length > 1 || a.End > b.Start {
		return false
	}
	text := w.in.Request.Command
	before, between := text[:a.Start], strings.TrimLeft(text[a.End:b.Start], " \t")
	if strings.TrimSpace(between) == "&&" && chained(before) {
		return true
	}
	plain := !strings.ContainsAny(before, "|&(){}`#\\'\"<") && !compound(before)
	return !success && plain && !strings.HasPrefix(between, "||")
}

// comesAround reports that command j may run before command i though it stands behind it, in a loop or in a
// function.
func (w *build) comesAround(j, i int) bool {
	text := w.in.Request.Command
	return j > i && (w.calls[j].Cmd.Script != "" || strings.Contains(text, "done") ||
		strings.Contains(text, "()") || strings.Contains(text, "function"))
}

// compound reports a word of the text that may begin a compound command, or a command that ends the text.
func compound(text string) bool {
	separates := func(r rune) bool { return strings.ContainsRune(" \t\n;", r) }
	for word := range strings.FieldsFuncSeq(text, separates) {
		switch word {
		case "if", "then", "elif", "else", "while", "until", "do", "for", "select", "case", "in", "function",
			"!", "[[", "exit", "return", "exec", "set", "trap", "break", "continue", "time", "coproc":
			return true
		}
	}
	return false
}

// chained reports that the command behind a text runs only if the one before succeeded, or in any case.
func chained(before string) bool {
	if strings.ContainsAny(before, "\n#`") {
		return false
	}
	before = strings.TrimRight(before, " \t")
	return before == "" || strings.HasSuffix(before, ";") || strings.HasSuffix(before, "&&")
}

// variable is the value of a variable for command i: its own assignment, or else the one value that the
// earlier commands of the text and the environment may have left.
func (w *build) variable(i int, name string) value.Word {
	initial, exported := w.env[name]
	found, fixed := []value.Word{call.Exact(initial)}, false
	for j := range w.calls {
		cmd := w.calls[j].Cmd
		if j > i && !w.comesAround(j, i) {
			continue
		}
		for _, a := range cmd.Assigns {
			if a.Name != name {
				continue
			}
			switch {
			case j == i || slices.Contains(w.calls[i].Carriers, j) && w.calls[j].Cmd.Name == "env":
				return a.Value
			case len(cmd.Words) > 0 && !namesVariable(cmd.Words[1:], name): // for that command alone
				continue
			case !fixed && (exported || cmd.Name == "export") && w.runsBefore(j, i, false):
				found = []value.Word{a.Value}
			default:
				found = append(found, a.Value)
			}
			fixed = fixed || cmd.Name == "readonly" ||
				len(cmd.Words) > 1 && call.IsOption(cmd.Words[1]) && strings.Contains(cmd.Words[1].Text, "r")
		}
		if cmd.Name == "unset" {
			found = append(found, call.Exact(""))
		}
	}
	for _, j := range w.calls[i].Carriers {
		by := w.calls[j]
		if by.Cmd.Name == "env" && by.Has("i", "ignore-environment", "u", "unset", "S", "split-string") {
			found = append(found, value.Word{})
		}
	}
	for _, v := range found[1:] {
		if v.Text != found[0].Text || v.Certainty != value.Exact {
			return value.Word{Certainty: value.Unknown}
		}
	}
	return found[0]
}

// steered marks Sallyport, or an agent with its hooks, that the text starts with another home, configuration
// or search path: a hook that it starts judges by another configuration, or does not run.
func (w *build) steered(c *call.Call) {
	if !c.Guarded() {
		return
	}
	for _, a := range slices.Concat(c.Cmd.Assigns, c.Cmd.Handed) {
		same := a.Value.Certainty == value.Exact && a.Value.Text == w.env[a.Name] && a.Value.Text != ""
		if call.Listed(shell.Steering, a.Name) && !same && !(a.Name == "PATH" && w.onlyAdds(a.Value)) {
			c.Flags.Add(term.FlagSelfControl)
		}
	}
	if slices.ContainsFunc(c.Carriers, func(j int) bool { return handsSteering(w.calls[j].Cmd) }) {
		c.Flags.Add(term.FlagSelfControl)
	}
	// Code of other languages sets variables in many ways.
	for name := range strings.FieldsSeq(shell.Steering) {
		name = strings.TrimSuffix(name, "*")
		quoted := func(q string) bool { return strings.Contains(w.in.Request.Command, q+name) }
		if c.InCode && (quoted(`"`) || quoted("'") || strings.Contains(w.in.Request.Command, name+"=")) {
			c.Flags.Add(term.FlagSelfControl)
		}
	}
}

// handsSteering reports a program that starts another with a variable of shell.Steering by an option.
func handsSteering(cmd *shell.Command) bool {
	if !call.Listed("systemd-run run0 tmux bwrap", cmd.Name) {
		return false
	}
	option := ""
	return slices.ContainsFunc(cmd.Words, func(w value.Word) bool {
		text, set := strings.CutPrefix(w.Text, "--setenv=")
		if attached, short := strings.CutPrefix(w.Text, "-E"); short {
			text, set = attached, true
		}
		name, _, _ := strings.Cut(text, "=")
		set = set || call.Listed("-E -e --setenv", option)
		option = w.Text
		return set && call.Listed(shell.Steering, name)
	})
}

// onlyAdds reports a search path that keeps the directories of the child's, and puts none before them in
// which the agent may write.
func (w *build) onlyAdds(v value.Word) bool {
	front, kept := strings.CutSuffix(v.Text, w.env["PATH"])
	if v.Certainty != value.Exact || w.env["PATH"] == "" {
		return false
	}
	if !kept {
		return strings.HasPrefix(v.Text, w.env["PATH"]+":")
	}
	writable := func(dir string) bool {
		if !disk.IsAbs(dir) {
			return true
		}
		real, _ := w.view.Real(dir, false)
		return w.Shared(real) || w.Permission(real) == "write"
	}
	dirs, whole := strings.CutSuffix(front, ":")
	return front == "" || whole && !slices.ContainsFunc(strings.Split(dirs, ":"), writable)
}

// namesVariable reports a word that is a variable's name, or an assignment to it.
func namesVariable(words []value.Word, name string) bool {
	return slices.ContainsFunc(words, func(w value.Word) bool {
		return w.Text == name || strings.HasPrefix(w.Text, name+"=") || strings.HasPrefix(w.Text, name+"+=")
	})
}
