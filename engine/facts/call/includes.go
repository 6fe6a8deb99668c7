package call

import (
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// includes reads the files that a program's own language names, in its words, in its input and in files that
// the text has written: yq 'load("x")', m4 with include(x), a C program with #include "x".
func (c *Call) includes() {
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil || len(row.Includes) == 0 {
		return
	}
	c.included(row.Includes, c.source.text(Exact("-")), Exact("-"))
	for _, w := range c.Cmd.Words[1:] {
		c.included(row.Includes, w.Text, w)
		if file := disk.Absolute(w.Text, c.Dir); file != "" && w.Certainty == value.Exact && c.source.Files != nil {
			written, _ := c.source.written(disk.Clean(file))
			c.included(row.Includes, written, w)
		}
	}
}

// fields are the words in the text of a word from at on.
func fields(w value.Word, at int) (words []value.Word) {
	for text := range strings.SplitSeq(w.Text[at:], " ") {
		if trimmed := strings.Trim(text, `'"`); trimmed != "" {
			words = append(words, field(w, at+strings.Index(text, trimmed), trimmed))
		}
		at += len(text) + 1
	}
	return words
}

// hands adds the effects of commands that get words of this one: gcc hands those behind -Wl to ld.
func (c *Call) hands() {
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil {
		return
	}
	for _, option := range slices.Sorted(maps.Keys(row.Hands)) {
		var words []value.Word
		for i, w := range c.Cmd.Words[1:] {
			switch at := len(option); {
			case strings.HasSuffix(option, ",") && strings.HasPrefix(w.Text, option):
				for text := range strings.SplitSeq(w.Text[at:], ",") {
					words = append(words, field(w, at, text))
					at += len(text) + 1
				}
			case c.Cmd.Words[i].Text == option:
				words = append(words, fields(w, 0)...)
			case strings.HasPrefix(w.Text, option+"="):
				words = append(words, fields(w, len(option)+1)...)
			}
		}
		if len(words) > 0 && row.Hands[option] != c.Cmd.Name {
			c.inner(append([]value.Word{Exact(row.Hands[option])}, words...))
		}
	}
}

// parts adds the facts of a value that is a list of NAME=VALUE, and reports whether it is one:
// type=local,dest=DIR.
func (c *Call) parts(w value.Word, roles map[string]Role) bool {
	at, found := 0, false
	for part := range strings.SplitSeq(w.Text, ",") {
		name, text, ok := strings.Cut(part, "=")
		name = strings.ToLower(strings.Trim(name, `" `))
		role, known := roles[name]
		if !known {
			role, known = roles["*"]
		}
		if ok && known {
			value := strings.Trim(text, `'" `)
			c.apply(field(w, at+strings.Index(part, "=")+1+strings.Index(text, value), value), role)
		}
		found = found || ok && len(roles) > 0
		at += len(part) + 1
	}
	return found
}

// included reads the files that stand behind words in a text, which is known as far as a word is.
func (c *Call) included(words []string, text string, of value.Word) {
	for _, word := range words {
		for _, rest := range strings.Split(text, word)[1:] {
			name := strings.TrimLeft(rest, " \t{\"'<(`@")
			if strings.HasPrefix(strings.TrimSpace(rest), "<") && !disk.IsAbs(name) {
				continue // of the compiler's own directories
			}
			if end := strings.IndexAny(name, "\"'>)}`\n\\ ,|"); end >= 0 {
				name = name[:end]
			}
			from := of
			if strings.Contains(name, "$") { // an input shows a variable by its name
				from.Certainty = value.Unknown
			}
			if name != "" || from.Certainty != value.Exact {
				c.path(part(from, name), term.Reads)
			}
		}
	}
}
