package facts

import (
	"strconv"
	"strings"
)

// chmod: options, then a mode, then files. A mode may start with a dash (-x).
func chmod(c *call) {
	rest := false
	mode := false
	for i := 0; i < len(c.operands); i++ {
		w := c.operands[i]
		text := w.Text
		switch {
		case !rest && text == "--":
			rest = true
		case !rest && strings.HasPrefix(text, "--"):
			mode = c.chmodLong(text) || mode
		case !mode && !rest && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.flags.add(flagRecursive)
			}
		case !mode:
			mode = true
			c.flags.union(modeFlags(text))
		case !rest && strings.HasPrefix(text, "-") && strings.Trim(text[1:], "Rcfv") == "":
			if strings.Contains(text, "R") {
				c.flags.add(flagRecursive)
			}
		default:
			c.path(w, writes)
		}
	}
	if c.flags.has(flagRecursive) {
		c.each(writes, func(t *touch) { t.recursive = true })
	}
}

// chmodLong reads a long option and reports whether it stands for the mode.
func (c *call) chmodLong(text string) bool {
	name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
	switch {
	case name != "" && strings.HasPrefix("recursive", name):
		c.flags.add(flagRecursive)
	case strings.HasPrefix(name, "no-pre"):
		c.flags.add(flagNoPreserveRoot)
	case strings.HasPrefix(name, "ref"):
		c.touch(exact(value), role{access: reads, metadata: true})
		return true
	}
	return false
}

// modeFlags says what a mode of chmod(1), octal or symbolic, makes possible. Symbolic modes
// without "u", "g", "o" or "a" obey the umask; as that is usually 022, +w opens nothing.
func modeFlags(mode string) bitset {
	var f bitset
	if n, err := strconv.ParseUint(mode, 8, 32); err == nil {
		if n&0o6000 != 0 {
			f.add(flagSetid)
		}
		if n&0o002 != 0 && n&0o1000 == 0 {
			f.add(flagWidens)
		}
		if n&0o111 != 0 {
			f.add(flagMakeExecutable)
		}
		return f
	}
	for _, clause := range strings.Split(mode, ",") {
		i := strings.IndexAny(clause, "+=-")
		if i < 0 {
			continue
		}
		who := clause[:i]
		for i < len(clause) {
			op := clause[i]
			end := i + 1
			for end < len(clause) && strings.IndexByte("+=-", clause[end]) < 0 {
				end++
			}
			if op != '-' {
				symbolic(&f, who, clause[i+1:end])
			}
			i = end
		}
	}
	return f
}

func symbolic(f *bitset, who, what string) {
	if strings.ContainsAny(what, "xX") {
		f.add(flagMakeExecutable)
	}
	if strings.Contains(what, "s") && (who == "" || strings.ContainsAny(who, "uga")) {
		f.add(flagSetid)
	}
	others := strings.ContainsAny(who, "oa")
	if others && (strings.Contains(what, "w") || what == "u") {
		f.add(flagWidens)
	}
}

// setcap: -r takes capabilities away.
func setcap(c *call) {
	if c.has("r") {
		c.flags.remove(flagSetid)
		c.path(c.operands[len(c.operands)-1], writes)
	}
}

// setfacl: -R is recursive; giving others write access widens.
func setfacl(c *call) {
	if c.has("R", "recursive") {
		c.flags.add(flagRecursive)
		c.each(writes, func(t *touch) { t.recursive = true })
	}
	for _, entry := range strings.Split(c.value("m", "modify", "set"), ",") {
		if i := strings.LastIndexByte(entry, ':'); i >= 0 && strings.Contains(entry[i:], "w") && (strings.HasPrefix(entry, "o") || strings.HasPrefix(entry, "other")) {
			c.flags.add(flagWidens)
		}
	}
}

// flagWords: chattr +i FILE: words that start with + - = are modes.
func flagWords(c *call) {
	c.touches = c.touches[:0]
	mode := false
	for _, w := range c.operands {
		switch {
		case w.Text == "-R":
			c.flags.add(flagRecursive)
		case w.Text != "" && strings.IndexByte("+-=", w.Text[0]) >= 0:
			mode = true
		case c.cmd.Name != "chattr" && !mode:
			mode = true
		default:
			c.path(w, writes)
		}
	}
	if c.flags.has(flagRecursive) {
		c.each(writes, func(t *touch) { t.recursive = true })
	}
}

// sudoEdit: sudo -e FILE edits a file; -s and -i without a command open a shell.
func sudoEdit(c *call) {
	if c.has("e", "edit") {
		for _, w := range c.operands {
			c.path(w, reads|writes)
		}
		c.effects |= doesWrite
	}
}
