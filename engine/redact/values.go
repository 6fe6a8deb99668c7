package redact

import (
	"math"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

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
		s.read += len(s.s) - a.value
		return span{a.value, len(s.s), s.s[a.value:], true}
	}
	t, i := s.s[:min(len(s.s), a.value+limit)], a.value
	if strings.HasPrefix(t[i:], `\"`) {
		if n := strings.Index(t[i+2:], `\"`); n >= 0 {
			s.read += n
			return span{i + 2, i + 2 + n, t[i+2 : i+2+n], false}
		}
	}
	outer := s.openQuote(a.value)
	if outer != 0 && t[i] == outer && (i+1 == len(t) || isSpace(t[i+1]) ||
		strings.ContainsRune("\"');,|&", rune(t[i+1]))) {
		return span{i, i, "", true} // the end of the quotes, not the start of a value
	}
	if (t[i] == '"' || t[i] == '\'') && (a.quoted || a.spaced || outer != 0) {
		if n := closing(t, i); n > 0 {
			s.read += n - i
			return span{i + 1, n, t[i+1 : n], false}
		}
	}
	w := readWord(t, i, outer, a.query)
	s.read += w.end - i
	return w
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
			(c == '}' || c == ']') && (i+1 == len(t) || strings.IndexByte("\"'}], \n", t[i+1]) >= 0) &&
				!strings.Contains(text.String(), "{"):
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
	case word == "pwd" && (strings.HasPrefix(value, "/") || s.s[start] == 'p' &&
		(start == 0 || s.s[start-1] != ';')):
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
	call   = lazyregexp.New(`^(?:await +|new +)?[A-Za-z_][A-Za-z0-9_.:]*[(\[]`)
	dotted = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$`)
)

// isCode says whether an unquoted value is an expression of a programming language.
func isCode(rest, value string) bool {
	return call.MatchString(rest) || dotted.MatchString(value)
}

func isPath(v string) bool {
	return (strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") ||
		strings.HasPrefix(v, "../")) && !entropic(v)
}

// placeholder says whether a word stands where a secret would, and is none.
func placeholder(v string) bool {
	switch strings.ToLower(v) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "undefined", "str", "string",
		"bytes", "int", "bool",
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

var variables = lazyregexp.New(`\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{[A-Za-z_][A-Za-z0-9_]*\})|[:;, ]`)

func shellDefaultOnly(v string) bool { return strings.HasPrefix(v, "${") && strings.HasSuffix(v, "}") }

var uuid = lazyregexp.New(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// entropic says whether v looks random: 20 or more characters of which no few are frequent, digits
// and letters mixed, and neither a hash nor a UUID nor a file name.
func entropic(v string) bool {
	if len(v) < 20 || classes(v) < 2 || !strings.ContainsAny(v, "0123456789") ||
		strings.ContainsAny(v, " \t\n$") {
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
