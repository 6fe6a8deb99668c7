package facts

import (
	"slices"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// closure returns for each command the commands whose output reaches it, directly or through
// others, sorted.
func closure(cmds []shell.Command) [][]int {
	out := make([][]int, len(cmds))
	seen := make([]int, len(cmds)) // the command for which an index was last seen, plus one
	var stack []int
	for i := range cmds {
		reached := []int{}
		stack = append(stack[:0], cmds[i].Inputs...)
		for len(stack) > 0 {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if j < 0 || j >= len(cmds) || seen[j] == i+1 || j == i {
				continue
			}
			seen[j] = i + 1
			reached = append(reached, j)
			stack = append(stack, cmds[j].Inputs...)
		}
		slices.Sort(reached)
		out[i] = reached
	}
	return out
}

// code says what program a command interprets and where that comes from.
func (w *build) code(cmd *shell.Command, c *call, inputs []int) Code {
	k := cmd.Code
	code := Code{Language: k.Language, From: string(k.From), Resolved: k.Static && !k.Truncated}
	if k.From == shell.CodeNone || k.From == shell.CodeSession && informs(cmd, nil) || c.checksOnly() {
		return Code{}
	}
	c.effects |= doesExecute
	code.Origin = w.origin(cmd, c, inputs)
	if code.Origin == "network" && k.From == shell.CodeFile && !isProcessSubstitution(k.File) {
		c.flags.add(flagRunsDownloaded)
	}
	return code
}

// origin names the least trusted source of the program: the network, a decoder, this very
// text, something not known, a file, the text.
func (w *build) origin(cmd *shell.Command, c *call, inputs []int) string {
	if cmd.Code.From == shell.CodeSession {
		return ""
	}
	sources := inputs
	switch cmd.Code.From {
	case shell.CodeFile:
		sources = w.reaching(cmd.Code.File)
	case shell.CodeArgument:
		// What flows into the program is its data. Its text is among its words.
		sources = nil
		for _, word := range cmd.Words {
			sources = append(sources, w.reaching(word)...)
		}
	}
	if w.fromNetwork(sources) {
		return "network"
	}
	written := false
	if cmd.Code.From == shell.CodeFile && cmd.Code.File.Certainty == value.Exact && !isProcessSubstitution(cmd.Code.File) {
		if abs := absolute(cmd.Code.File.Text, cmd.Dir); abs != "" {
			real, _ := w.view.real(abs, false)
			if w.fetched[real] || w.history != nil && w.history.Downloaded(real) {
				return "network"
			}
			written = w.written[real]
		}
	}
	switch {
	case cmd.Code.Decoded || w.any(sources, flagDecodes):
		return "decoded"
	case written:
		return "generated"
	case cmd.Code.Static && cmd.Code.From != shell.CodeFile:
		return "text"
	case cmd.Code.From == shell.CodeFile && !isProcessSubstitution(cmd.Code.File):
		if cmd.Code.File.Certainty == value.Exact {
			return "file"
		}
		return "dynamic"
	case w.readsFiles(sources) || cmd.Code.From == shell.CodeStdin && len(sources) == 0 && readsFrom(cmd):
		return "file"
	default:
		return "dynamic"
	}
}

// reaching returns the commands whose output is part of a word, with those behind them.
func (w *build) reaching(word value.Word) []int {
	out := slices.Clone(word.Inputs)
	for _, i := range word.Inputs {
		if i >= 0 && i < len(w.inputs) {
			out = append(out, w.inputs[i]...)
		}
	}
	return out
}

// fromNetwork reports whether one of the commands reaches over the network.
func (w *build) fromNetwork(inputs []int) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		return i < len(w.calls) && w.calls[i].effects&doesNetwork != 0
	})
}

func (w *build) any(inputs []int, f flag) bool {
	return slices.ContainsFunc(inputs, func(i int) bool {
		return i < len(w.calls) && w.calls[i].flags.has(f)
	})
}

// readsFiles reports whether all that flows in is the content of files that are known.
func (w *build) readsFiles(inputs []int) bool {
	found := false
	for _, i := range inputs {
		if i >= len(w.calls) {
			return false
		}
		for _, t := range w.calls[i].touches {
			found = found || t.access&reads != 0 && t.word.Certainty == value.Exact
		}
	}
	return found
}

// readsFrom reports whether the standard input of a command is a file.
func readsFrom(cmd *shell.Command) bool {
	return slices.ContainsFunc(cmd.Redirects, func(r shell.Redirect) bool { return r.Mode == shell.RedirectRead && r.FD == 0 })
}

// downloads marks a command that executes, by whatever way, a file that came from the network.
func (w *build) downloads(i int, c *call) {
	for _, p := range w.in.Commands[i].Paths {
		path := &w.in.Paths[p]
		if path.Access == "execute" && slices.Contains(path.Labels, labelNames[labelDownloaded]) {
			c.flags.add(flagRunsDownloaded)
		}
	}
}
