package facts

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// curl: data options whose value starts with @ (or name@ for --data-urlencode) send a file, -F
// name=@file and name=<file too, -T sends one, @- sends what flows in. -O writes a file named
// after the URL.
func curl(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		switch name := strings.TrimLeft(o.full, "-"); strings.TrimPrefix(name, "expand-") {
		case "d", "data", "data-ascii", "data-binary", "json":
			c.curlData(o.value, 0)
		case "data-urlencode", "url-query", "variable":
			if i := strings.IndexByte(o.value.Text, '@'); i >= 0 && !strings.Contains(o.value.Text[:i], "=") {
				c.curlData(o.value, i)
			} else {
				c.curlSubstituted(o.value)
			}
		case "F", "form":
			if i := strings.IndexByte(o.value.Text, '='); i >= 0 && i+1 < len(o.value.Text) && strings.IndexByte("@<", o.value.Text[i+1]) >= 0 {
				file := cut(o.value, i+2)
				if j := strings.IndexByte(file.Text, ';'); j >= 0 {
					file.Text = file.Text[:j]
					file.Prefix = file.Prefix[:min(j, len(file.Prefix))]
				}
				c.send(file)
			}
		case "T", "upload-file":
			c.send(o.value)
		case "H", "header", "proxy-header":
			c.curlData(o.value, 0)
		case "b", "cookie":
			if o.value.Certainty == value.Exact && !strings.Contains(o.value.Text, "=") {
				c.path(o.value, reads)
			}
			c.curlSubstituted(o.value)
		case "data-raw", "u", "user":
			c.curlSubstituted(o.value)
		case "w", "write-out":
			c.curlWrites(o.value)
		case "url":
			if strings.HasPrefix(o.value.Text, "@") {
				c.path(cut(o.value, 1), reads)
			}
		}
	}
	for _, w := range c.operands {
		c.curlSubstituted(w)
	}
	if c.has("G", "get") && c.has("d", "data") {
		c.curlSubstituted(value.Word{})
	}
	into := c.dir
	if o, ok := c.option1("output-dir"); ok {
		into = enter(c.dir, o.value)
		c.each(writes, func(t *touch) {
			if c.isOutput(t.word) {
				t.dir = into
			}
		})
	}
	if c.has("O", "remote-name", "remote-name-all", "J", "remote-header-name") {
		c.dir, into = into, c.dir
		c.writeNamedAfterURL()
		c.dir = into
	}
	c.request(c.value("X", "request"), append(texts(c.operands), c.value("url")))
	if len(c.operands) == 0 && c.value("url") == "" && (c.has("version", "V", "h", "help", "M", "manual")) {
		c.effects &^= doesNetwork
		c.flags.remove(flagDownloads)
	}
}

// isOutput reports whether a word is what -o names: --output-dir is for these alone.
func (c *call) isOutput(w value.Word) bool {
	for _, o := range c.options {
		if (o.name == "o" || o.full == "--output") && o.value.Text == w.Text {
			return true
		}
	}
	return false
}

// curlWrites: a format of -w stands in a file behind @, and %output{FILE} writes one.
func (c *call) curlWrites(w value.Word) {
	if strings.HasPrefix(w.Text, "@") {
		c.path(cut(w, 1), reads)
	}
	for rest := w.Text; ; {
		_, behind, found := strings.Cut(rest, "%output{")
		if !found {
			return
		}
		file, next, _ := strings.Cut(behind, "}")
		c.path(exact(strings.TrimPrefix(file, ">>")), writes)
		rest = next
	}
}

// curlSubstituted: a value that holds the output of a command sends that.
func (c *call) curlSubstituted(w value.Word) {
	if len(w.Inputs) > 0 {
		c.flags.add(flagUploads)
	}
}

func (c *call) curlData(w value.Word, at int) {
	if len(w.Text) > at && w.Text[at] == '@' {
		c.send(cut(w, at+1))
		return
	}
	c.curlSubstituted(w)
}

// writeNamedAfterURL: the file is the last name of the URL, in the directory of the command.
func (c *call) writeNamedAfterURL() {
	for _, w := range c.operands {
		text, _, _ := strings.Cut(w.Text, "?")
		text, _, _ = strings.Cut(text, "#")
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			rest = text
		}
		_, name, ok := strings.Cut(rest, "/")
		if name = path.Base("/" + name); !ok || name == "/" || name == "." {
			continue
		}
		if w.Certainty == value.Exact {
			c.path(exact(name), writes)
		}
	}
}
