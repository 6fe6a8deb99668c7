package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Redactor replaces secrets in text by tags: "[redacted:<detector>:<16 hex>]". The hex digits are
// an HMAC of the secret under the key of the log, so the same secret has the same tag throughout a
// log and nobody without the key can test a guess. It is safe for concurrent use.
//
// It knows the formats of common tokens, values that stand beside names such as PASSWORD or
// Authorization, passwords in URLs, and what well-known programs take as passwords. A secret that
// stands nowhere in such a place, or is encoded, is not found; name it in audit.redact.
type Redactor struct {
	key      []byte
	literals []string
	patterns []*regexp.Regexp
}

// NewRedactor makes a redactor. With a nil key the tags have no hex digits.
func NewRedactor(key []byte, extra Redact) *Redactor {
	r := &Redactor{key: key, patterns: slices.Clone(extra.Patterns)}
	for _, s := range extra.Literals {
		if s != "" {
			r.literals = append(r.literals, s)
		}
	}
	return r
}

// RedactorFor makes the redactor of the log in dir, whose tags are those in its records, without
// opening the log. Before the log has a key the tags have no hex digits.
func RedactorFor(dir string, extra Redact) (*Redactor, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read redaction key: %w", err)
	}
	_, _, name := keyPaths(dir)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return NewRedactor(nil, extra), nil
	}
	key, err := redactKey(osFS{}, name)
	if err != nil {
		return nil, err
	}
	return NewRedactor(key, extra), nil
}

// String returns s with its secrets replaced. A nil Redactor changes nothing.
func (r *Redactor) String(s string) string {
	n := node{kind: 's', text: s}
	r.node(&n)
	return n.text
}

// Together returns texts that belong together with their secrets replaced: what is told to be a secret by what
// stands beside it in one of them is also replaced where it stands alone in another. A nil Redactor changes nothing.
func (r *Redactor) Together(texts ...string) []string {
	n := node{kind: 'o', keys: make([]string, len(texts))}
	for _, s := range texts {
		n.kids = append(n.kids, node{kind: 's', text: s})
	}
	r.node(&n)
	out := make([]string, len(texts))
	for i := range n.kids {
		out[i] = n.kids[i].text
	}
	return out
}

// Tag returns what stands in the log for a secret that a detector found.
func (r *Redactor) Tag(detector, secret string) string {
	if len(r.key) == 0 {
		return "[redacted:" + detector + "]"
	}
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(secret))
	return "[redacted:" + detector + ":" + hex.EncodeToString(h.Sum(nil)[:8]) + "]"
}

// finding is a secret in a text: the bytes [start, end).
type finding struct {
	start, end int
	detector   string
	secret     string // what it is without quotes, to look for elsewhere
}

// node replaces the secrets in all strings below n and returns the JSON pointers of those that
// changed. What is found in one string is also replaced where it stands alone in another: the
// shell walk puts values of variables into argument lists, where no name is beside them.
func (r *Redactor) node(n *node) []string {
	if r == nil {
		return nil
	}
	c := collector{r: r, learned: map[string]string{}}
	c.visit("", n, "")
	var changed []string
	for _, t := range c.texts {
		found := c.again(t.node.text, t.found)
		if len(found) > 0 {
			t.node.text = r.replace(t.node.text, found)
			changed = append(changed, t.at)
		}
	}
	return changed
}

type collector struct {
	r       *Redactor
	texts   []seenText
	learned map[string]string // secret to detector
}

type seenText struct {
	at    string
	node  *node
	found []finding
}

// visit looks at all strings below n. name is the key under which n stands.
func (c *collector) visit(at string, n *node, name string) {
	switch n.kind {
	case 's':
		found := c.r.find(n.text, false)
		if len(found) == 0 && secretName(name) && plausible(n.text, true) {
			found = append(found, finding{0, len(n.text), "named", n.text})
		}
		c.add(at, n, found)
	case 'o':
		for i := range n.kids {
			c.visit(at+"/"+n.step(i), &n.kids[i], n.keys[i])
		}
	case 'a':
		c.list(at, n)
	}
}

// list looks at an array. In a list of strings, which may be the arguments of a program, a flag
// and its value are two elements.
func (c *collector) list(at string, n *node) {
	var words []word
	for i := range n.kids {
		if n.kids[i].kind != 's' {
			words = nil
			break
		}
		words = append(words, word{n.kids[i].text, 0})
	}
	byWord := make(map[int][]finding)
	for _, f := range arguments(words) {
		byWord[f.word] = append(byWord[f.word], f.finding)
	}
	for i := range n.kids {
		kid := &n.kids[i]
		if kid.kind != 's' {
			c.visit(at+"/"+n.step(i), kid, "")
			continue
		}
		c.add(at+"/"+n.step(i), kid, append(c.r.find(kid.text, true), byWord[i]...))
	}
}

func (c *collector) add(at string, n *node, found []finding) {
	for _, f := range found {
		if worthLearning(f.secret) {
			c.learned[f.secret] = f.detector
		}
	}
	c.texts = append(c.texts, seenText{at, n, found})
}

// again adds the places where learned secrets stand in s.
func (c *collector) again(s string, found []finding) []finding {
	for secret, detector := range c.learned {
		found = append(found, occurrences(s, secret, detector)...)
	}
	return found
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
func (r *Redactor) find(s string, element bool) []finding {
	found := detect(s, element)
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
