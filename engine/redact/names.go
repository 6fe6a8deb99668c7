package redact

import (
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// secretWords end the names of secrets: PGPASSWORD, auth_token, --api-key.
var secretWords = []string{"token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd",
	"api_key", "api-key", "apikey",
	"access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey", "secret_key",
	"secret-key", "secretkey",
	"signing_key", "signing-key", "encryption_key", "encryption-key", "master_key", "license_key", "auth_key",
	"auth-key", "authkey",
	"credential", "credentials", "bearer", "_auth", "creds"}

// weakWords end the names of many harmless things too, so only a value that looks random counts.
var weakWords = []string{"key", "auth", "sig", "signature", "session", "sessionid", "session_id", "cookie",
	"sid", "code", "webhook", "dsn", "salt"}

// secretName says whether a JSON key names a secret.
func secretName(name string) bool {
	if name == "" {
		return false
	}
	for _, w := range wordsByEnd()[name[len(name)-1]|0x20] {
		if i := len(name) - len(w); i >= 0 && hasFold(name[i:], w) && (len(w) > 4 || i == 0 || boundary(name, i)) {
			return true
		}
	}
	return false
}

// wordsByEnd are the secretWords by their last letter.
var wordsByEnd = sync.OnceValue(func() (by [256][]string) {
	for _, w := range secretWords {
		by[w[len(w)-1]] = append(by[w[len(w)-1]], w)
	}
	return by
})

// boundary says whether a word begins at i: after a separator, or where camel case begins a word.
func boundary(s string, i int) bool {
	if i == 0 || !isWord(s[i-1]) || s[i-1] == '_' || s[i-1] >= '0' && s[i-1] <= '9' {
		return true
	}
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return upper(s[i]) && !upper(s[i-1])
}

// name looks at a name that ends in a secret word, and at what is assigned to it.
func (s *scanner) name(at, length int, strong bool) {
	t := s.s
	start, end := at, nameEnd(t, at+length)
	if end < 0 {
		return
	}
	for start > 0 && (isWord(t[start-1]) || t[start-1] == '-' || t[start-1] == '.') {
		start--
	}
	word := strings.ToLower(t[at : at+length])
	short := length <= 4 && word != "creds" && word[0] != '_'
	if short && !boundary(t, at) && !(word == "pwd" || word == "pass") {
		return
	}
	if word == "pass" && !boundary(t, at) && !strings.HasSuffix(strings.ToLower(t[start:at]), "db") &&
		!strings.HasSuffix(strings.ToLower(t[start:at]), "user") {
		return // compass, bypass
	}
	a, ok := s.assigned(start, end)
	if !ok {
		return
	}
	v := s.value(a, maxValue)
	if v.start >= v.end || !s.likely(word, start, strong, a, v) {
		return
	}
	if m := shellDefault.FindStringSubmatchIndex(v.secret); m != nil { // ${NAME:-default}
		secret := v.secret[m[2]:m[3]]
		if i := strings.Index(t[v.start:v.end], secret); i >= 0 && plausible(secret, strong) {
			s.add(v.start+i, v.start+i+len(secret), "assignment", secret)
		}
		return
	}
	if !plausible(v.secret, strong) {
		return
	}
	if v.end >= a.value+maxValue { // it is a secret, so it is worth reading to its end
		v = s.value(a, len(s.s))
	}
	s.add(v.start, v.end, "assignment", v.secret)
}

var shellDefault = lazyregexp.New(`^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=]([^$}]+)\}$`)

// nameEnd skips a number after a name (TOKEN_2, SECRET_KEY_BASE) and returns -1 where the name goes
// on to say something else (tokenizer, PASSWORD_FILE, --password-stdin).
func nameEnd(t string, i int) int {
	if hasFold(t[i:], "_base") {
		i += len("_base")
	}
	if i < len(t) && t[i] == '_' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9' {
		i++
	}
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	if i < len(t) && (isWord(t[i]) || t[i] == '-' || t[i] == '.') {
		return -1
	}
	return i
}

// assignment is how a value follows a name.
type assignment struct {
	value  int  // where the value starts
	sep    byte // '=', ':' or ' '
	spaced bool // a space stands around the separator
	quoted bool // the name stands in quotes
	query  bool // the name is a parameter of a URL or a form
	whole  bool // the name begins an element of a list: all that follows is its value
}

// assigned looks for a separator after a name.
func (s *scanner) assigned(start, end int) (a assignment, ok bool) {
	t, i := s.s, end
	if i < len(t) && t[i] == '\\' && i+1 < len(t) && t[i+1] == '"' { // \"name\": \"value\"
		i++
		a.quoted = true
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'') && start > 0 && t[start-1] == t[i] {
		i++
		a.quoted = true
		if i < len(t) && t[i] == ']' {
			i++
		}
	} else if a.quoted {
		return a, false
	}
	j := skipBlank(t, i)
	if j == len(t) {
		return a, false
	}
	switch c := t[j]; {
	case c == '=' && !strings.HasPrefix(t[j:], "==") && !strings.HasPrefix(t[j:], "=~"):
		a.sep = '='
		if j++; j < len(t) && t[j] == '>' {
			j++
		}
	case c == ':' && !strings.HasPrefix(t[j:], "::") && !strings.HasPrefix(t[j:], "://"):
		a.sep = ':'
		if j++; j < len(t) && t[j] == '=' {
			j++
		}
	case t[start] == '-' && j > i && c != '-' && !a.quoted:
		a.sep = ' '
	default:
		return a, false
	}
	a.value = skipBlank(t, j)
	a.spaced = a.sep != ' ' && (a.value > j || t[i] == ' ')
	if a.sep == '=' && !a.quoted && !s.lower(start) && a.value > j {
		return a, false // "TOKEN= cmd" sets an empty variable
	}
	a.query = start > 0 && (t[start-1] == '?' || t[start-1] == '&')
	a.whole = s.element && strings.TrimLeft(t[:start], "-") == "" && a.sep == '=' &&
		!strings.ContainsAny(t[a.value:], "\n;|`")
	return a, a.value < len(t)
}

// lower says whether a name is not in upper case, and so belongs to a program or a configuration
// file and not to an assignment of the shell.
func (s *scanner) lower(start int) bool {
	return start >= len(s.s) || s.s[start] < 'A' || s.s[start] > 'Z'
}

func skipBlank(t string, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	return i
}
