package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// source is where the texts that a command reads come from: its standard input, files that the
// same text has written, and files that are there.
type source struct {
	w     *build
	cmds  []shell.Command
	at    int
	depth int // of what flows from command to command
}

// text is the content of what a word names, as far as it is known: "-" is the standard input.
func (s source) text(word value.Word) string {
	if s.w == nil {
		return ""
	}
	cmd := &s.cmds[s.at]
	switch {
	case word.Text == "-" || word.Text == "/dev/stdin" || word.Text == "/dev/fd/0":
		return s.input(cmd)
	case isProcessSubstitution(word) || strings.HasPrefix(word.Text, "/dev/fd/") && len(word.Inputs) > 0:
		return s.outputs(word.Inputs)
	case word.Certainty != value.Exact:
		return ""
	}
	file := absolute(word.Text, cmd.Dir)
	if file == "" {
		return ""
	}
	file = clean(file)
	if text, written := s.written(file); written {
		return text
	}
	text, whole, err := s.w.fs.ReadFile(file, scriptBytes)
	if err != nil || !whole {
		return ""
	}
	return string(text)
}

// input is what flows into a command.
func (s source) input(cmd *shell.Command) string {
	for _, r := range slices.Backward(cmd.Redirects) {
		switch {
		case r.Mode == shell.RedirectHere:
			return r.Body.Text
		case r.Mode == shell.RedirectRead && r.FD == 0 && r.Target.Text != "-" && r.Target.Text != "/dev/stdin":
			return s.text(r.Target)
		}
	}
	if cmd.Pipeline.Index == 0 {
		return ""
	}
	return s.outputs(slices.DeleteFunc(slices.Clone(cmd.Inputs), func(j int) bool {
		return j < 0 || j >= len(s.cmds) || s.cmds[j].Pipeline.ID != cmd.Pipeline.ID || s.cmds[j].Pipeline.Index != cmd.Pipeline.Index-1
	}))
}

// written is what the commands before this one have redirected into a file.
func (s source) written(file string) (text string, found bool) {
	for i := range s.cmds[:s.at] {
		for _, r := range s.cmds[i].Redirects {
			if r.Mode != shell.RedirectWrite && r.Mode != shell.RedirectAppend || r.Target.Certainty != value.Exact {
				continue
			}
			if to := absolute(r.Target.Text, s.cmds[i].Dir); to == "" || clean(to) != file {
				continue
			}
			text += s.outputs([]int{i})
			found = true
		}
	}
	return text, found
}

// outputs is what the commands print, of those that print their words or what flows in.
func (s source) outputs(list []int) string {
	var b strings.Builder
	for _, i := range list {
		if i < 0 || i >= len(s.cmds) || s.depth > 4 {
			continue
		}
		cmd := &s.cmds[i]
		from := source{s.w, s.cmds, i, s.depth + 1}
		words := texts(cmd.Words)
		switch cmd.Name {
		case "echo", "print":
			b.WriteString(strings.ReplaceAll(strings.Join(words[1:], " "), `\n`, "\n"))
		case "printf":
			b.WriteString(printed(words[1:]))
		case "cat", "tee":
			b.WriteString(from.input(cmd))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// printed is what printf makes of a format and its arguments; a conversion other than %s counts as one.
func printed(words []string) string {
	if len(words) == 0 {
		return ""
	}
	format, rest := strings.ReplaceAll(words[0], `\n`, "\n"), words[1:]
	var b strings.Builder
	for {
		before := len(rest)
		for i, part := range strings.Split(format, "%") {
			if i == 0 {
				b.WriteString(part)
				continue
			}
			end := strings.IndexAny(part, "sbqdiuxXcefg")
			if end < 0 {
				b.WriteString(part)
				continue
			}
			if len(rest) > 0 {
				b.WriteString(rest[0])
				rest = rest[1:]
			}
			b.WriteString(part[end+1:])
		}
		if len(rest) == 0 || len(rest) == before {
			return b.String()
		}
	}
}
