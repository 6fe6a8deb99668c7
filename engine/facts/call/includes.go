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
	texts := []string{c.source.text(Exact("-"))}
	for _, w := range c.Cmd.Words[1:] {
		texts = append(texts, w.Text)
		if file := disk.Absolute(w.Text, c.Dir); file != "" && w.Certainty == value.Exact && c.source.Files != nil {
			written, _ := c.source.written(disk.Clean(file))
			texts = append(texts, written)
		}
	}
	for _, text := range texts {
		for _, word := range row.Includes {
			for _, rest := range strings.Split(text, word)[1:] {
				name := strings.TrimLeft(rest, " \t{\"'<(`@")
				if strings.HasPrefix(strings.TrimSpace(rest), "<") && !disk.IsAbs(name) {
					continue // of the compiler's own directories
				}
				if end := strings.IndexAny(name, "\"'>)}`\n\\ ,|"); end >= 0 {
					name = name[:end]
				}
				if name != "" {
					c.path(Exact(name), term.Reads)
				}
			}
		}
	}
}
