package facts

import (
	"regexp"
	"slices"
	"strings"
)

// matches says which of the operator's patterns match a command's words, joined by single spaces, once
// with the program as it was written and once with its base name.
func (l *Layout) matches(words []string, name string, unknown bool) Matches {
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
	for i, re := range l.Exemptions {
		if !unknown && matches(re) {
			m.Exempt = append(m.Exempt, i)
		}
	}
	return m
}

// Rematch matches the commands of a recorded input with the patterns of l, in place of those under which it
// was recorded. All other facts stay as they were.
func (in *Input) Rematch(l *Layout) {
	for i := range in.Commands {
		c := &in.Commands[i]
		c.Matches = l.matches(c.Argv, c.Name, c.Certainty == "unknown")
	}
}
