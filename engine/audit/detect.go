package audit

import (
	"regexp"
	"strings"
	"sync"
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
		re := regexp.MustCompile(`^(?:` + f.pattern + `)`)
		for _, word := range f.words {
			add(word, func(s *scanner, at int) { s.format(f.name, re, at) })
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
	return m
}

// format is a kind of token that is known by its form alone. Patterns stand at one of the words.
type format struct {
	name    string
	words   []string
	pattern string
}

// formats are from the documentation of those who issue the tokens. Lengths are lower bounds, so
// that a format that grows is still found.
var formats = []format{
	{"private-key", []string{"-----begin"}, `-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`},
	{"aws", []string{"akia", "asia", "abia", "acca"}, `A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}\b`},
	{"github", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, `gh[pousr]_[A-Za-z0-9_]{20,}`},
	{"github", []string{"github_pat_"}, `github_pat_[A-Za-z0-9_]{20,}`},
	{"gitlab", []string{"glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"}, `gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,}`},
	{"slack", []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"}, `xox[a-z][-.][A-Za-z0-9%/+.-]{10,}|xapp-[A-Za-z0-9-]{10,}`},
	{"slack", []string{"hooks.slack.com/"}, `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}`},
	{"anthropic", []string{"sk-ant-"}, `sk-ant-[A-Za-z0-9_-]{20,}`},
	{"openai", []string{"sk-"}, `sk-[A-Za-z0-9_-]{20,512}`},
	{"google", []string{"aiza"}, `AIza[A-Za-z0-9_-]{35}`},
	{"google", []string{"ya29."}, `ya29\.[A-Za-z0-9_-]{20,}`},
	{"google", []string{"gocspx-"}, `GOCSPX-[A-Za-z0-9_-]{20,}`},
	{"stripe", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, `(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}`},
	{"npm", []string{"npm_"}, `npm_[A-Za-z0-9]{30,}`},
	{"pypi", []string{"pypi-"}, `pypi-[A-Za-z0-9_-]{40,}`},
	{"huggingface", []string{"hf_"}, `hf_[A-Za-z0-9]{30,}`},
	{"sendgrid", []string{"sg."}, `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
	{"digitalocean", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, `do[opr]_v1_[a-f0-9]{40,}`},
	{"shopify", []string{"shpat_", "shpca_", "shppa_", "shpss_"}, `shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}`},
	{"vault", []string{"hvs.", "hvb.", "hvr."}, `hv[sbr]\.[A-Za-z0-9_-]{20,}`},
	{"grafana", []string{"glsa_", "glc_"}, `gl(?:sa|c)_[A-Za-z0-9_=]{20,}`},
	{"linear", []string{"lin_api_"}, `lin_api_[A-Za-z0-9]{20,}`},
	{"databricks", []string{"dapi"}, `dapi[a-f0-9]{32}`},
	{"terraform", []string{".atlasv1."}, `\.atlasv1\.[A-Za-z0-9_=-]{40,}`},
	{"doppler", []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa."}, `dp\.(?:pt|st|ct|sa)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{30,}`},
	{"age", []string{"age-secret-key-1"}, `(?i)AGE-SECRET-KEY-1[0-9A-Z]{40,}`},
	{"signer-key", []string{"private+key+"}, `PRIVATE\+KEY\+[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{30,}`},
	{"jwt", []string{"eyj"}, `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
	{"azure", []string{"accountkey=", "sharedaccesskey="}, `(?i)(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{20,}={0,2}`},
}

// scanner looks through one text.
type scanner struct {
	s       string
	element bool // s is an element of a list, not a text with shell syntax around it
	found   []finding
	piping  bool   // the accounts for chpasswd were looked for
	quotes  []byte // the shell quote that is open at each byte; nil until asked for
	covered int    // end of the last finding: what lies in it need not be looked at
	parsed  int    // end of the command whose words were looked at last
}

// detect returns the secrets that the built-in detectors find in s.
func detect(s string, element bool) []finding {
	m := keywords()
	sc := scanner{s: s, element: element}
	for i := 0; i+1 < len(s); i++ {
		c := s[i]
		if i < sc.covered {
			continue
		}
		if m.second[c]&(1<<(s[i+1]&31)) == 0 {
			continue
		}
		for _, k := range m.first[c] {
			if hasFold(s[i:], k.word) {
				k.look(&sc, i)
			}
		}
	}
	return sc.found
}

// reach bounds how far a token or a header is followed, in bytes, so that a text full of keywords
// still takes linear time. Private keys alone may be longer.
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

// format reports a token. A letter or digit before it means that it is a part of something else,
// except for tokens that are long enough to be told anyway.
func (s *scanner) format(name string, re *regexp.Regexp, at int) {
	text := s.from(at)
	if name == "private-key" {
		text = s.s[at:]
	}
	loc := re.FindStringIndex(text)
	if loc == nil {
		return
	}
	end := at + loc[1]
	switch {
	case name == "openai" && (!strings.ContainsAny(text[:loc[1]], "0123456789") || (at > 0 && isWord(s.s[at-1]))):
		return // task-2024-… is no key
	case (name == "aws" || name == "jwt" || name == "npm" || name == "huggingface" || name == "sendgrid" || name == "databricks") && at > 0 && isWord(s.s[at-1]):
		return // base64 is full of such letters
	}
	s.add(at, end, name, s.s[at:end])
}

// openQuote returns the shell quote that is open at a place, or 0. The quotes of a text are
// followed once, when first asked for.
func (s *scanner) openQuote(at int) byte {
	if s.quotes == nil {
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
