package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// touch is one word that names a path, before it is looked up.
type touch struct {
	word      value.Word
	access    access
	source    string
	dir       shell.Dir
	role      role
	recursive bool
	atHome    bool   // relative to the home directory of the child
	moved     bool   // the source of a move: nothing is lost unless it goes to the null device
	ifFile    bool   // counts only if it exists
	found     flag   // with ifFile: what the command then does
	sieve     *sieve // files that a recursive read leaves out
	filter    string // only entries below whose base name matches: find ROOT -name PATTERN -delete
}

// roleOf returns the role of operand i; last says that it is the last of several.
func (c *call) roleOf(i int, last bool) role {
	if last && c.spec.last != nil && !c.noLast {
		return *c.spec.last
	}
	if c.noFirst {
		i++
	}
	if len(c.spec.args) == 0 {
		return role{word: "text"}
	}
	return c.spec.args[min(i, len(c.spec.args)-1)]
}

// assignRoles gives every operand its role, now that all options are known.
func (c *call) assignRoles() {
	for i, w := range c.operands {
		last := i > 0 && i == len(c.operands)-1
		r := c.roleOf(i, last)
		if r.word == "command" {
			return
		}
		if destination := last && c.spec.last != nil && !c.noLast; c.flags.has(flagRecursive) && !destination {
			r.recursive = true
		}
		c.apply(w, r)
	}
	for _, w := range c.behind {
		if !isOption(w) {
			c.apply(w, role{word: "path-like", access: reads})
		}
	}
}

// apply makes of a word what its role says.
func (c *call) apply(w value.Word, r role) {
	switch r.word {
	case "text", "number", "package", "command", "code", "library", "module":
	case "directory":
		c.dir = enter(c.dir, w)
	case "host":
		c.host(w.Text)
	case "url":
		if path, ok := strings.CutPrefix(w.Text, "file://"); ok {
			c.touch(cut(w, len(w.Text)-len(path)), role{word: "read", access: reads})
			return
		}
		c.host(w.Text)
	case "assignment":
	case "path-like":
		if looksLikePath(w.Text) {
			c.touch(w, r)
		} else if c.plainName(w) {
			c.touchFile(w, r.access, 0)
		}
	default:
		if r.remote {
			if host, ok := remoteHost(w.Text); ok {
				c.hosts = appendHost(c.hosts, host)
				c.flags.add(flagRemote)
				c.effects |= doesNetwork
				if r.access&reads != 0 {
					c.flags.add(flagDownloads)
				} else {
					c.flags.add(flagUploads)
				}
				return
			}
		}
		c.touch(w, r)
	}
}

// touch notes that a word names a path, unless it plainly does not. A word without a text may be one
// that only the run brings, such as what xargs reads: then it names something that is not known.
func (c *call) touch(w value.Word, r role) {
	if w.Text == "" && w.Certainty == value.Exact || w.Text == "-" || isURL(w) || isProcessSubstitution(w) {
		return
	}
	c.touches = append(c.touches, touch{word: w, access: r.access, source: "argument", dir: c.dir, role: r, recursive: r.recursive})
}

// isURL reports a word whose known parts are those of a URL: in $(curl http://h/x) nothing is known.
func isURL(w value.Word) bool {
	text := w.Text
	if w.Certainty != value.Exact {
		text = withoutUnknown(text)
	}
	return strings.Contains(text, "://")
}

// touchFile notes a word that is a path only if such a file exists. Then the flag found, unless
// it is 0, holds for the command.
func (c *call) touchFile(w value.Word, a access, found flag) {
	n := len(c.touches)
	c.touch(w, role{access: a})
	if len(c.touches) > n {
		c.touches[n].ifFile, c.touches[n].found = true, found
	}
}

func isProcessSubstitution(w value.Word) bool {
	return strings.HasPrefix(w.Raw, "<(") || strings.HasPrefix(w.Raw, ">(")
}

// guess reads the words of a command that the table does not know.
func (c *call) guess(words []value.Word) {
	for _, w := range words {
		if isOption(w) {
			name, _, ok := strings.Cut(w.Text, "=")
			if !ok {
				continue
			}
			w = cut(w, len(name)+1)
			c.options = append(c.options, optionUse{name: strings.TrimLeft(name, "-"), full: name, value: w, given: true})
		} else {
			c.operands = append(c.operands, w)
		}
		c.apply(w, role{word: "path-like", access: reads})
		if strings.Contains(w.Text, "://") {
			c.host(w.Text)
		}
	}
}

// looksLikePath reports whether a word whose role is not known is a path by its looks.
func looksLikePath(text string) bool {
	return len(text) > 1 && (text[0] == '/' || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		text == ".." || strings.HasPrefix(text, "~/")) && !strings.Contains(text, "://")
}

// plainName reports whether a word could be the name of a file beside the command: such a word
// counts only if the file exists, which the builder finds out.
func (c *call) plainName(w value.Word) bool {
	return w.Certainty == value.Exact && w.Text != "" && w.Text[0] != '-' && !strings.ContainsAny(w.Text, "=:\n\t{}()<>|;&$\"'")
}

// cut returns the word without its first n bytes.
func cut(w value.Word, n int) value.Word {
	w.Text = w.Text[n:]
	w.Prefix = w.Prefix[min(n, len(w.Prefix)):]
	if w.Certainty == value.Partial && w.Prefix == "" {
		w.Certainty = value.Unknown
	}
	return w
}
