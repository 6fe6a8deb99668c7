package redact

import (
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// keyword starts a closer look at the place in a text where it stands. Looking for keywords first
// and running regular expressions only there costs a tenth of running them over all text.
type keyword struct {
	word string // lower case
	look func(s *scanner, at int)
}

// matcher finds keywords: by their first letter, and a mask of the letters that may come second.
type matcher struct {
	first  [256][]keyword
	second [256]uint32
}

var keywords = sync.OnceValue(newMatcher)

func newMatcher() *matcher {
	m := &matcher{}
	add := func(word string, look func(*scanner, int)) {
		for _, c := range []byte{word[0], word[0] &^ 0x20} {
			if c == word[0] || (word[0] >= 'a' && word[0] <= 'z') {
				m.first[c] = append(m.first[c], keyword{word, look})
				m.second[c] |= 1 << (word[1] & 31)
			}
		}
	}
	for _, f := range formats {
		re := lazyregexp.New(`^(?:` + f.pattern + `)`)
		for _, word := range f.words {
			add(word, func(s *scanner, at int) { s.format(&f, re, at) })
		}
	}
	for _, word := range secretWords {
		add(word, func(s *scanner, at int) { s.name(at, len(word), true) })
	}
	for _, word := range weakWords {
		add(word, func(s *scanner, at int) { s.name(at, len(word), false) })
	}
	for _, word := range programWords() {
		add(word, func(s *scanner, at int) { s.program(at, len(word)) })
	}
	for _, word := range pipedWords {
		add(word, (*scanner).piped)
	}
	add("authorization", (*scanner).authorization)
	add("bearer ", (*scanner).bearer)
	add("cookie:", (*scanner).cookie)
	add("://", (*scanner).url)
	add("identified by", (*scanner).sql)
	add("with password", (*scanner).sql)
	add("encrypted password", (*scanner).sql)
	add("login ", (*scanner).netrc)
	for _, word := range []string{"password is", "passphrase is", "passcode is", "token is", "secret is",
		"key is", "pin is"} {
		add(word, (*scanner).prose)
	}
	return m
}

// scanner looks through one text.
type scanner struct {
	s        string
	element  bool // s is an element of a list, not a text with shell syntax around it
	found    []finding
	piping   bool   // the accounts for chpasswd were looked for
	quotes   []byte // the shell quote that is open at each byte; nil until asked for
	covered  int    // end of the last finding; text before it is not searched again
	parsed   int    // end of the command whose words were looked at last
	rejected int    // end of the last header that was read to its end and is no secret
	read     int    // bytes that were looked at outside of patterns, some again and again
	match    func(re *lazyregexp.Regexp, text string) []int
}

// detect returns the secrets that the built-in detectors find in a text. It begins anew with each.
func (s *scanner) detect(text string, element bool) []finding {
	*s = scanner{s: text, element: element, match: (*lazyregexp.Regexp).FindStringSubmatchIndex}
	return s.scan()
}

func (s *scanner) scan() []finding {
	m := keywords()
	for i := 0; i+1 < len(s.s); i++ {
		c := s.s[i]
		if i < s.covered {
			continue
		}
		if m.second[c]&(1<<(s.s[i+1]&31)) == 0 {
			continue
		}
		for _, k := range m.first[c] {
			if hasFold(s.s[i:], k.word) {
				k.look(s, i)
			}
		}
	}
	return s.found
}

// reach bounds how far a token is followed, in bytes, so that a text full of keywords still takes
// linear time. Only private keys and headers may be longer.
const reach = 16 << 10

func (s *scanner) from(at int) string { return s.s[at:min(len(s.s), at+reach)] }

// hasFold says whether s begins with a lower-case ASCII word, in any case.
func hasFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func (s *scanner) add(start, end int, detector, secret string) {
	if start < end {
		s.found = append(s.found, finding{start, end, detector, secret})
		s.covered = max(s.covered, end)
	}
}

// format reports a token. Of one that is told by its middle, the beginning belongs to it.
func (s *scanner) format(f *format, re *lazyregexp.Regexp, at int) {
	text := s.from(at)
	if f.name == "private-key" {
		text = s.s[at:]
	}
	loc := s.match(re, text)
	if loc == nil || f.apart && at > 0 && isWord(s.s[at-1]) {
		return // base64 is full of such letters
	}
	if f.name == "openai" && (!strings.ContainsAny(text[:loc[1]], "0123456789") || at > 0 && isWord(s.s[at-1])) {
		return // task-2024-… is no key
	}
	start, end := at, at+loc[1]
	for f.name == "terraform" && start > s.covered && start > at-20 && isWord(s.s[start-1]) {
		start--
	}
	s.add(start, end, f.name, s.s[start:end])
}

// openQuote returns the shell quote that is open at a place, or 0. The quotes of a text are
// followed once, when first asked for.
func (s *scanner) openQuote(at int) byte {
	if s.quotes == nil {
		s.read += len(s.s)
		s.quotes = make([]byte, len(s.s)+1)
		quote, escaped := byte(0), false
		for i := 0; i < len(s.s); i++ {
			s.quotes[i] = quote
			switch c := s.s[i]; {
			case escaped:
				escaped = false
			case c == '\\' && quote != '\'':
				escaped = true
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			case c == quote:
				quote = 0
			}
		}
		s.quotes[len(s.s)] = quote
	}
	return s.quotes[at]
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
