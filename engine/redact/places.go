package redact

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

var bearerToken = lazyregexp.New(`^(?i)bearer +([A-Za-z0-9._~+/=-]{12,})`)

func (s *scanner) bearer(at int) {
	m := s.match(bearerToken, s.from(at))
	if m == nil {
		return
	}
	value := s.s[at+m[2] : at+m[3]]
	if strings.ContainsAny(value, "0123456789") || len(value) >= 32 {
		s.add(at+m[2], at+m[3], "authorization", value)
	}
}

var authorizationHead = lazyregexp.New(
	`^(?i)authorization\\?["']?\s*[:=]\s*(?:\\?["'])?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot|key)[ :]+)?`)

// authorization takes all that follows the scheme, up to the end of the quotes or the line.
func (s *scanner) authorization(at int) {
	m := s.match(authorizationHead, s.s[at:min(len(s.s), at+256)])
	if m == nil {
		return
	}
	start := at + m[1]
	outer := s.openQuote(start)
	s.header(start, "authorization", func(c byte) bool {
		return c == '\n' || c == '"' || c == '\'' || c == outer || outer == 0 && !s.element && isSpace(c)
	}, func(value string) (string, bool) {
		value = strings.TrimRight(value, " \\,}")
		return value, plausible(value, true)
	})
}

func (s *scanner) cookie(at int) {
	start := at + len("cookie:")
	for start < len(s.s) && s.s[start] == ' ' {
		start++
	}
	outer := s.openQuote(start)
	s.header(start, "cookie", func(c byte) bool { return c == '\n' || c == '"' || c == outer },
		func(value string) (string, bool) {
			return value, strings.Contains(value, "=") && plausible(value, true)
		})
}

// header returns the text up to the end of a header, if it can be a secret. To stay linear, a text is read
// beyond maxValue only where that covers it, or where no rejected header was read to its end before.
func (s *scanner) header(start int, name string, ends func(byte) bool, secret func(string) (string, bool)) {
	end := start
	follow := func(limit int) string {
		from := end
		for end < min(len(s.s), limit) && !ends(s.s[end]) {
			end++
		}
		s.read += end - from
		return s.s[start:end]
	}
	_, ok := secret(follow(start + maxValue))
	if !ok && (end < start+maxValue || start < s.rejected) {
		return
	}
	value, whole := secret(follow(len(s.s)))
	if !ok && !whole {
		s.rejected = end
		return
	}
	s.add(start, start+len(value), name, value)
}

// url finds the password in scheme://user:password@host, also one with characters that should
// have been escaped.
func (s *scanner) url(at int) {
	start := at + len("://")
	end, limit := start, min(len(s.s), start+1024)
	s.read += limit - start
	if strings.IndexByte(s.s[start:limit], '@') < 0 {
		return
	}
	for end < limit && !isSpace(s.s[end]) && !strings.ContainsRune("\"'`<>|", rune(s.s[end])) {
		end++
	}
	rest := s.s[start:end]
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	if !strings.Contains(authority, "@") {
		// A raw slash in a password ends the authority early: host:12 is a port, host:x is not.
		_, port, ok := strings.Cut(authority, ":")
		if !ok || strings.Trim(port, "0123456789") == "" {
			return
		}
		authority = rest
	}
	i := strings.LastIndexByte(authority, '@')
	if i < 0 {
		return
	}
	user, password, ok := strings.Cut(authority[:i], ":")
	from := start + len(user) + 1
	if !ok {
		if !entropic(user) && (len(user) < 32 || strings.Trim(user, "0123456789abcdef") != "") {
			return
		}
		password, from = user, start // a token in place of a user
	}
	if plausible(password, true) {
		s.add(from, from+len(password), "url", password)
	}
}

var (
	sqlPassword = lazyregexp.New(
		`^(?i)(?:identified +by|(?:with|encrypted) +password)(?: +password)? *\\?['"]([^'"]+)['"]`)
	netrcPassword = lazyregexp.New(`^(?i)login\s+\S+\s+password\s+(\S+)`)
)

func (s *scanner) sql(at int)   { s.captured(sqlPassword, at, "sql") }
func (s *scanner) netrc(at int) { s.captured(netrcPassword, at, "netrc") }

var told = lazyregexp.New(`^(?i)(?:pass(?:word|phrase|code)|token|secret|key|pin) is(?: now|:)? +['"` + "`" +
	`]?([^\s'"` + "`" + `]{4,})`)

// prose finds the password that a sentence names. A plain word is part of the sentence: "the password is
// wrong".
func (s *scanner) prose(at int) {
	m := s.match(told, s.s[at:min(len(s.s), at+256)])
	if m == nil {
		return
	}
	start, end := at+m[2], at+m[3]
	for end > start && strings.IndexByte(".,;:!?)", s.s[end-1]) >= 0 {
		end--
	}
	if value := s.s[start:end]; classes(value) >= 2 && len(value) >= 6 && plausible(value, true) &&
		!isPath(value) && strings.IndexByte("$<({", value[0]) < 0 {
		s.add(start, end, "told", value)
	}
}

func (s *scanner) captured(re *lazyregexp.Regexp, at int, name string) {
	if m := s.match(re, s.s[at:min(len(s.s), at+1024)]); m != nil && plausible(s.s[at+m[2]:at+m[3]], true) {
		s.add(at+m[2], at+m[3], name, s.s[at+m[2]:at+m[3]])
	}
}
