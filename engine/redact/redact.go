// Package redact replaces secrets in text by tags: "[redacted:<detector>:<16 hex>]".
//
// It knows the formats of common tokens, values that stand beside names such as PASSWORD or
// Authorization, passwords in URLs, and the options by which well-known programs take passwords. It does not
// find a secret that stands in no such place, or that is encoded; an operator names such values ([Extra]).
//
// An agent chooses the texts, and so it may write words that look like a secret. [Class] limits the effect
// for each text: names of paths, hosts and programs stay readable, and Sallyport's own words stay as they
// are.
//
// The package imports nothing of this module, keeps no state and reads no files.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// Redactor replaces secrets. The hex digits of its tags are an HMAC-SHA-256 of the secret under its key, cut
// to 64 bits: the same secret has the same digits throughout a log, and nobody without the key can test a
// guess. It is safe for concurrent use. A nil Redactor changes nothing.
type Redactor struct {
	key      []byte
	literals []string
	patterns []*regexp.Regexp
}

// Extra is the operator's own list of secrets.
type Extra struct {
	Literals []string // replaced wherever they occur
	Patterns []*regexp.Regexp
}

// New makes a redactor. With a nil key the tags have no hex digits.
func New(key []byte, extra Extra) *Redactor {
	r := &Redactor{key: key, patterns: slices.Clone(extra.Patterns)}
	for _, s := range extra.Literals {
		if s != "" {
			r.literals = append(r.literals, s)
		}
	}
	return r
}

// Class says whose words a text is made of. The zero value is redacted in full.
type Class uint8

const (
	// Free text is an agent's or a program's: every secret is replaced.
	Free Class = iota
	// Name is a path, a host or a program. A token that is known by its form is replaced in it, the password of
	// a URL, and what the operator lists. What only stands somewhere else as a secret is not: an agent cannot
	// hide a name by calling it a token.
	Name
	// Own text is Sallyport's: nothing is replaced.
	Own
)

// Text is one of several texts that belong together, as those of a record do.
type Text struct {
	Key   string // the key that it stands under, or the name beside it; "" for none
	Of    int    // the List of which it repeats a part, such as the value of an option; 0 for none
	List  int    // texts with the same number, other than 0, are the elements of one list: a command line, perhaps
	Class Class
	Value string
}

// Report says what Texts did.
type Report struct {
	Redacted []int   // texts, by their index, in which a secret was replaced
	Named    []Named // names that contain a secret
}

// Named is a name that contains a value that some text calls a secret. The name is left as it is, unless the
// secret is known by its form.
type Named struct {
	At   int    // the name, by its index among the texts
	From int    // the text that calls the value a secret
	Tag  string // it replaces the value there
}

// maxNamed is how many of them a report has at most.
const maxNamed = 64

// String returns s with its secrets replaced.
func (r *Redactor) String(s string) string { return r.Together(s)[0] }

// Together returns texts that belong together with their secrets replaced: a value that the words beside it
// mark as a secret in one of them is also replaced where it stands alone in another.
func (r *Redactor) Together(values ...string) []string {
	texts := make([]Text, len(values))
	for i, v := range values {
		texts[i].Value = v
	}
	r.Texts(texts)
	out := make([]string, len(values))
	for i := range texts {
		out[i] = texts[i].Value
	}
	return out
}

// Tag returns what stands in place of a secret that a detector found.
func (r *Redactor) Tag(detector, secret string) string {
	if digits := r.Digest(secret); digits != "" {
		detector += ":" + digits
	}
	return "[redacted:" + detector + "]"
}

// Digest returns the hex digits of the tags of a secret; "" without a key.
func (r *Redactor) Digest(secret string) string {
	if len(r.key) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(secret))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// finding is a secret in a text: the bytes [start, end).
type finding struct {
	start, end int
	detector   string
	secret     string // what it is without quotes, to look for elsewhere
}

// learned is a secret that one text told.
type learned struct {
	secret, detector string
	from             int // index of that text
}

// Texts replaces the secrets in the values of texts. What is found in one of them is also replaced where it
// stands alone in another: the shell walk puts values of variables into argument lists, where no name is
// beside them.
func (r *Redactor) Texts(texts []Text) Report {
	var report Report
	if r == nil {
		return report
	}
	found := r.findAll(texts)
	all := learn(found)
	var everywhere []learned // those that are part of no name
	for i, names := range namesWith(texts, all) {
		l := all[i]
		for _, at := range names {
			if len(report.Named) < maxNamed {
				report.Named = append(report.Named, Named{At: at, From: l.from, Tag: r.Tag(l.detector, l.secret)})
			}
		}
		if len(names) == 0 || byForm(l.detector) {
			everywhere = append(everywhere, l)
		}
	}
	var m *automaton
	if len(everywhere) > 0 {
		m = newAutomaton(everywhere)
	}
	for i := range texts {
		t := &texts[i]
		if t.Class == Free && m != nil {
			m.each(t.Value, func(secret, start, end int) bool {
				l := everywhere[secret]
				found[i] = append(found[i], finding{start, end, l.detector, l.secret})
				return false // the longest one covers the others that end there
			})
		}
		if len(found[i]) > 0 {
			t.Value = r.replace(t.Value, found[i])
			report.Redacted = append(report.Redacted, i)
		}
	}
	return report
}

