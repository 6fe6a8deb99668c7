package audit

import (
	"math"
	"regexp"
	"strings"
)

// secretWords end the names of secrets: PGPASSWORD, auth_token, --api-key.
var secretWords = []string{"token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd", "api_key", "api-key", "apikey",
	"access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey", "secret_key", "secret-key", "secretkey",
	"signing_key", "signing-key", "encryption_key", "encryption-key", "master_key", "license_key", "auth_key", "auth-key", "authkey",
	"credential", "credentials", "bearer", "_auth", "creds"}

// weakWords end the names of many harmless things too, so only a value that looks random counts.
var weakWords = []string{"key", "auth", "sig", "signature", "session", "sessionid", "session_id", "cookie", "sid", "code", "webhook", "dsn", "salt"}

// secretName says whether a JSON key names a secret.
func secretName(name string) bool {
	for _, w := range secretWords {
		if i := len(name) - len(w); i >= 0 && hasFold(name[i:], w) && (len(w) > 4 || i == 0 || boundary(name, i)) {
			return true
		}
	}
	return false
}

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
	if word == "pass" && !boundary(t, at) && !strings.HasSuffix(strings.ToLower(t[start:at]), "db") && !strings.HasSuffix(strings.ToLower(t[start:at]), "user") {
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

var shellDefault = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=]([^$}]+)\}$`)

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
	if a.sep == '=' && !a.quoted && !s.code(start) && a.value > j {
		return a, false // "TOKEN= cmd" sets an empty variable
	}
	a.query = start > 0 && (t[start-1] == '?' || t[start-1] == '&')
	a.whole = s.element && strings.TrimLeft(t[:start], "-") == "" && a.sep == '=' && !strings.ContainsAny(t[a.value:], "\n;|`")
	return a, a.value < len(t)
}

// code says whether a blank stands between a name and its separator or the name is lower case, as
// in a program or a configuration file, and not in a shell assignment.
func (s *scanner) code(start int) bool {
	return start >= len(s.s) || s.s[start] < 'A' || s.s[start] > 'Z'
}

func skipBlank(t string, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	return i
}

// span is a value in a text and what it is without its quotes.
type span struct {
	start, end int
	secret     string
	bare       bool // it does not begin with a quote
}

// maxValue is how many bytes of a value are looked at to tell whether it is a secret, so that a
// text full of names takes linear time.
const maxValue = 1024

// value reads the value of an assignment as the shell would, or a programming language.
func (s *scanner) value(a assignment, limit int) span {
	if a.whole {
		return span{a.value, len(s.s), s.s[a.value:], true}
	}
	t, i := s.s[:min(len(s.s), a.value+limit)], a.value
	if strings.HasPrefix(t[i:], `\"`) {
		if n := strings.Index(t[i+2:], `\"`); n >= 0 {
			return span{i + 2, i + 2 + n, t[i+2 : i+2+n], false}
		}
	}
	outer := s.openQuote(a.value)
	if outer != 0 && t[i] == outer && (i+1 == len(t) || isSpace(t[i+1]) || strings.ContainsRune("\"');,|&", rune(t[i+1]))) {
		return span{i, i, "", true} // the end of the quotes, not the start of a value
	}
	if (t[i] == '"' || t[i] == '\'') && (a.quoted || a.spaced || outer != 0) {
		if n := closing(t, i); n > 0 {
			return span{i + 1, n, t[i+1 : n], false}
		}
	}
	return readWord(t, i, outer, a.query)
}

// closing returns where the quote that opens at i is closed, or -1.
func closing(t string, i int) int {
	for j := i + 1; j < len(t); j++ {
		switch {
		case t[j] == '\\' && t[i] == '"':
			j++
		case t[j] == t[i]:
			return j
		}
	}
	return -1
}

// readWord reads a shell word: pieces that are bare, quoted or escaped. Inside outer quotes only a
// blank or the end of the quotes ends it.
func readWord(t string, i int, outer byte, query bool) span {
	w := span{start: i, bare: true}
	var text strings.Builder
	for i < len(t) {
		c := t[i]
		switch {
		case c == outer && outer != 0, isSpace(c),
			outer == 0 && strings.IndexByte(";&|()<>", c) >= 0 && !(c == '(' && strings.HasSuffix(text.String(), "$")),
			query && (c == '&' || c == '#'),
			c == ',' && (i+1 == len(t) || isSpace(t[i+1]) || t[i+1] == '"' || t[i+1] == '\''),
			(c == '}' || c == ']') && (i+1 == len(t) || strings.IndexByte("\"'}], \n", t[i+1]) >= 0) && !strings.Contains(text.String(), "{"):
			w.end, w.secret = i, text.String()
			return w.trim(t)
		case c == '\\' && i+1 < len(t):
			text.WriteByte(t[i+1])
			i += 2
		case c == '\'' || c == '"':
			n := closing(t, i)
			if n < 0 {
				n = len(t)
			}
			w.bare = w.bare && i > w.start
			text.WriteString(t[i+1 : n])
			i = min(n+1, len(t))
		default:
			text.WriteByte(c)
			i++
		}
	}
	w.end, w.secret = len(t), text.String()
	return w.trim(t)
}

