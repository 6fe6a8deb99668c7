package commands

import "strings"

// Arity says where the value of an option stands.
type Arity uint8

const (
	Unknown  Arity = iota // not an option that is known
	None                  // it takes none
	Attached              // only in the same word
	Next                  // in the same word, or else in the next one
)

// Arity says where the value of o stands.
func (o Option) Arity() Arity {
	switch {
	case o.Value != "":
		return Next
	case o.Attached != "":
		return Attached
	}
	return None
}

// Use is an option as it stands in a word.
type Use struct {
	Name string // with its dashes: "-u", "--user"
	At   int    // where its value begins in the word; 0 for none there
	Next bool   // its value is the next word
}

// Read reads a word of options: one long option, or letters run together. Options that arity does not know
// take no value but behind "=".
func Read(word, style string, arity func(name string) Arity) []Use {
	name, _, glued := strings.Cut(word, "=")
	if before, _, found := strings.Cut(name, ":"); found && style == "colon" {
		name, glued = before, true
	}
	whole := strings.HasPrefix(word, "--") || style == "colon" || style == "single-dash" ||
		len(name) > 2 && arity(name) != Unknown
	if whole {
		u := Use{Name: name, Next: !glued && arity(name) == Next}
		if glued {
			u.At = len(name) + 1
		}
		return []Use{u}
	}
	uses := make([]Use, 0, len(word)-1)
	for at := 1; at < len(word); at++ {
		u := Use{Name: "-" + word[at:at+1]}
		switch takes := arity(u.Name); {
		case takes != Next && takes != Attached:
			uses = append(uses, u)
			continue
		case at+1 < len(word):
			u.At = at + 1
		default:
			u.Next = takes == Next
		}
		return append(uses, u)
	}
	return uses
}
