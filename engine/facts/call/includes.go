package call

import (
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
