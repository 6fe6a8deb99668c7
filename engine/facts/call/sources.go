package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// PackageSource marks a package manager that an option, a setting or a variable sends to a source that is
// not public, or for which one of these gives up the checks that find a wrong package.
func (c *Call) PackageSource() {
	for _, a := range c.Cmd.Assigns {
		if commands.PackageSources().Variable(a.Name) && c.foreign(a.Name, a.Value) {
			c.Flags.Add(term.FlagRedirectsSource)
		}
	}
	if c.Base == nil || len(c.Cmd.Words) < 2 {
		return
	}
	if row := c.Table.Rows.Command(c.Cmd.Name); row != nil && row.Packages != nil && c.redirects(row.Packages) {
		c.Flags.Add(term.FlagRedirectsSource)
	}
}

func (c *Call) redirects(p *commands.Packages) bool {
	words := c.Cmd.Words[1:]
	plain := slices.DeleteFunc(slices.Clone(words), IsOption)
	adds := false
	for _, verb := range p.Adds {
		fields := strings.Fields(verb)
		adds = adds || verb == "*" || len(plain) >= len(fields) && slices.Equal(Texts(plain[:len(fields)]), fields)
	}
	for i, w := range words {
		name, val, attached := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		rest := words[i+1:]
		if attached {
			rest = []value.Word{Cut(w, len(w.Text)-len(val))}
		}
		switch {
		case (adds || c.Flags.Has(term.FlagPackageInstall)) && strings.Contains(w.Text, "://") &&
			c.foreign("", w):
			return true
		case IsOption(w) && slices.Contains(p.Sources, "!"+name):
			return true
		case IsOption(w) && slices.Contains(p.Sources, name):
			if len(rest) > 0 && c.foreign(name, rest[0]) {
				return true
			}
		case IsOption(w) && len(name) > 1 && w.Text[1] != '-' && slices.Contains(p.Sources, name[:1]):
			if c.foreign(name, Cut(w, 2)) {
				return true
			}
		default:
			setting := func(s string) bool {
				without, check := strings.CutPrefix(s, "!")
				return check && strings.Contains(name, without) && val != "false" && val != "0" ||
					names(name, s) && slices.ContainsFunc(rest, func(v value.Word) bool { return c.foreign(name, v) })
			}
			if slices.ContainsFunc(p.Settings, setting) {
				return true
			}
		}
	}
	return adds && c.Cmd.Name == "apt-key" && c.Fed()
}

// Separates reports a character between the sources of a list.
func Separates(r rune) bool { return r == ' ' || r == ',' || r == '|' }

// names reports whether a word is a setting, or one below or with it: global.index-url, mirror.https://….
func names(word, setting string) bool {
	return word == setting || strings.HasSuffix(word, "."+setting) ||
		strings.HasSuffix(word, ":"+setting) || // @scope:registry
		strings.HasSuffix(setting, ".") && strings.HasPrefix(word, setting) ||
		strings.Contains(setting, "::") && strings.Contains(word, setting)
}

// foreign reports whether a word names a source that is not public. A name without a host, such as
// conda-forge, is one of the manager's own; a file or a directory is not fetched. For checks, off is foreign.
func (c *Call) foreign(name string, w value.Word) bool {
	if w.Certainty != value.Exact {
		return w.Text != "" || len(w.Inputs) > 0
	}
	for part := range strings.FieldsFuncSeq(w.Text, Separates) {
		host := part
		if at := strings.Index(part, "://"); at >= 0 {
			if strings.HasPrefix(part, "file:") {
				continue
			}
			host = part[at+3:]
		} else if strings.HasPrefix(part, "/") || strings.HasPrefix(part, ".") {
			continue
		}
		host, _, _ = strings.Cut(host, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		if colon := strings.LastIndexByte(host, ':'); colon > 0 && !strings.Contains(host, "]") {
			host = host[:colon]
		}
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if part == "*" || part == "false" || part == "off" && name != "GOPROXY" {
			return true
		}
		if strings.Contains(host, ".") && !commands.PackageSources().Public(host) {
			return true
		}
	}
	return false
}
