package build

import (
	"regexp"
	"strings"
	"sync"
)

// The predecessor of this project refused a command when one of nine regular expressions was
// found anywhere in its text. They stay as facts for users of the predecessor: profile massgen
// refuses by them, as before. They were Python expressions, where \b, \s and . know Unicode;
// RE2 has the ASCII forms, so the classes are spelled out here.
const (
	// wordStart and wordEnd stand where Python's \b does beside a letter: no word character there.
	wordStart = `(?:^|[^\p{L}\p{N}_])`
	wordEnd   = `(?:[^\p{L}\p{N}_]|$)`
	// blank is Python's \s: the characters of str.isspace, with the four separators of ASCII.
	blank = `[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`
)

// need stands in every text that the pattern matches; looking for it first is much cheaper. A pattern is
// compiled when that is found first: all of them take a millisecond.
var legacyPatterns = []struct {
	id, need string
	re       func() *regexp.Regexp
}{
	{"rm_rf_root", "-rf", lazily(wordStart + `rm` + blank + `+-rf` + blank + `+/`)},
	{"mv_dev_null", "/dev/null", lazily(wordStart + `mv(?:[^\p{L}\p{N}_\n][^\n]*?)?` + blank + `+/dev/null`)},
	{"dd", "dd", lazily(wordStart + `dd` + wordEnd)},
	{"disk_redirect", "/dev/sd", lazily(`>` + blank + `*/dev/sd[a-z]`)},
	{"fork_bomb", ":(){", lazily(`:\(\)\{` + blank + `*:\|:&` + blank + `*\};:`)},
	{"sudo", "sudo", lazily(wordStart + `sudo` + wordEnd)},
	{"su", "su", lazily(wordStart + `su` + wordEnd)},
	{"chown", "chown", lazily(wordStart + `chown` + wordEnd)},
	{"chmod", "chmod", lazily(wordStart + `chmod` + wordEnd)},
}

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// legacy returns the names of the predecessor's patterns that a text matches, in its order.
func legacy(text string) []string {
	out := []string{}
	for _, p := range legacyPatterns {
		if strings.Contains(text, p.need) && p.re().MatchString(text) {
			out = append(out, p.id)
		}
	}
	return out
}
