package facts

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Matches says which of the operator's patterns match a command's words, joined by single spaces, once
// with the program as it was written and once with its base name. Exemptions are those in force at a time.
func (l *Layout) Matches(words []string, name string, unknown bool, at time.Time) Matches {
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
		c.Matches = l.Matches(c.Argv, c.Name, c.Certainty == "unknown", in.Request.Time)
	}
}
