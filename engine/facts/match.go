package facts

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// matches says which of the operator's patterns match a command's words, joined by single spaces, once
// with the program as it was written and once with its base name. Exemptions are those in force at a time.
func (l *Layout) matches(words []string, name string, unknown bool, at time.Time) Matches {
	m := Matches{Deny: []int{}, Exempt: []int{}}
	if len(words) == 0 || len(l.Allow)+len(l.Deny)+len(l.Exemptions) == 0 {
		return m
	}
	written := strings.Join(words, " ")
	spellings := []string{written}
	if name != "" && name != words[0] {
		spellings = append(spellings, name+written[len(words[0]):])
	}
	matches := func(re *regexp.Regexp) bool { return re != nil && slices.ContainsFunc(spellings, re.MatchString) }
	// A command word that is not known may become anything: no pattern vouches for it.
	m.Allow = !unknown && slices.ContainsFunc(l.Allow, matches)
	for i, re := range l.Deny {
		if matches(re) {
			m.Deny = append(m.Deny, i)
		}
	}
	for i, e := range l.Exemptions {
		if !unknown && at.Before(e.Expires) && matches(e.Match) {
			m.Exempt = append(m.Exempt, i)
		}
	}
	return m
}

// Rematch matches the commands of a recorded input with the patterns of l, in place of those under which it
// was recorded; exemptions are those in force when it was. All other facts stay as they were.
func (in *Input) Rematch(l *Layout) {
	for i := range in.Commands {
		c := &in.Commands[i]
		c.Matches = l.matches(c.Argv, c.Name, c.Certainty == "unknown", in.Request.Time)
	}
}

// The predecessor of this project refused a command when one of nine regular expressions was
// found anywhere in its text. They are kept as facts for those who move over: profile massgen
// refuses by them, as before. They were Python expressions, where \b, \s and . know Unicode;
// RE2 has the ASCII forms, so the classes are spelled out here.
const (
	// wordStart and wordEnd stand where Python's \b does beside a letter: no word character there.
	wordStart = `(?:^|[^\p{L}\p{N}_])`
	wordEnd   = `(?:[^\p{L}\p{N}_]|$)`
	// blank is Python's \s: what str.isspace knows, with the four separators of ASCII.
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