// namesWith returns, for each secret, the texts that are names and contain it.
func namesWith(texts []Text, all []learned) [][]int {
	in := make([][]int, len(all))
	if len(all) == 0 {
		return in
	}
	m := newAutomaton(all)
	for i, t := range texts {
		if t.Class != Name {
			continue
		}
		m.each(t.Value, func(secret, _, _ int) bool {
			if n := len(in[secret]); n > 0 && in[secret][n-1] == i {
				return false // it was met in this name, and so were the shorter ones that it ends with
			}
			in[secret] = append(in[secret], i)
			return true
		})
	}
	return in
}

// findAll returns the secrets in each text by itself, or by the other elements of its list.
func (r *Redactor) findAll(texts []Text) [][]finding {
	found := make([][]finding, len(texts))
	var sc scanner
	for i := range texts {
		t := &texts[i]
		switch t.Class {
		case Own:
			continue
		case Name:
			all := r.find(&sc, t.Value, true)
			found[i] = slices.DeleteFunc(all, func(f finding) bool { return !byForm(f.detector) })
			continue
		}
		found[i] = r.find(&sc, t.Value, t.List != 0)
		if len(found[i]) == 0 && secretName(t.Key) && plausible(t.Value, true) && !directory(*t) {
			found[i] = []finding{{0, len(t.Value), "named", t.Value}}
		}
	}
	var words []word
	for from := 0; from < len(texts); {
		to := from + 1
		for to < len(texts) && texts[to].List == texts[from].List {
			to++
		}
		if texts[from].List != 0 && texts[from].Class == Free {
			words = words[:0]
			for i := from; i < to; i++ {
				words = append(words, word{text: texts[i].Value})
			}
			for _, f := range arguments(words) {
				found[from+f.word] = append(found[from+f.word], f.finding)
			}
		}
		from = to
	}
	repeated(texts, found)
	return found
}

// directory reports the value of PWD or OLDPWD.
func directory(t Text) bool {
	return (t.Key == "PWD" || t.Key == "OLDPWD") && strings.HasPrefix(t.Value, "/")
}

// repeated finds the secrets of a list in texts that repeat a part of it. They need not be distinct: the
// operand "abc" is the password where the command line has it as one.
func repeated(texts []Text, found [][]finding) {
	told := map[int]map[string]string{} // by list, the detector of each secret
	for i, t := range texts {
		for _, f := range found[i] {
			if t.List != 0 && told[t.List] == nil {
				told[t.List] = map[string]string{}
			}
			if t.List != 0 {
				told[t.List][f.secret] = f.detector
			}
		}
	}
	for i, t := range texts {
		if detector := told[t.Of][t.Value]; t.Of != 0 && t.Class == Free && detector != "" && len(found[i]) == 0 {
			found[i] = []finding{{0, len(t.Value), detector, t.Value}}
		}
	}
}

// byForm reports a detector that tells a secret by its own form, or that the operator configured.
func byForm(detector string) bool {
	return detector == "configured" || detector == "url" ||
		slices.ContainsFunc(formats, func(f format) bool { return f.name == detector })
}

// learn returns the secrets that are distinct enough to be looked for in other texts.
func learn(found [][]finding) []learned {
	var all []learned
	seen := map[string]bool{}
	for i, list := range found {
		for _, f := range list {
			if worthLearning(f.secret) && !seen[f.secret] {
				seen[f.secret] = true
				all = append(all, learned{secret: f.secret, detector: f.detector, from: i})
			}
		}
	}
	return all
}

func occurrences(s, secret, detector string) []finding {
	var out []finding
	for from := 0; ; {
		i := strings.Index(s[from:], secret)
		if i < 0 {
			return out
		}
		from += i
		out = append(out, finding{from, from + len(secret), detector, secret})
		from += len(secret)
	}
}

// find returns the secrets in one text; element says that it is an element of a list.
func (r *Redactor) find(sc *scanner, s string, element bool) []finding {
	found := sc.detect(s, element)
	for _, l := range r.literals {
		found = append(found, occurrences(s, l, "configured")...)
	}
	for _, p := range r.patterns {
		for _, m := range p.FindAllStringIndex(s, -1) {
			if m[0] < m[1] {
				found = append(found, finding{m[0], m[1], "configured", s[m[0]:m[1]]})
			}
		}
	}
	return found
}

// replace puts tags in place of findings. Overlapping ones become one.
func (r *Redactor) replace(s string, found []finding) string {
	slices.SortFunc(found, func(a, b finding) int {
		if a.start != b.start {
			return a.start - b.start
		}
		if a.end != b.end {
			return b.end - a.end
		}
		return strings.Compare(a.detector, b.detector)
	})
	var b strings.Builder
	at := 0
	for i := 0; i < len(found); {
		f := found[i]
		whole := true
		for i++; i < len(found) && found[i].start < f.end; i++ {
			if found[i].end > f.end {
				f.end, whole = found[i].end, false
			}
		}
		secret := f.secret
		if !whole || secret == "" {
			secret = s[f.start:f.end]
		}
		b.WriteString(s[at:f.start])
		b.WriteString(r.Tag(f.detector, secret))
		at = f.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// worthLearning says whether a secret is so distinct that it may be replaced wherever it stands.
// A name is not: it is a variable of some program, or what a manual puts in place of a secret.
func worthLearning(s string) bool {
	if secretName(s) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" && strings.Contains(s, "_") {
		return false
	}
	return len(s) >= 8 || len(s) >= 6 && classes(s) >= 2
}