// trim leaves the quotes of a word that is quoted as a whole where they are, so that the text
// around a tag still parses as before.
func (w span) trim(t string) span {
	if n := w.end - w.start; !w.bare && n >= 2 && t[w.start] == t[w.end-1] && n-2 == len(w.secret) {
		w.start, w.end = w.start+1, w.end-1
	}
	return w
}

// likely tells an assignment of a secret from look-alikes: code, types, images and paths.
func (s *scanner) likely(word string, start int, strong bool, a assignment, v span) bool {
	value := v.secret
	digits := strings.Trim(value, "0123456789") == ""
	switch {
	case !strong && !entropic(value):
		return false
	case word == "pwd" && (strings.HasPrefix(value, "/") || s.s[start] == 'p' && (start == 0 || s.s[start-1] != ';')):
		return false // the working directory, or an alias; ";pwd=" is part of a connection string
	case strings.EqualFold(s.s[start:min(len(s.s), start+8)], "nopasswd"):
		return false // of sudoers
	case word == "token" && digits && len(value) < 8:
		return false // --max-token 4096
	case a.sep == ':' && !a.spaced && !a.quoted && !entropic(value) && !strings.HasPrefix(word, "passw"):
		return false // docker run secret:latest
	case a.sep == ':' && start > 0 && s.s[start-1] == '/':
		return false // /run/token: No such file
	case v.bare && a.spaced && isCode(s.s[v.start:min(len(s.s), v.start+128)], value):
		return false
	case isPath(value):
		return false
	}
	return true
}

var (
	call   = regexp.MustCompile(`^(?:await +|new +)?[A-Za-z_][A-Za-z0-9_.:]*[(\[]`)
	dotted = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$`)
)

// isCode says whether an unquoted value is an expression of a programming language.
func isCode(rest, value string) bool {
	return call.MatchString(rest) || dotted.MatchString(value)
}

func isPath(v string) bool {
	return (strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../")) && !entropic(v)
}

// placeholder says whether a word stands where a secret would, and is none.
func placeholder(v string) bool {
	switch strings.ToLower(v) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "undefined", "str", "string", "bytes", "int", "bool",
		"any", "object", "optional", "required", "number", "auto", "char", "self", "prompt", "redacted":
		return true
	}
	return false
}

// plausible says whether a value can be a secret at all.
func plausible(v string, strong bool) bool {
	v = strings.TrimSpace(v)
	if placeholder(strings.TrimRight(v, ";,")) || (!strong && !entropic(v)) {
		return false
	}
	for _, p := range []string{"$(", "`", "<", "{{", "%(", "%s", "%v", "[redacted"} {
		if strings.HasPrefix(v, p) {
			return false
		}
	}
	if strings.HasPrefix(v, "$") { // a variable, or several, and nothing besides
		return variables.ReplaceAllString(v, "") != "" && !shellDefaultOnly(v)
	}
	return strings.Trim(v, "*xX.-_ ") != ""
}

var variables = regexp.MustCompile(`\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{[A-Za-z_][A-Za-z0-9_]*\})|[:;, ]`)

func shellDefaultOnly(v string) bool { return strings.HasPrefix(v, "${") && strings.HasSuffix(v, "}") }

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// entropic says whether v looks random: 20 or more characters of which no few are frequent, digits
// and letters mixed, and neither a hash nor a UUID nor a file name.
func entropic(v string) bool {
	if len(v) < 20 || classes(v) < 2 || !strings.ContainsAny(v, "0123456789") || strings.ContainsAny(v, " \t\n$") {
		return false
	}
	if strings.Trim(v, "0123456789abcdefABCDEF") == "" || uuid.MatchString(v) || strings.Count(v, "/") > 2 {
		return false
	}
	var count [256]int
	for i := 0; i < len(v); i++ {
		count[v[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= 3.5
}

// classes counts the kinds of characters in s: lower case, upper case, digits, others.
func classes(s string) int {
	var seen [4]int
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			seen[0] = 1
		case c >= 'A' && c <= 'Z':
			seen[1] = 1
		case c >= '0' && c <= '9':
			seen[2] = 1
		default:
			seen[3] = 1
		}
	}
	return seen[0] + seen[1] + seen[2] + seen[3]
}
