package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// configured reads the files that curl -K names: each line of one is an option more. The call that comes back has what
// these do; its own options stay those of the text, because such files are where passwords are kept.
func (w *build) configured(c *call) *call {
	if c.cmd.Name != "curl" && c.cmd.Name != "gcurl" {
		return c
	}
	var more []value.Word
	for _, o := range c.options {
		if o.name != "K" && o.full != "--config" {
			continue
		}
		more = append(more, configWords(c.source.text(o.value))...)
	}
	if more == nil {
		return c
	}
	cmd := *c.cmd
	cmd.Words = slices.Concat(cmd.Words, more)
	whole := newCall(w.table, &cmd, c.source)
	whole.options = c.options
	return whole
}

// configWords turns the lines of a configuration file of curl into the words that they stand for.
func configWords(text string) []value.Word {
	var words []value.Word
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line, " \t=:")
		name, value := line, ""
		if end >= 0 {
			name, value = line[:end], strings.TrimLeft(line[end:], " \t=:")
		}
		if name == "" {
			continue
		}
		if name[0] != '-' {
			name = "--" + name
		}
		words = append(words, exact(name))
		if value != "" {
			words = append(words, exact(configValue(value)))
		}
	}
	return words
}

// configValue is a value without its quotes, or up to the first blank.
func configValue(text string) string {
	if text[0] != '"' {
		if end := strings.IndexAny(text, " \t\r\v\f"); end > 0 {
			text = text[:end]
		}
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if at := strings.IndexByte("tnrv", text[i]); at >= 0 {
				b.WriteByte("\t\n\r\v"[at])
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
