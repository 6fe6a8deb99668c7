package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// ScriptBytes is the longest script that is looked through; shell.Parse has the same bound for a text.
const ScriptBytes = 64 << 10

// Source is where the texts that a command reads come from: its standard input, files that the
// same text has written, and files that are there.
type Source struct {
	Files   facts.FS // nil where nothing is known of it
	Request string
	Inputs  [][]int // of each command, directly or through others
	Cmds    []shell.Command
	At      int
	depth   int // of the flow from command to command
}

// text is the content of the file that a word names, as far as it is known: "-" is the standard input.
func (s Source) text(word value.Word) string {
	if s.Files == nil {
		return ""
	}
	cmd := &s.Cmds[s.At]
	switch {
	case word.Text == "-" || word.Text == "/dev/stdin" || word.Text == "/dev/fd/0":
		return s.input(cmd)
	case IsProcessSubstitution(word) || strings.HasPrefix(word.Text, "/dev/fd/") && len(word.Inputs) > 0:
		return s.outputs(word.Inputs)
	case word.Certainty != value.Exact:
		return ""
	}
	file := disk.Absolute(word.Text, cmd.Dir)
	if file == "" {
		return ""
	}
	file = disk.Clean(file)
	if text, written := s.written(file); written {
		return text
	}
	text, whole, err := s.Files.ReadFile(file, ScriptBytes)
	if err != nil || !whole {
		return ""
	}
	return string(text)
}

// input is the text that flows into a command.
func (s Source) input(cmd *shell.Command) string {
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
		return j < 0 || j >= len(s.Cmds) || s.Cmds[j].Pipeline.ID != cmd.Pipeline.ID || s.Cmds[j].Pipeline.Index != cmd.Pipeline.Index-1
	}))
}

// written is the text that earlier commands have redirected into a file.
func (s Source) written(file string) (text string, found bool) {
	for i := range s.Cmds[:s.At] {
		for _, r := range s.Cmds[i].Redirects {
			if r.Mode != shell.RedirectWrite && r.Mode != shell.RedirectAppend || r.Target.Certainty != value.Exact {
				continue
			}
			if to := disk.Absolute(r.Target.Text, s.Cmds[i].OpenedIn(r)); to == "" || disk.Clean(to) != file {
				continue
			}
			text += s.outputs([]int{i})
			found = true
		}
	}
	return text, found
}

// outputs is the output of the commands that print their words or their input.
func (s Source) outputs(list []int) string {
	var b strings.Builder
	for _, i := range list {
		if i < 0 || i >= len(s.Cmds) || s.depth > 4 {
			continue
		}
		cmd := &s.Cmds[i]
		from := s
		from.At, from.depth = i, s.depth+1
		words := Texts(cmd.Words)
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

// printed is the output of printf for a format and its arguments; a conversion other than %s counts as one.
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

// checks are the options with which an interpreter only checks the grammar of a program; with further options
// it may do more.
var checks = map[string]string{
	"bash": "n", "sh": "n", "dash": "n", "zsh": "n", "ksh": "n", "mksh": "n", "ash": "n", "node": "check c", "php": "l", "ruby": "c",
}

// ChecksOnly reports that nothing of the program runs: bash -n FILE. "+n" takes it back.
func (c *Call) ChecksOnly() bool {
	list := checks[c.Cmd.Name]
	if list == "" || len(c.Options) == 0 || slices.ContainsFunc(c.Cmd.Words, func(w value.Word) bool { return strings.HasPrefix(w.Text, "+") }) {
		return false
	}
	return !slices.ContainsFunc(c.Options, func(o OptionUse) bool { return !listedWord(list, o.Name) })
}
