package value

import (
	"regexp"
	"slices"
	"strings"
)

// SedPart reads up to the delimiter.
func SedPart(text string, delimiter byte) (part, rest string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// Substituted returns text after s/PATTERN/TEXT/ on each of its lines, if that is simple enough.
func Substituted(script, text string) (string, bool) {
	if len(script) < 4 || script[0] != 's' || !strings.ContainsRune("/|#,:@~!%", rune(script[1])) {
		return "", false
	}
	pattern, rest := SedPart(script[2:], script[1])
	replacement, flags := SedPart(rest, script[1])
	re, ok := basicPattern(pattern, script[1])
	replacement = strings.ReplaceAll(replacement, `\`+script[1:2], script[1:2])
	whole := (flags == "" || flags == "g") && strings.HasSuffix(script, script[1:2]+flags)
	if !ok || !whole || strings.ContainsAny(replacement, "&\\\n") {
		return "", false
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == len(lines)-1 && line == "" {
			break // no line, but the end of the one before
		}
		if flags == "g" {
			lines[i] = re.ReplaceAllLiteralString(line, replacement)
		} else if at := re.FindStringIndex(line); at != nil {
			lines[i] = line[:at[0]] + replacement + line[at[1]:]
		}
	}
	text = strings.Join(lines, "\n")
	return text, !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// basicPattern translates a basic regular expression without repetition, groups or classes.
func basicPattern(pattern string, delimiter byte) (*regexp.Regexp, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && slices.Contains(append([]byte(`.*[]^$\`), delimiter), pattern[i+1]):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '\\' || c == '*' || c == '[' || c == '\n' || c == '^' && i > 0 || c == '$' && i < len(pattern)-1:
			return nil, false
		case c == '.' || c == '^' || c == '$':
			b.WriteByte(c)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String())
	return re, err == nil && pattern != ""
}
