package audit

import (
	"regexp"
	"strings"
)

var bearerToken = regexp.MustCompile(`^(?i)bearer +([A-Za-z0-9._~+/=-]{12,})`)

func (s *scanner) bearer(at int) {
	m := bearerToken.FindStringSubmatchIndex(s.from(at))
	if m == nil {
		return
	}
	value := s.s[at+m[2] : at+m[3]]
	if strings.ContainsAny(value, "0123456789") || len(value) >= 32 {
		s.add(at+m[2], at+m[3], "authorization", value)
	}
}

var authorizationHead = regexp.MustCompile(`^(?i)authorization\\?["']?\s*[:=]\s*(?:\\?["'])?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot|key)[ :]+)?`)

// authorization takes all that follows the scheme, up to the end of the quotes or the line.
func (s *scanner) authorization(at int) {
	m := authorizationHead.FindStringIndex(s.s[at:min(len(s.s), at+256)])
	if m == nil {
		return
	}
	start := at + m[1]
	end := start
	outer := s.openQuote(start)
	for end < len(s.s) && s.s[end] != '\n' && s.s[end] != '"' && s.s[end] != '\'' && s.s[end] != outer {
		if outer == 0 && !s.element && isSpace(s.s[end]) {
			break
		}
		end++
	}
	value := strings.TrimRight(s.s[start:end], " \\,}")
	if plausible(value, true) {
		s.add(start, start+len(value), "authorization", value)
	}
}

func (s *scanner) cookie(at int) {
	start := at + len("cookie:")
	for start < len(s.s) && s.s[start] == ' ' {
		start++
	}
	end := start
	outer := s.openQuote(start)
	for limit := min(len(s.s), start+reach); end < limit && s.s[end] != '\n' && s.s[end] != '"' && s.s[end] != outer; {
		end++
	}
	if value := s.s[start:end]; strings.Contains(value, "=") && plausible(value, true) {
		s.add(start, end, "cookie", value)
	}
}

// url finds the password in scheme://user:password@host, also one with characters that should
// have been escaped.
func (s *scanner) url(at int) {
	start := at + len("://")
	end, limit := start, min(len(s.s), start+1024)
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
		if !entropic(user) {
			return
		}
		password, from = user, start // a token in place of a user
	}
	if plausible(password, true) {
		s.add(from, from+len(password), "url", password)
	}
}

var (
	sqlPassword   = regexp.MustCompile(`^(?i)(?:identified +by|(?:with|encrypted) +password)(?: +password)? *\\?['"]([^'"]+)['"]`)
	netrcPassword = regexp.MustCompile(`^(?i)login\s+\S+\s+password\s+(\S+)`)
)

func (s *scanner) sql(at int)   { s.captured(sqlPassword, at, "sql") }
func (s *scanner) netrc(at int) { s.captured(netrcPassword, at, "netrc") }

func (s *scanner) captured(re *regexp.Regexp, at int, name string) {
	if m := re.FindStringSubmatchIndex(s.s[at:min(len(s.s), at+1024)]); m != nil && plausible(s.s[at+m[2]:at+m[3]], true) {
		s.add(at+m[2], at+m[3], name, s.s[at+m[2]:at+m[3]])
	}
}
